"""What a newcomer meets first holds: profiles, the commands in the documents, and files that name no machine."""

from __future__ import annotations

import re
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import typer.main
import yaml

from cli.main import app
from elastic.contracts.params.common import read_params
from elastic.contracts.params.profile import load_profile

ROOT = Path(__file__).parents[2]
DOCUMENTS = ("README.md", "CONTRIBUTING.md", "infra/README.md")
FOREIGN = re.compile(r"(?<![\w.$}{)-])/(?:home|root|Users|tmp)/[\w.]")  # folders of one person's machine


def tracked_texts() -> dict[str, str]:
    """Tracked text files by path."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    texts = {}
    for name in filter(None, names.split("\0")):
        data = (ROOT / name).read_bytes() if (ROOT / name).is_file() else b""
        if b"\0" not in data:
            texts[name] = data.decode("utf-8")
    return texts


def commands_in(document: str) -> list[list[str]]:
    """Command lines in a document's code, split into words, without comments and variables before them."""
    text = (ROOT / document).read_text(encoding="utf-8")
    blocks = re.findall(r"^```\w*\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    blocks += re.findall(r"(?:^    .*\n)+", text, flags=re.MULTILINE)
    code = "\n".join([*blocks, *re.findall(r"`([^`\n]+)`", text)]).replace("\\\n", " ")
    lines = [re.sub(r"(^|\s)#.*", "", line).split() for line in code.splitlines()]
    words = [
        [w for i, w in enumerate(line) if not ("=" in w and i == 0 and w.split("=")[0].isupper())] for line in lines
    ]
    return [line for line in words if line]


def find_command(words: list[str]) -> tuple[Any, list[str]]:
    """The subcommand of `elastic` that a command line names, and the words after it."""
    command: Any = typer.main.get_command(app)  # typer brings its own copy of click's classes
    rest = words[1:]
    while hasattr(command, "commands") and rest and not rest[0].startswith("-"):
        found = command.commands.get(rest[0])
        assert found, f"`{' '.join(words)}`: elastic has no command {rest[0]!r}"
        command, rest = found, rest[1:]
    return command, rest


@pytest.mark.parametrize("path", sorted((ROOT / "params").glob("*.yaml")), ids=lambda path: path.stem)
def test_every_profile_is_valid_and_named_as_its_file(path: Path) -> None:
    assert load_profile(path).profile == path.stem


def test_the_active_profile_is_the_laptop_one() -> None:
    assert read_params(ROOT / "params.yaml") == read_params(ROOT / "params/laptop.yaml")


@pytest.mark.parametrize("document", DOCUMENTS)
def test_commands_in_documents_exist(document: str) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, flags=re.MULTILINE))
    checked = 0
    for words in commands_in(document):
        line = " ".join(words)
        if words[0] == "elastic":
            command, rest = find_command(words)
            known = {option for parameter in command.params for option in parameter.opts} | {"--help"}
            assert {word.split("=")[0] for word in rest if word.startswith("--")} <= known, f"`{line}`"
        elif words[0] == "make":
            assert {word for word in words[1:] if re.fullmatch(r"[a-z-]+", word)} <= targets, f"`{line}`"
        elif words[:2] == ["python", "-m"]:
            assert find_spec(words[2]), f"`{line}`"
        else:
            continue
        checked += 1
    assert checked


def test_the_paper_index_names_files_and_tests_that_exist() -> None:
    text = (ROOT / "docs/paper_index.md").read_text(encoding="utf-8")
    named = re.findall(r"`([\w/]+\.py)(?:::(\w+))?`", text)
    assert named
    for path, test in named:
        assert (ROOT / path).is_file(), path
        assert not test or f"def {test}(" in (ROOT / path).read_text(encoding="utf-8"), f"{path}::{test}"


def test_every_target_says_what_it_does() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    phony = re.search(r"^\.PHONY: (.*)$", makefile, flags=re.MULTILINE)
    assert phony
    help_text = subprocess.run(["make", "-s", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert re.findall(r"^  make ([\w-]+) +\w", help_text, flags=re.MULTILINE) == phony[1].split()


def test_no_tracked_file_names_a_machine() -> None:
    found = [
        f"{name}, line {number}: {line.strip()}"
        for name, text in tracked_texts().items()
        for number, line in enumerate(text.splitlines(), start=1)
        if FOREIGN.search(line) and name != str(Path(__file__).relative_to(ROOT))
    ]
    assert not found, "\n".join(found)


def test_machine_paths_are_told_from_others() -> None:
    assert all(FOREIGN.search(text) for text in ("/Users/me", "'/home/me'", "at /tmp/x"))
    assert not any(FOREIGN.search(text) for text in (".github/home/x", "tmp/x", "$HOME/tmp/x", "a/tmp/b"))


@pytest.mark.parametrize("path", sorted((ROOT / ".github/workflows").glob("*.yml")), ids=lambda path: path.stem)
def test_workflows_run_targets_that_users_have(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    runs = [step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step]
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))
    assert {word for run in runs for word in re.findall(r"^make ([\w-]+)$", run, flags=re.MULTILINE)} <= targets
    assert any(run.startswith("make ") for run in runs)
