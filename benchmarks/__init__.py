"""Benchmarks of comboost, each run as a module: `speed`, `tables`, `dask`, and `quality` of the predictions."""
