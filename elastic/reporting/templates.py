"""What every page and table is rendered with: strict templates, and figures written as words.py writes them."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from elastic.reporting.words import count, interval, percent, points, share, signed, tokens

_SHARED = Path(__file__).parent  # report.css and macros.html.j2


def templates(folder: Path, *, html: bool) -> Environment:
    """The templates of a folder, which may include and import those of this room.

    Args:
        folder: of the templates.
        html: whether texts are escaped.
    """
    environment = Environment(
        loader=FileSystemLoader([folder, _SHARED]),
        autoescape=html,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=html,
    )
    environment.filters |= {word.__name__: word for word in (count, percent, points, share, signed, tokens)}
    environment.globals["interval"] = interval
    return environment
