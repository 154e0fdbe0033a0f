"""How long a run may look for short evidence."""

from __future__ import annotations

import math
import time

from gradual.evidence.verdict import Verdict
from gradual.history import History
from gradual.models import Model


class Budget:
    """Time for the violations of a run, so that many are told almost as fast as they are found: nobody reads them
    all. What comes when it is spent is told as it was found."""

    def __init__(self, each: float = 1.0, together: float = 2.0) -> None:
        self._each = each
        self._left = together

    def shortened(self, verdict: Verdict, history: History, model: Model, at_most: float = math.inf) -> Verdict:
        from gradual.telling.shorten import shortened

        started = time.process_time()  # which a busy machine does not use up
        found = shortened(verdict, history, model, min(self._each, self._left, at_most))
        self._left -= time.process_time() - started
        return found
