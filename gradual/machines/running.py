"""Random programs, run once on a machine: their histories."""

from __future__ import annotations

from array import array
from dataclasses import replace
from random import Random

import numpy as np

from gradual.history import (
    FENCE,
    NO_LOCATION,
    NO_PLACE,
    NO_TICK,
    READ,
    RMW,
    WRITE,
    Column,
    History,
    history_from_columns,
)
from gradual.machines.named import machine_named
from gradual.machines.program import Program, Ran
from gradual.machines.sound import Cells, Memory

FIRST_ADDRESS = 0x1000
ADDRESS_STEP = 8


def generate(machine: str, threads: int, operations: int, locations: int, seed: int, *,
             write_ratio: float = 0.45, rmw_ratio: float = 0.05, fence_ratio: float = 0.03,
             fault_ratio: float | None = None, name: str = "", ordered: bool = False) -> History:
    """The history of a random program of `operations` operations in all, run once on a machine.

    The ratios are shares of all operations; what they leave are reads. `fault_ratio` is the chance
    that a broken machine's fault strikes when it can, where its own choice does not suit. Operations
    stand in the order of issue. Every store writes a value of its own. Equal arguments give equal histories.
    `ordered` ones tell in which order their stores reached memory.
    """
    build = machine_named(machine, seed)
    _refuse(threads, operations, locations, write_ratio, rmw_ratio, fence_ratio)
    rng = Random(seed)
    program = _random_program(rng, threads, operations, locations, write_ratio, rmw_ratio, fence_ratio)
    addresses = [hex(FIRST_ADDRESS + ADDRESS_STEP * number) for number in range(locations)]
    return run_program(build(threads, locations, rng, fault_ratio), program, name or f"{machine}-{seed}", addresses,
                       ordered=ordered)


def run_program(machine: Memory, program: Program, name: str, addresses: list[str],
                values: array[int] | None = None, *, ordered: bool = False) -> History:
    """The history of a program. The stores write `values`, or numbers from 1 on."""
    written = _values(program, values)
    if not ordered:
        return _history(name, machine.cores, addresses, program, machine.run(program, written))
    machine.memory = cells = Cells(machine.memory)
    ran = machine.run(program, written)
    for core in range(machine.cores):  # what is still under way has its place, too
        machine.fence(core)
    return replace(_history(name, machine.cores, addresses, program, ran), order=_store_order(program, written, cells))


def _store_order(program: Program, written: array[int], cells: Cells) -> Column:
    """The place of each store among those that reached memory; NO_PLACE for one that was overwritten before."""
    place = {store: number for number, store in enumerate(cells.stored)}
    return np.array([place.get((at, value), NO_PLACE) if kind in (WRITE, RMW) else NO_PLACE
                     for kind, at, value in zip(program.kind, program.location, written, strict=True)], dtype=np.int64)


def _refuse(threads: int, operations: int, locations: int, *ratios: float) -> None:
    if threads < 1 or locations < 1 or operations < 0:
        raise ValueError("a machine needs one thread and one location at least, and cannot run fewer than "
                         "0 operations")
    if min(ratios) < 0 or sum(ratios) > 1 + 1e-9:
        raise ValueError("the ratios of writes, rmws and fences are shares of all operations: "
                         "none is negative and together they are at most 1")


def _random_program(rng: Random, threads: int, operations: int, locations: int, write_ratio: float,
                    rmw_ratio: float, fence_ratio: float) -> Program:
    """Equally many operations per thread, up to one, in a random interleaving."""
    thread = [number % threads for number in range(operations)]
    rng.shuffle(thread)
    random = rng.random
    writes, rmws, fences = write_ratio, write_ratio + rmw_ratio, write_ratio + rmw_ratio + fence_ratio
    kind = bytearray(operations)
    location = array("i", bytes(4 * operations))
    for at in range(operations):
        share = random()
        kind[at] = WRITE if share < writes else RMW if share < rmws else FENCE if share < fences else READ
        location[at] = int(random() * locations)
    return Program(thread, kind, location)


def _values(program: Program, given: array[int] | None) -> array[int]:
    """What each operation writes: the given values, or numbers from 1 on; 0 for those that write nothing."""
    written = array("q", bytes(8 * len(program.kind)))
    value = 0
    for at, kind in enumerate(program.kind):
        if kind in (WRITE, RMW):
            value = value + 1 if given is None else given[at]
            written[at] = value
    return written


def _history(name: str, threads: int, addresses: list[str], program: Program, ran: Ran) -> History:
    kind = np.array(program.kind, dtype=np.int8)
    location = np.array(program.location, dtype=np.int32)
    location[kind == FENCE] = NO_LOCATION
    nothing = np.zeros(len(addresses), dtype=np.int64)
    return history_from_columns(
        name, "", [f"cpu{number}" for number in range(threads)],
        addresses, np.array(program.thread, dtype=np.int32), kind, location, np.array(ran.read, dtype=np.int64),
        np.array(ran.written, dtype=np.int64), np.arange(1, len(kind) + 1, dtype=np.int64),
        np.full(len(kind), NO_TICK, dtype=np.int64), nothing, nothing.copy(), nothing - 1, ran.more)
