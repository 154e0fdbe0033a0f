"""Contrasts: the smallest program that tells two memory models apart.

    >>> from gradual import contrast
    >>> found = contrast.contrast("sc", "tso")
    >>> found.differs, found.found[0].program, found.found[0].outcome, found.found[0].allowed_by.name
    (True, 'WX1 RY|WY2 RX', (0, 0), 'tso')
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gradual.contrast.search import Contrast


def contrast(a: str, b: str, instructions: int = 6) -> Contrast:
    """Two models compared, program by program: names, .cat files, or `operational:` and one of these.

    Raises ModelError, MachineError.
    """
    from gradual.contrast.search import Contrast
    from gradual.contrast.sides import side
    from gradual.progress import Progress

    found = Contrast(side(a), side(b), bound=instructions)
    found.run(Progress())
    return found
