"""Where raw rows come from: a mirror folder, a repository at a commit, a hub whose revision must be pinned."""

from __future__ import annotations

import functools
import hashlib
import http.server
import json
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from elastic.contracts.params.collect import CollectParams, DatasetSource
from elastic.contracts.params.common import read_params
from elastic.contracts.sources import SourceFile
from elastic.data import origins
from elastic.data.catalogue import dataset_rows
from elastic.data.origins import MIRROR, raw_rows
from elastic.errors import DataError

ROOT = Path(__file__).parents[2]
COMMIT = "0123456789abcdef0123456789abcdef01234567"
ROWS = [{"q": "What is 1 + 1?", "a": "2"}, {"q": "What is 2 + 2?", "a": "4"}]
TEXT = json.dumps(ROWS)
SHA256 = hashlib.sha256(TEXT.encode()).hexdigest()
REPOSITORY = {"repository": "me/sums", "revision": COMMIT, "path": "data/sums.json"}


def source(origin: dict[str, Any], sha256: str | None = SHA256, **changes: Any) -> SourceFile:
    values: dict[str, Any] = {
        "name": "sums",
        "description": "sums",
        "domain": "math",
        "origin": origin,
        "mirror": {"path": "math/sums.json", "sha256": sha256},
        "licence": {"name": "CC0-1.0"},
        "uses": ["test"],
        "reader": "plain",
        "fields": {"question": "q", "answer": "a"},
        "rows": 2,
        "near_duplicates": "exact",
    }
    return SourceFile.model_validate(values | changes)


def rows(wanted: SourceFile) -> list[dict[str, Any]]:
    return list(raw_rows(wanted, Path("data/sources")))


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "mirror"
    (folder / "math").mkdir(parents=True)
    (folder / "math/sums.json").write_text(TEXT, encoding="utf-8")
    monkeypatch.setenv(MIRROR, str(folder))

    def refuse(*_: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    return folder


@pytest.fixture
def no_mirror(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(MIRROR, raising=False)


@pytest.fixture
def github(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_mirror: None) -> Iterator[Path]:
    """A web server that has one file where GitHub would."""
    path = tmp_path / "web" / "me/sums/raw" / COMMIT / "data/sums.json"
    path.parent.mkdir(parents=True)
    path.write_text(TEXT, encoding="utf-8")
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(tmp_path / "web"))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setattr(origins, "GITHUB", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setattr("datasets.config.DOWNLOADED_DATASETS_PATH", str(tmp_path / "downloads"))
    yield path
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    "origin", [REPOSITORY, {"hub": "me/sums", "revision": COMMIT}, {"hub": "me/sums", "revision": None}]
)
def test_a_mirror_stands_for_every_origin(mirror: Path, origin: dict[str, Any]) -> None:
    assert rows(source(origin)) == ROWS


def test_a_mirrored_file_of_another_revision_is_refused(mirror: Path) -> None:
    (mirror / "math/sums.json").write_text(TEXT + " ", encoding="utf-8")
    with pytest.raises(DataError, match=rf"data/sources/sums\.yaml: wrong revision: sums\.json has .*, not {SHA256}"):
        rows(source(REPOSITORY))


def test_a_mirrored_file_that_nobody_pinned_is_refused_with_its_checksum(mirror: Path) -> None:
    with pytest.raises(DataError, match=rf"sums\.yaml: nobody has pinned the mirrored file.*{SHA256}"):
        rows(source(REPOSITORY, sha256=None))


def test_a_mirror_without_the_file_is_refused_and_no_network_is_asked(mirror: Path) -> None:
    (mirror / "math/sums.json").unlink()
    with pytest.raises(DataError, match=rf"sums\.yaml: the mirror has no file .*math/sums\.json\n.*unset {MIRROR}"):
        rows(source(REPOSITORY))
    with pytest.raises(DataError, match="names no file of a mirror"):
        rows(source(REPOSITORY, mirror=None))


def test_a_hub_without_a_pinned_revision_is_refused_with_where_to_look(no_mirror: None) -> None:
    for origin in ({"hub": "me/sums", "revision": None}, {"hub": "me/sums", "revision": None, "files": ["a.jsonl"]}):
        with pytest.raises(DataError, match=r"sums\.yaml: the revision of me/sums is not pinned") as caught:
            rows(source(origin))
        assert "https://huggingface.co/datasets/me/sums/commits/main" in str(caught.value)


def test_a_file_of_a_repository_is_fetched_at_its_commit(github: Path) -> None:
    assert rows(source(REPOSITORY)) == ROWS
    assert rows(source(REPOSITORY, mirror=None)) == ROWS


def test_a_fetched_file_with_another_checksum_is_refused(github: Path) -> None:
    github.write_text(json.dumps(ROWS[:1]), encoding="utf-8")
    with pytest.raises(DataError, match=r"sums\.yaml: wrong revision"):
        rows(source(REPOSITORY))


def test_a_commit_that_is_not_there_is_refused_with_the_way_round(github: Path) -> None:
    with pytest.raises(DataError, match=rf"(?s)sums\.yaml: cannot be read: .*{MIRROR}"):
        rows(source({**REPOSITORY, "revision": COMMIT[::-1]}))


@pytest.mark.skipif(MIRROR not in os.environ, reason=f"{MIRROR} names no mirror of the public data sets")
def test_every_source_of_the_public_profile_stands_in_the_mirror(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    collect = CollectParams.model_validate(read_params(Path("params/public.yaml"))["collect"])
    sources = [wanted for wanted in collect.sources if isinstance(wanted, DatasetSource)]
    assert len(sources) == len(collect.sources) >= 12
    for wanted in sources:
        found = list(dataset_rows(wanted))
        expected = read_params(Path(f"data/sources/{wanted.name}.yaml"))["rows"]
        assert len(found) == expected, wanted.name
        assert len({row["source_id"] for row in found}) == expected, wanted.name
        assert all(row["tests"] for row in found if row["domain"] == "code"), wanted.name
