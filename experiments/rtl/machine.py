"""Random programs on the RTL machine, as histories.

    python -c "from machine import histories; print(next(histories(1)))"

The cores, caches and the bus are Verilog (machine.v), driven by cocotb on Icarus Verilog.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np
from faults import FAULTS
from simulator import Configuration, SimulationError, run

import gradual
from gradual.history import FENCE, READ, RMW, WRITE, Column, History, InputError
from gradual.history.part import part

BATCH = 500
"""Histories per simulator process: its start takes as long as some fifty."""
LINES = 2
"""Lines per cache, of two words each."""
PACES = (0, 1, 3, 7, 15)
"""Masks of the random pause after an operation; each history has one of them."""
VALUES_PER_CORE = 4096
"""As in core.v, where every store has a value of its own."""


class Mix(NamedTuple):
    """Shares of all operations; what they leave are reads."""

    write: float = 0.40
    rmw: float = 0.08
    fence: float = 0.07


class Program(NamedTuple):
    """What the cores do, core after core; the last operation of a core may be a fence to fill up."""

    name: str

    kind: Column
    location: Column
    seed: int
    pace: int


def histories(count: int, cores: int = 3, operations: int = 60, locations: int = 8, seed: int = 0, *,
              buffers: bool = False, fault: int | None = None, mix: Mix = Mix(),  # noqa: B008 — a tuple
              batch: int = BATCH, timeout: float = 600) -> Iterator[History]:
    """Histories of random programs of `operations` operations in all, each run once from reset.

    Equal arguments give equal histories. `timeout` is for a simulator process, which runs `batch` of them.
    Raises SimulationError when it is not installed, crashes or hangs.
    """
    _refuse(cores, operations, locations, mix)
    _refuse_fault(fault, buffers)
    # Three bits are twice what a cache holds; with fewer locations than that there may be no evictions.
    configuration = Configuration(cores, -(-operations // cores), max((locations - 1).bit_length(), 3), LINES, buffers,
                                  fault or 0)
    rng = Random(f"{seed} {cores} {operations} {locations} {mix}")
    for start in range(0, count, batch):
        programs = [_random_program(rng, f"rtl-{seed}-{number}", configuration, operations, locations, mix)
                    for number in range(start, min(start + batch, count))]
        for history in _results(configuration, programs, timeout):
            yield _without_filling(history, cores, operations)


def _refuse(cores: int, operations: int, locations: int, mix: Mix) -> None:
    if not (2 <= cores <= 4 and 1 <= locations <= 64 and 0 < operations < cores * (VALUES_PER_CORE - 1)):
        raise ValueError("the RTL has 2 to 4 cores, up to 64 locations and 4094 operations per core")
    if min(mix) < 0 or sum(mix) > 1 + 1e-9:
        raise ValueError("the shares of writes, rmws and fences are not negative, and together at most 1")


def _refuse_fault(fault: int | None, buffers: bool) -> None:
    if fault and fault not in FAULTS:
        raise ValueError(f"there is no fault {fault}; there are 1 to {max(FAULTS)}")
    if fault and FAULTS[fault].buffers and not buffers:
        raise ValueError(f"fault {fault}, {FAULTS[fault].name}, is in the store buffers: it needs buffers=True")


def _random_program(rng: Random, name: str, configuration: Configuration, operations: int, locations: int,
                    mix: Mix) -> Program:
    size = configuration.cores * configuration.ops
    draws = np.random.default_rng(rng.getrandbits(64))
    share = draws.random(size)
    kind = np.full(size, READ, dtype=np.int8)
    bound = 0.0
    for share_of_kind, code in zip(mix, (WRITE, RMW, FENCE), strict=True):
        kind[(share >= bound) & (share < bound + share_of_kind)] = code
        bound += share_of_kind
    core, place = np.divmod(np.arange(size), configuration.ops)
    kind[place * configuration.cores + core >= operations] = FENCE
    return Program(name, kind, draws.integers(locations, size=size), rng.getrandbits(32) | 1, rng.choice(PACES))


def _results(configuration: Configuration, programs: list[Program], timeout: float) -> Iterator[History]:
    """What the monitor saw of every program."""
    with tempfile.TemporaryDirectory(prefix="gradual-rtl-") as folder:
        inputs, outputs = Path(folder, "programs"), Path(folder, "results.jsonl")
        inputs.write_text("".join(map(_line, programs)))
        run(configuration, inputs, outputs, timeout)
        found = list(gradual.read(outputs))
    if len(found) != len(programs):
        raise SimulationError(f"{len(programs)} programs were run, {len(found)} histories came back")
    for history in found:
        if isinstance(history, InputError):
            raise SimulationError(str(history))
        yield replace(history, file="")


def _line(program: Program) -> str:
    instructions = (program.kind.astype(np.uint8) << 6 | program.location.astype(np.uint8)).tobytes()
    return f"{program.name} {program.seed:x} {program.pace:x} {int.from_bytes(instructions, 'little'):x}\n"


def _without_filling(history: History, cores: int, operations: int) -> History:
    """Without the fences that only fill the last row of the programs up."""
    if operations % cores == 0:
        return history
    kept = np.ones(len(history), dtype=bool)
    for thread, name in enumerate(history.threads):
        own = np.flatnonzero(history.thread == thread)
        kept[own] = np.arange(len(own)) * cores + int(name.removeprefix("core")) < operations
    return part(history, kept, np.zeros(len(history.locations), dtype=bool))
