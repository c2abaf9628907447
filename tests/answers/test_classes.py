from __future__ import annotations

import polars as pl

from elastic.answers.classes import answer_class, with_classes


def test_spellings_of_one_answer_share_a_class() -> None:
    assert {answer_class(text) for text in ("1/2", "0.5", r"\frac{3}{6}", r"$\dfrac12$", ".50")} == {"1/2"}
    assert answer_class("1,000") == answer_class("1000") == "1000"
    assert answer_class(r"x^{2}+1") == answer_class("x^2 + 1")
    assert answer_class("0.33") != answer_class("1/3")


def test_a_frame_gets_the_classes_and_keeps_its_nulls() -> None:
    frame = pl.DataFrame({"answer": ["0.5", None, "1/2", "two"], "sample": [0, 1, 2, 3]})
    assert with_classes(frame).rows() == [("1/2", 0), (None, 1), ("1/2", 2), ("two", 3)]
