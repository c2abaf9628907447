from __future__ import annotations

import made_lab
import pytest

from lab.analyse import analyse
from lab.analysis import Analysis, Section
from lab.evidence import Evidence


@pytest.fixture(scope="session")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    return made_lab.build(tmp_path_factory.mktemp("made-lab"))


@pytest.fixture(scope="session")
def analysis(evidence: Evidence) -> Analysis:
    return analyse(evidence, lambda name: None)


@pytest.fixture(scope="session")
def sections(analysis: Analysis) -> dict[str, Section]:
    return {section.key: section for section in analysis.sections}
