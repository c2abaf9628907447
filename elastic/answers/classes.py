"""Answers that count as the same, by one text for all of them: what votes are counted over.

The text is the exact rational where an answer is one, otherwise its canonical spelling. That joins what
`compare.settle` settles as equal without a gold; answers that only a slower judge finds equal stay apart.
"""

from __future__ import annotations

import polars as pl

from elastic.answers.compare import exact_number
from elastic.answers.spelling import canonical


def answer_class(text: str) -> str:
    r"""One text for `1/2`, `0.5` and `\frac{3}{6}`."""
    spelled = canonical(text)
    number = exact_number(spelled)
    return spelled if number is None else str(number.value)


def with_classes(frame: pl.DataFrame) -> pl.DataFrame:
    """`frame` with the class of every answer in place of its text; nulls stay."""
    texts = frame["answer"].unique().drop_nulls()
    classes = {text: answer_class(text) for text in texts}
    return frame.with_columns(pl.col("answer").replace(classes))
