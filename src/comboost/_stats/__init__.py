"""Confidence intervals, significance tests, bootstrap."""
