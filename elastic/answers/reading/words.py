"""Phrases in answers: fixed ones with a meaning, numbers in words, what leads in or qualifies without changing it."""

from __future__ import annotations

import re

from elastic.answers.reading.tokens import Tokens

NONE, UNDEFINED, INFINITY, REALS = "none", "undefined", "infinity", "reals"

_MEANINGS = {
    NONE: (
        "no solution|no solutions|no real solution|no real solutions|no solution exists|no solutions exist|none"
        "|empty set|there is no solution|there are no solutions|the empty set|there are no real solutions"
        "|no real roots|no roots|has no solution|has no solutions|null set|no such number"
        "|no such numbers|no such value|no such values|no values|no answer exists"
    ),
    UNDEFINED: (
        "dne|does not exist|the limit does not exist|limit does not exist|undefined|not defined|it does not exist"
        "|doesn't exist|is undefined|the limit dne|nonexistent|do not exist"
    ),
    INFINITY: (
        "infinity|infinite|positive infinity|infinitely many|infinitely many solutions|plus infinity|inf|infinitly many"
        "|infinite solutions|an infinite number|there are infinitely many solutions|infinite number of solutions"
    ),
    REALS: (
        "all real numbers|all reals|the real numbers|all real|real numbers|any real number|every real number|reals"
        "|all real values|the set of all real numbers|set of all real numbers|the set of real numbers|the reals"
        "|the real line|set of real numbers|all real x|all x"
    ),
    "-infinity": "negative infinity|minus infinity",
}
_MEANING = {phrase: meaning for meaning, phrases in _MEANINGS.items() for phrase in phrases.split("|")}

_NAMES = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
nineteen
"""
_ONES = _NAMES.split()
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_SMALL = {word: value for value, word in enumerate(_ONES)} | {word: 10 * (n + 2) for n, word in enumerate(_TENS)}

_ARTICLES = {"the", "a", "an", "on", "in", "at", "by", "it", "is", "it's", "its", "only"}
_LINKS = {
    "is",
    "are",
    "equals",
    "be",
    "was",
    "equal",
    "to",
    "approximately",
    "about",
    "get",
    "gives",
    "have",
    "exactly",
}
_FILLERS = {
    *(
        "the",
        "final",
        "answer",
        "so",
        "thus",
        "therefore",
        "hence",
        "we",
        "value",
        "of",
        "result",
        "solution",
        "roughly",
    ),
    *(
        "solutions",
        "it",
        "that",
        "must",
        "i",
        "a",
        "an",
        "our",
        "required",
        "desired",
        "correct",
        "approx",
        "then",
        "and",
    ),
    *("answers", "root", "roots", "values", "domain", "range", "interval", "set", "number", "around", "namely", "or"),
} | _LINKS
SCALES = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_CONTRARY = {
    *("not", "no", "never", "least", "most", "less", "more", "than", "if", "either", "neither", "between", "cannot"),
    *(
        "isn't",
        "under",
        "over",
        "below",
        "above",
        "maybe",
        "perhaps",
        "possibly",
        "except",
        "unless",
        "without",
        "might",
    ),
}
_QUALIFY = {"for", "where", "since", "because", "whenever", "assuming", "provided"}


def is_letters(tokens: Tokens) -> bool:
    """Whether nothing but words or letters stands there."""
    return len(tokens) > 0 and all(token.kind == "letters" or token.text in "'-.\"!" for token in tokens.items)


def phrase(tokens: Tokens) -> str:
    """The words of a stretch, in small letters with single spaces."""
    return " ".join(token.text.casefold() for token in tokens.items if token.kind == "letters")


def meaning(text: str) -> str | None:
    """What a fixed phrase says, if it is one."""
    return _MEANING.get(text)


def number_in_words(text: str) -> int | None:
    """The whole number that words name (`twenty one`), up to 999."""
    words = [word for word in text.replace("-", " ").split() if word != "and"]
    total = 0
    for place, word in enumerate(words):
        if word == "hundred" and 0 < total < 10:
            total *= 100
        elif word in _SMALL and (place == 0 or (total % 100 == 0 and total) or (total % 10 == 0 and _SMALL[word] < 10)):
            if place and not _SMALL[word]:
                return None
            total += _SMALL[word]
        else:
            return None
    return total if words else None


def bare(text: str) -> str:
    """A phrase without articles and the words that lead into it."""
    words = [word for word in re.split(r"[^\w']+", text) if word]
    links = [place for place, word in enumerate(words[:-1]) if word in ("is", "are", "was", "were")]
    if links and not _CONTRARY & set(words):
        words = words[links[-1] + 1 :]
    kept = [word for word in words if word not in _ARTICLES]
    return " ".join(kept or words)


def without_lead_in(tokens: Tokens) -> Tokens:
    r"""A stretch without the words that lead into it (`\text{The answer is }`, `\text{Domain:}`).

    Words that contradict or bound what follows stay: `at least 4` is not 4.
    """
    end = 0
    words: list[str] = []
    while end < len(tokens) and tokens[end].kind == "letters" and (tokens[end].word or len(tokens[end].text) > 1):
        words.append(tokens[end].text.casefold())
        end += 1
    if end == len(tokens) or not words or _CONTRARY & set(words):
        return tokens
    if tokens.text(end) == ":":
        if not set(words) <= _FILLERS and not all(token.word for token in tokens.items[:end]):
            return tokens
        return tokens.cut(end + 1) if end + 1 < len(tokens) else tokens
    if words[-1] in _LINKS or set(words) <= _FILLERS - {"and", "or", "a", "i"}:
        return tokens.cut(end)
    return tokens


def without_qualifier(tokens: Tokens) -> Tokens:
    r"""A stretch without a trailing `for all real x`, `where k is an integer` or explanation."""
    for place in tokens.top:
        if not place:
            continue
        if tokens[place].kind == "letters" and tokens[place].text.casefold() in _QUALIFY:
            rest = tokens.cut(place + 1)
            has_number = any(token.kind == "number" for token in rest.items)
            bounds = any(token.text in ("<", ">", "\\le", "\\ge", "\\ne", "\\in") for token in rest.items)
            if has_number and not bounds:
                return tokens
            end = place
            while end > 0 and tokens.text(end - 1) in (",", ";", "("):
                if tokens.text(end - 1) == "(" and tokens.closed_by.get(end - 1) != len(tokens) - 1:
                    return tokens
                end -= 1
            return tokens.cut(0, end) if end else tokens
        if tokens.text(place) == "(" and tokens.closed_by.get(place) == len(tokens) - 1 and place + 2 < len(tokens):
            inside = tokens.cut(place + 1, len(tokens) - 1)
            first = inside[0].text.casefold()
            words = {token.text.casefold() for token in inside.items}
            if first in _QUALIFY or (
                is_letters(inside) and all(t.word or len(t.text) > 2 for t in inside.items) and not words & _CONTRARY
            ):
                return tokens.cut(0, place)
    return tokens
