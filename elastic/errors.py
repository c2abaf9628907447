"""Errors that a user can act on: what is wrong, where, and the remedy, in one message."""

from __future__ import annotations


class ElasticError(Exception):
    """Base of every error raised on purpose; its text is meant to be read by the user.

    Args:
        what: what is wrong.
        where: the file, key, row or object it was found in.
        remedy: what to do about it.
    """

    def __init__(self, what: str, *, where: str | None = None, remedy: str | None = None) -> None:
        self.what, self.where, self.remedy = what, where, remedy
        parts = [f"{where}: {what}" if where else what]
        if remedy:
            parts.append(f"Remedy: {remedy}")
        super().__init__("\n".join(parts))


class ParamsError(ElasticError):
    """A value in params.yaml is unknown, of the wrong kind or impossible."""


class DataError(ElasticError):
    """A frame, file or row breaks the contract of the border that it crosses."""


class MarkerError(ElasticError):
    """The think delimiters of a tokenizer cannot be found, or are not single tokens."""


class BudgetError(ElasticError):
    """A budget is malformed, impossible for the model, or was broken by an engine."""


class GraderError(ElasticError):
    """The grader itself is at fault: it is missing, or fails its self-test."""


class TrainingError(ElasticError):
    """Training cannot teach anything as configured, or lost its state."""


class ExportError(ElasticError):
    """A check of an exported checkpoint failed; nothing was left behind."""


class GateError(ElasticError):
    """A distribution gate was breached; later stages must not run."""
