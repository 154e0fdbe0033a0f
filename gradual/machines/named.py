"""The machines by name."""

from __future__ import annotations

from gradual.machines.broken import FAULTS
from gradual.machines.sound import LocationBuffers, Memory, StoreBuffers
from gradual.machines.weak import ForgetfulWindows, TimedWindows, Windows

MACHINES: dict[str, str] = {
    "sc": "one memory, operations interleaved",
    "tso": "a FIFO store buffer per core, with forwarding (x86)",
    "pso": "a FIFO store buffer per core and location, with forwarding (SPARC PSO)",
    "wmo": "a window per core, performed out of order as WMO allows; the histories have times",
    "rvwmo": "the same as RVWMO allows; the histories have dependencies, fence kinds, LR and SC, acquire and release",
    "broken-weak": "rvwmo, but fences and dependencies are forgotten now and then",
    "broken-drop": "SC, but some invalidations are lost: a core goes on reading a stale copy",
    "broken-reorder": "SC, but some stores are overtaken by later stores of their core",
    "broken-duplicate": "SC, but some stores reach memory a second time, later",
    "broken-forward": "SC, but some stores wait in a buffer the core's own loads do not look into",
    "broken-rmw": "SC, but most rmws are not atomic: others slip in between load and store",
    "broken": "one of the broken machines, chosen by the seed",
}
"""The machines by name, each with a line for the command line's help."""


def machine_named(name: str, seed: int) -> type[Memory]:
    if name == "broken":
        return list(FAULTS.values())[seed % len(FAULTS)]
    machines: dict[str, type[Memory]] = {
        "sc": Memory, "tso": StoreBuffers, "pso": LocationBuffers, "wmo": TimedWindows, "rvwmo": Windows,
        "broken-weak": ForgetfulWindows, **FAULTS}
    try:
        return machines[name]
    except KeyError:
        raise ValueError(f"no machine called {name!r}; there are {', '.join(MACHINES)}") from None
