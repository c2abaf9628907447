"""Every strategy against what it must equal, on a tiny decoder whose next tokens can be biased."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from elastic.budget import Budget
from elastic.contracts.params.strategies import Fractured, Grid, parse_strategy
from elastic.decoding.fractured import depth_tokens
from elastic.decoding.plan import Plan, Prompt, Sampled, mean_logprob
from elastic.decoding.prefixes import cut_solution
from elastic.decoding.prompting import render_prompts
from elastic.decoding.strategies import needs, require_room, sample_run
from elastic.decoding.swap import Solver
from elastic.engines.protocol import Drawn, Job, Sampling, Spent
from elastic.engines.transformers import TransformersEngine
from elastic.errors import BudgetError, DataError, ElasticError, MarkerError, ParamsError
from elastic.markers import Markers
from elastic.models.tiny import build_tokenizer
from elastic.prompts import Prompter
from elastic.trace import Trace

GRID = Grid(budgets=["0+3", "2+3", "5+6", "12+3", "12+6"], limit=24)
QUESTIONS = [(f"p{number}", "+".join(map(str, range(1, number + 2))) + "=?") for number in range(10)]
S1 = ["s1_original:cue=+ 3,wait=check: 4 -,waits=2", "s1_r1:cue=+ 3", "s1_exact:cue==,wait=check: 4 -,solution=4"]
WARM, GREEDY = Sampling(temperature=1.0), Sampling(temperature=0)

Run = Callable[..., list[Sampled]]


@pytest.fixture
def texts(tiny_tokenizer: Any) -> Prompter:
    return Prompter(tiny_tokenizer)


@pytest.fixture
def prompts(texts: Prompter) -> list[Prompt]:
    return render_prompts(QUESTIONS, texts, max_tokens=40)


@pytest.fixture
def engine(tiny_model: Any, tiny_markers: Markers) -> TransformersEngine:
    """Thinking that often ends by itself, sometimes with EOS; solutions of several lengths."""
    return TransformersEngine(tiny_model(spread=1.5, close=2, eos=0.5), tiny_markers, batch_size=1000)


@pytest.fixture
def sample(engine: TransformersEngine, prompts: list[Prompt], texts: Prompter) -> Run:
    def run(text: str, **changed: Any) -> list[Sampled]:
        plan = Plan(changed.pop("sampling", WARM), changed.pop("samples", 3), seed=5)
        given = {"engine": engine, "prompts": prompts, "grid": GRID, "plan": plan, "texts": texts} | changed
        return plain(sample_run(parse_strategy(text), **given))

    return run


def plain(rows: Sequence[Sampled]) -> list[Sampled]:
    """Without log-probabilities, whose last digits depend on the batch."""
    return [replace(row, logprob=None) for row in rows]


class Tokens:
    """Adds up what was sampled."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, jobs: int, tokens: int) -> None:
        self.count += tokens


# Budget forcing


@pytest.mark.parametrize("sampling", [GREEDY, WARM], ids=["greedy", "sampled"])
@pytest.mark.parametrize("text", S1)
def test_s1_at_one_budget_is_its_row_of_the_whole_grid(text: str, sampling: Sampling, sample: Run) -> None:
    rows = sample(text, sampling=sampling)
    for budget in GRID.budgets:
        alone = sample(text, sampling=sampling, grid=Grid(budgets=[budget]))
        assert alone == [row for row in rows if row.budget == alone[0].budget]
    longest: dict[tuple[str, int], tuple[int, ...]] = {}
    for row in sorted(rows, key=lambda row: -row.trace.n_think):
        path = longest.setdefault((row.problem_id, row.sample), row.trace.think_ids)
        assert row.trace.think_ids == path[: row.trace.n_think]
    assert len({row.trace.n_think for row in rows}) > 2


def test_s1_original_has_its_cue_after_a_forced_end_alone_and_waits_as_often_as_asked(
    sample: Run, texts: Prompter
) -> None:
    cue, wait = texts.ids("+ 3"), texts.ids("check: 4 -")
    rows = sample(S1[0], samples=12)
    assert {row.trace.closed for row in rows} == {"forced", "natural", "eos"}
    for row in rows:
        assert row.trace.cue_ids == (cue if row.trace.closed == "forced" else ())
        assert row.trace.inserted <= 2 * len(wait)
        if row.trace.closed == "natural":
            assert row.trace.inserted == 2 * len(wait)
    assert [row.trace for row in sample("s1_original:cue=+ 3")] == [row.trace for row in sample("s1_r1:cue=+ 3")]


def test_waits_that_a_budget_cuts_count_as_far_as_they_go(
    tiny_model: Any, tiny_markers: Markers, sample: Run, texts: Prompter
) -> None:
    # Thinking ends at once, whatever it is: each end becomes "check: 4 -" until two of them stand there.
    engine = TransformersEngine(tiny_model(close=90, eos=-90), tiny_markers)
    wait = texts.ids("check: 4 -")
    grid = Grid(budgets=[Budget(think, 4) for think in (0, 2, 4, 6, 7)])
    rows = sample(S1[0], engine=engine, grid=grid, samples=1)[:5]
    assert [row.trace.think_ids for row in rows] == [(wait * 2)[:think] for think in (0, 2, 4, 6, 6)]
    assert [row.trace.closed for row in rows] == ["forced"] * 4 + ["natural"]
    assert [row.trace.inserted for row in rows] == [0, 2, 4, 6, 6]
    # The forced delimiter and two tokens of the cue come on top; a natural end has neither.
    assert [row.trace.n_forced for row in rows] == [3, 5, 7, 9, 6]
    assert [row.trace.n_sampled for row in rows] == [4, 4, 4, 4, 5]


def test_s1_exact_uses_the_whole_budget_and_answers_greedily(sample: Run) -> None:
    rows = sample(S1[2], grid=Grid(budgets=["9+30", "1+30", "1+2"]), samples=12)
    assert {row.budget for row in rows} == {Budget(9, 4), Budget(1, 4)}
    ended = [row.trace for row in rows if row.trace.closed != "eos"]
    assert {trace.closed for trace in ended} == {"forced"}
    assert all(trace.n_think in (1, 9) and len(trace.cue_ids) == 1 for trace in ended)
    assert any(trace.inserted for trace in ended)
    answers: dict[Any, set[tuple[int, ...]]] = {}
    for trace in ended:
        answers.setdefault((trace.prompt_ids, trace.think_ids), set()).add(trace.solution_ids)
    # Sampled thinking differs from sample to sample; where it does not, a greedy answer does not either.
    assert {len(found) for found in answers.values()} == {1}
    assert len(answers) < len(ended)


def test_a_cue_that_the_tokenizer_does_not_know_is_refused(sample: Run) -> None:
    for text in ("s1_original", "s1_r1:cue=Answer", "s1_exact:cue=+", "l1_exact"):
        with pytest.raises(ParamsError, match=r"does not know all of .*(Answer|Wait|Think)"):
            sample(text)


# Asked lengths


def test_l1_asks_for_the_length_and_decodes_to_twice_of_it(
    sample: Run, engine: TransformersEngine, texts: Prompter, prompts: list[Prompt]
) -> None:
    rows = sample("l1_exact:suffix= check: {tokens},targets=[4,8]")
    assert [(row.setting, row.limit) for row in rows[:2]] == [("asked=4", 8), ("asked=8", 16)]
    for row in rows:
        target = row.setting.removeprefix("asked=")
        question = dict(QUESTIONS)[row.problem_id]
        assert row.trace.prompt_ids == texts.render(f"{question} check: {target}")
        assert row.trace.n_think + row.trace.n_solution <= 2 * int(target)
    plan = Plan(WARM, 3, seed=5)
    jobs = [Job.plain(rows[i].trace.prompt_ids, 8, plan.stream(prompts[0], i // 2)) for i in (0, 2, 4)]
    assert [rows[i].trace for i in (0, 2, 4)] == engine.generate(jobs, WARM)


def test_l1_asks_for_the_totals_of_the_grid_unless_told_and_the_other_form_decodes_to_the_limit(sample: Run) -> None:
    rows = sample("l1_max:suffix= check: {tokens}", grid=Grid(budgets=["2+3", "3+2", "5+6"], limit=20), samples=1)
    assert [(row.setting, row.limit, row.method) for row in rows[:2]] == [
        ("asked=5", 20, "l1_max"),
        ("asked=11", 20, "l1_max"),
    ]


def test_l1_needs_the_questions(sample: Run, prompts: list[Prompt]) -> None:
    with pytest.raises(DataError, match=r"problem p1: .*without the question"):
        sample("l1_exact:suffix={tokens},targets=[4]", prompts=[prompts[0], replace(prompts[1], question="")])


# Component swap


def test_a_model_that_solves_for_itself_gives_the_nested_traces(
    sample: Run, engine: TransformersEngine, texts: Prompter
) -> None:
    rows = sample("swap:solver=itself", solver=Solver(engine, texts))
    nested = [replace(row, method="swap") for row in sample("nested") if row.method == "separate"]
    assert rows == nested


def test_the_solver_answers_what_the_thinker_thought(
    sample: Run, tiny_model: Any, tiny_markers: Markers, texts: Prompter
) -> None:
    other = TransformersEngine(tiny_model(seed=1, spread=1.5, close=2, eos=0.5), tiny_markers)
    rows = sample("swap:solver=other", solver=Solver(other, texts), samples=1)
    alone = {(row.problem_id, row.budget): row.trace for row in sample("nested", samples=1) if row.method == "separate"}
    jobs = []
    for row in rows:
        trace, own = row.trace, alone[row.problem_id, row.budget]
        assert (trace.think_ids, trace.closed) == (own.think_ids, own.closed)
        if trace.closed != "eos":
            seed = Plan(WARM, 1, seed=5).stream(Prompt(row.problem_id, ()), row.sample)
            jobs.append(Job.solve(trace.prompt_ids, trace.think_ids, row.budget.solution, seed, closed=trace.closed))
    solved = [row.trace for row in rows if row.trace.closed != "eos"]
    assert solved == other.generate(jobs, WARM)
    own = [alone[row.problem_id, row.budget] for row in rows if row.trace.closed != "eos"]
    assert sum(trace != other for trace, other in zip(solved, own, strict=True)) > len(solved) / 2


def test_tokenizers_that_differ_in_a_used_id_are_refused(
    sample: Run, tiny_model: Any, tiny_markers: Markers, tiny_tokenizer: Any, engine: TransformersEngine
) -> None:
    words = [word for word in tiny_tokenizer.get_vocab() if word[0] not in "<"]
    words.sort(key=tiny_tokenizer.convert_tokens_to_ids)
    unused = build_tokenizer([*words[:-1], "unused"], context=128)
    # "}" is the one that differs: harmless in a prompt without it, fatal in thinking that holds it.
    with pytest.raises(MarkerError, match=r"reads the id \d+ \('}' of the thinker\) differently"):
        sample("swap:solver=other", solver=Solver(engine, Prompter(unused)), samples=20)
    prompt_differs = build_tokenizer([words[1], words[0], *words[2:]], context=128)
    with pytest.raises(MarkerError, match=r"'1' of the thinker"):
        sample("swap:solver=other", solver=Solver(engine, Prompter(prompt_differs)))
    elsewhere = TransformersEngine(tiny_model(), replace(tiny_markers, close_id=20))
    with pytest.raises(MarkerError, match="other delimiters"):
        sample("swap:solver=other", solver=Solver(elsewhere, Prompter(tiny_tokenizer)))


# Fractured sampling


@pytest.mark.parametrize(
    ("text", "length", "kept"),
    [
        ("fractured:depths=4", 10, [2, 5, 7, 10]),
        ("fractured:depths=4,rounding=segment", 10, [2, 4, 6, 10]),
        ("fractured:depths=4", 3, [0, 1, 2, 3]),
        ("fractured:depths=4,rounding=segment", 3, [1, 2, 3, 3]),
        ("fractured:depths=4", 0, [0, 0, 0, 0]),
        ("fractured:depths=1", 7, [7]),
    ],
)
def test_depths_keep_what_the_published_rounding_says(text: str, length: int, kept: list[int]) -> None:
    strategy = parse_strategy(text)
    assert isinstance(strategy, Fractured)
    assert [depth_tokens(depth, length, strategy) for depth in range(1, strategy.depths + 1)] == kept


def test_the_last_depths_first_draw_is_plain_decoding(sample: Run) -> None:
    rows = sample("fractured:depths=4,draws=2", samples=8)
    last = {(row.problem_id, row.sample): row.trace for row in rows if row.depth == 4 and row.draw == 0}
    seen = Counter(trace.closed for trace in last.values())
    assert min(seen["natural"], seen["forced"], seen["eos"]) > 0
    for row in sample("nested", samples=8):
        if row.method == "unconstrained":
            trace = last[row.problem_id, row.sample]
            if trace.closed == "forced":
                assert row.trace.think_ids == trace.think_ids
            else:
                # The solution is plain decoding's own, up to the solution budget or to the limit of both together.
                assert cut_solution(row.trace, 6) == cut_solution(trace, min(6, row.limit - trace.n_think))


def test_depths_are_prefixes_of_one_path_and_draws_differ(sample: Run) -> None:
    rows = sample("fractured:depths=4,draws=3")
    assert [(row.depth, row.draw) for row in rows[:12]] == [
        (depth, draw) for depth in (1, 2, 3, 4) for draw in range(3)
    ]
    assert {row.budget for row in rows} == {Budget(24, 6)}
    for start in range(0, len(rows), 12):
        path = rows[start : start + 12]
        whole = path[-1].trace
        for row in path:
            assert row.trace.n_think == row.depth * whole.n_think // 4
            assert row.trace.think_ids == whole.think_ids[: row.trace.n_think]
            assert (row.trace.closed == "forced") or row.trace.n_think == whole.n_think
    differ = sum(
        len({row.trace.solution_ids for row in rows[start : start + 3]}) > 1 for start in range(0, len(rows), 3)
    )
    assert differ > len(rows) / 3 / 2


def test_the_last_depths_and_a_divisor_of_the_depths_are_parts_of_all(sample: Run) -> None:
    rows = sample("fractured:depths=4,draws=2")
    assert sample("fractured:depths=4,draws=2,last=2") == [row for row in rows if row.depth > 2]
    half = [replace(row, depth=row.depth // 2) for row in rows if row.depth % 2 == 0]
    assert sample("fractured:depths=2,draws=2") == half


def test_depths_that_keep_equally_many_tokens_are_solved_once(
    tiny_model: Any, tiny_markers: Markers, sample: Run, prompts: list[Prompt]
) -> None:
    engine, tokens = TransformersEngine(tiny_model(close=90, eos=-90), tiny_markers), Tokens()
    rows = sample("fractured:depths=16,draws=2", engine=engine, prompts=prompts[:1], samples=1, progress=tokens)
    # Thinking is empty, so that every depth is all of it: one delimiter and two solutions of six tokens.
    assert len(rows) == 32
    assert tokens.count == 1 + 2 * 6
    assert {row.trace.closed for row in rows} == {"natural"}


# Early stopping


def test_early_stopping_takes_the_prediction_that_comes_again(sample: Run) -> None:
    rows = sample("early_stop:first=4,every=3,repeats=3", extract=lambda text: "the same")
    longest = {(row.problem_id, row.sample): row.trace for row in sample("nested") if row.method == "unconstrained"}
    stopped = 0
    for row in rows:
        plain_thinking = longest[row.problem_id, row.sample].think_ids
        assert row.trace.think_ids == plain_thinking[: row.trace.n_think]
        assert row.budget == Budget(24, 6)
        if len(plain_thinking) > 10:
            # Probes lie after 4, 7 and 10 tokens; the third is the answer and the first two are paid for.
            stopped += 1
            assert (row.trace.n_think, row.trace.closed) == (10, "forced")
            assert 2 <= row.probes <= 12
        else:
            assert row.trace.n_think == len(plain_thinking)
    assert 3 < stopped < len(rows) - 3


def test_without_agreement_the_answer_is_that_of_thinking_never_stopped(sample: Run) -> None:
    never = iter(range(10_000))
    last = sample("fractured:depths=1,draws=1")
    for extract in (lambda text: None, lambda text: str(next(never))):
        rows = sample("early_stop:first=4,every=3", extract=extract)
        assert [row.trace for row in rows] == [row.trace for row in last]
        for row in rows:
            # An EOS that is token n ends the thinking before it is probed after n tokens.
            probed = row.trace.n_think - (row.trace.closed == "eos")
            asked = len([mark for mark in range(4, 24, 3) if mark <= probed])
            assert asked <= row.probes <= 6 * asked
    first = sample("early_stop:first=24,every=3", extract=lambda text: "the same")
    assert [row.trace for row in first] == [row.trace for row in last]
    assert not any(row.probes for row in first)


def test_tokens_of_probes_that_are_not_the_answer_are_counted(
    tiny_model: Any, tiny_markers: Markers, sample: Run
) -> None:
    # Nothing ends by itself: a probe has 6 tokens, and lies after 4, 7, 10, 13, 16, 19 and 22 of 24.
    engine = TransformersEngine(tiny_model(close=-90, eos=-90), tiny_markers)
    rows = sample("early_stop:first=4,every=3", engine=engine, extract=lambda text: None)
    assert {(row.trace.n_think, row.probes) for row in rows} == {(24, 7 * 6)}
    rows = sample("early_stop:first=4,every=3,repeats=3", engine=engine, extract=lambda text: "the same")
    assert {(row.trace.n_think, row.probes) for row in rows} == {(10, 2 * 6)}


def test_predictions_are_read_from_the_probes_text(sample: Run, texts: Prompter, tiny_markers: Markers) -> None:
    read: list[str] = []

    def first_word(text: str) -> str:
        read.append(text)
        return text[:1]

    rows = sample("early_stop:first=2,every=2", extract=first_word)
    stopped = [row for row in rows if row.trace.closed == "forced" and row.trace.n_think < 24]
    assert len(stopped) > 3
    assert all(texts.text(row.trace.solution_ids, tiny_markers) in read for row in stopped)
    assert len(set(read)) > len(stopped)


# A budget for every problem


def test_assigned_budgets_give_the_nested_traces_of_each(sample: Run) -> None:
    chosen = {name: GRID.budgets[number % len(GRID.budgets)] for number, (name, _) in enumerate(QUESTIONS)}
    rows = sample("assigned:budgets=mine", budgets=chosen)
    nested = [row for row in sample("nested") if row.method == "separate" and row.budget == chosen[row.problem_id]]
    assert [row.trace for row in rows] == [row.trace for row in nested]
    assert {(row.method, row.budget) for row in rows} == {("assigned", None)}
    del chosen["p3"]
    with pytest.raises(DataError, match="1 problems have no budget, first p3"):
        sample("assigned:budgets=mine", budgets=chosen)


# All of them


def test_independent_traces_have_streams_and_settings_of_their_own(sample: Run) -> None:
    rows = sample("independent")
    nested = sample("nested")
    key = lambda row: (row.problem_id, row.sample, row.method, str(row.budget))  # noqa: E731
    assert sorted(map(key, rows)) == sorted(map(key, nested))
    assert {row.setting for row in rows} >= {"separate 5+6", "truncate 5+6", "unconstrained 24"}
    equal = {key(row): row.trace for row in nested}
    assert sum(row.trace == equal[key(row)] for row in rows) < len(rows) / 2


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        ("nested", 12, 12),
        ("independent", 12, 12),
        ("s1_original:cue=+ 3", 12, 2 + 6),
        ("s1_exact:cue=+ 3 =,solution=9", 12, 3 + 9),
        ("l1_exact:suffix= check: {tokens},targets=[4,8]", 2 + 16, 0),
        ("l1_max:suffix=+ check: {tokens},targets=[4,8]", 3 + 24, 0),
        ("fractured", 24, 6),
        ("early_stop", 24, 6),
        ("swap:solver=other", 12, 6),
        ("assigned:budgets=mine", 12, 6),
    ],
)
def test_what_cannot_fit_is_refused_before_any_work(
    text: str, before: int, after: int, texts: Prompter, prompts: list[Prompt], tiny_model: Any, tiny_markers: Markers
) -> None:
    strategy = parse_strategy(text)
    assert needs(strategy, GRID, texts) == (before, after)
    fits = len(prompts[-1].ids) + before + 1 + after
    require_room(strategy, prompts, GRID, fits, texts=texts)
    require_room(strategy, prompts, GRID, None, texts=texts)
    with pytest.raises(BudgetError, match=rf"problem p9: .* = {fits}, the model's context holds {fits - 1}"):
        require_room(strategy, prompts, GRID, fits - 1, texts=texts)
    model, steps = tiny_model(), []
    model.register_forward_hook(lambda *_: steps.append(1))
    large = Grid(budgets=["110+10"], limit=120)
    asked = text.replace("l1_exact:", "l1_exact:times=15,")
    with pytest.raises(BudgetError, match="holds 128"):
        sample_run(
            parse_strategy(asked),
            TransformersEngine(model, tiny_markers),
            prompts,
            large,
            Plan(WARM, 1, 5),
            texts=texts,
        )
    assert not steps


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("swap:solver=other", "a model that solves"),
        ("early_stop", "what finds a prediction"),
        ("assigned:budgets=mine", "a budget for every problem"),
    ],
)
def test_a_strategy_without_what_it_needs_is_refused(text: str, missing: str, sample: Run) -> None:
    with pytest.raises(ElasticError, match=missing):
        sample(text)


def test_thinking_that_is_to_reach_the_limit_needs_one(sample: Run) -> None:
    for text in ("nested", "fractured", "early_stop", "l1_max:suffix={tokens},targets=[4]"):
        with pytest.raises(ParamsError, match="thinks up to the limit, and none is set"):
            sample(text, grid=Grid(budgets=["4+4"]), extract=lambda text: None)


def test_log_probabilities_are_those_of_the_solution(engine: TransformersEngine, prompts: list[Prompt]) -> None:
    trace = Trace((2,), (10, 11), (20, 21, 1), "natural", "eos")
    # Two of thinking, the delimiter, three of the solution; and a job that was given its thinking.
    whole = Drawn(trace, (-9.0, -9.0, -9.0, -1.0, -2.0, -6.0), Spent(6, 1, 0.0))
    assert (mean_logprob(whole), mean_logprob(whole, 2), mean_logprob(whole, 0)) == (-3.0, -1.5, None)
    assert mean_logprob(replace(whole, logprobs=(-1.0, -2.0, -6.0))) == -3.0
    rows = sample_run(parse_strategy("nested"), engine, prompts, GRID, Plan(WARM, 2, 5), texts=Prompter(None))
    assert all((row.logprob is None) == (row.trace.n_solution == 0) for row in rows)
    forced = next(row for row in rows if row.method == "separate" and row.budget == Budget(0, 3))
    [drawn] = engine.draw([Job.separate(prompts[0].ids, Budget(0, 3), Plan(WARM, 2, 5).stream(prompts[0], 0))], WARM)
    assert drawn.trace == forced.trace
    assert forced.logprob == pytest.approx(sum(drawn.logprobs) / len(drawn.logprobs))
    assert len(drawn.logprobs) == forced.trace.n_solution
