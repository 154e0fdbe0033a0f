"""Random RISC-V litmus tests: dependencies, fences, acquire and release, lr and sc, amos, branches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

PLACES = {"x1": "x", "x2": "y", "x3": "z"}
"""The registers that hold addresses, in every thread."""
FENCES = ("rw,rw", "r,r", "r,w", "r,rw", "w,r", "w,w", "w,rw", "rw,r", "rw,w")


def random_test(rng: Random, name: str, amos: bool) -> str:
    """The text of a .litmus file. Its outcomes tell all registers that loads and store-conditionals set."""
    threads = [_Thread(rng, amos) for _ in range(rng.choice((2, 2, 3)))]
    for thread in threads:
        thread.fill(rng.randint(1, 3))
    given = " ".join(f"{number}:{register}={place};" for number in range(len(threads))
                     for register, place in PLACES.items())
    rows = max(len(thread.rows) for thread in threads)
    cells = [[f"P{number}", *thread.rows, *[""] * (rows - len(thread.rows))] for number, thread in enumerate(threads)]
    table = "\n".join(f" {' | '.join(row)} ;" for row in zip(*cells, strict=True))
    shown = [f"{number}:{register};" for number, thread in enumerate(threads) for register in thread.shown]
    return f"RISCV {name}\n{{ {given} }}\n{table}\nlocations [{' '.join([*shown, 'x; y; z;'])}]\nexists (x=1)\n"


class _Thread:
    def __init__(self, rng: Random, amos: bool) -> None:
        self.rng = rng
        self.rows: list[str] = []
        self.shown: list[str] = []
        """Registers that the outcome tells."""
        self._free: Iterator[int] = iter(range(5, 32))
        self._labels = 0
        self._kinds: list[Callable[[], None]] = [self._load, self._load, self._store, self._store, self._fence,
                                                 self._branch, self._exclusive, *([self._amo] if amos else [])]

    def fill(self, length: int) -> None:
        for _ in range(length):
            self.rng.choice(self._kinds)()

    def _register(self) -> str:
        return f"x{next(self._free)}"

    def _do(self, *rows: str) -> None:
        self.rows += rows

    def _loaded(self) -> str | None:
        """Something that was loaded, to depend on."""
        return self.rng.choice(self.shown) if self.shown and self.rng.random() < 0.6 else None

    def _place(self) -> str:
        """A register with an address, which may depend on a load."""
        base, source = self.rng.choice([*PLACES]), self._loaded()
        if source is None:
            return base
        nothing, place = self._register(), self._register()
        self._do(f"xor {nothing},{source},{source}", f"add {place},{base},{nothing}")
        return place

    def _value(self) -> str:
        """A register with 1 or 2; with what was loaded; or with 1 that depends on it."""
        source = self._loaded()
        if source is not None and self.rng.random() < 0.3:
            return source
        value = self._register()
        if source is None:
            self._do(f"ori {value},x0,{self.rng.randint(1, 2)}")
        else:
            self._do(f"xor {value},{source},{source}", f"ori {value},{value},1")
        return value

    def _marks(self, *marks: str) -> str:
        return self.rng.choice(marks) if self.rng.random() < 0.3 else ""

    def _load(self) -> None:
        place, register = self._place(), self._register()
        self._do(f"lw{self._marks('.aq')} {register},0({place})")
        self.shown.append(register)

    def _store(self) -> None:
        place, value = self._place(), self._value()
        self._do(f"sw{self._marks('.rl')} {value},0({place})")

    def _fence(self) -> None:
        self._do(self.rng.choice(("fence.tso", "fence.i", *(f"fence {sets}" for sets in FENCES))))

    def _branch(self) -> None:
        """To what follows anyway, or over a store."""
        source = self._loaded()
        if source is None:
            return self._load()
        label, self._labels = f"L{self._labels}", self._labels + 1
        if self.rng.random() < 0.5:
            self._do(f"bne {source},x0,{label}", f"{label}:")
        else:
            value = self._value()
            self._do(f"beq {source},x0,{label}", f"sw {value},0({self.rng.choice([*PLACES])})", f"{label}:")
        return None

    def _exclusive(self) -> None:
        place, value = self._place(), self._value()
        loaded, status = self._register(), self._register()
        self._do(f"lr.w{self._marks('.aq', '.aq.rl')} {loaded},0({place})",
                 f"sc.w{self._marks('.rl', '.aq.rl')} {status},{value},0({place})")
        self.shown += [loaded, status]

    def _amo(self) -> None:
        place, value = self._place(), self._value()
        register = self._register()
        kind = self.rng.choice(("swap", "add", "or"))
        self._do(f"amo{kind}.w{self._marks('.aq', '.rl', '.aq.rl')} {register},{value},({place})")
        self.shown.append(register)
