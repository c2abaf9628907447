"""From problems to prompts that fit: rendered once, refused when too long and never cut."""

from __future__ import annotations

from collections.abc import Iterable

from jinja2 import TemplateError

from elastic.decoding.plan import Prompt
from elastic.errors import DataError, ParamsError
from elastic.prompts import Prompter


def render_prompts(
    problems: Iterable[tuple[str, str]], prompter: Prompter, *, max_tokens: int | None = None
) -> list[Prompt]:
    """Render problems, in their order.

    Args:
        problems: (problem id, question).
        prompter: the chat template and the user turn.
        max_tokens: the longest prompt allowed; any by default.

    Raises:
        DataError: a prompt is too long, naming its problem.
        ParamsError: the chat template knows no system turn.
    """
    prompts = []
    for problem_id, question in problems:
        try:
            ids = prompter.render(question)
        except TemplateError as error:
            raise ParamsError(
                f"the model's chat template refuses the conversation: {error}",
                where="prompt",
                remedy="put what prompt.system says into prompt.template",
            ) from None
        if max_tokens is not None and len(ids) > max_tokens:
            raise DataError(
                f"its prompt has {len(ids)} tokens, over prompt.max_tokens = {max_tokens}",
                where=f"problem {problem_id}",
                remedy="raise prompt.max_tokens, or take the problem out of the data",
            )
        prompts.append(Prompt(problem_id, ids, question))
    return prompts
