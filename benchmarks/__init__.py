"""Benchmarks of comboost, each run as a module: `speed`, `tables`, `dask`, `stopping`, and `quality` of the predictions."""
