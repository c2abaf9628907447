"""dvc.yaml against the import graph: a stage's code deps are what its module imports, no more and no less.

A dep that is missing would let a changed file go unnoticed; one too many would run a stage for nothing. Paths may name
a file or a whole room. Graders are loaded by the name that stands in params, so the edge to them is read from the
template in dvc.yaml (`elastic/answers/${grading.training}.py`); rewards are, too, and are deps all together. The
comparison and the lab have DAGs of their own, in compare/ and lab/, under the same rule; their paths are taken as seen
from the root.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, get_args

import grimp
import pytest
import yaml
from dvc.dependency.param import ParamsDependency
from dvc.repo import Repo

from elastic.contracts.params.grading import GraderName
from elastic.contracts.params.profile import Profile

ROOT = Path(__file__).parents[2]
OWN_DAGS = ("compare", "lab")
CODE = ("elastic", "stages", *OWN_DAGS)
DAGS = (ROOT, *(ROOT / name for name in OWN_DAGS))
LOADS_BY_NAME = "elastic.answers.graders"
LOADS_REWARDS = "elastic.rewards.protocol"
GRADERS = {f"elastic/answers/{name}.py" for name in get_args(GraderName)}
BY_NAME = re.compile(r"^elastic/answers/\$\{\w+\.\w+\}\.py$")


def is_code(path: str) -> bool:
    first = path.split("/")[0]
    return path.endswith(".py") if first in OWN_DAGS else first in CODE


def from_root(folder: Path, path: str) -> str:
    """A path in the dvc.yaml of `folder`, as seen from the root."""
    return os.path.relpath(folder / path, ROOT)


def module_of(path: str) -> str:
    return path.removesuffix(".py").replace("/", ".")


def file_name(module: str) -> str:
    return f"{module.replace('.', '/')}.py"


def file_of(module: str) -> str | None:
    """The file of a module, or None for a package: its file holds a docstring only, as test_imports asserts."""
    return file_name(module) if (ROOT / file_name(module)).exists() else None


def imported_files(graph: grimp.ImportGraph, roots: Iterable[str]) -> set[str]:
    """Files of `roots` and of everything that they import, directly or not; of every reward where one is loaded."""
    modules = {module for root in roots for module in (root, *graph.find_upstream_modules(root))}
    if LOADS_REWARDS in modules:
        rewards = graph.find_descendants(LOADS_REWARDS.rpartition(".")[0])
        modules |= {module for reward in rewards for module in (reward, *graph.find_upstream_modules(reward))}
    return {path for module in modules if (path := file_of(module))}


def covers(dep: str, path: str) -> bool:
    return path == dep or path.startswith(f"{dep.rstrip('/')}/")


def faults(deps: set[str], files: set[str]) -> list[str]:
    """What is wrong with a stage's code deps, given the files that it imports."""
    missing = {path for path in files if not any(covers(dep, path) for dep in deps)}
    idle = {dep for dep in deps if not any(covers(dep, path) for path in files)}
    wide = {
        f"{dep} (it covers {path})" for dep in deps for path in GRADERS - files if dep not in idle and covers(dep, path)
    }
    return [
        *(f"missing: {path}" for path in sorted(missing)),
        *(f"imports nothing of: {dep}" for dep in sorted(idle)),
        *(f"too wide, a grader that is not used here would run the stage again: {dep}" for dep in sorted(wide)),
    ]


def right_list(deps: set[str], files: set[str]) -> list[str]:
    """Deps to paste: the good ones that stand there, and every file that none of them covers."""
    kept = {dep for dep in deps if not faults({dep}, {path for path in files if covers(dep, path)})}
    return sorted(kept | {path for path in files if not any(covers(dep, path) for dep in kept)})


def body_of(raw: dict[str, Any], name: str) -> dict[str, Any]:
    """A stage's entry as written in dvc.yaml, whether plain, foreach or matrix."""
    entry = raw["stages"][name.partition("@")[0]]
    return entry["do"] if "foreach" in entry else entry


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph(*CODE, cache_dir=None, exclude_type_checking_imports=True)


@pytest.fixture(scope="module", params=DAGS, ids=lambda folder: folder.name)
def folder(request: pytest.FixtureRequest) -> Path:
    """Where a dvc.yaml stands."""
    return Path(request.param)


@pytest.fixture(scope="module")
def stages(folder: Path) -> dict[str, Any]:
    """Every stage by name, as DVC resolves it with the active params."""
    return {stage.name: stage for stage in Repo(str(folder)).index.stages}


def blocks_read(module: str) -> set[str]:
    """Blocks of params.yaml that a stage's file asks for by name; a stage that loads the profile reads them all."""
    blocks: set[str] = set()
    for node in ast.walk(ast.parse((ROOT / file_name(module)).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in ("params_block", "pipeline_block"):
                blocks.add(ast.literal_eval(node.args[0]))
            elif node.func.id == "load_profile":
                blocks |= set(Profile.model_fields)
    return blocks


def module_run_by(command: str) -> str:
    match = re.fullmatch(r"python -m ((?:stages|compare|lab)\.\w+)( [\w ]+)?", command)
    assert match, f"{command!r} is not `python -m stages.NAME ARGUMENTS`"
    return match[1]


def test_code_deps_are_what_a_stage_imports(folder: Path, graph: grimp.ImportGraph, stages: dict[str, Any]) -> None:
    raw = yaml.safe_load((folder / "dvc.yaml").read_text(encoding="utf-8"))
    report = []
    for name, stage in stages.items():
        paths = {from_root(folder, dep.def_path) for dep in stage.deps if not isinstance(dep, ParamsDependency)}
        deps = set(filter(is_code, paths))
        written = set(filter(is_code, (from_root(folder, dep) for dep in body_of(raw, name)["deps"])))
        by_name = deps - written if any(BY_NAME.match(dep) for dep in written) else set()
        files = imported_files(graph, [module_run_by(stage.cmd), *map(module_of, by_name)])
        wrong = faults(deps, files)
        if file_of(LOADS_BY_NAME) in files and not by_name:
            wrong.append("missing: elastic/answers/${grading.training}.py or elastic/answers/${grading.evaluation}.py")
        if wrong:
            pasted = [*sorted(written - deps), *right_list(deps - by_name, files - by_name)]
            report.append("\n".join([f"{name}:", *(f"  {line}" for line in wrong), "  code deps to paste:"]))
            report.extend(f"      - {dep}" for dep in pasted)
    assert not report, "\n".join(["", *report])


def test_params_are_the_blocks_that_a_stage_reads(stages: dict[str, Any]) -> None:
    for name, stage in stages.items():
        declared = {key.split(".")[0] for dep in stage.deps if isinstance(dep, ParamsDependency) for key in dep.params}
        assert declared == blocks_read(module_run_by(stage.cmd)), name


def test_every_stage_file_stands_in_the_dag() -> None:
    used = {file_name(module_run_by(stage.cmd)) for stage in Repo(str(ROOT)).index.stages}
    files = {f"stages/{path.name}" for path in (ROOT / "stages").glob("*.py")} - {"stages/__init__.py"}
    assert files - used == {"stages/common.py", "stages/side_by_side.py"}


def test_faults_are_found() -> None:
    files = {"stages/a.py", "stages/common.py", "elastic/data/x.py", "elastic/budget.py"}
    assert faults({"stages/a.py", "stages/common.py", "elastic/data", "elastic/budget.py"}, files) == []
    assert faults({"stages/a.py", "stages/common.py", "elastic/data", "elastic/engines"}, files) == [
        "missing: elastic/budget.py",
        "imports nothing of: elastic/engines",
    ]
    wide = faults({"elastic/answers"}, {"elastic/answers/exact.py"})
    assert ["elastic/answers/code.py" in line for line in wide] == [True, False]
    assert ["elastic/answers/math.py" in line for line in wide] == [False, True]
    assert right_list({"elastic/data", "elastic/engines"}, files) == [
        "elastic/budget.py",
        "elastic/data",
        "stages/a.py",
        "stages/common.py",
    ]


def test_a_folder_covers_its_own_files_only() -> None:
    assert covers("elastic/data", "elastic/data/x.py")
    assert not covers("elastic/data", "elastic/database.py")


def test_imports_of_imports_count(graph: grimp.ImportGraph) -> None:
    files = imported_files(graph, ["stages.common"])
    assert {"stages/common.py", "elastic/contracts/records.py", "elastic/errors.py"} <= files
    assert "elastic/engines/transformers.py" not in files
