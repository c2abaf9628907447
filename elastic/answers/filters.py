r"""The named ways in which grader `math` finds an answer, in order.

A box comes first. Where the solution has one, only two things count: the last box, if it is complete, or a labelled
final answer after it. Without any box the answer is looked for where formats put it: answer tags, the `####` of GSM8K,
a labelled final answer, bold text, the end of the last sentence. Every scan is linear in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from elastic.answers.extract import Filter, find_boxes, last_box
from elastic.answers.spelling import mend_escapes

Find = Callable[[str], str | None]

# Only so much from the end is searched for what is no box.
_TAIL = 4000
_MOST_BETWEEN = 60

_BETWEEN_BOXES = re.compile(
    r"[\s$,.;:~]|\\[,;: ()\[\]]|\\text(?:rm)? ?\{ ?(?:and|or) ?\}|\b(?:and|or)\b|\\q?quad|[A-Za-z](?:_\w)? ?="
)
_SEPARATES = re.compile(r",|;|\band\b|\bor\b")
_TAGS = re.compile(r"<answer>(.*?)</answer>", re.DOTALL | re.IGNORECASE)
_HASHES = re.compile(r"^[ \t]*####[ \t]*(\S[^\n]*)$", re.MULTILINE)
_LABEL = re.compile(
    r"(?:(?:the|my|our)\s+)?(?:final\s+|correct\s+)?answer\b[*_]{0,2}\s*(?:is\b|are\b|equals\b|=|:)(?:\s*:)?",
    re.IGNORECASE,
)
_FINAL_LABEL = re.compile(r"final\s+answer\b[*_]{0,2}\s*(?:is\b|:)(?:\s*:)?", re.IGNORECASE)
_HEADING = re.compile(
    r"^[ \t]*(?:#+[ \t]*|[*_]{2})final answer\.?(?:[*_]{2})?[ \t]*:?(?:[*_]{2})?[ \t]*\n+", re.IGNORECASE | re.MULTILINE
)
_IS_THE_ANSWER = re.compile(r"(\S+)\s+is\s+(?:the|our|my)\s+(?:final\s+|correct\s+)?answer\b", re.IGNORECASE)
_UNSURE = re.compile(r"\b(?:not|cannot|can't|might|may|could|unsure|whether|if|either|maybe|perhaps)\b", re.IGNORECASE)
_ADVERB = re.compile(r"(?:\s*(?:therefore|thus|hence|then|simply|exactly|just|also|now|only|indeed|precisely)\b,?)+")
_NEGATION = re.compile(r"^\s*(?:not\b|n't|never\b|neither\b|unknown\b|unclear\b|wrong\b|incorrect\b)", re.IGNORECASE)
_BOLD = re.compile(r"\*\*([^*\n]{1,300})\*\*")
_MATHS = re.compile(r"\$\$([^$]+)\$\$|\$([^$]+)\$|\\\((.+?)\\\)|\\\[(.+?)\\\]", re.DOTALL)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z\\$*(])|\n+")
_SAYS = """
is are was were be equals come comes totals cost costs give gives yields make makes get gets obtain has have had earn
earns earned pay pays paid take takes took need needs becomes choose pick select save saves saved spend spends spent
walk walks walked travel travels travelled traveled leaves contain contains hold holds sell sells sold find finds found
"""
_COPULA = re.compile(
    rf"\b(?:amounts to|(?:equal|comes?) to|{'|'.join(_SAYS.split())})\b(?! (?:not|no|never)\b)|(?<=\w):", re.IGNORECASE
)
_VALUE = re.compile(
    r"[-+(\[{\\$0-9.|√∞½−]|[A-Za-z](?:[ ]?[=<>(^_]|\b)|\*\*|(?!(?:not|the|a|an|in|to|of)\b)\w+(?: \w+){0,2}[. ]*$"
)
_EDGES = " \t\n*_`"


def _joined_boxes(text: str) -> str | None:
    """Boxes next to each other with nothing but commas, `and` or `or` between them are one list."""
    found = find_boxes(text)
    if not found or len(found) < 2:
        return None
    run = [found[-1]]
    for box in reversed(found[:-1]):
        between = text[box.end + 1 : run[-1].start]
        if len(between) > _MOST_BETWEEN or not _SEPARATES.search(between) or _BETWEEN_BOXES.sub("", between):
            break
        run.append(box)
    if len(run) == 1:
        return None
    return ", ".join(text[box.content : box.end] for box in reversed(run))


def _tail(text: str) -> str:
    return text[-_TAIL:]


def _clean(text: str) -> str | None:
    """The text of an answer out of the marks around it; None if nothing is left."""
    text = text.strip(_EDGES)
    maths = _MATHS.fullmatch(text.rstrip(". "))
    if maths:
        text = next(part for part in maths.groups() if part is not None)
    text = text.strip(_EDGES)
    while text.endswith((".", ",", ";")) and not text.endswith("\\,"):
        text = text[:-1].rstrip(_EDGES)
    return text or None


def _after(text: str) -> str | None:
    """The answer that follows a label: the rest of its line, or the next line; cut at the end of its sentence."""
    text = text.lstrip(" \t*_:")
    if text.startswith("\n"):
        text = text.lstrip()
    bold = _BOLD.match(text) or re.match(r"\*\*([^*\n]{1,300})\*\*", text)
    if bold:
        return _clean(bold[1])
    maths = _MATHS.match(text)
    if maths:
        rest = text[maths.end() :].partition("\n")[0].strip(" *_")
        inner = next(part for part in maths.groups() if part is not None)
        if not rest or rest[0] in ".,;!" or _SENTENCE_END.match(rest):
            return _clean(inner)
    line = _SENTENCE_END.split(text, maxsplit=1)[0]
    return None if _NEGATION.match(line) else _clean(line)


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    return max(pattern.finditer(text), key=lambda hit: hit.start(), default=None)


def _last_labelled(text: str, label: re.Pattern[str]) -> str | None:
    last = _last(label, text)
    return _after(text[last.end() :]) if last else None


def _final_after_box(text: str) -> str | None:
    """A labelled final answer that follows the last box and is a value."""
    found = find_boxes(text)
    if not found:
        return None
    rest = text[found[-1].end :]
    if len(rest) > _TAIL:
        return None
    answer = _last_labelled(rest, _FINAL_LABEL)
    return answer if answer and re.match(r"[-+\\$(\[{]*[0-9]|[-+]?\\|[A-J]$", answer) else None


def _tags(text: str) -> str | None:
    found = _TAGS.findall(_tail(text))
    return _clean(found[-1]) if found else None


def _hashes(text: str) -> str | None:
    found = _HASHES.findall(_tail(text))
    return _clean(found[-1]) if found and not found[-1].lower().startswith("final answer") else None


def _label(text: str) -> str | None:
    tail = _tail(text)
    heading = _last(_HEADING, tail)
    answer = _after(tail[heading.end() :]) if heading else _last_labelled(tail, _LABEL)
    if answer is not None:
        return answer
    told = _IS_THE_ANSWER.search(tail)
    return _clean(told[1]) if told and _VALUE.match(told[1].strip(_EDGES)) else None


def _bold(text: str) -> str | None:
    line = next((line for line in reversed(_tail(text).splitlines()) if line.strip()), "")
    found = _BOLD.findall(line)
    return _clean(found[-1]) if found and _VALUE.match(found[-1].strip()) else None


def _last_sentence(text: str) -> str | None:
    """What the last sentence says that something is; a line of mathematics alone counts whole."""
    lines = [line.strip() for line in _tail(text).splitlines() if line.strip()]
    if not lines:
        return None
    sentence = [part for part in _SENTENCE_END.split(lines[-1]) if part.strip()][-1].strip()
    if len(sentence) > 400 or sentence.endswith("?"):
        return None
    whole = _clean(sentence)
    if whole and _MATHS.fullmatch(sentence.rstrip(". ")):
        return whole
    if _UNSURE.search(_MATHS.sub("", sentence)):
        return None
    last = _last(_COPULA, sentence)
    if last is None:
        maths = _last(_MATHS, sentence)
        if maths is not None and not sentence[maths.end() :].strip(" ."):
            return _clean(maths[0])
        plain = whole is not None and re.fullmatch(r"[-+]?\\?\$?[0-9][0-9.,/]*\s?%?|[A-J]|\\frac\{.*\}", whole)
        return whole if plain else None
    rest = _ADVERB.sub("", sentence[last.end() :], count=1).strip()
    return _clean(rest) if _VALUE.match(rest) and not _NEGATION.match(rest) else None


def _mended(find: Find) -> Find:
    """Searches the text with its lost backslashes put back."""
    return lambda text: find(mend_escapes(text))


def _unless_boxed(find: Find) -> Find:
    """Finds nothing where any box was opened, complete or not."""
    return lambda text: find(text) if find_boxes(text) is None else None


FILTERS = tuple(
    Filter(name, _mended(find))
    for name, find in (
        ("final answer after the box", _final_after_box),
        ("boxes", _joined_boxes),
        ("box", last_box),
        ("answer tags", _unless_boxed(_tags)),
        ("gsm8k marker", _unless_boxed(_hashes)),
        ("final answer", _unless_boxed(_label)),
        ("bold", _unless_boxed(_bold)),
        ("last sentence", _unless_boxed(_last_sentence)),
    )
)
