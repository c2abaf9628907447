from __future__ import annotations

import numpy as np
import pytest

from elastic.adaptive.evidence import Asked, Probing
from elastic.adaptive.nearest import Nearest
from elastic.adaptive.outcomes import Curves
from elastic.adaptive.predict_agreement import Agreement
from elastic.adaptive.predict_features import QuestionFeatures, Ridge, features
from elastic.adaptive.predict_length import QuestionLength
from elastic.adaptive.predict_log_linear import LogLinearLaw, straightened
from elastic.adaptive.predictor import Known
from elastic.budget import Budget
from elastic.errors import DataError

GRID = tuple(Budget(think, 4) for think in (8, 16, 32))
PROBING = Probing((8,), 4, paths=2)


def asked(probes: list[tuple[str | None, ...]], questions: list[str] | None = None) -> Asked:
    names = tuple(f"p{number:03}" for number in range(len(probes)))
    return Asked(names, tuple(questions or names), tuple(probes), np.zeros(len(probes)))


def known_by_agreement() -> Known:
    """20 problems whose probes agree and are solved at once, 20 that disagree and need the largest budget."""
    probes: list[tuple[str | None, ...]] = [("1", "1")] * 20 + [("1", "2")] * 20
    accuracy = np.array([[1.0, 1.0, 1.0]] * 20 + [[0.0, 0.0, 1.0]] * 20)
    return Known(GRID, asked(probes), Curves(accuracy, np.full((40, 3), 10.0)))


def test_agreement_counts_the_most_frequent_answer() -> None:
    probes: list[tuple[str | None, ...]] = [("1", "1", "2", None), ("1", "2", "3", "4"), (None, None, None, None)]
    assert asked(probes).agreement().tolist() == [0.5, 0.25, 0]


def test_agreement_gives_each_degree_its_curve() -> None:
    predicted = Agreement(PROBING).fit(known_by_agreement())(asked([("5", "5"), ("5", "6")]))
    assert predicted.accuracy.tolist() == [[1, 1, 1], [0, 0, 1]]
    assert predicted.used.tolist() == [[10, 10, 10]] * 2


def test_the_law_straightens_a_jump_and_keeps_a_line() -> None:
    totals = np.array([12.0, 20.0, 36.0])
    line = 0.1 + 0.2 * np.log(totals)
    assert straightened(line, GRID) == pytest.approx(line)
    assert straightened(-line, GRID).tolist() == [0, 0, 0]
    slope, start = np.polyfit(np.log(totals), [0, 0, 1], 1)
    law = LogLinearLaw(PROBING).fit(known_by_agreement())(asked([("5", "6")]))
    assert law.accuracy[0] == pytest.approx(np.clip(start + slope * np.log(totals), 0, 1))


def test_the_law_is_a_line_for_each_solution_budget() -> None:
    grid = (*GRID, Budget(8, 16), Budget(16, 16))
    found = straightened(np.array([0.0, 0.0, 1.0, 0.2, 0.7]), grid)
    assert found[3:].tolist() == [0.2, 0.7]
    assert 0 < found[1] < found[2] < 1


def test_neighbours_are_as_many_as_predict_left_out_problems_best() -> None:
    draw = np.random.default_rng(0)
    scores = draw.random(200)
    rows = Asked(tuple(map(str, range(200))), ("",) * 200, ((),) * 200, np.zeros(200))
    step = np.repeat((scores > 0.5)[:, None], 3, axis=1).astype(float)
    informed = Nearest(scores, Known(GRID, rows, Curves(step, step)))
    assert informed.neighbours == 8
    assert informed.curves(np.array([0.1, 0.9])).accuracy.tolist() == [[0, 0, 0], [1, 1, 1]]
    noise = draw.integers(0, 2, (200, 3)).astype(float)
    blind = Nearest(scores, Known(GRID, rows, Curves(noise, noise)))
    assert blind.neighbours >= 64


def test_equal_scores_are_all_averaged() -> None:
    accuracy = np.arange(10.0)[:, None] / 10
    rows = Asked(tuple(map(str, range(10))), ("",) * 10, ((),) * 10, np.zeros(10))
    nearest = Nearest(np.zeros(10), Known((Budget(8, 4),), rows, Curves(accuracy, accuracy)))
    assert nearest.curves(np.zeros(1)).accuracy.tolist() == [[pytest.approx(0.45)]]


def test_views_of_one_problem_choose_no_neighbours_for_each_other() -> None:
    draw = np.random.default_rng(1)
    scores, outcome = np.repeat(draw.random(40), 8), np.repeat(draw.integers(0, 2, 40), 8).astype(float)[:, None]
    names = tuple(str(number // 8) for number in range(320))
    rows = Asked(names, ("",) * 320, ((),) * 320, np.zeros(320))
    # Its own 8 views would predict a problem perfectly, and the score says nothing of others.
    assert Nearest(scores, Known((Budget(8, 4),), rows, Curves(outcome, outcome))).neighbours > 8


def test_ridge_takes_the_strength_with_the_least_leave_one_out_error() -> None:
    draw = np.random.default_rng(2)
    table, weights = draw.normal(size=(30, 6)), draw.integers(1, 5, 30).astype(float)
    targets = table @ np.array([1, -1, 0.5, 0, 0, 0]) + draw.normal(size=30)
    ridge = Ridge(table, targets, weights)
    mean = np.average(table, axis=0, weights=weights)
    scale = np.sqrt(np.average((table - mean) ** 2, axis=0, weights=weights))

    def fitted(keep: np.ndarray, strength: float) -> np.ndarray:
        x = np.column_stack([np.ones(keep.sum()), (table / scale)[keep]])
        penalty = strength * np.diag([0.0, *[1.0] * 6])
        weighted = x * weights[keep][:, None]
        return np.linalg.solve(x.T @ weighted + penalty, weighted.T @ targets[keep])

    def left_out_error(strength: float) -> float:
        rows = np.arange(30)
        missed = [targets[row] - np.r_[1, table[row] / scale] @ fitted(rows != row, strength) for row in rows]
        return float(np.mean(weights * np.square(missed)))

    assert ridge.strength == min((0.1, 1.0, 10.0, 100.0, 1000.0, 10000.0), key=left_out_error)
    expected = np.column_stack([np.ones(30), table / scale]) @ fitted(np.full(30, True), ridge.strength)
    assert ridge.predict(table) == pytest.approx(expected)


def test_features_are_the_same_in_every_process() -> None:
    table = features(["A6 B-3=?", ""])
    assert table[:, :4].tolist() == [[7, np.log1p(7), 8, 2], [0, 0, 0, 0]]
    # 7 words and 6 pairs, each in a column of its own; CRC-32 of "a" is 0xE8B7BE43, whose last 9 bits are 67.
    assert table[0, 4:].sum() == pytest.approx(13 * np.log(2))
    assert table[0, 4 + 67] == np.log(2)


def test_questions_predict_curves_by_pass_rates_of_training_problems() -> None:
    lengths = np.arange(40) % 4 + 1
    questions = [" ".join(["add"] * length) for length in lengths]
    accuracy = np.array([[length <= 1, length <= 2, length <= 4] for length in lengths], dtype=float)
    known = Known(GRID, asked([()] * 40, questions), Curves(accuracy, 5.0 + accuracy))
    predictor = QuestionFeatures(tuple(questions), 1 - lengths / 4, np.full(40, 4))
    predicted = predictor.fit(known)(asked([()] * 2, ["add", "add add add"]))
    assert predicted.accuracy.tolist() == [[1, 1, 1], [0, 0, 1]]
    assert predicted.used == pytest.approx(np.array([[6, 6, 6], [5, 5, 6]]))


def test_length_counts_where_equal_pass_rates_have_different_curves() -> None:
    lengths = np.arange(40) % 2 + 1
    questions = [" ".join(["add"] * length) for length in lengths]
    accuracy = np.array([[length <= 1, 1, 1] for length in lengths], dtype=float)
    known = Known(GRID, asked([()] * 40, questions), Curves(accuracy, accuracy))
    # All rates are equal, so the predicted rate tells nothing.
    predictor = QuestionFeatures(tuple(questions), np.full(40, 0.5), np.full(40, 4))
    predicted = predictor.fit(known)(asked([()] * 2, ["add", "add add"]))
    assert predicted.accuracy.tolist() == [[1, 1, 1], [0, 1, 1]]


def test_length_gives_each_number_of_words_its_curve() -> None:
    questions = ["add 1", "add 1 + 2"] * 20
    accuracy = np.array([[1.0, 1.0, 1.0], [0.0, 1.0, 1.0]] * 20)
    forecast = QuestionLength().fit(Known(GRID, asked([()] * 40, questions), Curves(accuracy, accuracy)))
    assert forecast(asked([()] * 2, ["sub 7", "sub 7+8"])).accuracy.tolist() == [[1, 1, 1], [0, 1, 1]]


def test_scores_count_by_their_spread() -> None:
    scores = np.column_stack([np.repeat([0.0, 1.0], 20), 1000.0 * (np.arange(40) % 2)])
    rows = Asked(tuple(map(str, range(40))), ("",) * 40, ((),) * 40, np.zeros(40))
    accuracy = (scores[:, :1] + scores[:, 1:] / 1000) / 2
    nearest = Nearest(scores, Known((Budget(8, 4),), rows, Curves(accuracy, accuracy)))
    assert nearest.curves(np.array([[0.9, 100.0]])).accuracy == pytest.approx(0.5)
    assert nearest.error < 1e-12


def test_one_problem_predicts_no_other() -> None:
    rows = Asked(("a", "a"), ("",) * 2, ((),) * 2, np.zeros(2))
    with pytest.raises(DataError, match=r"1 problem\(s\) predict no other"):
        Nearest(np.zeros(2), Known(GRID, rows, Curves(np.zeros((2, 3)), np.zeros((2, 3)))))


def test_pass_rates_must_go_with_the_questions() -> None:
    with pytest.raises(DataError, match="2 questions, 1 pass rates"):
        QuestionFeatures(("a", "b"), np.array([0.5]), np.array([4, 4]))
