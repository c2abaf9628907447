from __future__ import annotations

import pytest
from pydantic import ValidationError

from elastic.answers.reading.judge import judge
from elastic.answers.reading.leaves import exact_leaf
from elastic.answers.verdict import Gold
from elastic.contracts.policy import DEFAULT_POLICY, Policy


@pytest.mark.parametrize(
    ("gold", "answer", "default", "policy", "otherwise"),
    [
        ("35", r"35\%", True, Policy(percent="strict"), False),
        ("0.35", r"35\%", True, Policy(percent="strict"), True),
        (r"15\text{ cm}", "15", True, Policy(units="strict"), False),
        (r"15\text{ cm}", r"0.15\text{ m}", True, Policy(units="strict"), True),
        ("15", r"15\text{ cm}", True, Policy(units="strict"), False),
        ("1,2", "2,1", True, Policy(ordered=True), False),
        ("1,2", "1,2", True, Policy(ordered=True), True),
        ("(1,2)", r"\{2,1\}", False, Policy(ordered=False), True),
        ("66.7", r"\frac{200}{3}", True, Policy(rounded=False), False),
        ("1.9", "1.93", False, Policy(tolerance=0.02), True),
        ("1.9", "1.95", False, Policy(tolerance=0.02), False),
        (r"2\pi", "6.28", False, Policy(tolerance=0.01), True),
        (r"4.5\times 10^{33}", "4.4e33", False, Policy(tolerance=0.05), True),
        (r"\sqrt{2}", r"\frac{7}{5}", False, Policy(tolerance=0.02), True),
        ("(1,2)", "(1,2.01)", False, Policy(tolerance=0.02), True),
        ("x", "1.01x", False, Policy(tolerance=0.02), False),
        ("0", "0.001", False, Policy(tolerance=0.02), False),
    ],
)
def test_what_a_policy_changes(gold: str, answer: str, default: bool, policy: Policy, otherwise: bool) -> None:
    assert judge(answer, Gold(gold), exact_leaf) is default
    assert judge(answer, Gold(gold, policy), exact_leaf) is otherwise


def test_a_row_carries_what_differs_from_the_default() -> None:
    assert DEFAULT_POLICY.to_text() is None
    policy = Policy(percent="strict", tolerance=0.01)
    assert policy.to_text() == '{"percent":"strict","tolerance":0.01}'
    assert Policy.from_text(policy.to_text()) == policy
    assert Policy.from_text(None) == DEFAULT_POLICY


@pytest.mark.parametrize("text", ['{"percent":"often"}', '{"tolerance":-1}', '{"tolerance":1}', '{"order":true}'])
def test_a_policy_that_says_nothing_is_refused(text: str) -> None:
    with pytest.raises(ValidationError):
        Policy.from_text(text)
