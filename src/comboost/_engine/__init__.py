"""Binning, losses, leaf values, samples (the seam), forests, probabilities and the memory plan."""
