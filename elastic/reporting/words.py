"""How figures are written for people: percent, points, tokens, intervals, and how a training went."""

from __future__ import annotations

from elastic.contracts.records import TrainingOutcome

_MINUS = "−"


def percent(share: float, digits: int = 1) -> str:
    """0.273 -> "27.3%"."""
    return f"{100 * share:.{digits}f}%"


def share(value: float) -> str:
    """A share in a dense table, where what never happened should not shout: 0.0 -> "0", 0.273 -> "27.3%"."""
    return percent(value) if value else "0"


def signed(value: float, digits: int = 1) -> str:
    """-2.34 -> "−2.3", 2.34 -> "+2.3"; what rounds to zero has no sign."""
    text = f"{value:+.{digits}f}"
    return text[1:] if float(text) == 0 else text.replace("-", _MINUS)


def points(difference: float) -> str:
    """A difference of accuracies in percentage points: 0.258 -> "+25.8"."""
    return signed(100 * difference)


def interval(low: float, high: float, scale: float = 100) -> str:
    """Both ends of an interval of a difference: (0.21, 0.306) -> "+21.0 to +30.6"."""
    return f"{signed(scale * low)} to {signed(scale * high)}"


def tokens(mean: float) -> str:
    """A mean number of tokens: 51.23 -> "51.2", 6825.4 -> "6,825"."""
    return f"{mean:,.1f}" if mean < 1000 else f"{mean:,.0f}"


def count(number: int) -> str:
    """12345 -> "12,345"."""
    return f"{number:,}"


def course(outcome: TrainingOutcome) -> list[tuple[str, str]]:
    """How a training went, as pairs of a question and its answer; alerts are not among them."""
    best = f"that of step {outcome.kept}, the best on the monitor slice"
    return [
        ("steps", str(outcome.steps)),
        ("ended early by", outcome.ended_by or "nothing"),
        ("kept model", "that of the last step" if outcome.kept == outcome.steps else best),
        ("length turned at step", str(outcome.turning_step) if outcome.turning_step is not None else "none"),
    ]
