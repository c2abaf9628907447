"""The command `elastic`. Each subcommand has a file of its own.

It starts light: a subcommand imports what is heavy (torch, transformers) inside its function, so that `--help` and
the small commands answer at once.
"""

from __future__ import annotations

import typer

from cli import accept, doctor, evaluate, generate, grade, profile, reward
from stages.common import exit_with_message

app = typer.Typer(
    name="elastic",
    help="Separate token budgets for thinking and solution.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("generate")(generate.command)
app.command("eval")(evaluate.command)
app.command("grade")(grade.command)
app.command("reward")(reward.command)
app.command("accept")(accept.command)
app.add_typer(profile.app, name="profile")
app.command("doctor")(doctor.command)


def main() -> None:
    """Run the command; an error meant for the user is printed as text and ends the process with 1."""
    exit_with_message(app)
