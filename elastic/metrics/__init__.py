"""Intervals, fits and the figures of one table row."""
