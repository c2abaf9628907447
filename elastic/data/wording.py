r"""One reading of a question for all its spellings: the words that are left when LaTeX and layout are seen through.

Copies of a public problem differ in spaces, case, math delimiters, `\dfrac` for `\frac` or `\frac12`, `\left(`, `\!`,
`\text{...}`, `\leqslant`, `×`, thousands separators. Their words are equal here. The words are for comparing only: the
name of a problem (`problem_id`) and what a model is asked stay with the text as it came.

Punctuation, braces and the stroke of a fraction are no words. Round and square brackets are none either, since
`\frac{x+1}2` and `(x+1)/2` are one question; but a key keeps them, since 8:(4:2) and 8:4:2 are two.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from dataclasses import dataclass
from functools import cache

from elastic.data.normalise import plain

_SYNONYMS = [
    (re.compile(pattern), instead)
    for pattern, instead in (
        # Spaces, line breaks, math delimiters.
        (r"\\\\(?:\[[^\]]*\])?|\\[,;:!> /-]|~|\\[\[\]()]", " "),
        (r"\\(?:[hv]space|[hvm]skip|[hv]?phantom|label|tag)\*?\s*\{[^{}]*\}", " "),
        (r"\\(?:begin|end)\s*\{[^{}]*\}", " "),
        # Looks.
        (r"\\(?:left|right|middle|(?:big|bigg)[lrm]?|(?:display|text|script)style|(?:no)?limits|q?quad)(?![a-z])", " "),
        (r"\\(?:thinspace|enspace|newline|noindent|par|hfill|operatorname\*?|emph|[mhf]box|boxed)(?![a-z])", " "),
        (r"\\(?:text|math)(?:bf|it|rm|normal|sf|tt|up|bb|cal|frak|scr)?(?![a-z])", " "),
        (r"\\(?:bbb|boldsymbol|bm|bf|it|rm|cal)(?![a-z])", " "),
        # Fractions: two digits without braces are two arguments.
        (r"(\\[dtcs]?(?:frac|binom))\s*(\d)\s*(?=\d)", r"\1 \2 "),
        (r"\\(?:[dtcs]?frac|over)(?![a-z])", " "),
        (r"\\[dt]binom(?![a-z])", " binom "),
        # Numbers.
        (r"(?<=\d)(?:\{,\}|,)(?=\d{3}(?!\d))", ""),
        (r"(?<!\d)\.(?=\d)", "0."),
        # Signs with several names.
        (r"\\(?:leqslant|leqq|leq|le)(?![a-z])|⩽|<=", " ≤ "),
        (r"\\(?:geqslant|geqq|geq|ge)(?![a-z])|⩾|>=", " ≥ "),
        (r"\\neq?(?![a-z])|\\not\s*=", " ≠ "),
        (r"\\(?:cdot|times|ast)(?![a-z])|[×·∙⋅]", " * "),
        (r"\\[lcd]?dots[bcimo]?(?![a-z])|\.\.\.", " … "),
        (r"\\(?:[lr]?vert|mid)(?![a-z])|\\\||∣", " | "),
        (r"\\degrees?(?![a-z])|°", "^ circ "),
        (r"\\(?:long)?rightarrow(?![a-z])|\\to(?![a-z])|→", " to "),
        (r"\\(?:varnothing|emptyset)(?![a-z])|∅", " emptyset "),
        (r"\\[pb]mod(?![a-z])", " mod "),
        (r"\\infty(?![a-z])|∞", " infty "),
        (r"√", " sqrt "),
        (r"\\var(?=[a-z])", r"\\"),
        (r"[‘’]", "'"),
    )
]
_GROUPED = re.compile(r"(?<=\d)\\,(?=\d{3}(?!\d))")
_GREEK = re.compile("[\u03b1-\u03c9]")
_WORD = re.compile(r"[^\W\d_]+|\d+(?:\.\d+)?|'(?=\()|[-+*=<>^_!%|@#≤≥≠…()\[\]]")
_BRACKETS = frozenset("()[]")
_IDLE_SPACE = re.compile(r"(?<!\d) | (?!\d)")


def _greek_name(letter: re.Match[str]) -> str:
    return f" {unicodedata.name(letter[0]).split()[-1].lower().replace('lamda', 'lambda')} "


@dataclass(frozen=True)
class Wording:
    """A question as it is compared.

    Attributes:
        words: words, numbers and operators, in order.
        key: the same with brackets, as one text; spaces part numbers alone: `x y` and `xy` have equal keys, `1 2` and
            `12` not.
    """

    words: tuple[str, ...]
    key: str


@cache
def wording_of(question: str) -> Wording:
    """The wording of a question."""
    text = _GROUPED.sub("", plain(question).casefold())
    for pattern, instead in _SYNONYMS:
        text = pattern.sub(instead, text)
    # Words are few and stand in many questions: interned ones cost a pointer each.
    tokens = [sys.intern(token) for token in _WORD.findall(_GREEK.sub(_greek_name, text))]
    words = tuple(token for token in tokens if token not in _BRACKETS)
    return Wording(words, _IDLE_SPACE.sub("", " ".join(tokens)))
