"""Prefixes of traces: a prefix of a sample is a sample, so one trace serves every smaller budget."""

from __future__ import annotations

from dataclasses import replace

from elastic.engines.protocol import Job
from elastic.seeding import stream_seed
from elastic.trace import Trace


def holds_the_end(think: int, trace: Trace) -> bool:
    """Whether the thinking's own end lies inside a budget: a delimiter that comes after t tokens is forced instead."""
    return trace.n_think < think if trace.closed == "natural" else trace.closed == "eos" and trace.n_think <= think


def solve_prefix(trace: Trace, think: int, solution: int, seed: int, *, cue: tuple[int, ...] = ()) -> Job:
    """The job of a solution from the first `think` tokens of the thinking, whose end is forced there."""
    prefix = trace.think_ids[: trace.opening + think]
    return Job.solve(trace.prompt_ids, prefix, solution, seed, closed="forced", opening=trace.opening, cue=cue)


def solve_all(trace: Trace, solution: int, seed: int, *, cue: tuple[int, ...] = ()) -> Job:
    """The job of a solution from all of the thinking, which ended by itself."""
    return Job.solve(
        trace.prompt_ids, trace.think_ids, solution, seed, closed=trace.closed, opening=trace.opening, cue=cue
    )


def solution_stream(seed: int, think: int, draw: int) -> int:
    """Stream of one of several solutions of a sample: by how many thinking tokens it follows and its number.

    Solutions that are to agree or differ by chance, as votes and probes do, may not share the sample's own stream.
    """
    return stream_seed(seed, "solution after", think, draw)


def cut_solution(trace: Trace, solution: int) -> Trace:
    """The trace with a solution of at most `solution` tokens; it ends with EOS only if EOS lies inside."""
    if trace.n_solution <= solution:
        return trace
    return replace(trace, solution_ids=trace.solution_ids[:solution], finish="budget")


def cut_total(trace: Trace, total: int) -> Trace:
    """A plain trace cut once both phases together have `total` counted tokens: plain truncation (E1, section 3).

    A delimiter whose turn comes after the last counted token is never written, so that the thinking is unclosed.
    """
    if trace.closed == "natural" and trace.n_think < total:
        return cut_solution(trace, total - trace.n_think)
    if trace.closed != "natural" and trace.n_think <= total:
        return trace
    return replace(
        trace,
        think_ids=trace.think_ids[: trace.opening + total],
        solution_ids=(),
        closed="never",
        finish="budget",
    )
