"""Random clients: what the threads of a test are told to do, made to stress a coherence protocol.

A client is data. `as_json` and `as_c` give it to machines that are not ours.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from random import Random
from typing import NamedTuple

from gradual.history import FENCE, READ, RMW, WRITE

BASE = 0x1000
LINE = 64
"""Bytes of a cache line."""
SET = 4096
"""A stride that maps to one set in most caches."""


class Operation(NamedTuple):
    kind: int
    location: int = -1
    value: int = 0
    """What a write or an rmw stores: a value of its own, never 0."""


class Client(NamedTuple):
    """A program for each thread, and the addresses of the locations they share."""

    threads: list[list[Operation]]
    addresses: list[int]
    seed: int
    pattern: str

    def as_json(self) -> str:
        threads = [[self._object(operation) for operation in thread] for thread in self.threads]
        return json.dumps({"seed": self.seed, "pattern": self.pattern, "addresses": [hex(a) for a in self.addresses],
                           "threads": threads})

    def _object(self, operation: Operation) -> dict[str, object]:
        if operation.kind == FENCE:
            return {"op": "F"}
        found: dict[str, object] = {"op": {READ: "R", WRITE: "W", RMW: "RMW"}[operation.kind],
                                    "address": hex(self.addresses[operation.location])}
        return found if operation.kind == READ else found | {"value": operation.value}

    def as_c(self) -> str:
        """A C11 program that runs the client once and prints its trace as CSV."""
        bodies = "\n".join(self._function(number) for number in range(len(self.threads)))
        count = len(self.threads)
        longest = max((len(thread) for thread in self.threads), default=0) or 1
        names = ", ".join(f"thread{number}" for number in range(count))
        codes = ",\n    ".join("{" + ", ".join(_c_record(o) for o in thread) + "}" for thread in self.threads)
        size = (max(self.addresses) - BASE) // 8 + 1 if self.addresses else 1
        lengths = ", ".join(str(len(thread)) for thread in self.threads)
        return _C.format(seed=self.seed, pattern=self.pattern, bodies=bodies, count=count, longest=longest, names=names,
                         codes=codes, size=size, lengths=lengths, base=hex(BASE),
                         places=", ".join(str((a - BASE) // 8) for a in self.addresses))

    def _function(self, number: int) -> str:
        lines = [f"    {_c_statement(number, at, o, self.addresses)}" for at, o in enumerate(self.threads[number])]
        return "\n".join([f"static void *thread{number}(void *unused) {{", "    (void)unused;",
                          "    pthread_barrier_wait(&start);", *lines, "    return NULL;", "}"])


def _c_record(operation: Operation) -> str:
    return f"{{{int(operation.kind)}, {operation.location}, {operation.value}}}"


def _c_statement(thread: int, at: int, operation: Operation, addresses: list[int]) -> str:
    if operation.kind == FENCE:
        return "FENCE();"
    place = (addresses[operation.location] - BASE) // 8
    if operation.kind == READ:
        return f"LOAD({thread}, {at}, {place});"
    return f"{'STORE' if operation.kind == WRITE else 'RMW'}({thread}, {at}, {place}, {operation.value});"


_C = """/* A random client of gradual: seed {seed}, pattern {pattern}. gcc -O1 -pthread client.c && ./a.out */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

static _Atomic uint64_t memory[{size}] __attribute__((aligned(64)));
static uint64_t seen[{count}][{longest}];
static pthread_barrier_t start;
/* The order of the source is kept by the compiler; the rest is up to the machine. */
#define KEEP() atomic_signal_fence(memory_order_seq_cst)
#define LOAD(t, i, at) do {{ seen[t][i] = atomic_load_explicit(&memory[at], memory_order_relaxed); KEEP(); }} while (0)
#define STORE(t, i, at, v) do {{ atomic_store_explicit(&memory[at], v, memory_order_relaxed); KEEP(); }} while (0)
#define RMW(t, i, at, v) do {{ seen[t][i] = atomic_exchange(&memory[at], v); KEEP(); }} while (0)
#define FENCE() atomic_thread_fence(memory_order_seq_cst)

{bodies}

struct operation {{ int kind, location; uint64_t value; }};
static const struct operation operations[{count}][{longest}] = {{
    {codes}
}};
static const int lengths[] = {{{lengths}}};
static const uint64_t places[] = {{{places}}};
static void *(*const bodies[])(void *) = {{{names}}};

int main(void) {{
    static const char *const names[] = {{"R", "W", "RMW", "F"}};
    pthread_t ids[{count}];
    pthread_barrier_init(&start, NULL, {count});
    for (int t = 0; t < {count}; t++) pthread_create(&ids[t], NULL, bodies[t], NULL);
    for (int t = 0; t < {count}; t++) pthread_join(ids[t], NULL);
    puts("thread,op,address,value,read");
    for (int t = 0; t < {count}; t++)
        for (int i = 0; i < lengths[t]; i++) {{
            struct operation o = operations[t][i];
            if (o.kind == 3) {{ printf("cpu%d,F,,,\\n", t); continue; }}
            unsigned long long at = {base} + 8 * places[o.location], read = seen[t][i];
            if (o.kind == 2) printf("cpu%d,RMW,0x%llx,%llu,%llu\\n", t, at, (unsigned long long)o.value, read);
            else printf("cpu%d,%s,0x%llx,%llu,\\n", t, names[o.kind], at, o.kind ? (unsigned long long)o.value : read);
        }}
    return 0;
}}
"""


# --- patterns: how locations lie in memory, and which one an operation takes

Choose = Callable[[Random, int, int, bool], int]
"""Of a thread's operation: random numbers, the thread, how many locations, and whether it stores."""


def _uniform(rng: Random, thread: int, locations: int, stores: bool) -> int:
    return int(rng.random() * locations)


def _hot(rng: Random, thread: int, locations: int, stores: bool) -> int:
    """Most accesses meet on one or two lines."""
    return int(rng.random() * min(2, locations)) if rng.random() < 0.8 else _uniform(rng, thread, locations, stores)


def _handing_on(rng: Random, thread: int, locations: int, stores: bool) -> int:
    """A thread stores to its own locations and loads those of the thread before it."""
    owner = thread if stores else thread + 1
    mine = [x for x in range(locations) if x % 4 == owner % 4] or list(range(locations))
    return mine[int(rng.random() * len(mine))]


class Pattern(NamedTuple):
    stride: int
    choose: Choose
    text: str


PATTERNS = {
    "uniform": Pattern(LINE, _uniform, "every line alike"),
    "hot": Pattern(LINE, _hot, "most accesses on one or two lines"),
    "false-sharing": Pattern(8, _uniform, "the words of a line are used by different threads"),
    "producer-consumer": Pattern(LINE, _handing_on, "each thread stores what the next one loads"),
    "eviction": Pattern(SET, _uniform, "all locations compete for one cache set"),
}
MIXED = "mixed"


def random_client(threads: int, operations: int, locations: int, seed: int, pattern: str = MIXED, *,
                  write_ratio: float = 0.45, rmw_ratio: float = 0.05, fence_ratio: float = 0.03) -> Client:
    """`operations` in all, equally many per thread up to one. Equal arguments give equal clients."""
    rng = Random(seed)
    name = list(PATTERNS)[seed % len(PATTERNS)] if pattern == MIXED else pattern
    chosen = PATTERNS[name]
    values = iter(range(1, operations + 1))
    bounds = write_ratio, write_ratio + rmw_ratio, write_ratio + rmw_ratio + fence_ratio
    lengths = [len(range(thread, operations, threads)) for thread in range(threads)]
    programs = [list(_thread(rng, thread, lengths[thread], locations, chosen.choose, bounds, values))
                for thread in range(threads)]
    return Client(programs, [BASE + chosen.stride * x for x in range(locations)], seed, name)


def _thread(rng: Random, thread: int, length: int, locations: int, choose: Choose,
            bounds: tuple[float, float, float], values: Iterator[int]) -> Iterator[Operation]:
    for _ in range(length):
        share = rng.random()
        kind = WRITE if share < bounds[0] else RMW if share < bounds[1] else FENCE if share < bounds[2] else READ
        if kind == FENCE:
            yield Operation(FENCE)
        else:
            at = choose(rng, thread, locations, kind != READ)
            yield Operation(kind, at, next(values) if kind != READ else 0)
