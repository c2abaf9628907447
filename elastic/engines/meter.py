"""An engine that counts what each prompt costs, whatever strategy asks for it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from elastic.engines.protocol import Drawn, Engine, Job, Progress, Sampling, Spent


class Meter(Engine):
    """Passes jobs on to `engine` and adds up what they spent, by the ids of their prompts.

    Tokens add up over jobs. Jobs of one call are decoded together, so that of their seconds the longest count; calls
    follow one another, so that theirs add up.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine, self.markers = engine, engine.markers
        self._spent: dict[tuple[int, ...], Spent] = {}

    @property
    def context(self) -> int | None:
        """See Engine.context."""
        return self.engine.context

    def draw(self, jobs: Sequence[Job], sampling: Sampling, *, progress: Progress | None = None) -> list[Drawn]:
        """See Engine.draw."""
        drawn = self.engine.draw(jobs, sampling, progress=progress)
        call: dict[tuple[int, ...], list[Spent]] = defaultdict(list)
        for job, one in zip(jobs, drawn, strict=True):
            call[job.prompt_ids].append(one.spent)
        for prompt_ids, spent in call.items():
            before = self._spent.get(prompt_ids, Spent(0, 0, 0.0))
            self._spent[prompt_ids] = Spent(
                before.sampled + sum(one.sampled for one in spent),
                before.prefilled + sum(one.prefilled for one in spent),
                before.seconds + max(one.seconds for one in spent),
            )
        return drawn

    def take(self) -> dict[tuple[int, ...], Spent]:
        """What was spent since the last call of this, by prompt ids of shape (P,)."""
        taken, self._spent = self._spent, {}
        return taken
