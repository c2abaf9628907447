"""Times of day: `9:30`, `9:30 a.m.`, `21:30`."""

from __future__ import annotations

import re

_CLOCK = re.compile(r"([0-9]{1,2}):([0-5][0-9])(?::([0-5][0-9]))? ?(?:([ap])\.? ?m\.?)?", re.IGNORECASE)


def read_time(text: str) -> re.Match[str] | None:
    """The parts of a text that is a time of day, and nothing else."""
    return _CLOCK.fullmatch(text)


def same_time(answer: re.Match[str], gold: re.Match[str]) -> bool:
    """Clock times; `a.m.` or `p.m.` on one side only is forgiven, as a unit is."""
    times = []
    half_named = answer[4] is not None and gold[4] is not None
    for time in (answer, gold):
        hour, half = int(time[1]), (time[4] or "").lower()
        if half and (half_named or hour == 0):
            hour = hour % 12 + (12 if half == "p" else 0)
        times.append((hour, int(time[2]), int(time[3] or 0)))
    if times[0] != times[1] and (answer[4] is None) != (gold[4] is None):
        # Twenty-four hours on one side: 21:30 is 9:30 p.m.
        named, bare = (answer, times[1]) if answer[4] else (gold, times[0])
        hour = int(named[1]) % 12 + (12 if named[4].lower() == "p" else 0)
        return bare == (hour, int(named[2]), int(named[3] or 0))
    return times[0] == times[1]
