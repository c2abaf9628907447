from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import small_world

from elastic.contracts.params.profile import Profile
from elastic.reporting.evidence import Evidence
from elastic.reporting.findings import Findings, find
from elastic.reporting.page import render_page
from stages.report import read_evidence


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with everything that the report reads; tests that change a file put it back."""
    folder = tmp_path_factory.mktemp("report-world")
    small_world.build(folder)
    return folder


@pytest.fixture
def inside(world: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(world)
    return world


@pytest.fixture(scope="session")
def profile() -> Profile:
    return small_world.profile()


@pytest.fixture(scope="session")
def evidence(world: Path, profile: Profile) -> Iterator[Evidence]:
    before = Path.cwd()
    os.chdir(world)
    found = read_evidence(profile)
    os.chdir(before)
    return found


@pytest.fixture(scope="session")
def findings(evidence: Evidence) -> Findings:
    return find(evidence)


@pytest.fixture(scope="session")
def page(evidence: Evidence, findings: Findings) -> str:
    return render_page(evidence, findings)
