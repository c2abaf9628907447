"""The laptop world: chains of + and - of one-digit terms whose running totals stay between 0 and 19.

A question names its terms, `A4 B+3 C-7=?`. A response thinks aloud and too much. Its first pass over the chain writes
every step (`B4+3=7 so C7-7=0`), with a filler word now and then, or, when terse, only the running totals (`B7 C0`);
then it checks the whole chain again, needlessly, once or twice as a rule. The solution recomputes the last steps, wordy
or terse, and boxes the answer.

So a model can save tokens in three ways, by dropping its checks or its filler words and by becoming terse, and it can
finish an interrupted chain in its solution: this is the room in which training recipes differ. Because the answer is
known long before thinking ends, a budget that cuts the thinking need not cost the answer, which is the situation of
large reasoning models (E1, section 3). Filler words also keep a cut at a fixed budget from always falling at the same
place of a step, which a policy would learn by heart.

A second family, `extremes`, has chains of maxima and minima in the same form: `A4 B^3 C~7=?` is min(max(4, 3), 7), its
steps are `B4^3=4 C4~7=4`. A base that is taught both and trained on one shows what training transfers.

Problems come through reasoning-gym's dataset interface. Neighbouring seeds of that interface share problems (item i
draws from seed + i), so splits are cut by expression, never by seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Literal

from reasoning_gym.dataset import ProceduralDataset

from elastic.contracts.chains import LABELS, Chain
from elastic.errors import ParamsError

CHECK = "check:"
FILLERS = ("so", "now", "then")


@dataclass
class ChainsConfig:
    """Configuration in reasoning-gym's form: `seed` and `size` are its own fields.

    Attributes:
        family: sums of one-digit terms, or extremes: maxima and minima of terms up to max_total.
        min_terms, max_terms: length of a chain, uniform.
        max_total: running totals stay between 0 and this.
        checks: weights of 0, 1, 2, ... needless checks after the first pass.
        terse_share: share of responses whose thinking is terse.
        filler_share: share of the steps of wordy thinking that a filler word stands before.
        max_recomputed: the solution recomputes the last 0 to this many steps, uniformly.
        terse_solution_share: share of solutions that recompute tersely.
    """

    seed: int = 0
    size: int = 1000
    family: Literal["sums", "extremes"] = "sums"
    min_terms: int = 2
    max_terms: int = 7
    max_total: int = 19
    checks: Sequence[float] = (0.2, 0.4, 0.4)
    terse_share: float = 0.2
    filler_share: float = 0.3
    max_recomputed: int = 3
    terse_solution_share: float = 0.3

    def validate(self) -> None:
        """Refuse a configuration that describes no world.

        Raises:
            ParamsError: naming the key and the remedy.
        """
        if self.family not in ("sums", "extremes"):
            raise ParamsError("no such family", where="chains.family", remedy="use sums or extremes")
        if not 2 <= self.min_terms <= self.max_terms <= len(LABELS):
            raise ParamsError(
                "min_terms must be at least 2 and at most max_terms",
                where="chains.min_terms",
                remedy=f"keep 2 <= min_terms <= max_terms <= {len(LABELS)}",
            )
        if not 9 <= self.max_total <= 99:
            raise ParamsError("totals out of range", where="chains.max_total", remedy="use 9 to 99")
        if not self.checks or min(self.checks) < 0 or sum(self.checks) <= 0:
            raise ParamsError("no weights", where="chains.checks", remedy="give a weight for 0, 1, 2, ... checks")
        for key in ("terse_share", "filler_share", "terse_solution_share"):
            if not 0 <= getattr(self, key) <= 1:
                raise ParamsError("not a share", where=f"chains.{key}", remedy="use a value between 0 and 1")
        if self.max_recomputed < 0:
            raise ParamsError("below 0", where="chains.max_recomputed", remedy="use 0 or more")


def draw_chain(rng: Random, config: ChainsConfig) -> Chain:
    """Draw a chain: the number of terms first, uniformly, then terms that keep the total within its bounds."""
    count = rng.randint(config.min_terms, config.max_terms)
    if config.family == "extremes":
        first = rng.randint(0, config.max_total)
        terms = [f"{rng.choice('^~')}{rng.randint(0, config.max_total)}" for _ in range(count - 1)]
        return Chain(first, tuple(terms))
    first = total = rng.randint(1, 9)
    signed: list[int] = []
    while len(signed) < count - 1:
        fitting = [term for term in range(-9, 10) if term and 0 <= total + term <= config.max_total]
        signed.append(rng.choice(fitting))
        total += signed[-1]
    return Chain(first, tuple(f"{term:+d}" for term in signed))


def demonstrate(chain: Chain, rng: Random, config: ChainsConfig) -> tuple[str, str]:
    """Thinking and solution of a teacher who works right and thinks too much."""
    terse = rng.random() < config.terse_share
    checks = rng.choices(range(len(config.checks)), weights=config.checks)[0]

    def aloud() -> str:
        return " ".join(
            f"{rng.choice(FILLERS)} {step}" if not terse and rng.random() < config.filler_share else step
            for step in chain.steps(terse=terse)
        )

    thinking = f" {CHECK} ".join(aloud() for _ in range(1 + checks))
    recomputed = min(rng.randint(0, config.max_recomputed), len(chain.terms))
    steps = chain.steps(terse=rng.random() < config.terse_solution_share)
    return thinking, " ".join([*steps[len(steps) - recomputed :], f"\\boxed{{{chain.totals[-1]}}}"])


class ChainsDataset(ProceduralDataset):
    """Chains behind reasoning-gym's interface: `dataset[i]` draws from Random(seed + i)."""

    def __init__(self, config: ChainsConfig) -> None:
        super().__init__(config=config, seed=config.seed, size=config.size)

    def __getitem__(self, idx: int) -> dict[str, Any]:
        """Item `idx` as reasoning-gym has it: question, answer, metadata."""
        rng = Random(self.seed + idx)
        chain = draw_chain(rng, self.config)
        thinking, solution = demonstrate(chain, rng, self.config)
        return {
            "question": chain.question,
            "answer": str(chain.totals[-1]),
            "metadata": {"terms": 1 + len(chain.terms), "thinking": thinking, "solution": solution},
        }
