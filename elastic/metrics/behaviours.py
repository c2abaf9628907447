"""Reasoning behaviours by keyword: how often a response repeats, checks, turns back.

ALP: Just Enough Thinking (arXiv 2506.05256) counts seven behaviours per response, before and after training, by
keywords. A keyword is a coarse sign: a model that comes to say the same in other words is not seen. A shorter response
has fewer of everything; counts per 1,000 tokens say whether the mix changed. Keywords: `data/behaviours.yaml`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import polars as pl

from elastic.contracts.behaviours import KeywordSet
from elastic.errors import DataError
from elastic.metrics.intervals import Interval, mean_interval, paired_difference
from elastic.metrics.problems import graded
from elastic.metrics.resampling import percentile_interval, problem_draws, ratio_interval

_PER = 1000


@dataclass(frozen=True)
class BehaviourRate:
    """How often one behaviour occurs.

    Attributes:
        family: the behaviour.
        per_response: occurrences in a response, mean over problems.
        per_1000_tokens: occurrences in 1,000 thinking and solution tokens, over all responses.
        n_problems, n_responses: behind them.
    """

    family: str
    per_response: Interval
    per_1000_tokens: Interval
    n_problems: int
    n_responses: int


@dataclass(frozen=True)
class BehaviourChange:
    """One behaviour after training minus before, over the same problems.

    Attributes:
        family: the behaviour.
        before, after: occurrences in a response, mean over the problems that both have.
        per_response: their difference.
        per_1000_tokens: the difference of occurrences in 1,000 tokens.
        n_problems: pairs.
    """

    family: str
    before: float
    after: float
    per_response: Interval
    per_1000_tokens: Interval
    n_problems: int


def _pattern(keyword: str) -> str:
    """A keyword as whole words; an edge that is no word character, as in `check:`, bounds itself."""
    start, end = (r"\b" if re.match(r"\w", edge) else "" for edge in (keyword[0], keyword[-1]))
    return start + r"\s+".join(pl.escape_regex(word) for word in keyword.split(" ")) + end


def count_behaviours(texts: pl.Series, keywords: KeywordSet) -> pl.DataFrame:
    """Occurrences of every behaviour in every text.

    A typographic apostrophe counts as a plain one. Keywords are searched from left to right, the longest first, so that
    none is found inside another.

    Args:
        texts: of responses, shape (n,).
        keywords: the families.

    Returns:
        One column a family, one row a text.
    """
    family_of = {keyword.lower(): family for family, words in keywords.families.items() for keyword in words}
    by_length = sorted(family_of, key=lambda keyword: (-len(keyword), keyword))
    pattern = "(?i)" + "|".join(_pattern(keyword) for keyword in by_length)
    found = (
        pl.DataFrame({"text": texts.str.replace_all("’", "'", literal=True)})
        .with_row_index("row")
        .select("row", keyword=pl.col("text").str.extract_all(pattern))
        .explode("keyword")
        .drop_nulls()
        .with_columns(pl.col("keyword").str.to_lowercase().str.replace_all(r"\s+", " "))
        .with_columns(family=pl.col("keyword").replace_strict(family_of, return_dtype=pl.String))
        .group_by("row", "family")
        .len()
    )
    rows = pl.DataFrame({"row": pl.Series(range(len(texts)), dtype=pl.UInt32)})
    return rows.select(
        rows.join(found.filter(family=family), on="row", how="left", maintain_order="left")["len"]
        .fill_null(0)
        .cast(pl.Int64)
        .alias(family)
        for family in keywords.families
    )


def behaviours_by_problem(answers: pl.DataFrame, keywords: KeywordSet) -> pl.DataFrame:
    """Sums by problem: responses, tokens and occurrences of every family; problems sorted.

    Args:
        answers, keywords: as for `behaviour_rates`.

    Raises:
        DataError: no response was graded.
    """
    frame = graded(answers)
    if frame.is_empty():
        raise DataError("no response was graded", where="behaviours", remedy="look at the errors of the grader")
    texts = frame.select(pl.concat_str("think_text", "solution_text", separator="\n").alias("text"))["text"]
    return (
        frame.select("problem_id", tokens=pl.col("n_think") + pl.col("n_solution"))
        .hstack(count_behaviours(texts, keywords))
        .group_by("problem_id")
        .agg(pl.len().alias("responses"), pl.all().sum())
        .sort("problem_id")
    )


def behaviour_rates(
    answers: pl.DataFrame, keywords: KeywordSet, *, confidence: float, resamples: int, seed: int
) -> list[BehaviourRate]:
    """How often every behaviour occurs, in the order of the families.

    Args:
        answers: of one cell; columns problem_id, verdict, n_think and n_solution of
            elastic.contracts.evaluation.Answers, with think_text (the thinking that the solution was given) and
            solution_text.
        keywords: the families.
        confidence, resamples, seed: of the intervals.

    Raises:
        DataError: no response was graded.
    """
    sums = behaviours_by_problem(answers, keywords)
    draws = problem_draws(len(sums), resamples=resamples, seed=seed)
    responses, tokens = sums["responses"].to_numpy(), sums["tokens"].to_numpy()
    return [
        BehaviourRate(
            family,
            mean_interval(
                sums[family].to_numpy() / responses, confidence=confidence, resamples=resamples, seed=seed, bounds=None
            ),
            ratio_interval(_PER * sums[family].to_numpy(), tokens, draws, confidence),
            len(sums),
            int(responses.sum()),
        )
        for family in keywords.families
    ]


def behaviour_changes(
    before: pl.DataFrame,
    after: pl.DataFrame,
    keywords: KeywordSet,
    *,
    confidence: float,
    resamples: int,
    seed: int,
) -> list[BehaviourChange]:
    """How every behaviour changed, paired by problem, in the order of the families.

    Args:
        before, after: as the answers of `behaviour_rates`, of two models.
        keywords: the families.
        confidence, resamples, seed: of the intervals.

    Raises:
        DataError: no response was graded, or the models share no problem.
    """
    sums = [behaviours_by_problem(answers, keywords) for answers in (before, after)]
    first, second = (
        one.join(other.select("problem_id"), on="problem_id", how="semi").sort("problem_id")
        for one, other in (sums, sums[::-1])
    )
    if first.is_empty():
        raise DataError(
            "the two models share no graded problem", where="behaviours", remedy="evaluate both on the same problems"
        )
    draws = problem_draws(len(first), resamples=resamples, seed=seed)

    def rates(frame: pl.DataFrame, family: str, weights: np.ndarray) -> np.ndarray:
        return _PER * (weights @ frame[family].to_numpy()) / (weights @ frame["tokens"].to_numpy())

    changes = []
    for family in keywords.families:
        means = [(frame[family] / frame["responses"]).to_numpy() for frame in (first, second)]
        seen, resampled = (
            rates(second, family, weights) - rates(first, family, weights)
            for weights in (np.ones((1, len(first))), draws)
        )
        changes.append(
            BehaviourChange(
                family,
                float(means[0].mean()),
                float(means[1].mean()),
                paired_difference(
                    means[1], means[0], confidence=confidence, resamples=resamples, seed=seed, bounds=None
                ),
                percentile_interval(float(seen[0]), resampled, confidence),
                len(first),
            )
        )
    return changes
