"""Budgeted decoding written once more, as plainly as can be: one row, no cache, no tensors of state.

It is the independent statement of the counting rule that the engine is compared with.
"""

from __future__ import annotations

from typing import Any

import torch

from elastic.engines.protocol import Job, Sampling
from elastic.engines.sampling import draw
from elastic.markers import Markers
from elastic.seeding import stream_seed, uniforms
from elastic.trace import Trace


class Naive:
    """Decodes one job at a time by feeding the whole sequence again for each token."""

    def __init__(self, model: Any, markers: Markers, sampling: Sampling) -> None:
        self.model, self.markers, self.sampling = model, markers, sampling

    def next_token(self, ids: list[int], uniform: float) -> int:
        with torch.inference_mode():
            logits = self.model(torch.tensor([ids])).logits[:, -1]
        return int(draw(logits, torch.tensor([uniform], dtype=torch.float64), self.sampling))

    def decode(self, job: Job) -> Trace:
        if job.kind == "solve":
            return self.solve(job, list(job.thinking), job.opening, job.closed)
        thinking, opening, closed = self.think_on(job) if job.thinking else self.think(job)
        stops = closed == "never" or (closed == "eos" and not job.after_eos) or job.kind == "think_only"
        if stops:
            finish = "eos" if closed == "eos" else "budget"
            return Trace(job.prompt_ids, tuple(thinking), (), closed, finish, opening)
        return self.solve(job, thinking, opening, closed)

    def think(self, job: Job) -> tuple[list[int], int, Any]:
        """Thinking ids, how many of them open the block, and how it closed."""
        limit = job.total if job.kind == "plain" else job.think
        out_of_budget = "forced" if job.kind == "separate" else "never"
        draws = iter(uniforms(stream_seed(job.seed, "think"), limit + 2))
        prompt, thinking = list(job.prompt_ids), []
        opening = 0
        if self.markers.open_id not in prompt:
            token = self.next_token(prompt, next(draws))
            if token == self.markers.open_id:
                thinking, opening = [token], 1
            elif limit == 0:
                return [], 0, out_of_budget
            elif token == self.markers.close_id:
                return [], 0, "natural"
            else:
                thinking = [token]
                if token in self.markers.eos_ids:
                    return thinking, 0, "eos"
        while len(thinking) - opening < limit:
            token = self.next_token(prompt + thinking, next(draws))
            if token == self.markers.close_id:
                return thinking, opening, "natural"
            thinking.append(token)
            if token in self.markers.eos_ids:
                return thinking, opening, "eos"
        return thinking, opening, out_of_budget

    def think_on(self, job: Job) -> tuple[list[int], int, Any]:
        """As `think`, from thinking that is given: its tokens have used up their draws."""
        draws = uniforms(stream_seed(job.seed, "think"), job.think + job.opening)
        thinking = list(job.thinking)
        while len(thinking) - job.opening < job.think:
            token = self.next_token([*job.prompt_ids, *thinking], draws[len(thinking)])
            if token == self.markers.close_id:
                return thinking, job.opening, "natural"
            thinking.append(token)
            if token in self.markers.eos_ids:
                return thinking, job.opening, "eos"
        return thinking, job.opening, "never"

    def solve(self, job: Job, thinking: list[int], opening: int, closed: Any) -> Trace:
        limit = job.total - (len(thinking) - opening) if job.kind == "plain" else job.solution
        draws = uniforms(stream_seed(job.seed, "solution"), limit)
        start = [*job.prompt_ids, *thinking, self.markers.close_id, *job.cue]
        solution: list[int] = []
        while len(solution) < limit and not (solution and solution[-1] in self.markers.eos_ids):
            solution.append(self.next_token(start + solution, draws[len(solution)]))
        finish: Any = "eos" if solution[-1] in self.markers.eos_ids else "budget"
        return Trace(job.prompt_ids, tuple(thinking), tuple(solution), closed, finish, opening, job.cue)
