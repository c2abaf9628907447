r"""Spellings of one question have one wording, by pairs written by hand; different questions have two."""

from __future__ import annotations

import pytest

from elastic.data.wording import wording_of


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (r"Find $\frac{1}{2}+x$.", r"FIND  $ \dfrac12 + X $ ."),
        (r"Find $\frac{1}{2}+x$.", r"find \(\tfrac{1}{2} + x\)"),
        (r"Find $\frac{1}{2}+x$.", r"\TEXT{Find} \[ \FRAC 1 2 + X \]"),
        (r"$\left( 3, \frac{\pi}{2} \right)$", r"$(3,\,\tfrac \pi 2)$"),
        (r"$1{,}000{,}000 \leqslant n$", "$1,000,000 ≤ n$"),
        (r"$12\,345$ apples", "12,345 apples"),
        (r"$x^{10} \cdot y_{1}$", "$x^10 × y_1$"),
        (r"$a_1, a_2, \ldots, a_n$", "$a_1,a_2,\\dots ,a_n$"),
        (r"$30^{\circ}$", r"$30^\circ$"),
        (r"$30^{\circ}$", "30°"),
        (r"$\alpha+\varphi+\Delta$", "α + φ + δ"),
        (r"\textbf{Compute} $\sqrt{2}\!$", "compute $√2$"),
        (r"$\begin{aligned} x &= 1 \\ y &= 2 \end{aligned}$", r"\[x = 1\] \[y = 2\]"),
        (r"$|z| \neq 1$", r"$\lvert z \rvert \not= 1$"),
        (r"$7 \pmod{12}$", r"$7 \bmod 12$"),
        (r"$.5$ m", "0.5 m"),
        (r"$f \to \infty$", "f → ∞"),
        ("Janet’s 9-kilometre walk", "Janet's $9$-kilometre walk"),
    ],
)
def test_spellings_of_one_question_have_one_key(one: str, other: str) -> None:
    assert wording_of(one) == wording_of(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1 2", "12"),
        ("1.2", "1, 2"),
        ("$x^2$", "$x_2$"),
        ("$x+1$", "$x-1$"),
        ("$9!$", "$9$"),
        (r"$x \le 1$", "$x < 1$"),
        (r"$\frac{12}{3}$", r"$\frac123$"),
        (r"$88 \div (4 \div 2)$", r"$88 \div 4 \div 2$"),
        ("$(0,1]$", "$[0,1]$"),
    ],
)
def test_different_questions_have_different_keys(one: str, other: str) -> None:
    assert wording_of(one).key != wording_of(other).key


def test_words_leave_brackets_out_so_that_a_quotient_has_one_wording() -> None:
    assert wording_of(r"$\frac{x+1}{2}$").words == wording_of("(x+1)/2").words == ("x", "+", "1", "2")


def test_a_space_between_letters_changes_the_words_and_not_the_key() -> None:
    assert wording_of("area of $A B C$").key == wording_of("area of $ABC$").key == "areaofabc"
