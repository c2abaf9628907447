from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli import doctor
from cli.main import app
from elastic.engines.runtime import device

ROOT = Path(__file__).parents[2]


def test_a_lock_that_agrees_is_ok(tmp_path: Path) -> None:
    lock = tmp_path / "constraints.txt"
    lock.write_text(f"PyYAML=={version('pyyaml')}\ntorch=={version('torch').partition('+')[0]}\n", encoding="utf-8")
    [finding] = doctor.packages(lock, {"torch"})
    assert finding.state == "ok"
    assert finding.text.startswith("2 as locked")


def test_another_version_is_noted_and_a_missing_dependency_is_broken(tmp_path: Path) -> None:
    lock = tmp_path / "constraints.txt"
    lock.write_text("PyYAML==0.1\nNo_such.package==1.0\nnot-a-dependency==1.0\n", encoding="utf-8")
    broken, note = doctor.packages(lock, {"pyyaml", "no-such-package"})
    assert (broken.state, broken.text) == ("broken", "missing: No_such.package")
    assert note.state == "note"
    assert f"PyYAML {version('pyyaml')} (locked ==0.1)" in note.text


def test_each_environment_is_judged_by_the_lock_that_it_is_made_from(tmp_path: Path) -> None:
    assert doctor.lock_of(ROOT / ".venv-engines") == ROOT / "constraints-engines.txt"
    assert doctor.lock_of(ROOT / ".venv") == doctor.lock_of(tmp_path) == ROOT / "constraints.txt"
    lock = tmp_path / "constraints-engines.txt"
    lock.write_text("PyYAML==0.1\n", encoding="utf-8")
    [note] = doctor.packages(lock, set())
    assert note.remedy == "make setup-engines installs those"


def test_direct_dependencies_leave_out_the_tools_of_development() -> None:
    names = doctor.direct_dependencies()
    assert {"torch", "trl", "math-verify"} <= names
    assert "ruff" not in names


def test_a_missing_program_is_named_with_its_use_and_its_package() -> None:
    program = doctor.Program("thing", ("no-such-command",), "the things", "thing-package")
    finding = program.look()
    assert finding.state == "note"
    assert finding.remedy == "needed for the things: apt-get install thing-package"
    assert doctor.Program("thing", ("no-such-command", "sh"), "", "").look().text == shutil.which("sh")


def test_the_sandbox_is_tried_and_its_remedy_given(monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("bwrap"):
        assert doctor.sandbox().state == "ok"
    monkeypatch.setenv("ELASTIC_UNSANDBOXED", "1")
    assert "without one" in doctor.sandbox().text
    monkeypatch.delenv("ELASTIC_UNSANDBOXED")
    monkeypatch.setenv("PATH", "/nowhere")
    missing = doctor.sandbox()
    assert missing.state == "note"
    assert "apt-get install bubblewrap" in missing.remedy


def test_a_good_repository_passes_and_a_broken_one_ends_with_1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for command in (["git", "init", "-q"], [sys.executable, "-m", "dvc", "init", "-q"]):
        subprocess.run(command, check=True)
    shutil.copytree(ROOT / "params", "params")
    shutil.copyfile("params/laptop.yaml", "params.yaml")
    good = CliRunner().invoke(app, ["doctor"])
    assert good.exit_code == 0, good.output
    assert "profile laptop, valid" in good.output
    assert "GiB free" in good.output
    assert f"models run on {device()}" in good.output

    Path("params.yaml").write_text("profile: laptop\n", encoding="utf-8")
    bad = CliRunner().invoke(app, ["doctor"])
    assert bad.exit_code == 1
    assert "broken: params.yaml" in bad.output

    monkeypatch.setenv("ELASTIC_DEVICE", "abacus")
    assert "'abacus' is no device" in CliRunner().invoke(app, ["doctor"]).output
