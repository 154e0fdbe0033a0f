"""The exit statuses that say nothing about the traces."""

from __future__ import annotations

USAGE = 2
"""A usage or input error; output that cannot be written."""
LATE = 3
"""Something stayed unknown: of `run`, the time was over."""
FAULT = 70
"""A fault of ours, as sysexits.h has it: never 0, 1 or 3, which say something about a trace."""
INTERRUPTED = 130
"""Ctrl-C, as a shell has it for SIGINT."""
READER_GONE = 141
"""Nobody reads the output any more, as a shell has it for SIGPIPE."""
