"""What is said of evidence that proves nothing."""

from __future__ import annotations

import numpy as np


class CertificateError(Exception):
    """The evidence does not prove the verdict: a fault of the checker, never of the trace."""


def require(condition: bool | np.bool_, complaint: str) -> None:
    if not condition:
        raise CertificateError(complaint)
