"""`elastic generate`: one answer from a local checkpoint under a budget, with its phases and counts shown."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from elastic.budget import Budget
from elastic.engines.protocol import EngineName
from elastic.errors import DataError
from elastic.trace import Trace

INSERTED = "[inserted by the budget]"
_THINKING_ENDED = {
    "natural": "closed by the model",
    "forced": "closed by the budget",
    "eos": "ended by EOS",
    "never": "not closed",
}
_SOLUTION_ENDED = {"eos": "ended by EOS", "budget": "cut by the budget"}


def command(
    question: Annotated[str, typer.Argument(help="What to ask.")],
    model: Annotated[Path, typer.Option(help="Folder of the checkpoint.")],
    think: Annotated[int, typer.Option(help="Thinking tokens at most.")],
    solution: Annotated[int, typer.Option(help="Solution tokens at most, EOS included.")],
    temperature: Annotated[float, typer.Option(min=0, help="0 is greedy.")] = 0.6,
    seed: Annotated[int, typer.Option(help="Of the random stream.")] = 0,
    template: Annotated[str, typer.Option(help="The user turn; {question} stands for the question.")] = "{question}",
    engine: Annotated[
        EngineName, typer.Option(help="What samples; engines draw differently from a seed.")
    ] = "transformers",
) -> None:
    """Answer one question under a thinking and a solution budget, and show how each phase ended."""
    budget = Budget(think, solution)

    from elastic.engines.loading import load_engine
    from elastic.engines.protocol import Job, Sampling
    from elastic.prompts import Prompter

    if "{question}" not in template:
        raise DataError("holds no {question}", where="--template", remedy="write where the question goes")
    sampler, tokenizer = load_engine(model, batch_size=1, engine=engine)
    prompter = Prompter(tokenizer, template=template)
    prompt = prompter.render(question)
    if tokenizer.unk_token_id is not None and tokenizer.unk_token_id in prompt:
        print("note: the model's tokenizer does not know all of this text", file=sys.stderr)
    [trace] = sampler.generate([Job.separate(prompt, budget, seed)], Sampling(temperature=temperature))
    print(
        describe(
            trace,
            budget,
            thinking=prompter.text(trace.think_ids, sampler.markers),
            delimiter=tokenizer.decode([sampler.markers.close_id]),
            solution=prompter.text(trace.solution_ids, sampler.markers),
        )
    )


def describe(trace: Trace, budget: Budget, *, thinking: str, delimiter: str, solution: str) -> str:
    """The phases of a trace, its counts, and how each phase ended."""
    lines = ["thinking:", thinking]
    if trace.has_delimiter:
        lines.append(f"{delimiter} {INSERTED}" if trace.n_forced else delimiter)
        lines += ["solution:", solution]
        ended = _SOLUTION_ENDED[trace.finish]
    else:
        ended = "none"
    return "\n".join(
        [
            *lines,
            "",
            f"thinking  {trace.n_think} of {budget.think} tokens, {_THINKING_ENDED[trace.closed]}",
            f"solution  {trace.n_solution} of {budget.solution} tokens, {ended}",
            f"forced    {trace.n_forced} inserted tokens, which are free",
            f"in all    {trace.n_think + trace.n_solution} tokens: thinking + solution",
        ]
    )
