"""The policy of a question: what its verdict forgives. A source sets it, a row carries it as JSON."""

from __future__ import annotations

from elastic.contracts.params.common import Strict


class Policy(Strict):
    """How an answer is compared with the gold; the defaults are the written policy of the project."""

    def to_text(self) -> str | None:
        """As a row carries it: JSON with what differs from the defaults, None where nothing does."""
        return self.model_dump_json(exclude_defaults=True) if self != type(self)() else None

    @classmethod
    def from_text(cls, text: str | None) -> Policy:
        """The policy that a row carries; None is the default one.

        Raises:
            ValidationError: the text is no policy.
        """
        return cls.model_validate_json(text) if text else cls()


DEFAULT_POLICY = Policy()
