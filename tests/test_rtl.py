"""The RTL machine: sound where it is, refused where a fault was planted. Short versions of experiments/rtl/run.py."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

import gradual
from gradual.history import FENCE, History

sys.path.insert(0, str(Path(__file__).parents[1] / "experiments" / "rtl"))

from faults import FAULTS
from machine import histories
from simulator import SimulationError, missing

needs_simulator = pytest.mark.skipif(bool(missing()), reason=missing())

CHOSEN = (1, 5, 10, 12, 18, 19, 21)
"""A fault of every part: invalidation, race, write-back, rmw; buffer, fence, rmw."""
BOUND = 60
"""Histories within which each of them is found."""


def refuses(some: Iterable[History], model: str) -> bool:
    return any(not gradual.check(history, model) for history in some)


def test_the_table_of_faults_is_read_whole() -> None:
    assert list(FAULTS) == list(range(1, 24))
    assert [fault.number for fault in FAULTS.values() if fault.buffers] == list(range(16, 24))
    assert FAULTS[18].name == "lifo-buffer" and FAULTS[18].mistake == "the newest store leaves the buffer first"


@needs_simulator
def test_without_buffers_the_machine_is_sc() -> None:
    assert not refuses(histories(100, seed=5), "sc")


@needs_simulator
def test_with_buffers_the_machine_is_tso_and_not_sc() -> None:
    found = list(histories(100, seed=5, buffers=True))
    assert not refuses(found, "tso")
    assert refuses(found, "sc")


@needs_simulator
@pytest.mark.parametrize("number", CHOSEN, ids=lambda number: FAULTS[number].name)
def test_a_fault_is_refused(number: int) -> None:
    buffers = FAULTS[number].buffers
    assert refuses(histories(BOUND, buffers=buffers, fault=number), "tso" if buffers else "sc")


@needs_simulator
def test_histories_are_those_that_were_asked_for_and_the_same_again() -> None:
    first, again = (list(histories(3, cores=4, operations=21, locations=5, seed=2, batch=size)) for size in (2, 3))
    for history, same in zip(first, again, strict=True):
        assert (history.read == same.read).all() and (history.kind == same.kind).all()
        assert len(history) == 21 and len(history.threads) == 4 and len(history.locations) <= 5
        assert (history.location[history.kind != FENCE] >= 0).all()
    assert (first[0].kind != first[1].kind).any()


@needs_simulator
def test_a_simulation_that_takes_too_long_is_an_error() -> None:
    with pytest.raises(SimulationError, match=r"did not end within 0\.01 s"):
        next(histories(1, timeout=0.01))


def test_impossible_machines_are_refused() -> None:
    for wrong in ({"cores": 5}, {"locations": 65}, {"fault": 99}, {"fault": 18}):
        with pytest.raises(ValueError):
            next(histories(1, **wrong))
