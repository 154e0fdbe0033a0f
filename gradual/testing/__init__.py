"""The checker inside test benches: an assertion, a pytest plugin, a monitor for cocotb.

    from gradual.testing import assert_consistent

    def test_my_cache():
        assert_consistent("trace.csv", "tso")
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gradual.testing.failure import NotConsistent

if TYPE_CHECKING:
    from gradual.evidence.verdict import Verdict
    from gradual.files import Source
    from gradual.history import History, Options
    from gradual.models import Model

__all__ = ["NotConsistent", "assert_consistent"]


def assert_consistent(source: Source, model: str | Model, *, timeout: float | None = None,
                      format: str | None = None, options: Options | None = None) -> list[Verdict]:
    """The verdicts of all histories of a source, if every one is consistent with the model.

    source  a History, a trace file with any number of histories, a DataFrame, or a list of dicts
    timeout, format, options  as for `gradual.check`

    Raises NotConsistent, an AssertionError, at the first history that is not: its text has the operations that cannot
    be spared and why they cannot be. A history that stayed undecided within the time is not shown to be consistent
    either. Raises InputError for what cannot be read.
    """
    from gradual.judge import Judge
    from gradual.models import load
    from gradual.progress import Progress

    chosen = load(model)
    judge = Judge([chosen], timeout=timeout)
    verdicts = []
    for found in judge.judgements(_readable(source, format, options), Progress()):
        if found.verdict.verdict != "consistent":
            raise NotConsistent(found)
        verdicts.append(found.verdict)
    return verdicts


def _readable(source: Source, format: str | None, options: Options | None) -> Iterator[History]:
    """Every history; what cannot be read is raised."""
    from gradual import files
    from gradual.history import InputError, Options

    for item in files.histories(source, format, options or Options()):
        if isinstance(item, InputError):
            raise item
        yield item
