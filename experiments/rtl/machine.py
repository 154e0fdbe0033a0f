"""Random programs on the RTL machine, as histories.

    python -c "from machine import histories; print(next(histories(1)))"

The cores, caches and the bus are Verilog (machine.v), driven by cocotb on Icarus Verilog.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np
from faults import FAULTS
from simulator import Configuration, SimulationError, run

from gradual.history import FENCE, NO_LOCATION, NO_TICK, READ, RMW, WRITE, Column, History, history_from_columns

BATCH = 500
"""Histories per simulator process: its start takes as long as some fifty."""
LINES = 2
"""Lines per cache, of two words each."""
PACES = (0, 1, 3, 7, 15)
"""Masks of the random pause after an operation; each history has one of them."""
VALUES_PER_CORE = 4096
"""As in core.v: the value of a store is this times the core, plus its place in the program, plus one."""


class Mix(NamedTuple):
    """Shares of all operations; what they leave are reads."""

    write: float = 0.40
    rmw: float = 0.08
    fence: float = 0.07


class Program(NamedTuple):
    """What the cores do, core after core; the last operation of a core may be a fence to fill up."""

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
        programs = [_random_program(rng, configuration, locations, mix) for _ in range(min(batch, count - start))]
        for number, results in enumerate(_results(configuration, programs, timeout)):
            name = f"rtl-{seed}-{start + number}"
            yield _history(name, configuration, operations, locations, programs[number], results)


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


def _random_program(rng: Random, configuration: Configuration, locations: int, mix: Mix) -> Program:
    size = configuration.cores * configuration.ops
    draws = np.random.default_rng(rng.getrandbits(64))
    share = draws.random(size)
    kind = np.full(size, READ, dtype=np.int8)
    bound = 0.0
    for part, code in zip(mix, (WRITE, RMW, FENCE), strict=True):
        kind[(share >= bound) & (share < bound + part)] = code
        bound += part
    return Program(kind, draws.integers(locations, size=size), rng.getrandbits(32) | 1, rng.choice(PACES))


def _results(configuration: Configuration, programs: list[Program], timeout: float) -> Iterator[Column]:
    """What every operation of every program returned."""
    with tempfile.TemporaryDirectory(prefix="gradual-rtl-") as folder:
        inputs, outputs = Path(folder, "programs"), Path(folder, "results")
        inputs.write_text("".join(map(_line, programs)))
        run(configuration, inputs, outputs, timeout)
        lines = outputs.read_text().split()
    if len(lines) != len(programs):
        raise SimulationError(f"{len(programs)} programs were run, {len(lines)} results came back")
    size = configuration.cores * configuration.ops
    for line in lines:
        yield np.frombuffer(int(line, 16).to_bytes(2 * size, "little"), dtype="<u2")


def _line(program: Program) -> str:
    instructions = (program.kind.astype(np.uint8) << 6 | program.location.astype(np.uint8)).tobytes()
    return f"{program.seed:x} {program.pace:x} {int.from_bytes(instructions, 'little'):x}\n"


def _history(name: str, configuration: Configuration, operations: int, locations: int, program: Program,
             results: Column) -> History:
    """Without the operations that only fill the last row of the programs up."""
    thread = np.repeat(np.arange(configuration.cores, dtype=np.int32), configuration.ops)
    place = np.tile(np.arange(configuration.ops), configuration.cores)
    kept = place * configuration.cores + thread < operations
    kind, thread, place = program.kind[kept], thread[kept], place[kept]
    reads, writes = (kind == READ) | (kind == RMW), (kind == WRITE) | (kind == RMW)
    nothing = np.zeros(locations, dtype=np.int64)
    return history_from_columns(
        name, "", [f"core{number}" for number in range(configuration.cores)],
        [hex(8 * number) for number in range(locations)], thread, kind,
        np.where(kind == FENCE, NO_LOCATION, program.location[kept]).astype(np.int32),
        np.where(reads, results[kept], 0).astype(np.int64),
        np.where(writes, thread.astype(np.int64) * VALUES_PER_CORE + place + 1, 0),
        np.arange(1, len(kind) + 1), np.full(len(kind), NO_TICK, dtype=np.int64), nothing, nothing.copy(), nothing - 1)
