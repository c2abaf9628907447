"""A job as one or two calls of an engine that samples up to a limit or an end and knows nothing of phases.

The first call thinks: up to its limit, ending at the closing delimiter or EOS. The second reads prompt, thinking and
delimiter and samples the solution (E1, section 3: both budgets exactly, and unused thinking never flows over). The
counting rule is that of `elastic/trace.py`; nothing here samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from elastic.engines.protocol import Job
from elastic.markers import Markers
from elastic.seeding import stream_seed
from elastic.trace import Closed, Finish, Trace


@dataclass(frozen=True, slots=True)
class Call:
    """What to sample next.

    Attributes:
        ids: what the model reads, shape (N,).
        limit: tokens at most, 1 or more.
        ends: sampling stops after any of these, which is then the last id sampled.
        seed: the stream of the call, 64 bits.
        first: number of the stream's draw that decides the first id; draws before it belong to ids that were given.
    """

    ids: tuple[int, ...]
    limit: int
    ends: frozenset[int]
    seed: int
    first: int = 0


class TwoCalls:
    """One job on its way to a trace: sample `call` and `take` what came, until `call` is None; then read `trace()`.

    Args:
        job: the response wanted; it must have passed its `check`.
        markers: delimiters.
    """

    def __init__(self, job: Job, markers: Markers) -> None:
        self.job, self.markers = job, markers
        self.call: Call | None
        self._thinking, self._closed, self._opening = job.thinking, job.closed, job.opening
        self._solution: tuple[int, ...] = ()
        self._solving = job.kind == "solve"
        self._limit = job.total if job.kind == "plain" else job.think
        # Only a first token can open the block, and only where the prompt has not; it is free.
        self._may_open = not self._solving and not job.thinking and markers.prompt_state(job.prompt_ids) != "open"
        if self._solving:
            self._solve()
        elif (limit := self._limit + self._may_open - (job.given_think if job.goes_on else 0)) == 0:
            self._end_thinking(job.thinking, "never" if job.kind == "think_only" else "forced")
        else:
            self.call = Call(
                (*job.prompt_ids, *job.thinking),
                limit,
                markers.eos_ids | {markers.close_id},
                stream_seed(job.seed, "think"),
                len(job.thinking),
            )

    def take(self, ids: Sequence[int]) -> int:
        """Take what the call sampled, shape (1..limit,), with the end that stopped it.

        Returns:
            How many of the ids belong to the trace. One is over the limit where room was left for an opening
            delimiter that did not come.
        """
        if self._solving:
            self._solution, self.call = tuple(ids), None
            return len(ids)
        given = self.job.thinking
        if not given:
            self._opening = int(self._may_open and ids[0] == self.markers.open_id)
        wrote_delimiter = ids[-1] == self.markers.close_id
        thinking = (*given, *ids[: len(ids) - wrote_delimiter])[: self._opening + self._limit]
        if thinking and thinking[-1] in self.markers.eos_ids:
            self._end_thinking(thinking, "eos")
        elif len(thinking) == self._opening + self._limit:
            self._end_thinking(thinking, "forced" if self.job.kind == "separate" else "never")
        else:
            self._end_thinking(thinking, "natural")
        return len(thinking) - len(given) + (self._closed == "natural")

    def trace(self) -> Trace:
        """The trace of a job that has no call left."""
        drawn = self._solution or self._thinking[len(self.job.thinking) :]
        finish: Finish = "eos" if self.markers.eos_ids.intersection(drawn[-1:]) else "budget"
        return Trace(
            self.job.prompt_ids, self._thinking, self._solution, self._closed, finish, self._opening, self.job.cue
        )

    def _end_thinking(self, thinking: tuple[int, ...], closed: Closed) -> None:
        self._thinking, self._closed, self.call = thinking, closed, None
        goes_on = closed in ("natural", "forced") or (closed == "eos" and self.job.after_eos)
        if goes_on and self.job.kind != "think_only":
            self._solve()

    def _solve(self) -> None:
        used = len(self._thinking) - self._opening
        limit = self.job.total - used if self.job.kind == "plain" else self.job.solution
        self._solving = True
        self.call = None
        if limit > 0:
            ids = (*self.job.prompt_ids, *self._thinking, self.markers.close_id, *self.job.cue)
            self.call = Call(ids, limit, self.markers.eos_ids, stream_seed(self.job.seed, "solution"))
