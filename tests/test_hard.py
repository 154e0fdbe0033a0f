"""The hard histories of `experiments`: consistent exactly when the formula behind them can be satisfied."""

from __future__ import annotations

import sys
from itertools import product
from pathlib import Path

import pytest

import gradual

sys.path.insert(0, str(Path(__file__).parents[1]))

from experiments.satisfiability import Clause, history_of, random_formula, satisfiable

MODELS = ("sc", "tso", "pso")


def by_truth_table(formula: list[Clause]) -> bool:
    variables = sorted({abs(literal) for clause in formula for literal in clause})
    return any(all(any((literal > 0) == truth[abs(literal)] for literal in clause) for clause in formula)
               for values in product((False, True), repeat=len(variables))
               for truth in [dict(zip(variables, values, strict=True))])


def test_the_size_is_what_the_reduction_says() -> None:
    formula = random_formula(40, 1)
    history = history_of(formula)
    assert len(formula) == 170
    assert (len(history), len(history.threads)) == (4160, 2630)


def test_a_formula_is_the_same_every_time() -> None:
    assert random_formula(20, 7) == random_formula(20, 7) != random_formula(20, 8)
    assert all(len({abs(literal) for literal in clause}) == 3 for clause in random_formula(5, 1))


def test_the_solver_knows_what_satisfiable_means() -> None:
    formulas = [random_formula(variables, seed, ratio) for variables in (3, 4, 5) for seed in range(10)
                for ratio in (3, 5, 7)]
    answers = [satisfiable(formula) for formula in formulas]
    assert answers == [by_truth_table(formula) for formula in formulas]
    assert any(answers) and not all(answers)


@pytest.mark.parametrize("formula", [
    [(1,)], [(1,), (-1,)], [(1, 2)], [(1, 2), (-1, 2), (1, -2)], [(1, 2), (-1, 2), (1, -2), (-1, -2)],
    [(1, 2, 3), (-1, -2, -3)], [(1, -2), (2, -1), (1, 2)], [(1, -2), (2, -3), (3, -1), (1, 2, 3), (-1, -2, -3)],
], ids=str)
def test_tiny_formulas_by_the_plain_encoding(formula: list[Clause]) -> None:
    """Clauses of one or two literals show what the gadget does with few operations; `direct` is the slow baseline."""
    history, expected = history_of(formula), by_truth_table(formula)
    for model in MODELS:
        if len(history) <= 60:
            assert bool(gradual.check(history, model, completion="direct")) == expected
        assert bool(gradual.check(history, model)) == expected


@pytest.mark.parametrize("ratio", [2, 4.26, 8])
def test_random_formulas(ratio: float) -> None:
    for variables, seed in product((3, 4, 5, 6), range(3)):
        formula = random_formula(variables, seed, ratio)
        history, expected = history_of(formula), satisfiable(formula)
        for model in MODELS:
            verdict = gradual.check(history, model, engine="schedule", unordered=False, timeout=60)
            assert verdict.verdict == ("consistent" if expected else "violation")
