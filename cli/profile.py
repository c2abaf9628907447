"""`elastic profile`: which profile is active. A profile is a file under params/; params.yaml is the active one."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Annotated

import typer

from elastic.contracts.params.common import read_params
from elastic.contracts.params.profile import Profile, load_profile
from elastic.errors import ParamsError
from elastic.training.recipe import check_rounds
from stages.common import PARAMS

PROFILES = Path("params")

app = typer.Typer(help="List, activate and check profiles.", no_args_is_help=True)


def profiles() -> dict[str, Path]:
    """Every profile in params/, by name.

    Raises:
        ParamsError: there are none here.
    """
    found = {path.stem: path for path in sorted(PROFILES.glob("*.yaml"))}
    if not found:
        raise ParamsError("no profiles here", where=f"{PROFILES}/", remedy="run this in the root of the repository")
    return found


def active() -> str | None:
    """The name of the profile that params.yaml equals (comments aside), or None."""
    try:
        current = read_params(PARAMS)
    except ParamsError:  # missing or unreadable: no profile, and `use` treats it as the user's own
        return None
    return next((name for name, path in profiles().items() if read_params(path) == current), None)


def _load(path: Path) -> Profile:
    """A profile that every stage accepts.

    Raises:
        ParamsError: naming every key at fault.
    """
    try:
        profile = load_profile(path)
        check_rounds(profile.rounds, profile.train, profile.bucket.buckets)
    except ParamsError as error:
        raise ParamsError(
            error.what, where=error.where or str(path), remedy=f"edit {path} at the keys named above"
        ) from None
    return profile


def _summary(path: Path) -> str:
    try:
        profile = _load(path)
    except ParamsError as error:
        return f"invalid: {error.what}"
    rounds = ", ".join(f"{name} at {value.budget}" for name, value in profile.rounds.items())
    return f"{profile.base.kind} base; {rounds}"


@app.command("list")
def list_profiles() -> None:
    """List the profiles; the active one is marked."""
    current = active()
    for name, path in profiles().items():
        print(f"{'*' if name == current else ' '} {name:12} {_summary(path)}")
    if current is None:
        print(f"{PARAMS} " + ("equals none of them" if PARAMS.exists() else "does not exist"))


@app.command()
def use(
    name: Annotated[str, typer.Argument(help="The profile: a file params/NAME.yaml.")],
    force: Annotated[bool, typer.Option("--force", help="Replace a params.yaml of your own; it is kept.")] = False,
) -> None:
    """Make a profile the active params.yaml."""
    found = profiles()
    if name not in found:
        raise ParamsError(f"no profile {name!r}", where=f"{PROFILES}/", remedy=f"use one of: {', '.join(found)}")
    _load(found[name])
    if PARAMS.exists() and active() is None:
        if not force:
            raise ParamsError(
                "equals no profile, so replacing it would lose your changes",
                where=str(PARAMS),
                remedy=f"keep it as a profile (cp {PARAMS} {PROFILES}/mine.yaml), or add --force",
            )
        print(f"kept the old {PARAMS} as {_keep()}")
    temporary = PARAMS.with_name(f".{PARAMS.name}.partial")
    shutil.copyfile(found[name], temporary)
    os.replace(temporary, PARAMS)
    print(f"{PARAMS} is now the profile {name}")


def _keep() -> Path:
    """Copy params.yaml to a backup that overwrites no earlier one."""
    backup, number = PARAMS.with_name(f"{PARAMS.name}.bak"), 1
    while backup.exists():
        number += 1
        backup = PARAMS.with_name(f"{PARAMS.name}.bak{number}")
    shutil.copyfile(PARAMS, backup)
    return backup


@app.command()
def check(
    file: Annotated[Path, typer.Argument(help="A params file.")] = PARAMS,
) -> None:
    """Validate a params file; every key at fault is named."""
    profile = _load(file)
    print(f"{file}: valid, profile {profile.profile}, rounds {', '.join(profile.rounds)}")
