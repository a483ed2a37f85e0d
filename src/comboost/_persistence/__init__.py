"""Pickles and model files."""
