"""Batches: thousands of traces in one command, on all cores or on a cluster, with nothing lost."""

from typing import NamedTuple

MARKER = "_gradual.json"
"""The file that says that a folder holds results, and with which options they were made. (Readers of a dataset leave
out what begins with an underscore.)"""
REPLACES = b"gradual.replaces"
"""In the metadata of a part: the names of those it was made from. They are still there if a batch was interrupted as it
joined them."""


class Limits(NamedTuple):
    """Of each history: under other ones, what stayed unknown or failed is worth another try."""

    timeout: float | None = None
    memory: int | None = None


Key = tuple[int, str]
"""A history's number in its file, and the model."""


class BatchError(Exception):
    """The batch cannot begin or go on. The text says why, and what to do."""
