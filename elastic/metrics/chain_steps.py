"""The step checker of the laptop world's chains: is `C7-7=0` what the question and the step before it say?

A step may start from the chain's own total, or from any total that the response has stated for the label before, so
that a slip is counted where it happens and not where it is carried on. A terse step (`C0`) shows no inputs: a wrong one
counts as a slip, since whether it was copied wrong cannot be seen.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from elastic.contracts.chains import LABELS, Chain, Step, apply, read_steps
from elastic.metrics.mistakes import Checked, Fault, Response


def _steps(text: str, cut: bool) -> Iterator[Step]:
    """Steps of a phase. One at the very end of a cut phase that looks terse may be the start of a wordy one."""
    for step in read_steps(text):
        if not (cut and step.term is None and step.end == len(text.rstrip())):
            yield step


def check_chain(response: Response) -> Checked:
    """Check the steps of a response to a chain, of sums or of extremes; a `StepChecker`.

    Raises:
        DataError: the question is no chain.
    """
    chain = Chain.read(response.question).by_label
    stated: defaultdict[str, set[int]] = defaultdict(set)
    fault: Fault | None = None
    for text, cut in ((response.thinking, response.thinking_cut), (response.solution, response.solution_cut)):
        for step in _steps(text, cut):
            if step.label not in chain:
                fault = fault or "wrong copy"
                continue
            before, term, _ = chain[step.label]
            starts = {before} | stated[LABELS[LABELS.index(step.label) - 1]]
            if step.term is None or step.before is None:
                right = step.total in {apply(start, term) for start in starts}
                fault = fault or (None if right else "arithmetic slip")
            elif step.before not in starts or step.term != term:
                fault = fault or "wrong copy"
            elif step.total != apply(step.before, step.term):
                fault = fault or "arithmetic slip"
            stated[step.label].add(step.total)
    return Checked(fault, finished=bool(stated[list(chain)[-1]]))
