"""A training source salted with copies of test problems, in other spacing, LaTeX and case, loses every copy.

Once on problems of our own making; and once on MATH500, AIME 2024, AIME 1983-2023 and MATH themselves, where a mirror
holds them.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from random import Random
from typing import Any

import pytest
from filled_frames import filled

from elastic.contracts.frames import Collected, Problems, Rejected, read_frame, write_frame
from elastic.contracts.params.collect import DatasetSource
from elastic.contracts.params.curate import CurateParams
from elastic.contracts.params.grading import GradingParams
from elastic.contracts.records import Contamination, Curation, read_record, write_json
from elastic.contracts.sources import NearDuplicates
from elastic.data.catalogue import dataset_facts, read_source
from elastic.data.normalise import normalise_question
from elastic.data.origins import MIRROR
from stages import curate
from stages.common import Context

PARAMS = CurateParams(held_out_share=0.5, training_share=0.5, validation=0, test=0, training=20000, teaching=0)
GRADING = GradingParams(training="exact", evaluation="math")

_LATEX = [
    (r"\\[dt]?frac\{(\d)\}\{(\d)\}", r"\\dfrac\1\2"),
    (r"\\frac(?=\{)", r"\\tfrac"),
    (r"\\left(?![a-z])|\\right(?![a-z])", ""),
    (r"\\leq?(?![a-z])", r"\\leqslant "),
    (r"\\geq?(?![a-z])", "≥"),
    (r"\\(?:l|c)?dots(?![a-z])", r"\\ldots "),
    (r"\\text\{([a-z ]*)\}", r"\\mbox{\1}"),
    (r"\^\{?\\circ\}?", "°"),
    (r"\\cdot(?![a-z])", r"\\times "),
    (r"\^(\d)(?!\d)", r"^{\1}"),
    (r"\\pi(?![a-z])", "π"),
    (r"\$\$|\\\[|\\\]", "$"),
    (r"\$([^$]*)\$", r"\\(\1\\)"),
]


def _respelt(question: str) -> str:
    for pattern, instead in _LATEX:
        question = re.sub(pattern, instead, question)
    return question


def _respaced(question: str, rng: Random) -> str:
    wider = "".join(rng.choice(["  ", "\n", " \t"]) if character == " " else character for character in question)
    return re.sub(r"(?<=[^\s\\])([=+])(?=[^\s\\])", r"\\;\1\\, ", wider)


def salted(question: str, rng: Random) -> str:
    """The question in other spacing, LaTeX and case."""
    cased = rng.choice([str.upper, str.lower, str.swapcase])
    return cased(_respaced(_respelt(question), rng)) if "[asy]" not in question else question.upper()


TESTED = [
    r"Find the largest integer $n \le 500$ for which $\frac{1}{2}n + 3^4$ is a square.",
    r"Let $f(x) = \frac{x+1}{x-1}$. What is $f\left(f(\pi)\right) - 2\cdot 3$?",
    r"A ladder leans at an angle of $60^\circ$ on a wall that is 12 metres high. How long is it?",
    r"Compute \[1 \cdot 2 + 2 \cdot 3 + \dots + 99 \cdot 100.\]",
    r"How many pairs $(a,b)$ with $1 \leq a \leq b \leq 40$ satisfy $a + b \equiv 7 \pmod{12}$?",
    r"The sum of three consecutive odd numbers is $1{,}011$. Find the middle one.",
    r"Evaluate $\sqrt{2} \cdot \sqrt{50}$.",
    r"What is the area of the triangle with the vertices $\left(0,0\right)$, $(4,\tfrac{1}{2})$ and $(1,9)$?",
    r"Roberta has $\frac{3}{4}$ of a cake and eats $\text{half}$ of it. What share is left?",
    r"If $x + y = 11$ and $x^2 + y^2 = 65$, what is $xy$?",
]
TAUGHT = [
    r"Find the largest integer $n \le 700$ for which $\frac{1}{3}n + 2^5$ is a square.",
    r"A ladder leans at an angle of $45^\circ$ on a wall that is 9 metres high. How long is it?",
    r"Evaluate $\sqrt{3} \cdot \sqrt{27}$.",
    r"If $x + y = 13$ and $x^2 + y^2 = 97$, what is $xy$?",
    *(f"A train of {i} coaches carries {7 * i} people in each. How many people does it carry?" for i in range(2, 98)),
]
NEAR = NearDuplicates(threshold=0.8, words=5)


def _curate(folder: Path, rows: list[dict[str, Any]], near: dict[str, NearDuplicates]) -> Curation:
    write_frame(Collected, filled(Collected, rows), folder / "collected.parquet")
    wanted = DatasetSource(kind="dataset", name="math500", role="test")
    facts = [
        dataset_facts(wanted, 1).model_copy(update={"name": name, "near_duplicates": near.get(name)}).model_dump()
        for name in dict.fromkeys(row["source"] for row in rows)
    ]
    write_json(folder / "sources.json", facts)
    files = {"collected": folder / "collected.parquet", "sources": folder / "sources.json", "out": folder / "out"}
    curate.run(PARAMS, GRADING, Context("curate", folder / "scratch"), **files)
    return read_record(Curation, folder / "out/curation.json")


def _own_hits(contamination: Contamination) -> set[str]:
    return {met.question for met in contamination.removed if met.source != "salt" and met.met_split == "test"}


def _check(folder: Path, curation: Curation, copies: list[dict[str, Any]], own: int) -> None:
    rejected = read_frame(Rejected, folder / "out/rejected.parquet").filter(source="salt")
    assert read_frame(Problems, folder / "out/training.parquet").filter(source="salt").is_empty()
    assert set(rejected["question"]) == {row["question"] for row in copies}
    assert set(rejected["reason"]) <= {"stands in test", "overlaps test"}
    listed = {met.question: met for met in curation.contamination.removed}
    assert all(listed[row["question"]].met_question == row["copied"] for row in copies)
    hits = _own_hits(curation.contamination)
    assert len(hits) <= 0.01 * own, sorted(hits)


def _salt(questions: list[tuple[str, str]], rng: Random) -> list[dict[str, Any]]:
    return [
        {"source": "salt", "role": "training", "question": salted(question, rng), "answer": answer, "copied": question}
        for question, answer in questions
    ]


def _rows(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name != "copied"} for row in rows]


def test_salt_differs_in_spacing_latex_and_case() -> None:
    one = salted(TESTED[0], Random(0))
    assert "\\leqslant" in one.lower()
    assert "\\dfrac12" in one.lower()
    assert re.search(r"  |\n|\t", one)
    assert normalise_question(one) != normalise_question(TESTED[0])


@pytest.mark.parametrize("seed", range(3))
def test_problems_of_our_own_lose_every_copy_and_nothing_else(tmp_path: Path, seed: int) -> None:
    quiz = [{"source": "quiz", "role": "test", "question": question, "answer": "1"} for question in TESTED]
    mock = [{"source": "mock", "role": "validation", "question": "What is the first prime?", "answer": "2"}]
    taught = [{"source": "taught", "role": "training", "question": question, "answer": "1"} for question in TAUGHT]
    copies = _salt([(question, "1") for question in TESTED], Random(seed))
    curation = _curate(tmp_path, [*quiz, *mock, *taught, *_rows(copies)], {"quiz": NEAR})
    _check(tmp_path, curation, copies, len(taught))
    assert curation.rows["taught"] == {"training": len(taught)}


@pytest.mark.skipif(MIRROR not in os.environ, reason=f"needs a folder with the public sets, named by {MIRROR}")
def test_the_public_sets_lose_every_copy_and_one_row_in_a_hundred_at_most(tmp_path: Path) -> None:
    roles = {"aime24": "test", "math500": "test", "aime22_23": "validation", "aime_train": "training"}
    roles["math_train"] = "training"
    rows = [{"role": role, **row} for name, role in roles.items() for row in read_source(name)]
    rng = Random(5)
    copied = [
        (row["question"], row["answer"])
        for name in ("math500", "aime24")
        for row in rng.sample([row for row in rows if row["source"] == name], 10)
    ]
    copies = _salt(copied, rng)
    curation = _curate(tmp_path, [*rows, *_rows(copies)], dict.fromkeys(roles, NEAR))
    _check(tmp_path, curation, copies, sum(role == "training" for role in (row["role"] for row in rows)))
    assert [(gone.source, gone.validates, gone.rows) for gone in curation.departures] == [
        ("aime_train", "aime22_23", 60)
    ]
