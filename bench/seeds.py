"""Does the effect hold whatever the training seed? The DAG with several values of `train.seed`, and a table of claims.

    python -m bench.seeds 4 14 24

Each seed runs `dvc repro` in a copy of the tracked files under .scratch/seeds/, on the cache of this checkout, so that
everything that does not depend on the training seed is restored and not run again. The table goes to standard output.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path

import yaml

from elastic.budget import Budget
from elastic.contracts.params.profile import load_profile
from elastic.reporting.comparisons import Paired, paired_accuracy, paired_tokens, separate_minus_truncate
from elastic.reporting.evidence import BASE, Evidence
from stages.report import read_evidence

ROOT = Path(__file__).parents[1]
COPIES = ROOT / ".scratch" / "seeds"


@dataclass(frozen=True)
class Seen:
    """What one seed showed on the test split."""

    seed: int
    evidence: Evidence
    gains: dict[str, list[Paired]]
    tokens: dict[str, Paired]
    cut: dict[str, list[Paired]]


def reproduce(seed: int) -> Path:
    """Run the DAG with `train.seed: seed` in a copy of its own; returns the copy."""
    copy = COPIES / str(seed)
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, copy / name)
    params = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    params["train"]["seed"] = seed
    (copy / "params.yaml").write_text(yaml.safe_dump(params, sort_keys=False), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(copy)}
    dvc = [sys.executable, "-m", "dvc"]
    cache = str(ROOT / ".dvc" / "cache")
    for command in (["config", "--local", "core.no_scm", "true"], ["cache", "dir", "--local", cache], ["repro"]):
        subprocess.run([*dvc, *command], cwd=copy, check=True, env=environment, stdout=sys.stderr)
    return copy


def look(seed: int, copy: Path) -> Seen:
    """Compare the rounds of one seed with the base, at every budget of the grid and without one."""
    with chdir(copy):
        evidence = read_evidence(load_profile(Path("params.yaml")))
    budgets: list[Budget | None] = [
        *(Budget(row.think or 0, evidence.solution) for row in evidence.rows(BASE, "separate")),
        None,
    ]
    rounds = list(evidence.profile.rounds)
    return Seen(
        seed,
        evidence,
        {name: [paired_accuracy(evidence, name, BASE, budget) for budget in budgets] for name in rounds},
        {name: paired_tokens(evidence, name, BASE) for name in rounds},
        separate_minus_truncate(evidence),
    )


def _points(paired: Paired) -> str:
    return f"{100 * paired.difference:+.1f} [{100 * paired.low:+.1f}, {100 * paired.high:+.1f}]"


def table(seen: Sequence[Seen]) -> str:
    """The claims as Markdown: gains over base by budget, tokens without a budget, separate minus truncation."""
    lines = []
    for name, gains in seen[0].gains.items():
        lines += [f"### {name} minus base, points of accuracy on test, 95% intervals over problems\n"]
        lines += [
            f"| t (s = {seen[0].evidence.solution}) | " + " | ".join(f"seed {s.seed}" for s in seen) + " | mean |"
        ]
        lines += ["|---" * (len(seen) + 2) + "|"]
        for index, gain in enumerate(gains):
            cells = [s.gains[name][index] for s in seen]
            mean = 100 * sum(cell.difference for cell in cells) / len(cells)
            where = str(gain.budget.think) if gain.budget else "no budget"
            lines += [f"| {where} | " + " | ".join(map(_points, cells)) + f" | {mean:+.1f} |"]
        shares = []
        for s in seen:
            row = s.evidence.unconstrained(BASE)
            shares.append(100 * s.tokens[name].difference / (row.mean_think_tokens + row.mean_solution_tokens))
        lines += [
            "| tokens, no budget | "
            + " | ".join(f"{share:+.0f} %" for share in shares)
            + f" | {sum(shares) / len(shares):+.0f} % |",
            "",
        ]
    for model in seen[0].cut:
        lines += [f"### {model}: separate budgets minus plain truncation at the same total\n"]
        lines += ["| t | " + " | ".join(f"seed {s.seed} | unfinished" for s in seen) + " |"]
        lines += ["|---" * (2 * len(seen) + 1) + "|"]
        for index, paired in enumerate(seen[0].cut[model]):
            cells = [s.cut[model][index] for s in seen]
            lines += [
                f"| {paired.budget.think if paired.budget else ''} | "
                + " | ".join(f"{_points(cell)} | {100 * (cell.unfinished or 0):.0f} %" for cell in cells)
                + " |"
            ]
        lines += [""]
    return "\n".join(lines)


def main() -> None:
    """Run every seed named on the command line and print the table."""
    seeds = [int(word) for word in sys.argv[1:]]
    if not seeds:
        sys.exit("name the training seeds, as in `python -m bench.seeds 4 14 24`")
    print(table([look(seed, reproduce(seed)) for seed in seeds]))


if __name__ == "__main__":
    main()
