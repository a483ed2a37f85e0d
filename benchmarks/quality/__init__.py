"""How good the predictions are, beside those of other classifiers for classes of unequal sizes."""
