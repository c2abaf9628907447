"""What an evaluation keeps of traces: every thinking once, and solutions that say how much of it they were given."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from elastic.budget import Budget
from elastic.contracts.evaluation import Solutions, Thinking
from elastic.contracts.frames import check_frame
from elastic.decoding.plan import Sampled
from elastic.decoding.solutions import solutions_frames
from elastic.errors import DataError
from elastic.markers import Markers
from elastic.prompts import Prompter
from elastic.trace import Trace


@pytest.fixture
def rows(tiny_tokenizer: Any, tiny_markers: Markers) -> list[Sampled]:
    def ids(text: str) -> tuple[int, ...]:
        return tuple(tiny_tokenizer.encode(text, add_special_tokens=False))

    opened = (tiny_markers.open_id, *ids("3+4=7"))
    forced = Trace(
        ids("1=?"), opened[:4], (*ids("7}"), 1), "forced", "eos", opening=1, cue_ids=ids("\\boxed{"), inserted=2
    )
    whole = Trace(ids("1=?"), opened, ids("7"), "natural", "budget", opening=1)
    return [
        Sampled("a", 0, "s1_r1", Budget(3, 9), None, forced, logprob=-0.5),
        Sampled("a", 0, "s1_r1", Budget(9, 1), None, whole, depth=2, draw=1, probes=4),
        Sampled("a", 1, "s1_r1", None, 40, replace(whole, solution_ids=(), closed="never"), setting="asked=4"),
    ]


def test_thinking_stands_once_and_solutions_say_how_much_of_it_they_have(
    rows: list[Sampled], tiny_tokenizer: Any, tiny_markers: Markers
) -> None:
    names = {"run": "s1_r1", "model": "base", "solver": "r1"}
    thinking, solutions = solutions_frames(rows, Prompter(tiny_tokenizer), tiny_markers, **names)
    check_frame(Thinking, thinking, where="here")
    check_frame(Solutions, solutions, where="here")
    first, second = thinking.to_dicts()
    assert (first["run"], first["setting"], first["problem_id"], first["sample"]) == ("s1_r1", "", "a", 0)
    assert (second["setting"], second["sample"]) == ("asked=4", 1)
    assert (first["think_text"], first["opening"]) == ("<think>3+4=7", 1)
    assert tuple(first["think_ids"]) == rows[1].trace.think_ids
    forced, whole, unanswered = solutions.to_dicts()
    # What a grader reads starts with the cue; what was sampled does not.
    assert forced["solution_text"] == "\\boxed{7}"
    assert len(forced["solution_ids"]) == forced["n_solution"] == 3
    # A delimiter, a cue of one token, and two tokens inside the thinking.
    assert (forced["n_think"], forced["n_forced"], forced["logprob"]) == (3, 4, -0.5)
    assert (forced["think_budget"], forced["solution_budget"], forced["limit"]) == (3, 9, None)
    assert (forced["model"], forced["solver"], forced["method"]) == ("base", "r1", "s1_r1")
    assert (whole["n_think"], whole["n_forced"], whole["n_probe"], whole["depth"], whole["draw"]) == (5, 0, 4, 2, 1)
    assert (whole["closed"], whole["finish"], whole["logprob"]) == ("natural", "budget", None)
    assert (unanswered["think_budget"], unanswered["limit"], unanswered["solution_text"]) == (None, 40, "")


def test_thinking_of_one_path_that_differs_is_refused(
    rows: list[Sampled], tiny_tokenizer: Any, tiny_markers: Markers
) -> None:
    other = replace(rows[0].trace, think_ids=(*rows[0].trace.think_ids[:-1], 12))
    with pytest.raises(DataError, match="run s1_r1, problem a, sample 0: a thinking is no prefix"):
        solutions_frames(
            [replace(rows[0], trace=other), *rows[1:]],
            Prompter(tiny_tokenizer),
            tiny_markers,
            run="s1_r1",
            model="base",
            solver="base",
        )
