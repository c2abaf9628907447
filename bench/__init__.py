"""Benchmarks: ratios, measured in one run on whatever machine they run on. No test depends on them."""
