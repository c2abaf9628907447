"""Whether an answer equals the gold: the same text, the same number, the same choice, or the same structure."""

from __future__ import annotations

from elastic.answers.compare import exact_number
from elastic.answers.reading import choice
from elastic.answers.reading.clock import read_time, same_time
from elastic.answers.reading.comparison import WholeComparison
from elastic.answers.reading.expressions import UnknownError, parse
from elastic.answers.reading.leaves import same_number
from elastic.answers.reading.protocol import Leaf
from elastic.answers.reading.restated import ordered, restates
from elastic.answers.reading.tokens import UnreadableError, tokenize
from elastic.answers.spelling import canonical
from elastic.answers.verdict import Gold

# Longer answers equal their own text only.
LONGEST = 20_000


def judge(answer: str, gold: Gold, leaf: Leaf) -> bool | None:
    """Whether an answer equals the gold; None where `leaf` cannot tell.

    An empty gold equals nothing. The same text equals itself, whatever it is.
    """
    given, wanted = canonical(answer), canonical(gold.answer)
    if not wanted or not given:
        return False
    if given == wanted:
        return True
    if gold.question is not None and restates(given, gold.question) and not _same_work(given, wanted):
        return False
    if given.isdecimal() and wanted.isdecimal() and not gold.policy.tolerance:
        return given.lstrip("0") == wanted.lstrip("0")
    left, right = exact_number(given), exact_number(wanted)
    if left is not None and right is not None and (left.value == right.value or "," not in wanted):
        return same_number(left, right, gold.policy)
    if given.casefold() == wanted.casefold() and _said(answer, gold.answer, wanted):
        return True
    if choice.several_letters(wanted):
        letters = choice.letters_of(given)
        if len(letters) > 1:
            return letters == set(wanted)
    if max(len(given), len(wanted)) > LONGEST:
        return False
    letter = choice.gold_letter(wanted)
    if letter is not None:
        return _same_choice(given, letter, gold, leaf)
    if ":" in given and ":" in wanted:
        times = read_time(choice.plain(given)), read_time(choice.plain(wanted))
        if times[0] and times[1]:
            return same_time(times[0], times[1])
    try:
        answer_tokens, gold_tokens = tokenize(given), tokenize(wanted)
        return WholeComparison(gold.policy, leaf, gold.question).texts(answer_tokens, gold_tokens)
    except UnreadableError:
        return False


def _said(answer: str, gold: str, wanted: str) -> bool:
    """Whether letters are a word, whose case says nothing, and no product of symbols."""
    if not wanted.replace(" ", "").isalpha():
        return False
    return len(wanted) > 3 or wanted.casefold() in ("yes", "no") or any("\\text" in text for text in (answer, gold))


def _same_work(given: str, wanted: str) -> bool:
    """Whether two expressions differ in the order of terms and factors alone."""
    try:
        return ordered(parse(tokenize(given))) == ordered(parse(tokenize(wanted)))
    except (UnknownError, UnreadableError):
        return False


def _same_choice(given: str, letter: tuple[str, str], gold: Gold, leaf: Leaf) -> bool | None:
    chosen = choice.given_letter(given)
    if chosen is not None:
        return chosen[0] == letter[0]
    return judge(given, Gold(letter[1], gold.policy), leaf) if letter[1] else False
