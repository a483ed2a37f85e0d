"""What early stopping gives and takes, beside fits of all rounds."""
