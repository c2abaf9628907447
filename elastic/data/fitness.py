r"""Which problems have no verdict: rules that recognise them by their text, each with a name under which it is counted.

The rules are narrow on purpose: they take a proof without an asked value, but not "Show that this is finite, and
determine its average"; a drawing that is missing, but not one that stands in the text as Asymptote, TikZ or a table; an
answer in several parts, but not one with several values, which a policy compares as a list. Rows of benchmarks are
counted and kept, except for what cannot be graded at all: a benchmark without some of its problems is another one.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import polars as pl

from elastic.data.ledger import BENCHMARK, OPEN, reject

_PROOF = re.compile(
    r"(?:^|[.!?:;,)$\n]|\band|\bthen|\bto|\bplease)\s*(?:prove|show|verify|demonstrate)\b(?:\s+or\s+disprove)?\s*[:,]?\s+"
    r"(?:that|the following|for)\b",
    re.IGNORECASE,
)
_ASKED = re.compile(
    r"\b(?:find|determine|compute|calculate|evaluate|solve|simplify|express|enter|what"
    r"|how (?:many|much|long|far|old|often))\b",
    re.IGNORECASE,
)
_ASKING = r"(?:find|determine|compute|calculate|evaluate|prove|show|what|how)\b"
# A label stands by itself: f(a) is none.
_PARTS_ASKED = re.compile(
    rf"(?<![\w(])\(?(?:a|i|1)\)\s*{_ASKING}.*(?<![\w(])\(?(?:b|ii|2)\)\s*{_ASKING}", re.IGNORECASE | re.DOTALL
)
_PARTS_ANSWERED = re.compile(
    r"^\W{0,3}(?:(?:part )?\(?a\)|\(i\)|part a\b).+(?:\(?b\)|\(ii\)|part b\b)", re.IGNORECASE | re.DOTALL
)
_IMAGE = re.compile(
    r"!\[[^\]]*\]\([^)]*\)|\\includegraphics|<img\b|<image|\[img\]|https?://\S+\.(?:png|jpe?g|gif|svg|webp)",
    re.IGNORECASE,
)
_SPARE_IMAGE = "\\nonessentialimage"
_DRAWING = re.compile(
    r"\[asy\]|\\begin\s*\{(?:tikz|asy|picture|tabular|array|[a-z]*matrix|cases|align|verbatim)|\\chemfig|\|\s*-{2,}",
    re.IGNORECASE,
)
_PICTURE = r"(?:figures?|diagrams?|pictures?|images?|drawings?|illustrations?)"
_PLACE = r"(?:below|above|shown|(?:at|to|on) (?:the )?(?:right|left))"
_POINTED_AT = re.compile(
    rf"\b{_PICTURE}\s+(?:(?:is|are)\s+)?{_PLACE}\b"
    rf"|\b(?:see|in|from) the\s+(?:\w+\s+)?(?:figure|diagram)s?(?=[,.:;)]|\s*$|\s+{_PLACE})"
    rf"|\bthe\s+(?:\w+\s+)?{_PICTURE}\s+(?:{_PLACE}\s+)?(?:shows|indicates)\b",
    re.IGNORECASE,
)
_NO_ANSWER = re.compile(
    r"\W*(?:see (?:the )?(?:solution|above|below|proof|explanation)|proof|proven|proved|qed|q\.e\.d\.|(?:answers?|it) "
    r"(?:may |will |can )?var(?:y|ies)|(?:no|none) (?:answer|solution) (?:given|provided)|n/?a|nan|null|unknown|omitted"
    r"|not (?:provided|available|given))\W*",
    re.IGNORECASE,
)
_COMMAND = re.compile(r"\\[A-Za-z]+")
_PROSE_WORD = re.compile(r"[^\W\d_]{3,}")
_MOST_PROSE = 12
_LONGEST_ANSWER = 500


def is_proof(question: str, answer: str) -> bool:
    """A statement to prove, with no value asked for."""
    return bool(_PROOF.search(question)) and not _ASKED.search(question)


def has_parts(question: str, answer: str) -> bool:
    """Several questions in one, or an answer in labelled parts."""
    return bool(_PARTS_ASKED.search(question) or _PARTS_ANSWERED.search(answer))


def needs_image(question: str, answer: str) -> bool:
    """An image that is not in the text: linked, or pointed at while no drawing stands there."""
    if _IMAGE.search(question):
        return _SPARE_IMAGE not in question
    return bool(_POINTED_AT.search(question)) and not _DRAWING.search(question)


def has_no_answer(question: str, answer: str) -> bool:
    """No answer, or words that stand for none."""
    return not answer.strip() or bool(_NO_ANSWER.fullmatch(answer))


def is_prose(question: str, answer: str) -> bool:
    """An answer that is an explanation."""
    words = _PROSE_WORD.findall(_COMMAND.sub(" ", answer))
    return len(words) > _MOST_PROSE or len(answer) > _LONGEST_ANSWER


Rule = Callable[[str, str], bool]
_UNGRADABLE: dict[str, Rule] = {"no answer": has_no_answer, "answer in prose": is_prose}
_UNFIT: dict[str, Rule] = {"proof": is_proof, "several parts": has_parts, "needs an image": needs_image}
_MATH = pl.col("domain") == "math"


def _holds(ledger: pl.DataFrame, rule: Rule) -> pl.Series:
    texts = ledger.select("question", "answer_original").iter_rows()
    return pl.Series([rule(question, answer) for question, answer in texts], dtype=pl.Boolean)


def reject_unfit(ledger: pl.DataFrame) -> tuple[pl.DataFrame, dict[str, dict[str, int]]]:
    """Reject the open problems that have no verdict.

    Returns:
        the ledger, and how many rows of benchmarks a rule holds for that are kept all the same, by rule and source.
    """
    ledger = reject(
        ledger, ~_MATH & pl.col("tests").is_null(), "no tests", pl.lit("nothing judges a program for this problem")
    )
    unfit: dict[str, dict[str, int]] = {}
    for name, rule in (_UNGRADABLE | _UNFIT).items():
        hit = _MATH & _holds(ledger, rule)
        spared = BENCHMARK if name in _UNFIT else pl.lit(False)
        kept = ledger.filter(OPEN & hit & spared)["source"].value_counts().sort("source")
        if len(kept):
            unfit[name] = dict(kept.iter_rows())
        ledger = reject(ledger, hit & ~spared, name, pl.lit("by rule, see elastic/data/fitness.py"))
    return ledger, unfit
