"""What all tests share: the random seed of a run, and the folder of data beside the repository."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

SHARED = Path(__file__).parents[2] / "shared"


@pytest.fixture
def shared_traces() -> Path:
    """The folder of traces that is too large for the repository."""
    if not (SHARED / "traces").is_dir():
        pytest.skip("the folder ../shared/traces is not here")
    return SHARED / "traces"
