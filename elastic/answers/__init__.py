"""Verdicts: answers found in solutions and compared with the gold."""
