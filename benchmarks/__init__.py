"""Benchmarks of comboost, each run as a module.

`speed`, `tables`, `dask`, `quality`, early `stopping`, `defaults`, `probabilities`, `interrupts`, `memory`.
"""
