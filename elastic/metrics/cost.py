"""What answers cost: tokens by kind, the budget B of the papers, seconds, and money by a price table.

Fractured Sampling (arXiv 2505.12992) counts B = n (C_think + m H C_solution) tokens a problem: thinking once a path,
every solution, no prompt and nothing that is read again. B stands beside what a run really spent, which differs where
cells share thinking (then less is spent), where probes are drawn (they are in no B) and by the tokens that the model
must read. Answers whose grading failed were paid for and count.
"""

from __future__ import annotations

import polars as pl

from elastic.contracts.evaluation import CELL, PATH
from elastic.contracts.prices import Price
from elastic.errors import DataError

_MILLION = 1_000_000


def tokens_by_cell(answers: pl.DataFrame) -> pl.DataFrame:
    """Tokens of every cell, by kind.

    Args:
        answers: of any runs and cells (elastic.contracts.evaluation.Answers).

    Returns:
        The columns of CELL; n_problems; `paths` a problem (n) and `answers` a path (m H), on average; `c_think` a path
        and `c_solution` an answer; and, as means a problem, `thinking` (once a path), `solution`, `forced` (inserted,
        once an answer), `probe`, and `b`, the budget B, in which probes are not. Sorted by CELL.
    """
    paths = answers.group_by([*CELL, "problem_id", "sample"]).agg(
        answers=pl.len(),
        thinking=pl.col("n_think").max(),
        solution=pl.col("n_solution").sum(),
        forced=pl.col("n_forced").sum(),
        probe=pl.col("n_probe").sum(),
    )
    problems = pl.col("problem_id").n_unique()
    return (
        paths.group_by(CELL)
        .agg(
            n_problems=problems,
            paths=pl.len() / problems,
            answers=pl.col("answers").sum() / pl.len(),
            c_think=pl.col("thinking").sum() / pl.len(),
            c_solution=pl.col("solution").sum() / pl.col("answers").sum(),
            **{kind: pl.col(kind).sum() / problems for kind in ("thinking", "solution", "forced", "probe")},
        )
        .with_columns(b=pl.col("paths") * (pl.col("c_think") + pl.col("answers") * pl.col("c_solution")))
        .sort(CELL)
    )


def spent_by_run(answers: pl.DataFrame, costs: pl.DataFrame) -> pl.DataFrame:
    """What every run really spent, beside the budget B of its cells.

    Args:
        answers: all answers of the runs.
        costs: what the runs spent (elastic.contracts.evaluation.Costs).

    Returns:
        Columns run, n_problems; as means a problem, `b` (of all its cells, each paid for apart), `probe`, `sampled`
        and `prefilled`; `seconds_p50` and `seconds_p95` a problem. Sorted by run.

    Raises:
        DataError: answers and costs are not of the same problems.
    """
    _check_same_problems(answers, costs)
    cells = tokens_by_cell(answers).group_by("run").agg(pl.col("b").sum(), pl.col("probe").sum())
    spent = costs.group_by("run").agg(
        n_problems=pl.len(),
        sampled=pl.col("sampled_tokens").mean(),
        prefilled=pl.col("prefilled_tokens").mean(),
        seconds_p50=pl.col("seconds").quantile(0.50, interpolation="linear"),
        seconds_p95=pl.col("seconds").quantile(0.95, interpolation="linear"),
    )
    names = ["run", "n_problems", "b", "probe", "sampled", "prefilled", "seconds_p50", "seconds_p95"]
    return spent.join(cells, on="run", validate="1:1").select(names).sort("run")


def money(answers: pl.DataFrame, thinking: pl.DataFrame, costs: pl.DataFrame, price: Price) -> pl.DataFrame:
    """What every problem of a run would cost at a price, in its currency.

    Sampled tokens are output; tokens that the model read are input. Whoever asks a server over and over also sends
    what its cache already holds: those tokens are `cached`. Requests are one for every thinking path with its prompt,
    and one for every answer with prompt and thinking, except where a path's only answer followed it unforced.

    Args:
        answers: all answers of the runs.
        thinking: their thinking (elastic.contracts.evaluation.Thinking).
        costs: what the runs spent.
        price: per million tokens.

    Returns:
        Columns run, problem_id, input_tokens, cached_tokens, output_tokens, money; sorted.

    Raises:
        DataError: answers and costs are not of the same problems, or an answer's thinking is missing.
    """
    _check_same_problems(answers, costs)
    of_problem = ["run", "problem_id"]
    prompts = thinking.select(*PATH, prompt=pl.col("prompt_ids").list.len())
    asked = answers.join(prompts, on=PATH, how="left", validate="m:1")
    if asked["prompt"].has_nulls():
        lost = asked.filter(pl.col("prompt").is_null()).row(0, named=True)
        raise DataError(
            f"the thinking of sample {lost['sample']} of problem {lost['problem_id']} is missing",
            where=lost["run"],
            remedy="give answers and thinking of the same runs",
        )
    again = (pl.len().over(PATH) > 1) | (pl.col("closed") == "forced")
    resent = asked.group_by(of_problem).agg(
        answered=pl.when(again).then(pl.col("prompt") + pl.col("n_think")).otherwise(0).sum()
    )
    return (
        costs.join(prompts.group_by(of_problem).agg(opened=pl.col("prompt").sum()), on=of_problem, validate="1:1")
        .join(resent, on=of_problem, validate="1:1")
        .select(
            *of_problem,
            input_tokens=pl.col("prefilled_tokens"),
            cached_tokens=pl.max_horizontal(0, pl.col("opened") + pl.col("answered") - pl.col("prefilled_tokens")),
            output_tokens=pl.col("sampled_tokens"),
        )
        .with_columns(
            money=(
                pl.col("input_tokens") * price.input
                + pl.col("cached_tokens") * (price.input if price.cached is None else price.cached)
                + pl.col("output_tokens") * price.output
            )
            / _MILLION
        )
        .sort(of_problem)
    )


def _check_same_problems(answers: pl.DataFrame, costs: pl.DataFrame) -> None:
    key = ["run", "problem_id"]
    for left, right, what in ((answers, costs, "no cost"), (costs, answers, "no answer")):
        alone = left.select(key).unique().join(right, on=key, how="anti").sort(key)
        if len(alone):
            run, problem = alone.row(0)
            raise DataError(
                f"{len(alone)} problems have {what}, first {problem}",
                where=run,
                remedy="give answers and costs of the same runs, whole",
            )
