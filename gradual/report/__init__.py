"""One page about many verdicts: a dataset of `gradual batch` becomes an HTML file that needs nothing else."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from gradual.files import appearing
from gradual.history import InputError, reason

if TYPE_CHECKING:
    from gradual.report.findings import Link


def report(dataset: str | os.PathLike[str], out: str | os.PathLike[str],
           link: Link | None = None) -> None:
    """Write the page about `dataset` to `out` (- is standard output). InputError says what is wrong.

    `link` gives the address of a separate page about a finding, where there is one: by default that of the batch.
    """
    from gradual.report.findings import pages_of  # not before: who explains a violation takes only `markup` from here
    from gradual.report.page import page
    from gradual.report.results import Results

    target = os.fspath(out)
    if target != "-":
        _must_be_writable(target, dataset)
    link = link or pages_of(Path(dataset), Path(out))
    text = page(Results.read(Path(dataset)), os.fspath(dataset), link).encode()
    if target == "-":
        sys.stdout.buffer.write(text)
        return
    try:
        with appearing(target) as stream:
            stream.write(text)
    except OSError as error:
        raise InputError(reason(error), target) from None


def _must_be_writable(target: str, dataset: str | os.PathLike[str]) -> None:
    """Said before the dataset is read, which may take a while."""
    folder = os.path.dirname(target) or "."
    if not os.path.isdir(folder):
        raise InputError(f"there is no folder {folder} to write the page in", target)
    if os.path.isdir(target):
        raise InputError("this is a folder; name the page to write, such as report.html", target)
    whole, inner = os.path.realpath(dataset), os.path.realpath(target)
    if inner == whole or inner.startswith(whole + os.sep):
        raise InputError("the page would lie in the dataset; write it beside it", target)
