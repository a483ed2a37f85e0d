"""What votes mean as probabilities."""
