"""The program of a solution text: its last fenced block.

As everywhere, an answer that was cut is none: where the last fence is not closed, no earlier block is taken.
"""

from __future__ import annotations

import re
from textwrap import dedent

from elastic.answers.extract import Filter

_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})([^`\n]*)")


def last_fenced_block(text: str) -> str | None:
    """Content of the last Markdown code block, without the indentation of a list that it stands in.

    None where there is no block, where the last one is not closed, or where it is empty.
    """
    block: str | None = None
    opened: str | None = None
    lines: list[str] = []
    for line in text.splitlines():
        fence = _FENCE.fullmatch(line)
        if opened is None:
            if fence:
                opened, lines, block = fence[1], [], None
        elif fence and fence[1].startswith(opened) and not fence[2].strip():
            block, opened = dedent("\n".join(lines)), None
        else:
            lines.append(line)
    return f"{block}\n" if block and block.strip() and opened is None else None


FENCED = Filter("fenced", last_fenced_block)
