"""The rows of one decoding batch: limits, phases and what was sampled, advanced one token at a time.

Every tensor has shape (B,) for the B rows still in the batch; `index` says which job a row is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch

from elastic.engines.protocol import Job
from elastic.markers import Markers
from elastic.seeding import stream_seed, uniforms
from elastic.trace import Closed, Finish, Trace

_UNLIMITED = 1 << 40


class Rows:
    """State of a batch of jobs.

    Args:
        jobs: one a row.
        markers: delimiters.
        device: where the model's logits are.
        keep_logprobs: whether `step` is given log-probabilities.
    """

    def __init__(self, jobs: Sequence[Job], markers: Markers, device: torch.device, *, keep_logprobs: bool) -> None:
        self.jobs, self.markers, self.device = jobs, markers, device
        # Only a first token can open the block, and only where the prompt has not.
        opening = [
            job.kind != "solve" and not job.thinking and markers.prompt_state(job.prompt_ids) != "open" for job in jobs
        ]
        # Where no thinking is left to sample the delimiter goes in with the prompt and costs no step.
        solving = [
            job.kind == "solve" or (job.kind == "separate" and job.think == 0 and not opens)
            for job, opens in zip(jobs, opening, strict=True)
        ]
        self.may_open, self.starts_solving = opening, solving
        self.inputs = [
            [*job.prompt_ids, *job.thinking, *([markers.close_id, *job.cue] if solves else [])]
            for job, solves in zip(jobs, solving, strict=True)
        ]

        def column(values: Sequence[int | bool]) -> torch.Tensor:
            return torch.tensor(values, device=device)

        zero = [0] * len(jobs)
        self.state = {
            "index": torch.arange(len(jobs), device=device),
            "solving": column(solving),
            "n_opening": column([j.opening if j.goes_on else 0 for j in jobs]),
            "n_think": column([j.given_think if j.goes_on else 0 for j in jobs]),
            "n_solution": column(zero),
            "think": column([j.think if j.kind in ("separate", "think_only") else _UNLIMITED for j in jobs]),
            "solution": column([j.solution if j.kind in ("separate", "solve") else _UNLIMITED for j in jobs]),
            "total": column([j.total if j.kind == "plain" else _UNLIMITED for j in jobs]),
            "forces": column([j.kind == "separate" for j in jobs]),
            "think_only": column([j.kind == "think_only" for j in jobs]),
            "after_eos": column([j.after_eos for j in jobs]),
            "eos_pending": column([False] * len(jobs)),
            "done": column([False] * len(jobs)),
            "may_open": column(opening),
            "u_think": self._streams("think", 2 + max(max(j.think, j.total) for j in jobs)),
            "u_solution": self._streams("solution", 1 + max(max(j.solution, j.total) for j in jobs)),
        }
        self.eos = torch.tensor(sorted(markers.eos_ids), device=device)
        width = max(j.wanted for j in jobs)
        self.tokens = torch.zeros((len(jobs), width), dtype=torch.long, device=device)
        # NaN where a token was not drawn; without columns where they are not kept.
        columns = width if keep_logprobs else 0
        self.logprobs = torch.full((len(jobs), columns), torch.nan, dtype=torch.float64, device=device)
        self.lengths = torch.zeros(len(jobs), dtype=torch.long, device=device)
        self.steps = 0

    def _streams(self, phase: str, count: int) -> torch.Tensor:
        table = np.stack([uniforms(stream_seed(job.seed, phase), count) for job in self.jobs])
        return torch.from_numpy(table).to(self.device)

    def uniform(self) -> torch.Tensor:
        """The draw that decides each row's next token, (B,): draw k of its phase for token k of its phase."""
        s = self.state

        def at(table: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
            return table.gather(1, position.clamp(max=table.shape[1] - 1).unsqueeze(1)).squeeze(1)

        thinking = at(s["u_think"], s["n_think"] + s["n_opening"])
        return torch.where(s["solving"], at(s["u_solution"], s["n_solution"]), thinking)

    def step(self, sampled: torch.Tensor, logprobs: torch.Tensor | None = None) -> torch.Tensor:
        """Take the sampled tokens (B,), put delimiters where a thinking budget ends, advance every phase.

        Args:
            sampled: token ids, (B,).
            logprobs: their log-probabilities, (B,), where they are kept.

        Returns:
            The tokens that go into the model next, (B,).
        """
        s = self.state
        thinking = ~s["solving"]
        opens = thinking & s["may_open"] & (sampled == self.markers.open_id)
        s["may_open"] = torch.zeros_like(opens)
        forced = thinking & ~opens & ((s["forces"] & (s["n_think"] >= s["think"])) | s["eos_pending"])
        token = torch.where(forced, self.markers.close_id, sampled)
        closes = thinking & (token == self.markers.close_id)
        ends = torch.isin(token, self.eos)
        s["n_opening"] = s["n_opening"] + opens
        s["n_think"] = s["n_think"] + (thinking & ~closes & ~opens)
        s["n_solution"] = s["n_solution"] + s["solving"]
        eos_in_thinking = thinking & ends & ~closes
        s["eos_pending"] = eos_in_thinking & s["after_eos"]
        finishes = (
            (eos_in_thinking & ~s["eos_pending"])
            | (s["solving"] & (ends | (s["n_solution"] >= s["solution"])))
            | (s["n_think"] + s["n_solution"] >= s["total"])
            | (s["think_only"] & (closes | (s["n_think"] >= s["think"])))
        ) & ~s["done"]
        s["done"] = s["done"] | finishes
        s["solving"] = s["solving"] | closes
        self.tokens[s["index"], self.steps] = token
        if logprobs is not None:
            self.logprobs[s["index"], self.steps] = logprobs.masked_fill(forced, torch.nan)
        self.steps += 1
        self.lengths[s["index"][finishes]] = self.steps
        return token

    def going(self) -> torch.Tensor:
        """Which rows go on, (B,) of bool."""
        return ~self.state["done"]

    def keep(self, rows: torch.Tensor) -> None:
        """Drop every row that is not at a position in `rows`."""
        self.state = {name: value[rows] for name, value in self.state.items()}

    def traces(self) -> list[Trace]:
        """The finished traces, in the order of the jobs."""
        return [
            self._trace(job, ids[:length], solving, may_open)
            for job, ids, length, solving, may_open in zip(
                self.jobs, self.tokens.tolist(), self.lengths.tolist(), self.starts_solving, self.may_open, strict=True
            )
        ]

    def drawn_logprobs(self) -> list[tuple[float, ...]]:
        """The log-probabilities of each job's drawn tokens, in order; none where they are not kept."""
        return [
            tuple(value for value in kept[:length] if not math.isnan(value))
            for kept, length in zip(self.logprobs.tolist(), self.lengths.tolist(), strict=True)
        ]

    def _trace(self, job: Job, ids: list[int], starts_solving: bool, may_open: bool) -> Trace:
        eos, close = self.markers.eos_ids, self.markers.close_id
        finish: Finish = "eos" if ids[-1] in eos else "budget"
        if starts_solving:
            closed: Closed = job.closed if job.kind == "solve" else "forced"
            return Trace(job.prompt_ids, job.thinking, tuple(ids), closed, finish, job.opening, job.cue)
        opening = job.opening if job.goes_on else int(may_open and ids[0] == self.markers.open_id)
        if close not in ids:
            closed = "eos" if finish == "eos" else "never"
            return Trace(job.prompt_ids, (*job.thinking, *ids), (), closed, finish, opening)
        cut = ids.index(close)
        thinking, solution = (*job.thinking, *ids[:cut]), tuple(ids[cut + 1 :])
        if job.after_eos and thinking and thinking[-1] in eos:
            return Trace(job.prompt_ids, thinking, solution, "eos", finish, opening)
        forced = job.kind == "separate" and len(thinking) - opening >= job.think
        return Trace(job.prompt_ids, thinking, solution, "forced" if forced else "natural", finish, opening)
