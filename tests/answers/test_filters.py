from __future__ import annotations

import pytest

from elastic.answers.extract import find_answer
from elastic.answers.filters import FILTERS


@pytest.mark.parametrize(
    ("text", "answer", "name"),
    [
        (r"so \boxed{7}.", "7", "box"),
        (r"\fbox{7}", "7", "box"),
        (r"\boxed{4}. Recounted: \boxed{6}.", "6", "box"),
        (r"\boxed{1} \boxed{2}", "2", "box"),
        ("\x08oxed{14}", "14", "box"),
        (r"The roots are \boxed{-2}, \boxed{3}, and \boxed{8}.", "-2, 3, 8", "boxes"),
        (r"$\boxed{1}$ or $\boxed{3}$", "1, 3", "boxes"),
        (r"$x=\boxed{1}$ or $x=\boxed{3}$", "1, 3", "boxes"),
        (r"First \boxed{0}. Then \boxed{1}, \boxed{3}", "1, 3", "boxes"),
        (r"Intermediate \boxed{\frac{1}{\sqrt{7}}}, final answer: 9", "9", "final answer after the box"),
        (r"\boxed{9}. Final answer: see above.", "9", "box"),
        (r"Answer: 58 \boxed{57}", "57", "box"),
        ("<answer> 36 </answer>", "36", "answer tags"),
        ("<answer>1</answer><answer>2</answer>", "2", "answer tags"),
        ("2+2=4\n#### 1,200\n", "1,200", "gsm8k marker"),
        ("So the answer is 42.", "42", "final answer"),
        ("Final Answer: **58**", "58", "final answer"),
        ("**Final Answer:** $\\frac{1}{2}$", "\\frac{1}{2}", "final answer"),
        ("## Final Answer\n\n58", "58", "final answer"),
        ("ANSWER: $D$", "D", "final answer"),
        ("Final Answer: The final answer is $58$. I hope it is correct.", "58", "final answer"),
        ("The answer is 0.5. It is half.", "0.5", "final answer"),
        ("So 58 is the answer.", "58", "final answer"),
        ("This leaves us with **58**", "58", "bold"),
        ("The total cost is \\$18.50.", "\\$18.50", "last sentence"),
        ("Altogether the profit comes to \\$86,000.", "\\$86,000", "last sentence"),
        ("The line is 2x - 3y - 1=0", "2x - 3y - 1=0", "last sentence"),
        ("Thus $x = 58$.", "x = 58", "last sentence"),
        ("It is therefore 58.", "58", "last sentence"),
        ("\\[ 58 \\]", "58", "last sentence"),
        ("58", "58", "last sentence"),
    ],
)
def test_what_finds_an_answer_is_named(text: str, answer: str, name: str) -> None:
    found = find_answer(text, FILTERS)
    assert found is not None
    assert (found.answer.strip(), found.found_by) == (answer, name)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I could not settle it.",
        "The answer is not 58.",
        "Is it 58?",
        "It might be 58.",
        "58 is my favourite number, but I cannot solve this.",
        r"\boxed{6} or rather \boxed{7",
        r"The answer is 7. \boxed{7",
        r"The answer is 7. \boxed{}",
        r"<answer>7</answer> \boxed{",
        "<answer>7",
        "1,1,1," * 10_000,
    ],
)
def test_nothing_is_found_where_no_answer_is_given(text: str) -> None:
    assert find_answer(text, FILTERS) is None
