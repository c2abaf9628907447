"""`draw` against the distribution that it should draw from."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.stats import chisquare

from elastic.engines.protocol import Sampling
from elastic.engines.sampling import draw
from elastic.seeding import uniforms

LOGITS = torch.tensor([2.0, -1.0, 0.5, 0.5, -3.0, 1.0])
ROWS = 20_000


def frequencies(sampling: Sampling) -> np.ndarray:
    drawn = draw(LOGITS.expand(ROWS, -1), torch.from_numpy(uniforms(7, ROWS)), sampling)
    return np.bincount(drawn.numpy(), minlength=len(LOGITS))


def softmax(temperature: float = 1.0, kept: list[int] | None = None) -> np.ndarray:
    weights = np.exp(LOGITS.numpy().astype(np.float64) / temperature)
    if kept is not None:
        weights[[i for i in range(len(weights)) if i not in kept]] = 0
    return weights / weights.sum()


@pytest.mark.parametrize("temperature", [0.6, 1.0, 1.7])
def test_frequencies_are_the_softmax(temperature: float) -> None:
    assert chisquare(frequencies(Sampling(temperature)), ROWS * softmax(temperature)).pvalue > 0.01
    # The test can tell: another temperature's frequencies are refused.
    assert chisquare(frequencies(Sampling(temperature)), ROWS * softmax(temperature * 1.2)).pvalue < 1e-6


def test_top_k_keeps_the_largest() -> None:
    counts = frequencies(Sampling(1.0, top_k=2))
    assert set(np.flatnonzero(counts)) == {0, 5}
    assert chisquare(counts[[0, 5]], ROWS * softmax(kept=[0, 5])[[0, 5]]).pvalue > 0.01


def test_top_p_keeps_the_smallest_set_that_holds_p() -> None:
    # By hand: softmax is 0.533, 0.027, 0.119, 0.119, 0.004, 0.196; the first two in rank hold 0.73, three hold 0.85.
    assert np.allclose(softmax().round(3), [0.534, 0.027, 0.119, 0.119, 0.004, 0.197], atol=2e-3)
    assert set(np.flatnonzero(frequencies(Sampling(1.0, top_p=0.72)))) == {0, 5}
    counts = frequencies(Sampling(1.0, top_p=0.75))
    assert set(np.flatnonzero(counts)) == {0, 2, 5}
    assert chisquare(counts[[0, 2, 5]], ROWS * softmax(kept=[0, 2, 5])[[0, 2, 5]]).pvalue > 0.01
    assert set(np.flatnonzero(frequencies(Sampling(1.0, top_p=0.1)))) == {0}


def test_greedy_takes_the_largest_whatever_the_draw() -> None:
    assert set(np.flatnonzero(frequencies(Sampling(0.0)))) == {0}


def test_impossible_tokens_are_never_drawn_at_the_edges() -> None:
    logits = torch.tensor([[-torch.inf, 0.0, -torch.inf, 0.0, -torch.inf]]).expand(3, -1)
    edges = torch.tensor([0.0, 0.5, 1 - 2**-53], dtype=torch.float64)
    assert draw(logits, edges, Sampling(1.0)).tolist() == [1, 3, 3]


def test_a_row_does_not_depend_on_the_rows_beside_it() -> None:
    logits = torch.randn(64, 50, generator=torch.Generator().manual_seed(0))
    uniform = torch.from_numpy(uniforms(3, 64))
    sampling = Sampling(0.8, top_p=0.9, top_k=30)
    together = draw(logits, uniform, sampling).tolist()
    assert together == [int(draw(logits[i : i + 1], uniform[i : i + 1], sampling)) for i in range(64)]
