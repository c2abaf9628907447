"""What a line of a file may carry beside its answer to be judged by."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, StrictStr

from elastic.contracts.code_tests import CodeTests
from elastic.contracts.policy import Policy


def _policy(text: str) -> str:
    Policy.from_text(text)
    return text


def _tests(text: str) -> str:
    CodeTests.from_text(text)
    return text


class JudgedRow(BaseModel):
    """A line with what it is judged by.

    Attributes:
        policy, tests: JSON of a Policy and of CodeTests, where the row has its own.
    """

    policy: Annotated[StrictStr, AfterValidator(_policy)] | None = None
    tests: Annotated[StrictStr, AfterValidator(_tests)] | None = None
