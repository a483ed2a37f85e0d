"""Shared by the benchmarks: the machine, stored results, pages, other libraries, timing, memory, synthetic problems."""
