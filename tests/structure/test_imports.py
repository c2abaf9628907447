"""A file imports only from the rooms that ARCHITECTURE.md's table allows it, and light rooms stay light."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("elastic", "stages", "flows", "cli")
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
[LIGHT] = [contract for contract in CONTRACTS if contract["name"] == "Light rooms stay light"]
HEAVY = set(LIGHT["forbidden_modules"])


def table() -> dict[str, str]:
    """The column "may import" of ARCHITECTURE.md, by room: `elastic/data` -> `ground floor, contracts`."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`(?:elastic|stages|flows|cli)/.*?) \| .*? \| ([^|]*?) \|$", text, flags=re.MULTILINE)
    rooms = {}
    for names, allowed in rows:
        for name in re.findall(r"`([^`]+)`", names):
            rooms[name.removesuffix("/") if "/" in name else f"elastic/{name}"] = allowed
    return rooms


TABLE = table()
GROUND = {room for room, allowed in TABLE.items() if allowed == "nothing above"}


def room_of(module: str) -> str:
    """The table's row of a module: `elastic.data.splits` -> `elastic/data`."""
    parts = module.split(".")
    if parts[0] != "elastic":
        return parts[0]
    name = "/".join(parts[:2])
    return f"{name}.py" if f"{name}.py" in TABLE else name


def allows(room: str, imported: str, target: str) -> bool:
    """Whether a file of `room` may import the module `imported`, which is of the room `target`."""
    if target == room:
        return True
    allowed = TABLE.get(room, "")
    if room in GROUND:
        return target in GROUND
    if target in GROUND or allowed == "everything below":
        return True
    names = [name.strip() for name in allowed.split(",")]
    return any(name in (imported, imported.split(".")[0], target, target.removeprefix("elastic/")) for name in names)


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph(*PACKAGES, cache_dir=None)


def test_every_room_stands_in_the_table() -> None:
    folders = {f"elastic/{path.name}" for path in (ROOT / "elastic").iterdir() if (path / "__init__.py").exists()}
    files = {f"elastic/{path.name}" for path in (ROOT / "elastic").glob("*.py")} - {"elastic/__init__.py"}
    assert folders | files | {"stages", "flows", "cli"} == set(TABLE)


def test_files_import_only_what_the_table_allows(graph: grimp.ImportGraph) -> None:
    broken = [
        f"{module} imports {imported}; {room_of(module)} may import: {TABLE.get(room_of(module))}"
        for module in sorted(graph.modules)
        for imported in sorted(graph.find_modules_directly_imported_by(module))
        if imported != "elastic" and not allows(room_of(module), imported, room_of(imported))
    ]
    assert not broken, "\n".join(broken)


def test_the_rule_tells_right_from_wrong() -> None:
    assert allows("elastic/metrics", "elastic.contracts.records", "elastic/contracts")
    assert not allows("elastic/metrics", "elastic.engines.protocol", "elastic/engines")
    assert not allows("elastic/trace.py", "elastic.contracts.records", "elastic/contracts")
    assert allows("cli", "stages.common", "stages")
    assert not allows("cli", "stages.train", "stages")
    assert not allows("stages", "flows.pipeline", "flows")


def test_import_contracts_of_the_linter_hold() -> None:
    command = Path(sys.executable).with_name("lint-imports")
    run = subprocess.run([command, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


def light_modules(graph: grimp.ImportGraph) -> list[str]:
    return sorted(m for m in graph.modules if ".".join(m.split(".")[:2]) in LIGHT["source_modules"])


def test_light_rooms_load_nothing_heavy(graph: grimp.ImportGraph) -> None:
    modules = light_modules(graph)
    assert len(modules) > len(LIGHT["source_modules"])
    loaded = loaded_by("; ".join(f"import {module}" for module in modules))
    assert not loaded & HEAVY


def test_the_command_starts_light() -> None:
    loaded = loaded_by(
        "import sys; sys.argv = ['elastic', '--help']\n"
        "from cli.main import main\n"
        "try: main()\n"
        "except SystemExit as end: assert end.code == 0"
    )
    assert not loaded & {*HEAVY, "polars", "pandera", "matplotlib", "scipy"}


def loaded_by(code: str) -> set[str]:
    """Top-level packages that a fresh interpreter has loaded after `code`."""
    run = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print('loaded:', *{{m.partition('.')[0] for m in sys.modules}})"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    return set(run.stdout.splitlines()[-1].removeprefix("loaded:").split())


def package_files() -> list[str]:
    return sorted(
        str(p.relative_to(ROOT)) for name in ("elastic", "stages") for p in (ROOT / name).rglob("__init__.py")
    )


@pytest.mark.parametrize("path", package_files())
def test_package_files_hold_only_their_docstring(path: str) -> None:
    """dvc.yaml does not name them, so nothing in them may change what a stage does."""
    first, *rest = ast.parse((ROOT / path).read_text(encoding="utf-8")).body
    assert isinstance(first, ast.Expr)
    assert isinstance(first.value, ast.Constant)
    version = [node for node in rest if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__version__"]
    assert rest == version
