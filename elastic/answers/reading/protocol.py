"""What the parts of a comparison know of the whole."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

from elastic.answers.reading.tokens import Tokens
from elastic.answers.reading.values import Value
from elastic.contracts.policy import Policy

# Judges an answer and a gold, both one expression: True, False, or None where it cannot tell.
Leaf = Callable[[Tokens, Tokens, Policy], bool | None]


@dataclass(frozen=True)
class Comparison(ABC):
    """A comparison under way.

    Attributes:
        policy: what it forgives.
        leaf: judges single expressions.
        question: as the model was asked, where it is known.
    """

    policy: Policy
    leaf: Leaf
    question: str | None

    @abstractmethod
    def values(self, a: Value, g: Value) -> bool | None:
        """Whether one value equals another."""
