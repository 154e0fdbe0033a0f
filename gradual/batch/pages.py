"""A page of its own for each violation, beside the rows: `gradual report` links to it."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path

from gradual.evidence.verdict import Verdict
from gradual.files import appearing
from gradual.history import History
from gradual.models import Model

FOLDER = "_pages"
"""Inside the dataset: what begins with an underscore is no part of it."""
AT_MOST = 1000
"""Pages there are: beyond it nobody reads them, and `gradual explain` makes any of them."""


def page_name(source: str, number: int, model: str) -> str:
    """The same for the same history and model: a run that goes on writes the same page."""
    return hashlib.sha256(f"{source}\0{number}\0{model}".encode("utf-8", "backslashreplace")).hexdigest()[:20] + ".html"


def room_for_more(folder: Path) -> bool:
    try:
        folder.mkdir(exist_ok=True)
        return len(os.listdir(folder)) < AT_MOST
    except OSError:
        return False


def write_page(path: Path, verdict: Verdict, history: History, model: Model) -> None:
    """Nothing when the disk does not take it: the row has the explanation too."""
    from gradual.telling import page

    with suppress(OSError), appearing(str(path)) as stream:
        stream.write(page(verdict, history, model).encode("utf-8", "backslashreplace"))
