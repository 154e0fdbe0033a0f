"""Observations that are impossible as they stand."""

from __future__ import annotations

from gradual.evidence.errors import require
from gradual.evidence.observed import Observed
from gradual.evidence.verdict import Overwritten, ThinAir
from gradual.history import INITIAL, THIN_AIR


def check_thin_air(observed: Observed, evidence: ThinAir) -> None:
    at, operation = evidence.location, evidence.operation
    if operation is None:
        require(observed.last(at) == THIN_AIR, "no final value was demanded that nobody wrote")
    else:
        require(observed.reads(operation) and bool(observed.history.location[operation] == at),
                "the operation reads elsewhere")
        require(observed.source(operation) == THIN_AIR, "somebody did write this value")


def check_overwritten(observed: Observed, evidence: Overwritten) -> None:
    require(observed.last(evidence.location) == INITIAL, "the final value is not the initial one")
    require(observed.writes(evidence.write) and bool(observed.history.location[evidence.write] == evidence.location),
            "that write is elsewhere")
