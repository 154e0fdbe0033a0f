"""A page of its own for each violation, beside the rows: `gradual report` links to it."""

from __future__ import annotations

import hashlib
import math
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
SHARE = 64
"""Of the room that is left, for how small a part a worker does not look again."""


def page_name(source: str, number: int, model: str) -> str:
    """The same for the same history and model: a run that goes on writes the same page."""
    return hashlib.sha256(f"{source}\0{number}\0{model}".encode("utf-8", "backslashreplace")).hexdigest()[:20] + ".html"


class Pages:
    """The folder of pages, as one of several workers fills it."""

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)
        self._sure = 0
        """Pages until it is looked again how many there are: others write, too, so there may be a few more than
        AT_MOST."""

    def room_for_more(self) -> bool:
        """For one more, which is to be written then."""
        if self._sure == 0:
            self._sure = math.ceil(self._left() / SHARE)
        if self._sure == 0:
            return False
        self._sure -= 1
        return True

    def _left(self) -> int:
        try:
            self._folder.mkdir(exist_ok=True)
            return max(0, AT_MOST - len(os.listdir(self._folder)))
        except OSError:
            return 0

    def write(self, name: str, verdict: Verdict, history: History, model: Model) -> None:
        """Nothing when the disk does not take it: the row has the explanation too."""
        from gradual.telling import page

        with suppress(OSError), appearing(str(self._folder / name)) as stream:
            stream.write(page(verdict, history, model).encode("utf-8", "backslashreplace"))
