"""What a user probably did not mean: hex addresses taken for names, initial values of addresses that nobody has."""

from __future__ import annotations

from collections.abc import Iterable

from gradual.history.columns import History
from gradual.history.options import Options
from gradual.history.values import location_key, look_like_hex, visible

NAMED = 3


class Oversights:
    """Looked for in histories as they are read."""

    def __init__(self, options: Options) -> None:
        self.unused: set[int | str] = set(options.initial_at)
        """The addresses of --initial that no history had so far."""
        self._hex = options.hex

    def hex_in(self, history: History) -> tuple[str, ...]:
        """A few addresses, if they look like hex without 0x and nobody said that they are. Takes note of all."""
        if self.unused:
            self.unused -= {location_key(name) for name in history.locations}
        return () if self._hex or not look_like_hex(history.locations) else tuple(history.locations[:NAMED])


def told_hex(files: str, names: Iterable[str]) -> str:
    """Numbers that are taken for names end in violations that are none."""
    return (f"{visible(files)}: the addresses look like hex without 0x ({', '.join(names)}), and are taken for decimal "
            "numbers and names; --hex reads them as hex")


def told_unused(unused: Iterable[int | str]) -> str:
    names = sorted(hex(key) if isinstance(key, int) and key > 9 else visible(str(key)) for key in unused)
    more = f" and {len(names) - NAMED} more" * (len(names) > NAMED)
    return f"--initial: no history has the address {', '.join(names[:NAMED])}{more}"
