"""Benchmarks of comboost, one folder per question, each run as a module; see README.md."""
