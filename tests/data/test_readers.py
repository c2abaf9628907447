"""Readers, each on rows of our own making that have the traps of the public files."""

from __future__ import annotations

from typing import get_args

import pytest

from elastic.contracts.code_tests import CodeTests
from elastic.contracts.sources import ReaderName
from elastic.data.catalogue import _READERS
from elastic.data.readers import code, gpqa, gsm8k, minerva, olympiad, plain, verl


def test_a_float_answer_is_the_integer_that_it_is() -> None:
    row = plain.read(question="What is 100 + 42?", answer=142.0, level=4.0)
    assert (row["answer"], row["level"]) == ("142", "4")
    assert plain.read(question="q", answer=0.5)["answer"] == "0.5"
    assert plain.read(question="q", answer=-3.0)["answer"] == "-3"


def test_text_stays_text() -> None:
    row = plain.read(question=" \n What?", answer=" 042\n", level=5.625, source_id=7, thinking="so", solution="")
    assert row == {
        "question": " \n What?",
        "answer": "042",
        "level": "5.625",
        "source_id": "7",
        "thinking": "so",
        "solution": None,
    }


def test_a_row_without_an_answer_is_kept_with_an_empty_one() -> None:
    assert plain.read(question="Prove it.", answer=None)["answer"] == ""
    assert minerva.read(question="q", answer=[])["answer"] == ""
    assert olympiad.read(question="q", answer=None, source_id=1)["answer"] == ""
    assert gsm8k.read(question="q", solution="no mark here")["answer"] == ""


@pytest.mark.parametrize("answer", [["7"], {"value": 7}])
def test_an_answer_that_needs_another_reader_is_refused(answer: object) -> None:
    with pytest.raises(TypeError, match="where text or a number was expected"):
        plain.read(question="q", answer=answer)


def test_gsm8k_answers_stand_after_the_last_mark() -> None:
    solution = "He has 3 * 4 = <<3*4=12>>12 eggs.\nThat is #### too many.\n#### 1,012\n"
    assert gsm8k.read(question="How many?", solution=solution) == {"question": "How many?", "answer": "1,012"}


def test_minerva_takes_the_first_of_several_spellings_without_its_newline() -> None:
    row = minerva.read(question="q", answer=["4.4e7\n", "4.4 \\times 10^7\n"], source_id=9)
    assert (row["answer"], row["source_id"]) == ("4.4e7", "9")


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (["$69$,$84$"], "69,84"),
        (["$(1,1), (3,2)$"], "(1,1), (3,2)"),
        (["$221,$8$"], "221,8"),
        (["1, 3"], "1, 3"),
        (["$n^{2}+1$\n"], "n^{2}+1"),
    ],
)
def test_olympiad_answers_lose_their_dollars(answer: list[str], expected: str) -> None:
    assert olympiad.read(question="q", answer=answer, source_id=1606) == {
        "question": "q",
        "answer": expected,
        "source_id": "1606",
    }


def test_an_error_that_olympiad_bench_forgives_is_a_tolerance() -> None:
    row = olympiad.read(question="How many per cent?", answer=["4.0"], source_id=1, error="1e-1")
    assert row["policy"] == {"tolerance": pytest.approx(0.025)}
    with pytest.raises(ValueError, match="could not convert"):
        olympiad.read(question="q", answer=["x+1"], source_id=1, error="1e-1")


def test_verl_rows_are_asked_by_their_user_turn() -> None:
    chat = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "What is 2 + 2?"}]
    row = verl.read(chat=chat, reward_model={"style": "rule", "ground_truth": "004"}, level=6)
    assert row == {"question": "What is 2 + 2?", "answer": "004", "level": "6"}
    with pytest.raises(ValueError, match="no user turn"):
        verl.read(chat=chat[:1], reward_model={"ground_truth": "4"})


def test_gpqa_options_stand_in_an_order_that_their_text_decides() -> None:
    wrong = ["red", "green", "blue"]
    row = gpqa.read("Which colour?", "grey", *wrong)
    assert row == gpqa.read("Which colour?", "grey", *reversed(wrong))
    letter = row["answer"]
    assert f"({letter}) grey" in row["question"].splitlines()
    assert {line[4:] for line in row["question"].splitlines()[2:]} == {"grey", *wrong}
    letters = {gpqa.read(f"Which colour, number {number}?", "grey", *wrong)["answer"] for number in range(40)}
    assert letters == set("ABCD")


def test_a_code_problem_comes_with_its_tests_and_reference_program() -> None:
    raw = {
        "problem": "Read n, print n squared.",
        "tests": {"inputs": ["3\n", "10\n"], "outputs": ["9\n", "100\n"]},
        "solutions": ["print(int(input())**2)"],
    }
    row = code.read("taco", raw, question=raw["problem"], source_id=3)
    assert str(row["question"]).startswith("Read n, print n squared.")
    assert (row["answer"], row["source_id"], row["reference"]) == ("", "3", "print(int(input())**2)")
    assert [test.outputs for test in CodeTests.from_text(row["tests"]).tests] == [("9\n",), ("100\n",)]


@pytest.mark.parametrize("tests", [{"inputs": [], "outputs": []}, {"inputs": ["3"], "outputs": []}, None, "no JSON"])
def test_a_code_problem_whose_tests_cannot_be_read_is_kept_without_any(tests: object) -> None:
    row = code.read("taco", {"problem": "Do it.", "tests": tests}, question="Do it.", level=3)
    assert row == {"question": "Do it.", "answer": "", "level": "3"}


def test_every_reader_of_the_catalogue_exists() -> None:
    assert set(get_args(ReaderName)) == {*_READERS, *code.FORMATS}
