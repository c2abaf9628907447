"""What may be known of a problem before its budget is chosen: its question, and the answers of cheap probes.

`Asked` holds no gold, no verdict and no accuracy, and a predictor is given nothing else of the problems that it
predicts. Probes are answers at the first depths of thinking paths, as in the early stopping of Fractured Sampling
(arXiv 2505.12992). Their cost beyond the final answer counts: one of the probed paths is thought on to the chosen
budget, so its thinking is paid once; the thinking of the others and all probes' solutions come on top.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from elastic.adaptive.outcomes import Curves, Outcomes
from elastic.budget import Budget
from elastic.errors import BudgetError, DataError


@dataclass(frozen=True)
class Probing:
    """Answers asked for before a budget is chosen.

    Attributes:
        depths: thinking budgets at which each path is asked, rising.
        solution: budget of each probe's solution.
        paths: thinking traces probed; one of them, whichever, goes on.
    """

    depths: tuple[int, ...]
    solution: int
    paths: int = 1

    def __post_init__(self) -> None:
        if not self.depths or list(self.depths) != sorted(set(self.depths)) or self.paths < 1:
            raise BudgetError(
                f"probing at depths {self.depths} of {self.paths} path(s) is impossible",
                remedy="name rising depths, and at least one path",
            )

    @property
    def budgets(self) -> list[Budget]:
        """The budgets of a path's probes."""
        return [Budget(depth, self.solution) for depth in self.depths]

    @property
    def allowed(self) -> int:
        """Tokens that probing may spend a problem, beyond those of the final answer."""
        return (self.paths - 1) * self.depths[-1] + self.paths * len(self.depths) * self.solution

    def __str__(self) -> str:
        return f"{self.paths} path(s) at t = {', '.join(map(str, self.depths))} with s = {self.solution}"


@dataclass(frozen=True)
class Asked:
    """Problems whose budgets are wanted, without anything that depends on their golds.

    Attributes:
        problem_ids: the problems.
        questions: their texts.
        probes: the probes' answers (None: no answer), one tuple a problem; empty tuples without probing.
        probe_used: tokens that probing used beyond the path that goes on, shape (problems,).
    """

    problem_ids: tuple[str, ...]
    questions: tuple[str, ...]
    probes: tuple[tuple[str | None, ...], ...]
    probe_used: np.ndarray

    def agreement(self) -> np.ndarray:
        """Share of a problem's probes that gave its most frequent answer, shape (problems,); none is no answer.

        Answers agree where their texts are equal.
        """
        counts = [Counter(answer for answer in probes if answer is not None) for probes in self.probes]
        return np.array(
            [max(count.values(), default=0) / len(probes) for count, probes in zip(counts, self.probes, strict=True)]
        )


@dataclass(frozen=True)
class Observed:
    """Problems as asked, and apart from that what their answers were worth and cost."""

    asked: Asked
    curves: Curves


def observe(outcomes: Outcomes, questions: Mapping[str, str], probing: Probing | None) -> list[Observed]:
    """Split graded answers into what may be known before and what came out.

    Without probing there is one view over all paths. With it the paths are cut into groups of `probing.paths`, in
    order, and each group is a view of its own: probes are its answers, and the curves are the means over its paths,
    since any of them may be the one that goes on. Paths that fill no group are left out.

    Args:
        outcomes: graded answers.
        questions: text by problem.
        probing: what is asked before.

    Raises:
        BudgetError: a probe's budget is not in the grid.
        DataError: there are fewer paths than a group needs, or a question is missing.
    """
    missing = [name for name in outcomes.problem_ids if name not in questions]
    if missing:
        raise DataError(f"no question of problem {missing[0]}", remedy="pass the problems that were answered")
    texts = tuple(questions[name] for name in outcomes.problem_ids)
    if probing is None:
        nothing = Asked(outcomes.problem_ids, texts, ((),) * len(texts), np.zeros(len(texts)))
        return [Observed(nothing, outcomes.curves())]
    absent = [budget for budget in probing.budgets if budget not in outcomes.budgets]
    if absent:
        raise BudgetError(
            f"no answers at {absent[0]}, where probes are asked for",
            remedy=f"probe at budgets of the grid: {', '.join(map(str, outcomes.budgets))}",
        )
    if outcomes.paths < probing.paths:
        raise DataError(
            f"{outcomes.paths} sample(s) a problem cannot give probes of {probing.paths} paths",
            remedy="sample more, or probe fewer paths",
        )
    columns = [outcomes.budgets.index(budget) for budget in probing.budgets]
    views = []
    for first in range(0, outcomes.paths - probing.paths + 1, probing.paths):
        group = list(range(first, first + probing.paths))
        probes = outcomes.answers[:, group][:, :, columns].reshape(len(texts), -1)
        thinking = outcomes.think[:, group, columns[-1]]
        used = (
            outcomes.solution[:, group][:, :, columns].sum(axis=(1, 2)) + thinking.sum(axis=1) - thinking.mean(axis=1)
        )
        asked = Asked(outcomes.problem_ids, texts, tuple(map(tuple, probes)), used)
        views.append(Observed(asked, outcomes.curves(group)))
    return views
