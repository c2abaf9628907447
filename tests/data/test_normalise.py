"""Keys of questions and normalised answers, against spellings written by hand."""

from __future__ import annotations

import pytest

from elastic.data.normalise import normalise_answer, normalise_question, problem_id


@pytest.mark.parametrize(
    ("spelling", "key"),
    [
        ("4 + 3 = ?", "4+3=?"),
        ("４＋３＝？", "4+3=?"),
        ("  What  is\tthe\nSum ? ", "what is the sum?"),
        ("7 − 3", "7-3"),
        ("7 – 3", "7-3"),
        ("a\u200bb", "ab"),
        ("x⁻¹", "x^-1"),
        ("4½", "4 1/2"),
    ],
)
def test_spellings_of_one_question_share_a_key(spelling: str, key: str) -> None:
    assert normalise_question(spelling) == key


@pytest.mark.parametrize(
    ("one", "other"), [("1 2", "12"), ("10²", "102"), ("4½", "41/2"), ("4+3", "4-3"), ("a b", "ab")]
)
def test_different_questions_keep_different_keys(one: str, other: str) -> None:
    assert normalise_question(one) != normalise_question(other)


def test_a_key_is_its_own_key() -> None:
    for text in ("4 + 3 = ?", "What  is ½ of 10² − x ?", "Ⅷ apples , and ﬁve"):
        assert normalise_question(normalise_question(text)) == normalise_question(text)


def test_the_id_is_the_sha256_of_the_key() -> None:
    assert problem_id(" 4 + 3 = ?") == "f8da8b79a7339e78"  # printf '4+3=?' | sha256sum


@pytest.mark.parametrize(
    ("answer", "normal"),
    [
        (" 14 ", "14"),
        ("$14$", "14"),
        ("$$14.0$$", "14"),
        ("142.0", "142"),
        ("142.5", "142.5"),
        (r"\boxed{14}", "14"),
        (r"$\boxed{\frac{1}{2}}$", r"\frac{1}{2}"),
        (r"\boxed{1}, \boxed{2}", r"\boxed{1}, \boxed{2}"),
        ("$1$ or $2$", "$1$ or $2$"),
        (r"\$41.00", r"\$41.00"),
        (r"\boxed{}", r"\boxed{}"),
        ("１２", "12"),
        ("Alice", "Alice"),
        ("10²", "10^2"),
    ],
)
def test_answers_lose_their_wrapping_and_nothing_else(answer: str, normal: str) -> None:
    assert normalise_answer(answer) == normal
