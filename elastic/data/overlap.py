"""Contamination: questions that stand in taught data and in an evaluation set, in the same text or in most of it.

Four measures, the first that holds for a pair is told. `same text`: equal normalised questions. `same words`: equal
but for spacing, LaTeX, brackets and case (elastic/data/wording.py). `near duplicate`: the Jaccard similarity that the
evaluated source sets. `n-grams`: more than a share of the evaluated question's runs of words stand in the taught one.

Runs are of 13 words, as in GPT-3 (Brown et al. 2020, appendix C), where one shared run was a hit; but mathematics is
full of set phrases ("where m and n are relatively prime positive integers"), so most runs must be shared. Questions of
under 26 words, a third of MATH's, have runs of 8 or 5 words instead. And a pattern with other figures is another
problem: for the two measures of similarity all numbers of one question must stand in the other. So, at a share of a
half, 24 of the 8,449 training problems of AIME 1983-2023 and MATH (0.3 %) meet one of 2,934 test problems, eleven of
them rightly so; the others ask another question about the same figure, or about another word.

How a taught row is compared is set by the source of the evaluated one: problems of generated worlds differ in a digit,
so that only an equal text means anything. Texts are read again here, so an id that was written wrong hides nothing.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from elastic.contracts.records import Overlap
from elastic.contracts.sources import NearDuplicates
from elastic.data.near_duplicates import Words, runs_of
from elastic.data.normalise import normalise_question
from elastic.data.wording import wording_of

SAME_TEXT, SAME_WORDS, NEAR, N_GRAMS = "same text", "same words", "near duplicate", "n-grams"
EQUAL = (SAME_TEXT, SAME_WORDS)
_MEASURES = (SAME_TEXT, SAME_WORDS, NEAR, N_GRAMS)
_RUN_LENGTHS = ((26, 13), (16, 8), (0, 5))


@dataclass(frozen=True)
class Hit:
    """A taught and an evaluated row that overlap.

    Attributes:
        taught, evaluated: row numbers.
        measure: one of the four.
        share: what it measured, 0 to 1.
    """

    taught: int
    evaluated: int
    measure: str
    share: float


def _joined(taught: Mapping[int, object], evaluated: Mapping[int, object], measure: str) -> Iterator[Hit]:
    """Hits of rows with equal values."""
    rows = defaultdict(list)
    for number, value in evaluated.items():
        rows[value].append(number)
    for number, value in taught.items():
        for met in rows.get(value, ()):
            yield Hit(number, met, measure, 1.0)


def _shared_runs(
    taught: Mapping[int, Words], evaluated: Mapping[int, Words], length: int
) -> Iterator[tuple[int, int, int, int, int]]:
    """Taught row, evaluated row, and how many different runs both, the taught and the evaluated one have."""
    standing = defaultdict(list)
    sizes = {}
    for number, words in evaluated.items():
        runs = runs_of(words, length)
        sizes[number] = len(runs)
        for run in runs:
            standing[run].append(number)
    for number, words in taught.items():
        runs = runs_of(words, length)
        shared = Counter(met for run in runs for met in standing.get(run, ()))
        for met, count in shared.items():
            yield number, met, count, len(runs), sizes[met]


def _run_length(words: Words) -> int:
    return next(length for least, length in _RUN_LENGTHS if len(words) >= least)


def _figures(words: Words) -> Counter[str]:
    return Counter(word for word in words if word[0].isdigit())


def _same_figures(one: Words, other: Words) -> bool:
    """Whether all numbers of one text stand in the other."""
    here, there = _figures(one), _figures(other)
    return here <= there or there <= here


def find_hits(
    taught: Sequence[str],
    evaluated: Sequence[str],
    rules: Sequence[NearDuplicates | None],
    share: float,
) -> list[Hit]:
    """Overlapping pairs, each with the first measure that holds, in the order of taught and evaluated rows.

    Args:
        taught, evaluated: questions.
        rules: of the evaluated questions' sources; None for equality of the text alone.
        share: of an evaluated question's runs, above which it is a hit by n-grams.
    """
    if not evaluated:
        return []
    hits = list(
        _joined(
            {number: normalise_question(question) for number, question in enumerate(taught)},
            {number: normalise_question(question) for number, question in enumerate(evaluated)},
            SAME_TEXT,
        )
    )
    compared = {number: rule for number, rule in enumerate(rules) if rule is not None}
    if compared:
        words = {number: wording_of(question).words for number, question in enumerate(taught)}
        met = {number: wording_of(evaluated[number]).words for number in compared}
        hits += _joined(
            {number: "".join(its) for number, its in words.items()},
            {number: "".join(its) for number, its in met.items()},
            SAME_WORDS,
        )
        near = []
        for rule in sorted(set(compared.values()), key=lambda rule: (rule.words, rule.threshold)):
            ruled = {number: met[number] for number, its in compared.items() if its == rule}
            for one, other, both, runs, its_runs in _shared_runs(words, ruled, rule.words):
                similarity = both / (runs + its_runs - both)
                if similarity >= rule.threshold:
                    near.append(Hit(one, other, NEAR, similarity))
        for _, length in _RUN_LENGTHS:
            of_length = {number: its for number, its in met.items() if _run_length(its) == length}
            for one, other, both, _, its_runs in _shared_runs(words, of_length, length):
                if both > share * its_runs:
                    near.append(Hit(one, other, N_GRAMS, both / its_runs))
        hits += [hit for hit in near if _same_figures(words[hit.taught], met[hit.evaluated])]
    hits.sort(key=lambda hit: (hit.taught, hit.evaluated, _MEASURES.index(hit.measure)))
    return list({(hit.taught, hit.evaluated): hit for hit in reversed(hits)}.values())[::-1]


def find_overlaps(
    taught: list[pl.DataFrame],
    evaluated: list[pl.DataFrame],
    rules: Mapping[str, NearDuplicates],
    share: float,
) -> list[Overlap]:
    """Every pair of a taught and an evaluated row that overlap.

    Args:
        taught: frames Problems: teaching and training.
        evaluated: frames Problems: validation and test.
        rules: by source; a source without one knows equality of the text alone.
        share: as in `find_hits`.
    """
    columns = ["split", "source", "problem_id", "question"]
    rows = pl.concat([frame.select(columns) for frame in taught]).rows(named=True)
    met = pl.concat([frame.select(columns) for frame in evaluated]).rows(named=True)
    hits = find_hits(
        [row["question"] for row in rows],
        [row["question"] for row in met],
        [rules.get(row["source"]) for row in met],
        share,
    )
    return [
        Overlap(
            split=rows[hit.taught]["split"],
            source=rows[hit.taught]["source"],
            question=rows[hit.taught]["question"],
            met_split=met[hit.evaluated]["split"],
            met_problem_id=met[hit.evaluated]["problem_id"],
            met_source=met[hit.evaluated]["source"],
            met_question=met[hit.evaluated]["question"],
            measure=hit.measure,
            share=round(hit.share, 3),
        )
        for hit in hits
    ]
