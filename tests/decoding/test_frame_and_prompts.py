"""The borders of the strategies: prompts in, the frame Traces out."""

from __future__ import annotations

from typing import Any

import pytest

from elastic.budget import Budget
from elastic.contracts.frames import Traces, check_frame
from elastic.decoding.frame import traces_frame
from elastic.decoding.plan import Sampled
from elastic.decoding.prompting import render_prompts
from elastic.errors import DataError, ParamsError
from elastic.markers import Markers
from elastic.prompts import Prompter
from elastic.trace import Trace


def test_text_keeps_every_token_but_eos_and_padding(tiny_tokenizer: Any, tiny_markers: Markers) -> None:
    def ids(text: str) -> tuple[int, ...]:
        return tuple(tiny_tokenizer.encode(text, add_special_tokens=False))

    trace = Trace(
        ids("<user>1=?"),
        (tiny_markers.open_id, *ids("3+4"), tiny_markers.pad_id, *ids("=7")),
        (*ids("\\boxed{7}"), tiny_markers.open_id, 1),
        "forced",
        "eos",
        opening=1,
    )
    rows = [
        Sampled("a" * 16, 0, "separate", Budget(6, 9), None, trace),
        Sampled("a" * 16, 1, "unconstrained", None, 40, trace),
    ]
    frame = traces_frame(rows, Prompter(tiny_tokenizer), tiny_markers, split="test", model="r1")
    check_frame(Traces, frame, where="here")
    first, second = frame.to_dicts()
    assert first["think_text"] == "<think>3+4=7"
    assert first["solution_text"] == "\\boxed{7}<think>"
    assert (first["think_budget"], first["solution_budget"], first["limit"]) == (6, 9, None)
    assert (second["think_budget"], second["solution_budget"], second["limit"]) == (None, None, 40)
    assert (first["n_think"], first["n_solution"], first["sample"], second["sample"]) == (6, 5, 0, 1)
    assert tuple(first["think_ids"]) == trace.think_ids
    assert (first["split"], first["model"], first["closed"], first["finish"]) == ("test", "r1", "forced", "eos")


def test_prompts_keep_the_order_of_the_problems(tiny_tokenizer: Any) -> None:
    prompter = Prompter(tiny_tokenizer, template="{question}=?")
    prompts = render_prompts([("b", "1+2"), ("a", "3")], prompter, max_tokens=20)
    assert [prompt.problem_id for prompt in prompts] == ["b", "a"]
    assert tiny_tokenizer.decode(prompts[0].ids) == "<user>1+2=?<assistant><think>"


def test_a_long_prompt_is_refused_by_its_problem(tiny_tokenizer: Any) -> None:
    problems = [("short", "1"), ("long", "1+2+3+4")]
    assert len(render_prompts(problems, Prompter(tiny_tokenizer), max_tokens=10)) == 2
    with pytest.raises(DataError, match=r"problem long: its prompt has 10 tokens, over prompt.max_tokens = 9"):
        render_prompts(problems, Prompter(tiny_tokenizer), max_tokens=9)


def test_a_system_turn_that_the_template_does_not_know_is_refused(tiny_tokenizer: Any) -> None:
    with pytest.raises(ParamsError, match=r"put what prompt\.system says into prompt\.template"):
        render_prompts([("a", "1")], Prompter(tiny_tokenizer, system="Think."), max_tokens=20)
