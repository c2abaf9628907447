"""Copies of the repository in which the pipeline really runs, and what DVC says of them."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from elastic.contracts.records import Record, read_record

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
_TAIL = 40
_HAPPENED = {
    "ran": re.compile(r"^Running stage '(.+)':", re.MULTILINE),
    "restored": re.compile(r"^Stage '(.+)' is cached - skipping run", re.MULTILINE),
    "unchanged": re.compile(r"^Stage '(.+)' didn't change, skipping", re.MULTILINE),
}


@dataclass(frozen=True)
class Reproduction:
    """What a `dvc repro` did, by the names of its stages, and all that it printed."""

    ran: set[str]
    restored: set[str]
    unchanged: set[str]
    code: int
    text: str

    @property
    def tail(self) -> str:
        """The end of what it printed: of a failed one, the failing stage's own lines."""
        return "\n".join(self.text.splitlines()[-_TAIL:])


@dataclass(frozen=True)
class Clone:
    """A copy of the repository in `folder`, with a DVC cache of its own."""

    folder: Path

    @classmethod
    def of_tracked_files(cls, folder: Path) -> Clone:
        """The tracked files as they are now, committed to a repository of their own, on the smoke profile."""
        clone = cls(folder)
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        for name in filter(None, listed.split("\0")):
            if (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, folder / name)
        (folder / "dvc.lock").unlink(missing_ok=True)
        clone.call("git", "init", "-q")
        clone.call("elastic", "profile", "use", "smoke", "--force")
        clone.call("git", "add", ".")
        clone.call("git", "-c", "user.name=test", "-c", "user.email=test@localhost", "commit", "-qm", "As it is")
        return clone

    def copy(self, folder: Path, *, restorable: bool = True) -> Clone:
        """A copy with everything that was made; unless it is restorable, without the cache of runs."""
        shutil.copytree(self.folder, folder)
        if not restorable:
            shutil.rmtree(folder / ".dvc/cache/runs")
        return Clone(folder)

    @property
    def environment(self) -> dict[str, str]:
        """The copy's own code first, on one thread."""
        return {
            **os.environ,
            "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(self.folder),
            "OMP_NUM_THREADS": "1",
            "DVC_SITE_CACHE_DIR": f"{self.folder}-site",
        }

    def run(self, *command: str, inside: str = ".") -> subprocess.CompletedProcess[str]:
        """Run a command of this Python environment in a folder of the copy."""
        return subprocess.run(
            command, cwd=self.folder / inside, env=self.environment, capture_output=True, text=True, check=False
        )

    def call(self, *command: str) -> str:
        """Run a command that must succeed; its standard output."""
        done = self.run(*command)
        assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def repro(self, *arguments: str) -> Reproduction:
        """Run `dvc repro`, whatever comes of it."""
        done = subprocess.run(
            ["dvc", "repro", *arguments],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        happened = {name: set(pattern.findall(done.stdout)) for name, pattern in _HAPPENED.items()}
        return Reproduction(**happened, code=done.returncode, text=done.stdout)

    def reproduce(self, *arguments: str) -> Reproduction:
        """Run `dvc repro`, which must succeed."""
        done = self.repro(*arguments)
        assert done.code == 0, f"dvc repro {' '.join(arguments)} failed; its end:\n{done.tail}"
        return done

    @contextmanager
    def started(self, *command: str) -> Iterator[subprocess.Popen[bytes]]:
        """A command in a process group of its own, which is killed at the end."""
        with (self.folder / "started.log").open("wb") as log:
            process = subprocess.Popen(
                command,
                cwd=self.folder,
                env=self.environment,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                yield process
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def kill_when(self, reached: Callable[[], bool], *command: str) -> None:
        """Start a command and end its whole process group by SIGKILL at a random moment once `reached`."""
        with self.started(*command) as process:
            while not reached():
                assert process.poll() is None, (self.folder / "started.log").read_text(encoding="utf-8")
                time.sleep(0.005)
            time.sleep(random.uniform(0, 0.2))
            os.killpg(process.pid, signal.SIGKILL)
            assert process.wait() == -signal.SIGKILL

    def stale(self) -> set[str]:
        """Stages of which DVC sees something changed."""
        return set(json.loads(self.call("dvc", "status", "--json")))

    def reach(self, stages: set[str]) -> set[str]:
        """`stages` and all that depend on them, directly or not."""
        arrows = re.findall(r'^"(.+)" -> "(.+)";?$', self.call("dvc", "dag", "--dot"), re.MULTILINE)
        reached = set(stages)
        while more := {after for before, after in arrows if before in reached} - reached:
            reached |= more
        return reached

    def lock(self) -> dict[str, Any]:
        """The stages of dvc.lock."""
        stages: dict[str, Any] = yaml.safe_load((self.folder / "dvc.lock").read_text(encoding="utf-8"))["stages"]
        return stages

    def outs(self) -> dict[str, str]:
        """The md5 of every out in dvc.lock, by path."""
        return {out["path"]: out["md5"] for stage in self.lock().values() for out in stage["outs"]}

    def record(self, stage: str) -> Record:
        """The record of a stage."""
        return read_record(Record, self.folder / f"records/{stage}.json")

    def json(self, path: str) -> Any:
        """A JSON file."""
        return json.loads((self.folder / path).read_text(encoding="utf-8"))

    def remove(self, *paths: str) -> None:
        """Remove files and folders."""
        for path in paths:
            target = self.folder / path
            if target.is_dir():
                shutil.rmtree(target)
            else:
                target.unlink()

    def forget(self, stage: str) -> None:
        """Make a stage one that never ran: no outputs, not in dvc.lock."""
        path = self.folder / "dvc.lock"
        lock = yaml.safe_load(path.read_text(encoding="utf-8"))
        self.remove(*(out["path"] for out in lock["stages"].pop(stage)["outs"]))
        path.write_text(yaml.safe_dump(lock, sort_keys=False), encoding="utf-8")

    def edit(self, path: str, text: str = "\n# a change\n") -> None:
        """Append to a file."""
        with (self.folder / path).open("a", encoding="utf-8") as stream:
            stream.write(text)

    def set_params(self, **values: Any) -> None:
        """Change params.yaml at dotted keys, written with __ for a dot."""
        path = self.folder / "params.yaml"
        params = yaml.safe_load(path.read_text(encoding="utf-8"))
        for key, value in values.items():
            *parents, last = key.split("__")
            block = params
            for name in parents:
                block = block[name]
            block[last] = value
        path.write_text(yaml.safe_dump(params, sort_keys=False), encoding="utf-8")
