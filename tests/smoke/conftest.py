"""One run of the whole pipeline on the smoke profile for all tests of this folder, and cheap copies of its end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from clone import Clone, Reproduction


@pytest.fixture(scope="session")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Clone:
    """The repository on the smoke profile before anything ran."""
    return Clone.of_tracked_files(tmp_path_factory.mktemp("pristine") / "repository")


@pytest.fixture(scope="session")
def first_run(pristine: Clone, tmp_path_factory: pytest.TempPathFactory) -> tuple[Clone, Reproduction]:
    """The one uninterrupted run: where, and what DVC did."""
    clone = pristine.copy(tmp_path_factory.mktemp("reproduced") / "repository")
    return clone, clone.reproduce()


@pytest.fixture(scope="session")
def reproduced(first_run: tuple[Clone, Reproduction]) -> Clone:
    """The repository after that run; tests only read it."""
    return first_run[0]


@pytest.fixture
def copy(reproduced: Clone, tmp_path: Path) -> Callable[..., Clone]:
    """Makes copies of the test's own, by name."""

    def make(name: str = "copy", *, restorable: bool = True) -> Clone:
        return reproduced.copy(tmp_path / name, restorable=restorable)

    return make
