"""What every strategy takes and gives: rendered prompts, how traces are drawn, and sampled traces with their budget.

A trace's random stream is named by its problem and sample number, so it depends neither on the model nor on the batch
it is decoded in. Paired budgets share that stream; unpaired ones, for independent sampling, have one each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from elastic.budget import Budget
from elastic.engines.protocol import Drawn, Sampling
from elastic.seeding import stream_seed
from elastic.trace import Trace


@dataclass(frozen=True, slots=True)
class Prompt:
    """A problem as the model reads it.

    Attributes:
        problem_id: whose prompt it is.
        ids: the rendered prompt, shape (P,).
        question: what was rendered, for strategies that ask it in other words; empty where it is not known.
    """

    problem_id: str
    ids: tuple[int, ...]
    question: str = ""


@dataclass(frozen=True, slots=True)
class Sampled:
    """A trace and what it was sampled under.

    Attributes:
        problem_id, sample: whose trace it is, and which of the problem's.
        method: separate, truncate, unconstrained, or the name of another strategy.
        budget: (t, s); plain truncation has the total of both. None when unconstrained.
        limit: counted tokens of an unconstrained trace, None for the others.
        trace: the response.
        setting: what else tells apart traces of one strategy ("asked=24"); empty where nothing does.
        depth: number of the prefix, from 1, where a thinking trace is answered from at several depths.
        draw: number of the solution, where several follow one thinking.
        probes: solution tokens of probes that were spent before this answer.
        logprob: mean log-probability of the solution's tokens at the sampling temperature; None where not kept.
    """

    problem_id: str
    sample: int
    method: str
    budget: Budget | None
    limit: int | None
    trace: Trace
    setting: str = ""
    depth: int | None = None
    draw: int = 0
    probes: int = 0
    logprob: float | None = None


@dataclass(frozen=True)
class Plan:
    """How traces are drawn, whatever their budget.

    Attributes:
        sampling: temperature and support.
        samples: traces a problem, numbered from 0.
        seed: root of the random streams.
        faithful: go on to a solution after an EOS inside thinking, as the published evaluation code does.
        paired: whether all budgets of a sample share its stream.
    """

    sampling: Sampling
    samples: int
    seed: int
    faithful: bool = False
    paired: bool = True

    def each(self, prompts: Sequence[Prompt]) -> list[tuple[Prompt, int]]:
        """Every prompt with every sample number, prompts first."""
        return list(product(prompts, range(self.samples)))

    def stream(self, prompt: Prompt, sample: int, *budget: str) -> int:
        """Seed of one trace; `budget` names what it is sampled under and counts only when budgets are not paired."""
        return stream_seed(self.seed, prompt.problem_id, sample, *(() if self.paired else budget))


def mean_logprob(drawn: Drawn, n_solution: int | None = None) -> float | None:
    """Mean log-probability of the solution's tokens, or of its first `n_solution`; None where there are none."""
    whole = drawn.trace.n_solution
    start, count = len(drawn.logprobs) - whole, whole if n_solution is None else n_solution
    return sum(drawn.logprobs[start : start + count]) / count if count else None
