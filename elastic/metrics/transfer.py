"""What training on one domain does on another: the change of every model against the base, on both.

The Art of Efficient Reasoning (arXiv 2602.20945) reports lengths and Mean@k outside the trained domain beside those
inside it. Changes are paired by problem, since every model answers the same problems with the same random streams.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import polars as pl

from elastic.errors import DataError
from elastic.metrics.intervals import Interval, paired_difference
from elastic.metrics.problems import problem_means
from elastic.metrics.resampling import problem_draws, ratio_interval


@dataclass(frozen=True)
class Change:
    """One model minus the base on one domain.

    Attributes:
        model, domain: what changed, and where.
        trained: whether the model was trained on the domain.
        accuracy: difference, -1 to 1.
        tokens: difference of mean tokens of a response (thinking, solution and probes).
        tokens_ratio: mean tokens of the model over mean tokens of the base.
        n_problems: pairs.
    """

    model: str
    domain: str
    trained: bool
    accuracy: Interval
    tokens: Interval
    tokens_ratio: Interval
    n_problems: int


def changes(
    answers: Mapping[str, Mapping[str, pl.DataFrame]],
    *,
    base: str,
    trained: str,
    confidence: float,
    resamples: int,
    seed: int,
) -> list[Change]:
    """The change of every model against the base, on every domain; the trained domain first.

    Args:
        answers: by domain and model, of one cell: the columns that `problem_means` reads.
        base: the model that the others are compared with; every domain has it.
        trained: the domain that the others were trained on.
        confidence, resamples, seed: of the intervals.

    Raises:
        DataError: a domain lacks the base, there are no answers on the trained domain, or two models share no problem.
    """
    if trained not in answers:
        raise DataError(
            f"no answers on the trained domain {trained!r}, only on {', '.join(sorted(answers))}",
            where="transfer",
            remedy="evaluate the trained domain too: transfer is read beside it",
        )
    found = []
    for domain in sorted(answers, key=lambda name: (name != trained, name)):
        if base not in answers[domain]:
            raise DataError(
                f"no answers of {base!r} on {domain!r}", where="transfer", remedy="evaluate the base on every domain"
            )
        control = problem_means(answers[domain][base])
        for model in answers[domain]:
            if model == base:
                continue
            pairs = problem_means(answers[domain][model]).join(
                control, on="problem_id", suffix="_base", validate="1:1", maintain_order="left"
            )
            if pairs.is_empty():
                raise DataError(
                    f"{model!r} and {base!r} share no graded problem on {domain!r}",
                    where="transfer",
                    remedy="evaluate both on the same problems",
                )
            difference = partial(paired_difference, confidence=confidence, resamples=resamples, seed=seed)
            tokens, base_tokens = pairs["tokens"].to_numpy(), pairs["tokens_base"].to_numpy()
            draws = problem_draws(len(pairs), resamples=resamples, seed=seed)
            found.append(
                Change(
                    model,
                    domain,
                    domain == trained,
                    difference(pairs["accuracy"].to_numpy(), pairs["accuracy_base"].to_numpy()),
                    difference(tokens, base_tokens, bounds=None),
                    ratio_interval(tokens, base_tokens, draws, confidence),
                    len(pairs),
                )
            )
    return found
