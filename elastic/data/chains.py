"""The laptop world: chains of + and - of one-digit terms whose running totals stay between 0 and 19.

A response thinks aloud and too much. Its first pass over the chain writes every step (`4+3=7;`) or, when terse, only
the running totals (`7;`); then it checks the whole chain again, needlessly, up to twice. The solution recomputes the
last steps and boxes the answer. So a model can save tokens in two ways, by dropping its checks and by becoming terse,
and can finish an interrupted chain in its solution: this is the room in which training recipes differ.

Problems come through reasoning-gym's dataset interface. Neighbouring seeds of that interface share problems (item i
draws from seed + i), so splits are cut by expression, never by seed.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

from reasoning_gym.dataset import ProceduralDataset

from elastic.errors import ParamsError

CHECK = "check:"


@dataclass
class ChainsConfig:
    """Configuration in reasoning-gym's form: `seed` and `size` are its own fields."""

    seed: int = 0
    size: int = 1000
    min_terms: int = 2
    max_terms: int = 8
    max_total: int = 19
    max_checks: int = 2
    max_recomputed: int = 2
    terse_share: float = 0.3

    def validate(self) -> None:
        """Refuse a configuration that describes no world.

        Raises:
            ParamsError: naming the key and the remedy.
        """
        if not 2 <= self.min_terms <= self.max_terms:
            raise ParamsError("min_terms must be at least 2 and at most max_terms", where="chains.min_terms")
        if not 9 <= self.max_total <= 99:
            raise ParamsError("totals must be bounded between 9 and 99", where="chains.max_total")
        if not 0 <= self.terse_share <= 1:
            raise ParamsError("a share lies between 0 and 1", where="chains.terse_share")
        if self.max_checks < 0 or self.max_recomputed < 0:
            raise ParamsError("counts are 0 or more", where="chains.max_checks, chains.max_recomputed")


@dataclass(frozen=True)
class Chain:
    """Signed terms; the first is positive."""

    terms: tuple[int, ...]

    @property
    def totals(self) -> list[int]:
        """Running totals, one a term."""
        totals, total = [], 0
        for term in self.terms:
            total += term
            totals.append(total)
        return totals

    @property
    def expression(self) -> str:
        """The chain as text, "4+3-7"."""
        return str(self.terms[0]) + "".join(f"{term:+d}" for term in self.terms[1:])

    def steps(self, *, terse: bool, first: int = 0) -> str:
        """One pass over the steps from step `first` on (0-based), wordy or terse."""
        totals = self.totals
        return "".join(
            f"{totals[i + 1]};" if terse else f"{totals[i]}{self.terms[i + 1]:+d}={totals[i + 1]};"
            for i in range(first, len(self.terms) - 1)
        )


def draw_chain(rng: Random, config: ChainsConfig) -> Chain:
    """Draw a chain: the number of terms first, uniformly, then terms that keep the total within its bounds."""
    count = rng.randint(config.min_terms, config.max_terms)
    terms = [rng.randint(1, 9)]
    total = terms[0]
    while len(terms) < count:
        fitting = [t for t in range(-9, 10) if t and 0 <= total + t <= config.max_total]
        term = rng.choice(fitting)
        terms.append(term)
        total += term
    return Chain(tuple(terms))


def demonstrate(chain: Chain, rng: Random, config: ChainsConfig) -> tuple[str, str]:
    """Thinking and solution of a teacher who works right and thinks too much.

    The style (wordy or terse) holds for a whole response; the number of checks and of recomputed steps is uniform.
    """
    terse = rng.random() < config.terse_share
    checks = rng.randint(0, config.max_checks)
    thinking = CHECK.join([chain.steps(terse=terse)] * (1 + checks))
    recomputed = min(rng.randint(0, config.max_recomputed), len(chain.terms) - 1)
    redone = chain.steps(terse=False, first=len(chain.terms) - 1 - recomputed) if recomputed else ""
    return thinking, f"{redone}\\boxed{{{chain.totals[-1]}}}"


class ChainsDataset(ProceduralDataset):
    """Chains behind reasoning-gym's interface: `dataset[i]` draws from Random(seed + i)."""

    def __init__(self, config: ChainsConfig) -> None:
        super().__init__(config=config, seed=config.seed, size=config.size)

    def __getitem__(self, idx: int) -> dict[str, Any]:
        rng = Random(self.seed + idx)
        chain = draw_chain(rng, self.config)
        thinking, solution = demonstrate(chain, rng, self.config)
        return {
            "question": f"{chain.expression}=?",
            "answer": str(chain.totals[-1]),
            "metadata": {"terms": len(chain.terms), "thinking": thinking, "solution": solution},
        }
