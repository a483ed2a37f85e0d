"""Benchmarks of comboost: `speed` against other boosters."""
