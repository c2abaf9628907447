from __future__ import annotations

import pytest

from elastic.answers.extract import BOX, Filter, find_answer, find_boxes, last_box, split_output


@pytest.mark.parametrize(
    ("text", "content"),
    [
        (r"so \boxed{7}", "7"),
        (r"\fbox{7}", "7"),
        (r"first \boxed{4}, recounted \boxed{6}.", "6"),
        (r"\boxed{\frac{1}{2}}", r"\frac{1}{2}"),
        (r"\boxed{\boxed{58}}", r"\boxed{58}"),
        (r"\boxed{1+\boxed{2}}", r"1+\boxed{2}"),
        (r"put it in \boxed as asked: \boxed{14}", "14"),
        (r"\boxed{14}, written in \boxed as asked", "14"),
        (r"\boxed {9}", "9"),
        (r"\boxed{\{1,2\}}", r"\{1,2\}"),
        (r"\boxed{\left\{x\right.}", r"\left\{x\right."),
        (r"a stray { brace, \boxed{3}", "3"),
        (r"a stray } brace, \boxed{3}", "3"),
        (r"\boxed{ hmm. So \boxed{5}", "5"),
        (r"written twice escaped: \\boxed{5}", "5"),
        (r"\\ \boxed{5} \\", "5"),
        (r"\boxed{\begin{pmatrix}1\\{2}\end{pmatrix}}", r"\begin{pmatrix}1\\{2}\end{pmatrix}"),
        ("\\boxed{1\n+ 2}", "1\n+ 2"),
    ],
)
def test_last_complete_box_counts(text: str, content: str) -> None:
    assert last_box(text) == content


@pytest.mark.parametrize(
    "text",
    [
        "",
        "the answer is 7",
        r"\boxed{7",
        r"\boxed{6} no, \boxed{7",
        r"\boxed{6} no, \boxed{\frac{1}{2}",
        r"\boxed{7\}",
        r"\boxed{}",
        r"\boxed{6} or \boxed{ }",
        r"\boxed 7",
        "boxed{7}",
        r"\unboxed{7}",
    ],
)
def test_no_box_an_unclosed_last_box_and_an_empty_one_are_no_answer(text: str) -> None:
    assert last_box(text) is None


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("{" * 300_000 + r"\boxed{1}", "1"),
        (r"\boxed{" + "{" * 300_000, None),
        ("\\" * 1_000_001 + "boxed{1}", "1"),
        ("\\" * 1_000_000, None),
        (r"\boxed{1} " * 50_000 + r"\boxed{2}", "2"),
        (r"\boxed{" * 50_000, None),
        (r"\boxed{" * 50_000 + "1" + "}" * 50_000, r"\boxed{" * 49_999 + "1" + "}" * 49_999),
        (r"\boxed" + " " * 1_000_000, None),
        ("a\x00\\boxed{\x00}", "\x00"),
    ],
    ids=range(9),
)
def test_hostile_texts_are_read_in_one_pass(text: str, content: str | None) -> None:
    assert last_box(text) == content


@pytest.mark.parametrize(
    ("output", "solution"),
    [
        ("abc</think>42", "42"),
        ("<think>plan</think>42", "42"),
        ("42", "42"),
        ("", ""),
        ("<think>about the </think> tag</think>42", "42"),
        ("<think>plan</think>so<think>again</think>42", "42"),
        ("<think>plan</think>", ""),
        ("<think>let me see, 42 perhaps", None),
        ("<think>plan</think>42<think>or rather", None),
        ("plan</think>42<think>or rather", None),
    ],
)
def test_plain_output_is_split_at_its_last_closing_tag(output: str, solution: str | None) -> None:
    assert split_output(output) == solution


def test_thinking_that_is_opened_again_is_not_searched() -> None:
    assert find_answer(r"\boxed{1}<think>or \boxed{2}") is None
    assert find_answer(r"\boxed{1}<think>or \boxed{2}</think>no") is None
    found = find_answer(r"\boxed{1}<think>or \boxed{2}</think>\boxed{3}")
    assert found is not None
    assert (found.answer, found.found_by) == ("3", "box")


def test_filters_are_tried_in_order_and_name_what_they_found() -> None:
    last_word = Filter("last word", lambda text: text.split()[-1] if text.split() else None)
    boxed, plain, empty = (find_answer(text, (BOX, last_word)) for text in (r"\boxed{1} end", "it is 2", " "))
    assert boxed is not None
    assert (boxed.answer, boxed.found_by) == ("1", "box")
    assert plain is not None
    assert (plain.answer, plain.found_by) == ("2", "last word")
    assert empty is None


def test_boxes_are_the_outermost_complete_ones() -> None:
    text = r"\boxed{1} and \fbox{\boxed{2}}"
    assert [text[box.start : box.end + 1] for box in find_boxes(text) or ()] == [r"\boxed{1}", r"\fbox{\boxed{2}}"]
    assert find_boxes(r"\boxed{1} or \boxed{2") == ()
    assert find_boxes("no box") is None
