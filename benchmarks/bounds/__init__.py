"""Coverage and width of the confidence bounds of `comboost.metrics`, by simulation."""
