"""What users hold: parameters, a fitted vote, the classifiers."""
