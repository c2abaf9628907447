from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from cli import profile
from elastic.errors import ParamsError

ROOT = Path(__file__).parents[2]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the repository's profiles and a second one, `other`."""
    shutil.copytree(ROOT / "params", tmp_path / "params")
    text = (ROOT / "params/laptop.yaml").read_text(encoding="utf-8")
    (tmp_path / "params/other.yaml").write_text(text.replace("profile: laptop", "profile: other"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> str:
    result = CliRunner().invoke(profile.app, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def active_name(here: Path) -> str:
    return yaml.safe_load((here / "params.yaml").read_text(encoding="utf-8"))["profile"]


def test_use_copies_the_profile(here: Path) -> None:
    run("use", "other")
    assert (here / "params.yaml").read_bytes() == (here / "params/other.yaml").read_bytes()
    assert not list(here.glob(".*.partial"))


def test_use_replaces_another_profile_even_if_its_comments_differ(here: Path) -> None:
    text = (here / "params/laptop.yaml").read_text(encoding="utf-8")
    (here / "params.yaml").write_text(f"# a comment\n{text}", encoding="utf-8")
    run("use", "other")
    assert active_name(here) == "other"


def test_use_refuses_to_lose_changes(here: Path) -> None:
    text = (here / "params/laptop.yaml").read_text(encoding="utf-8").replace("profile: laptop", "profile: mine")
    (here / "params.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ParamsError, match=r"params\.yaml: equals no profile"):
        run("use", "other")
    assert (here / "params.yaml").read_text(encoding="utf-8") == text


def test_force_keeps_every_earlier_version(here: Path) -> None:
    for mine in ("profile: first", "profile: ["):  # the second is not even YAML
        (here / "params.yaml").write_text(mine, encoding="utf-8")
        run("use", "other", "--force")
    assert active_name(here) == "other"
    assert (here / "params.yaml.bak").read_text(encoding="utf-8") == "profile: first"
    assert (here / "params.yaml.bak2").read_text(encoding="utf-8") == "profile: ["


def test_use_refuses_an_unknown_or_broken_profile(here: Path) -> None:
    with pytest.raises(ParamsError, match=r"no profile 'nothing'[\s\S]*laptop"):
        run("use", "nothing")
    (here / "params/broken.yaml").write_text("profile: broken\n", encoding="utf-8")
    with pytest.raises(ParamsError, match="base: Field required"):
        run("use", "broken")
    assert not (here / "params.yaml").exists()


def test_list_marks_the_active_profile_and_names_a_broken_one(here: Path) -> None:
    run("use", "other")
    (here / "params/broken.yaml").write_text("profile: broken\n", encoding="utf-8")
    lines = {line[2:].split()[0]: line for line in run("list").splitlines()}
    assert [name for name, line in lines.items() if line.startswith("*")] == ["other"]
    assert "invalid" in lines["broken"]


def test_check_names_the_key_and_the_file(here: Path) -> None:
    assert "valid" in run("check", "params/laptop.yaml")
    laptop = (here / "params/laptop.yaml").read_text(encoding="utf-8")
    text = re.sub(r"budget: \d+\+\d+", "budget: 9000+20", laptop)
    (here / "mine.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ParamsError, match=r"budget[\s\S]*context[\s\S]*edit mine\.yaml"):
        run("check", "mine.yaml")


def test_outside_the_repository_the_remedy_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ParamsError, match="root of the repository"):
        run("use", "laptop")


SAMPLED, PREFIXES = {"kind": "sampled", "low": 40}, {"kind": "prefixes", "think": [8, 32]}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"reward": {"name": "alpp"}}, r"train\.reward\.name: no reward is called 'alpp' \(name one of alp, "),
        ({"reward": {"name": "alp"}}, r"train\.reward\.beta: Field required \(add the key"),
        ({"reward": {"name": "alp", "beta": -1}}, r"train\.reward\.beta: .*greater than 0 \(got -1"),
        ({"reward": {"name": "correctness", "beta": 1}}, r"train\.reward\.beta: .*remove the key"),
        ({"reward": {"name": "l1_exact", "alpha": 0.1}}, r"train\.target: .*a length that the prompt asks for \(add "),
        ({"estimator": "median"}, r"train\.estimator: no advantage estimator is called 'median' \(name one of group"),
        ({"estimator": "rloo"}, r"train\.advantage_eps: rloo divides by no standard deviation.* \(leave it out"),
        ({"advantage_eps": None}, r"train\.advantage_eps: group_std divides by a standard deviation.* \(as in 1e-6"),
        ({"schedule": {"kind": "buckets", "think": {"hrad": 8}}}, r"train\.schedule\.think: .*'hrad' \(name some of n"),
        ({"schedule": SAMPLED}, r"train\.schedule in r1, rounds\.r1\.budget 32\+16: t = 40 is above .* \(.*lower the"),
        ({"schedule": PREFIXES}, r"train\.schedule in r2, rounds\.r2\.budget 48\+16: prefixes at .* \(name different"),
    ],
)
def test_check_names_what_a_round_would_refuse_after_hours(changes: dict[str, object], says: str, here: Path) -> None:
    params = yaml.safe_load((here / "params/laptop.yaml").read_text(encoding="utf-8"))
    params["train"] |= changes
    (here / "mine.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    with pytest.raises(ParamsError, match=says) as refused:
        run("check", "mine.yaml")
    assert "edit mine.yaml at the keys named above" in str(refused.value)


def test_check_names_every_fault_of_a_recipe_at_once(here: Path) -> None:
    params = yaml.safe_load((here / "params/laptop.yaml").read_text(encoding="utf-8"))
    params["train"] |= {"reward": {"name": "alp"}, "estimator": "rloo", "schedule": {"kind": "sampled", "low": 60}}
    (here / "mine.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    with pytest.raises(ParamsError) as refused:
        run("check", "mine.yaml")
    for key in ("train.reward.beta", "train.advantage_eps", "rounds.r1.budget", "rounds.r2.budget"):
        assert key in str(refused.value)
