"""Separate token budgets for thinking and solution: train, decode, measure.

The library follows "Scalable Chain of Thoughts via Elastic Reasoning" (E1). It knows neither DVC nor Prefect;
`stages/` runs it and `flows/` schedules the stages.
"""

__version__ = "0.1.0"
