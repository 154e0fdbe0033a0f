"""Weak models on traces: the vectors, random histories against brute force, LR and SC, axe's suite, real logs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from weak_histories import COLUMNS, VECTORS, told

from gradual.deciding.pipeline import check
from gradual.history import RMW

sys.path.insert(0, str(Path(__file__).parents[1]))

WEAK = ("wmo", "rvwmo", "ztso", "rmo", "armv8")
LINES = [line.split(maxsplit=1) for line in VECTORS.strip().splitlines()]


@pytest.mark.parametrize(("allowed", "text"), LINES)
def test_vectors(allowed: str, text: str) -> None:
    for name, sign in zip(COLUMNS, allowed, strict=True):
        history = told(text, timed=name == "wmo")
        verdict = check(history, name)
        if name == "armv8" and RMW in history.kind:
            assert verdict.verdict == "unknown" and "two events" in verdict.message
        else:
            assert verdict.verdict == {"+": "consistent", "-": "violation"}[sign], name
            assert verdict.decided_by != "general"
