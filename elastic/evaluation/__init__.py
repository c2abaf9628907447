"""Evaluations: runs of strategies on a benchmark, sampled, graded and tabled."""
