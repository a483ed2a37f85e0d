"""Benchmarks of comboost, each run as a module: `speed`, `tables`, `dask`, `quality` of predictions, and `defaults`."""
