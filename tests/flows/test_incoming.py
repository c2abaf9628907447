"""New problems: a bad file stays outside whole, a good one becomes a version named after its bytes."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from elastic.contracts.params.profile import load_profile
from elastic.errors import DataError, ParamsError
from flows.incoming import accept, require_source, waiting

GOOD = '{"question": "2+2=?", "answer": "4"}\n{"question": "2+3=?", "answer": 5}\n'
PROFILE = Path(__file__).parents[2] / "params/laptop.yaml"


@pytest.fixture
def incoming(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    folder = Path("data/incoming")
    folder.mkdir(parents=True)
    return folder


def test_a_good_file_moves_to_a_version_named_after_its_bytes(incoming: Path) -> None:
    path = incoming / "mine.jsonl"
    path.write_text(GOOD, encoding="utf-8")
    version, is_new = accept(path)
    assert version == Path("data/raw") / f"{hashlib.sha256(GOOD.encode()).hexdigest()[:12]}.jsonl"
    assert is_new
    assert version.read_text(encoding="utf-8") == GOOD
    assert not path.exists()


def test_an_identical_file_is_the_same_version(incoming: Path) -> None:
    for name, is_new in (("a.jsonl", True), ("b.jsonl", False)):
        (incoming / name).write_text(GOOD, encoding="utf-8")
        assert accept(incoming / name)[1] is is_new
    assert len(list(Path("data/raw").iterdir())) == 1
    assert not waiting()


def test_a_file_from_elsewhere_stays_there(incoming: Path, tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text(GOOD, encoding="utf-8")
    version, _ = accept(path)
    assert path.read_text(encoding="utf-8") == version.read_text(encoding="utf-8") == GOOD


@pytest.mark.parametrize("text", [GOOD + '{"question": "2+2=?"}\n[]\n', "\n"])
def test_a_bad_file_is_refused_whole_and_stays(incoming: Path, text: str) -> None:
    path = incoming / "bad.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=r"bad\.jsonl"):
        accept(path)
    assert path.read_text(encoding="utf-8") == text
    assert not Path("data/raw").exists()


def test_files_wait_in_the_order_of_their_names(incoming: Path) -> None:
    for name in ("b.jsonl", "a.jsonl", "notes.txt"):
        (incoming / name).touch()
    assert [path.name for path in waiting()] == ["a.jsonl", "b.jsonl"]


def test_a_profile_that_would_never_read_the_file_is_refused() -> None:
    profile = load_profile(PROFILE)
    require_source(profile)
    generated = [source for source in profile.collect.sources if source.kind == "generated"]
    collect = profile.collect.model_copy(update={"sources": generated})
    with pytest.raises(ParamsError, match="no source reads data/raw"):
        require_source(profile.model_copy(update={"collect": collect}))
