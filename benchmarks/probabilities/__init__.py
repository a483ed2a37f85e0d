"""What votes mean as probabilities, and what calibration is worth."""
