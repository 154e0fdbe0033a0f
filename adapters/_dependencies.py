"""Which loads the values in a CPU's registers came from: the rules for dependencies, said once for all logs."""

from __future__ import annotations

from gradual.history.builder import More

Sources = frozenset[int]
"""Operations of a thread by their numbers, from 1; UNKNOWN among them where some are not known."""
NOWHERE: Sources = frozenset()
UNKNOWN = 0
MANY = 64
"""Operations that one value may come from; more are forgotten."""

UNKNOWN_ONLY: Sources = frozenset({UNKNOWN})

Use = tuple[str, bytes, tuple[bytes, ...]]
"""What an instruction does to where values come from: its kind, the register that it sets, those that it reads.

set        the register gets what those that are read came from
control    a conditional branch or an indirect jump; the register, if any, gets an address of the program
csr        of those that are read, the first is the CSR that the register gets; the CSR gets what the others came from
other      nothing is known
"""
SCRATCH = frozenset((b"mscratch", b"sscratch", b"vsscratch"))
"""CSRs that hold what a program wrote to them. Traps write the others too, and nobody sees that in a log."""


class Dependencies:
    """Which accesses of one CPU the values in its registers came from, by syntax: what is unknown adds nothing.

    A control dependency is told of the first operation that has it; all that follow have it too.
    """

    def __init__(self) -> None:
        self.sources: dict[bytes, Sources] = {}
        self.controlled: set[int] = set()
        self.pending: set[int] = set()
        self.dropped = 0
        """Accesses that depend on something which is not known, or on an access that was not selected."""

    def follow(self, use: Use, sets: bool) -> None:
        """An instruction that accesses no memory; `sets` says whether the log shows a result."""
        kind, target, sources = use
        if kind == "control":
            for source in self._of(sources):
                if source not in self.controlled:
                    self.controlled.add(source)
                    self.pending.add(source)
        if kind == "csr" and sources:
            csr, *others = sources
            written = self._of(tuple(others))
            self.come(target, self.sources.get(csr, NOWHERE))
            self.come(csr, written if csr in SCRATCH or not written else UNKNOWN_ONLY)
        elif kind == "set" or (kind == "control" and target):
            self.come(target, self._of(sources) if kind == "set" else NOWHERE)
        elif kind == "other" and sets:
            self.come(target, UNKNOWN_ONLY)

    def _of(self, registers: tuple[bytes, ...]) -> Sources:
        found = NOWHERE
        for register in registers:
            if register in self.sources:
                found |= self.sources[register]
        return found

    def come(self, register: bytes, sources: Sources) -> None:
        """The value of a register comes from these accesses."""
        if not sources or register in (b"zero", b"x0"):
            self.sources.pop(register, None)
        elif len(sources) > MANY:
            self.sources[register] = frozenset([*sorted(sources)[-MANY:], UNKNOWN])
        else:
            self.sources[register] = sources

    def forget(self, registers: tuple[bytes, ...] | None = None) -> None:
        """Something unknown set these registers, or all of them."""
        for register in [*self.sources] if registers is None else registers:
            self.sources[register] = UNKNOWN_ONLY

    def of_access(self, address: tuple[bytes, ...], data: tuple[bytes, ...]) -> More:
        """What an access that becomes an operation depends on, by the registers its address and its value are made
        from."""
        found = {"addr": self._of(address), "data": self._of(data), "ctrl": frozenset(self.pending)}
        self.pending.clear()
        self.dropped += any(UNKNOWN in sources for sources in found.values())
        more: More = {}
        for name in ("addr", "data", "ctrl"):
            if known := sorted(found[name] - UNKNOWN_ONLY):
                more[name] = known
        return more
