r"""Names of values: `x`, `f(x)`, `a_n`, `\angle ABC`, `AB`, `(x,y)`, words; never a product or a number."""

from __future__ import annotations

import re

from elastic.answers.reading.tokens import Tokens


def _places(tokens: Tokens, text: str) -> list[int]:
    return [place for place in tokens.top if tokens.text(place) == text]


def is_label(tokens: Tokens) -> bool:
    r"""Whether this names a value: `x`, `f(x)`, `a_n`, `\angle ABC`, `AB`, `(x,y)`, words; no product, no number."""
    if not len(tokens) or len(tokens) > 14:
        return False
    place = 0
    if tokens.text(0) == "|" and tokens.text(len(tokens) - 1) == "|" and len(tokens) <= 4:
        return all(token.kind == "letters" and token.text.isupper() for token in tokens.items[1:-1])
    if tokens.text(0) == "(" and tokens.closed_by.get(0) == len(tokens) - 1:
        parts = tokens.cut(1, len(tokens) - 1)
        commas = _places(parts, ",")
        return bool(commas) and all(is_label(part) for part in parts.split(commas))
    letters = 0
    while place < len(tokens):
        token = tokens[place]
        if token.kind == "letters":
            if not token.word:
                letters += 1
                if len(token.text) > 1 and not token.text.isupper() and len(tokens) > 1:
                    return False
                if len(token.text) in (2, 3) and token.text.islower():
                    return False
        elif token.text == "(":
            closing = tokens.closed_by[place]
            if place == 0 or closing != len(tokens) - 1:
                return False
            return len(tokens.cut(place + 1, closing)) <= 8
        elif token.text == "_" or (token.text == "^" and tokens.text(place + 1) in ("{", "\\prime", "'", "*")):
            start = place + 1
            end = tokens.closed_by.get(start, start)
            if token.text == "^" and tokens.text(start) == "{":
                inside = "".join(t.text for t in tokens.items[start + 1 : end])
                if inside not in ("-1", "\\prime", "'"):
                    return False
            place = end
        elif token.kind == "command" and re.fullmatch(r"\\(?:[a-zA-Z]+)", token.text):
            name = token.text[1:]
            if name in (
                "frac",
                "sqrt",
                "pi",
                "infty",
                "cdot",
                "times",
                "pm",
                "sin",
                "cos",
                "tan",
                "log",
                "ln",
                "binom",
            ):
                return name == "frac" and _is_derivative(tokens)
            if name in ("angle", "triangle", "overline", "vec", "hat", "bar", "dot", "mathbf", "operatorname"):
                if name in ("overline", "vec", "hat", "bar", "dot"):
                    place = tokens.closed_by.get(place + 1, place + 1)
                letters = -10
            else:
                letters += 1
        elif token.text not in ("'", "."):
            return False
        place += 1
    return letters <= 1


def _is_derivative(tokens: Tokens) -> bool:
    return re.fullmatch(r"\\frac\{d[a-z]?\}\{d[a-z]\}", "".join(t.text for t in tokens.items)) is not None


def label_of(tokens: Tokens) -> str:
    """A label as text, to compare it with another."""
    return "".join(token.text.casefold() if token.word else token.text for token in tokens.items)


def is_variable(tokens: Tokens) -> bool:
    """Whether this is one symbol, with or without an index."""
    first = tokens[0] if len(tokens) else None
    if first is None or not is_label(tokens) or "(" in (token.text for token in tokens.items):
        return False
    return (first.kind == "letters" and len(first.text) == 1) or (first.kind == "command" and len(tokens) == 1)


def labels_agree(a: str, b: str) -> bool:
    """Whether two labels may name one thing; two single variables must be the same one, y and f(x) are."""
    if a == b:
        return True
    single = [re.fullmatch(r"[A-Za-z]|\\[a-z]+", label) is not None for label in (a, b)]
    return not all(single)
