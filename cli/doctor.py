"""`elastic doctor`: what this installation has, what it lacks, what that is needed for and how to install it."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Literal

import psutil
import typer
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from cli.profile import active
from elastic.contracts.params.profile import load_profile
from elastic.errors import GraderError, ParamsError
from stages.common import PARAMS

PROJECT = "elastic-reasoning"
ROOT = Path(__file__).parents[1]
ENGINES = ROOT / ".venv-engines"
_GIB = 1 << 30


@dataclass(frozen=True)
class Finding:
    """One line of the diagnosis.

    Attributes:
        state: `ok`; `note`, when something optional is missing or differs; `broken`, when something needed is.
        name: what was looked at.
        text: what was found.
        remedy: what it is needed for and what to do, unless all is well.
    """

    state: Literal["ok", "note", "broken"]
    name: str
    text: str
    remedy: str = ""


def command() -> None:
    """Diagnose this installation; ends with 1 if something needed is broken."""
    findings = list(diagnose())
    for finding in findings:
        print(f"{finding.state:7} {finding.name}: {finding.text}")
        if finding.remedy:
            print(f"{'':8}{finding.remedy}")
    broken = [finding.name for finding in findings if finding.state == "broken"]
    if broken:
        print(f"error: broken: {', '.join(broken)}", file=sys.stderr)
        raise typer.Exit(1)


def diagnose() -> Iterator[Finding]:
    """Every finding, the machine first."""
    yield _machine()
    yield from packages(lock_of(Path(sys.prefix)), direct_dependencies())
    yield _torch()
    yield _params()
    yield _dvc()
    for program in PROGRAMS:
        yield program.look()
    yield sandbox()


def _machine() -> Finding:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    memory = psutil.virtual_memory()
    return Finding(
        "ok",
        "machine",
        f"Python {platform.python_version()}, {cores} cores, {memory.total / _GIB:.1f} GiB of memory "
        f"({memory.available / _GIB:.1f} available)",
    )


def lock_of(environment: Path) -> Path:
    """The lock file that an environment is made from."""
    return ROOT / ("constraints-engines.txt" if environment.resolve() == ENGINES.resolve() else "constraints.txt")


def direct_dependencies() -> set[str]:
    """Names of the packages that the project itself imports."""
    requirements = map(Requirement, metadata.requires(PROJECT) or [])
    return {canonicalize_name(r.name) for r in requirements if not r.marker or r.marker.evaluate({"extra": ""})}


def packages(lock: Path, direct: set[str]) -> Iterator[Finding]:
    """Installed versions against the lock file.

    Args:
        lock: a pip constraints file of `name==version` lines.
        direct: packages that must be there; others of the lock may be needed on other systems only.
    """
    setup = "make setup-engines" if lock.stem.endswith("-engines") else "make setup"
    locked = [Requirement(line) for line in lock.read_text(encoding="utf-8").split()]
    differ, same, missing = [], 0, []
    for pin in locked:
        try:
            installed = metadata.version(pin.name)
        except metadata.PackageNotFoundError:
            if canonicalize_name(pin.name) in direct:
                missing.append(pin.name)
            continue
        if pin.specifier.contains(installed, prereleases=True):
            same += 1
        else:
            differ.append(f"{pin.name} {installed} (locked {pin.specifier})")
    if missing:
        yield Finding("broken", "packages", f"missing: {', '.join(missing)}", f"the pipeline imports them: run {setup}")
    if differ:
        yield Finding(
            "note", "packages", f"other versions than the tested ones: {', '.join(differ)}", f"{setup} installs those"
        )
    if not missing and not differ:
        yield Finding("ok", "packages", f"{same} as locked in {lock.name}")


def _torch() -> Finding:
    try:
        from elastic.engines.runtime import device

        import torch  # isort: skip

        chosen = device()
    except (ImportError, OSError) as error:
        return Finding("broken", "torch", str(error), "every model runs on it: run make setup")
    except ParamsError as error:
        return Finding("broken", "torch", str(error.args[0]).splitlines()[0], error.remedy or "")
    build = f"built for CUDA {torch.version.cuda}" if torch.version.cuda else "built without CUDA"
    threads = f" on {torch.get_num_threads()} threads" if chosen.type == "cpu" else ""
    return Finding("ok", "torch", f"{torch.__version__}, {build}; models run on {chosen}{threads}")


def _params() -> Finding:
    try:
        load_profile(PARAMS)
        return Finding("ok", str(PARAMS), f"profile {active() or 'of your own'}, valid")
    except ParamsError as error:
        return Finding("broken", str(PARAMS), error.what, error.remedy or "")


def _dvc() -> Finding:
    from dvc.exceptions import NotDvcRepoError
    from dvc.fs import localfs
    from dvc.repo import Repo
    from dvc_objects.fs.generic import test_links

    try:
        repo = Repo()
    except NotDvcRepoError:
        return Finding("broken", "DVC", "no DVC repository here", "run this in the root of the repository")
    cache = repo.cache.local
    links = test_links(cache.cache_types, localfs, cache.path, localfs, os.path.join(repo.root_dir, "link"))
    free = shutil.disk_usage(repo.root_dir).free
    space = f"{free / _GIB:.1f} GiB free"
    if links and links[0] != "copy":
        return Finding("ok", "DVC", f"outputs are linked to the cache ({links[0]}); {space}")
    return Finding(
        "note",
        "DVC",
        f"outputs are copies of the cache, so each takes its room twice; {space}",
        "where room is short: dvc config --local cache.type hardlink,symlink",
    )


@dataclass(frozen=True)
class Program:
    """A program that is looked for on PATH."""

    name: str
    commands: tuple[str, ...]
    needed_for: str
    package: str
    required: bool = False

    def look(self) -> Finding:
        """Where it is, or how to get it."""
        path = next(filter(None, map(shutil.which, self.commands)), None)
        if path:
            return Finding("ok", self.name, path)
        remedy = f"needed for {self.needed_for}: apt-get install {self.package}"
        return Finding("broken" if self.required else "note", self.name, "not installed", remedy)


PROGRAMS = (
    Program("git", ("git",), "versions of code and data", "git", required=True),
    Program("chromium", ("chromium", "chromium-browser", "google-chrome"), "the test of the report's page", "chromium"),
    Program("chromedriver", ("chromedriver",), "the test of the report's page", "chromium-driver"),
)


def sandbox() -> Finding:
    """Whether programs that a model wrote can be run in a sandbox here, tried with one."""
    from elastic.answers.code import self_test
    from elastic.answers.sandbox import UNSANDBOXED, unsandboxed

    try:
        self_test()
    except GraderError as error:
        return Finding("note", "sandbox", error.what, f"needed for verdicts of programs (grader code): {error.remedy}")
    if unsandboxed():
        return Finding("note", "sandbox", f"{UNSANDBOXED}=1: programs run without one", f"unset {UNSANDBOXED}")
    return Finding("ok", "sandbox", f"{shutil.which('bwrap')}, starts and tells a right program from a wrong one")
