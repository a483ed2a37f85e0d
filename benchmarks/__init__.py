"""Benchmarks of comboost, each run as a module: `speed`, `tables`, `dask`, early `stopping`, `quality` of votes."""
