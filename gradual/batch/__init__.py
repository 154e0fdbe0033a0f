"""Batches: thousands of traces in one command, on all cores or on a cluster, with nothing lost."""


class BatchError(Exception):
    """The batch cannot begin or go on. The text says why, and what to do."""
