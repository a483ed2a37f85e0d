"""Evaluate models and summarise the results in a dict of plain values."""
