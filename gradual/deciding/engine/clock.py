"""When operations may have happened, where the trace does not say: by the clocks that threads would have (Lamport).

A thread's clock ticks with each operation, and what was read happened before the read. So the rank of an operation is
the longest path to it along program order and reads-from. Where these close a cycle, as they may in weak models, the
read that closes it does not wait. A rank is a hint and no more: where the schedule has a choice, it takes the lowest.

Loaded twice, as kernels.py is, before static.py.
"""

from __future__ import annotations

from gradual.compiler import kernel
from gradual.deciding.engine.batch import Batch, Building
from gradual.deciding.engine.kernels import NONE, READ, RMW


@kernel
def tell_time(b: Batch, s: Building, h: int) -> None:
    """The ranks of the operations of history h, which is sorted by thread."""
    low, n = b.history[h].start, b.history[h + 1].start - b.history[h].start
    for e in range(n):
        b.operation[low + e].rank = NONE
    threads = b.operation[low + s.mark[n - 1].by_thread].thread + 1
    for t in range(threads):
        s.thread[t].next = s.thread[t - 1].count if t > 0 else 0
        s.thread[t].time = 0
        s.thread[t].waiting = NONE
    for t in range(threads):
        run_clock(b, s, low, t)


@kernel
def run_clock(b: Batch, s: Building, low: int, t: int) -> None:
    """To the end of thread t; of those that it must wait for, as far as it must."""
    s.thread[t].waiting = t
    running = True
    while running:
        if s.thread[t].next == s.thread[t].count:
            over = t
            t = s.thread[t].waiting
            s.thread[over].waiting = NONE
            running = over != t
        else:
            e = s.mark[s.thread[t].next].by_thread
            w = read_by(b, low, e)
            ahead = b.operation[low + w].thread if w >= 0 and b.operation[low + w].rank == NONE else t
            if s.thread[ahead].waiting == NONE:
                s.thread[ahead].waiting = t
                t = ahead
            else:
                tick(b, s, low, e)
                after = s.thread[t].waiting
                if after != t and read_by(b, low, s.mark[s.thread[after].next].by_thread) == e:
                    s.thread[t].waiting = NONE
                    t = after


@kernel
def read_by(b: Batch, low: int, e: int) -> int:
    """The write that e reads; less than 0 where there is none."""
    operation = b.operation[low + e]
    return operation.source if operation.kind == READ or operation.kind == RMW else NONE


@kernel
def tick(b: Batch, s: Building, low: int, e: int) -> None:
    """The next operation of a thread happens."""
    operation, w = b.operation[low + e], read_by(b, low, e)
    thread = s.thread[operation.thread]
    if w >= 0 and b.operation[low + w].rank >= thread.time:
        thread.time = b.operation[low + w].rank + 1
    operation.rank = thread.time
    thread.time += 1
    thread.next += 1
