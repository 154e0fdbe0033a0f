"""A model's fit and some histories, as the batch that the kernels take."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gradual.compiler.records import rows
from gradual.deciding.engine import static
from gradual.deciding.engine.batch import FIELDS, Batch
from gradual.deciding.engine.gatherers import ALONG, Members, gatherers
from gradual.deciding.engine.kernels import PO, TIMED, WW
from gradual.history import AMBIGUOUS, FENCE, NO_PLACE, NO_TICK, READ, RMW, Column, History, wholes
from gradual.models.classes import Classes
from gradual.models.fit import Fit
from gradual.models.listed import READING, listed
from gradual.models.matrix import Matrices
from gradual.models.regular import AGAIN, ANEW, NEXT, Transition
from gradual.models.syntax import Expression, Name, Nothing
from gradual.models.times import NEVER, by_thread, ends, known_begins

PRUNED = 3
"""How often edges are looked through for those that are of no use."""
LATEST = 1 << 62
"""Beyond it, times of several threads, one thread's after the other's, do not fit into 64 bits."""
COLUMNS = ("kind", "thread", "location", "source")

Edge = tuple[int, int]


class Plan:
    """The parts of a batch that come from the model, for histories that have what it speaks of.

    Operations are numbered through all histories here; the node of an operation in a state of the automaton has the
    number of the operation, plus that of the state times all operations.
    """

    def __init__(self, fit: Fit, histories: Sequence[History]) -> None:
        self.histories = histories
        self.sets: list[Expression] = []
        self._starts = np.cumsum([0, *map(len, histories)])
        self._classes = Classes(histories, (test for t in fit.transitions for test in (t.before, t.after)))
        self._pairs: dict[str, Column] = {}
        self._all_transitions = fit.transitions
        self.transitions = self._possible(fit.transitions)
        self.states = max((t.end for t in self.transitions), default=0)
        self.coherent = self._coherence(fit)
        self._exclusive = fit.atomicity is not None
        self._given = [np.zeros((3, 0), dtype=np.int64)]
        """Starts, ends and kinds of edges."""
        if not isinstance(fit.irregular, Nothing):
            self._pair_by_pair(fit.irregular)
        for transition in self.transitions:
            if transition.step.relation == "tdep":
                self._by_time(transition)
            elif transition.step.relation not in ALONG and not _plain_reading(transition):
                self._one_by_one(transition)
        self._told()

    def _are_in(self, test: Expression, operations: Column) -> Column:
        """Which of some operations are in a set."""
        return np.asarray(self._classes.of(test)[self._classes.number[operations]])

    def _possible(self, transitions: Iterable[Transition]) -> list[Transition]:
        """Those whose sets have members here, as far as their states can be reached and left."""
        of = self._classes.of
        found = [t for t in transitions if of(t.before).any() and of(t.after).any()]
        while True:
            entered, left = {0} | {t.end for t in found}, {0} | {t.start for t in found}
            kept = [t for t in found if t.start in entered and t.end in left]
            if len(kept) == len(found):
                return found
            found = kept

    def _coherence(self, fit: Fit) -> int:
        if fit.coherence is None:
            return static.INCOHERENT_TOO
        if fit.reads_apart:
            return static.READS_APART
        return static.OWN_KEPT if self._keeps_own_writes() else static.COHERENT

    def _keeps_own_writes(self) -> bool:
        """Does program order keep a thread's writes to one location in order by itself?"""
        of, writes = self._classes.of, self._classes.of(Name("W"))
        return any(t.start == t.end == 0 and t.step.relation in ALONG
                   and bool((of(t.before) | ~writes).all()) and bool((of(t.after) | ~writes).all())
                   for t in self.transitions)

    # --- edges that are made here: of relations that are given by their pairs

    def _link(self, start: int, operations: Column, end: int, others: Column, by: int = PO) -> None:
        """Edges from operations in a state to others in another."""
        size = int(self._starts[-1])
        self._given.append(np.stack([start * size + operations, end * size + others, np.full(len(operations), by)]))

    def _pair_by_pair(self, term: Expression) -> None:
        for history, start in zip(self.histories, self._starts, strict=False):
            matrix = Matrices(history).of(term)[:len(history), :len(history)]
            before, after = np.argwhere(matrix).T + start
            self._link(0, before, 0, after)

    def _one_by_one(self, transition: Transition) -> None:
        a, b = self._related(transition.step.relation)[:, ::-1 if transition.step.inverse else 1].T
        kept = self._are_in(transition.before, a) & self._are_in(transition.after, b)
        self._link(transition.start, a[kept], transition.end, b[kept])

    def _related(self, relation: str) -> Column:
        if relation not in self._pairs:
            self._pairs[relation] = self._listed(relation)
        return self._pairs[relation]

    def _listed(self, relation: str) -> Column:
        if relation == NEXT:
            return np.concatenate([_successive(history) + start
                                   for history, start in zip(self.histories, self._starts, strict=False)])
        if relation not in (AGAIN, ANEW):
            return listed(self.histories, relation)
        pairs, kind, source = self._related(NEXT), self._joined("kind"), self._joined("source")
        read = ((kind == READ) | (kind == RMW)) & (source != AMBIGUOUS)
        one, other = np.where(read, source, AMBIGUOUS)[pairs.T]
        known = (one != AMBIGUOUS) & (other != AMBIGUOUS)
        return np.asarray(pairs[known & ((one == other) if relation == AGAIN else (one != other))])

    def _by_time(self, transition: Transition) -> None:
        """Reads that ended before an access began share a node, which comes after the one before: so whatever began
        later needs an edge from the last such node alone."""
        self.states += 1
        for history, start in zip(self.histories, self._starts, strict=False):
            end, begin = ends(history), known_begins(history)
            for thread in range(len(history.threads)):
                accesses = np.flatnonzero((history.thread == thread) & (history.kind != FENCE))
                place = accesses + start
                answered = np.flatnonzero((end[accesses] != NEVER) & self._are_in(transition.before, place))
                known = np.searchsorted(begin[accesses], end[accesses[answered]], side="right")
                known = np.maximum(known, answered + 1)
                answered, known = answered[known < len(accesses)], known[known < len(accesses)]
                nodes = np.flatnonzero(np.bincount(known))
                later = np.flatnonzero(self._are_in(transition.after, place))
                last = np.searchsorted(nodes, later, side="right") - 1
                self._link(transition.start, place[answered], self.states, place[known])
                self._link(self.states, place[nodes[:-1]], self.states, place[nodes[1:]])
                self._link(self.states, place[nodes[last[last >= 0]]], transition.end, place[later[last >= 0]])

    def _told(self) -> None:
        """What a history knows besides its values, which holds in any model."""
        knowing = [(history, int(start)) for history, start in zip(self.histories, self._starts, strict=False)
                   if history.given]
        self.states += 2 * bool(knowing)
        for history, start in knowing:
            if history.order is not None:
                self._in_store_order(history, history.order, start)
            if history.real_time:
                self._in_real_time(history, start)

    def _in_store_order(self, history: History, order: Column, start: int) -> None:
        """Of each location, from the writes of one place to those of the next: through a node in common, where either
        are several."""
        writes = np.flatnonzero(order != NO_PLACE)
        writes = writes[np.lexsort((order[writes], history.location[writes]))]
        elsewhere = np.diff(history.location[writes], prepend=-1) != 0
        first = np.flatnonzero(elsewhere | (np.diff(order[writes], prepend=NO_PLACE) != 0))
        size = np.diff(first, append=len(writes))
        group = np.repeat(np.arange(len(first)), size)
        follows = np.r_[~elsewhere[first], False]
        """Is there a group before each, at its location?"""
        alone = np.r_[(size == 1) & (np.r_[0, size[:-1]] == 1), True]
        place, node = writes + start, np.r_[writes[first] + start, 0]
        before, after = follows[group + 1], follows[group]
        single, shared = before & alone[group + 1], before & ~alone[group + 1]
        self._link(0, place[single], 0, node[group[single] + 1], WW)
        self._link(0, place[shared], self.states - 1, node[group[shared] + 1], WW)
        behind = after & ~alone[group]
        self._link(self.states - 1, node[group[behind]], 0, place[behind], WW)

    def _in_real_time(self, history: History, start: int) -> None:
        """Accesses that ended before others began share a node, which comes after the one before; those that began
        next come after it."""
        if history.begin is None or history.end is None:
            return
        accesses = history.kind != FENCE
        begun = np.flatnonzero(accesses & (history.begin != NO_TICK))
        ended = np.flatnonzero(accesses & (history.end != NO_TICK))
        moments, first = np.unique(history.begin[begun], return_index=True)
        place = begun[first] + start
        reached = np.searchsorted(moments, history.end[ended], side="right")
        ended, reached = ended[reached < len(moments)], reached[reached < len(moments)]
        nodes = np.unique(reached)
        last = np.searchsorted(nodes, np.searchsorted(moments, history.begin[begun]), side="right") - 1
        self._link(0, ended + start, self.states, place[reached], TIMED)
        self._link(self.states, place[nodes[:-1]], self.states, place[nodes[1:]], TIMED)
        self._link(self.states, place[nodes[last[last >= 0]]], 0, begun[last >= 0] + start, TIMED)

    # --- as tables

    def number(self, test: Expression) -> int:
        if test not in self.sets:
            self.sets.append(test)
        return self.sets.index(test)

    def batch(self, plain: bool, extra: Sequence[Edge] = (), patience: int = 1 << 62) -> Batch:
        """Everything together. `extra` edges may be given for a batch of one."""
        gatherer, gathered, target = self._gatherers(plain)
        reading = self._readings(plain)
        edges, edges_from, virtual, virtual_from = self._nodes()
        if extra:
            more = np.asarray(extra, dtype=np.int64).reshape(-1, 2)
            edges = np.concatenate([edges, [*more.T, np.full(len(more), PO)]], axis=1)
            edges_from = np.array([0, edges.shape[1]])
        places = np.cumsum([0, *(len(history.locations) for history in self.histories)])
        rank, timeless = ranks(self.histories)
        return Batch(
            _table("operation", plain, rank=rank,
                        tags=self._tags(), pair=self._partners(),
                        **{name: self._joined(name) for name in COLUMNS}),
            _table("location", plain, final=self._joined("final")),
            _table("history", plain, start=self._starts, place=places, given=edges_from, virtual=virtual_from,
                   timeless=np.append(timeless, False)),
            gatherer, gathered, target, reading,
            _table("given", plain, start=edges[0], end=edges[1], by=edges[2]),
            _table("virtual", plain, state=virtual // self._starts[-1], operation=self._local(virtual)),
            self._parts(plain), filled("open", (), plain), filled("candidate", (), plain),
            filled("asked", [(self.coherent, patience, self.mixed)], plain))

    @property
    def mixed(self) -> int:
        """1 for the events of one history whose accesses mix sizes."""
        return int(len(self.histories) == 1 and self.histories[0].part_of is not None)

    @property
    def sees_own_writes(self) -> bool:
        """Does coherence have a read see what its thread wrote before?"""
        return self.coherent != static.INCOHERENT_TOO

    def reads_in_order(self, writes: Column, reads: Column) -> Column:
        """Which reads come after a write because they return it?"""
        thread = self._joined("thread")
        same, found = thread[writes] == thread[reads], np.zeros(len(writes), dtype=bool)
        for transition in filter(_plain_reading, self.transitions):
            within, across = READING[transition.step.relation]
            found |= (np.where(same, within, across) == 1) & self._are_in(transition.before, writes) & (
                self._are_in(transition.after, reads))
        return found

    def _parts(self, plain: bool) -> Any:
        if not self.mixed:
            return rows("part_of", 1, plain, FIELDS)
        history = self.histories[0]
        return _table("part_of", plain, whole=wholes(history), row=np.asarray(history.part_of))

    def _nodes(self) -> tuple[Column, Column, Column, Column]:
        """The edges that were made, each history's in its own numbers, and where each one's begin; the virtual nodes
        that they need, numbered behind the operations, and where each history's begin."""
        edges, size = self._useful(np.concatenate(self._given, axis=1)), int(self._starts[-1])
        needed = np.zeros((self.states + 1) * size, dtype=bool)
        needed[edges[:2]] = True
        needed[:size] = False
        virtual = np.flatnonzero(needed)
        of, virtual_of = self._history(edges[0]), self._history(virtual)
        if len(self.histories) > 1:
            order = np.argsort(virtual_of, kind="stable")
            virtual, virtual_of = virtual[order], virtual_of[order]
            order = np.argsort(of, kind="stable")
            edges, of = edges[:, order], of[order]
        every = np.arange(len(self.histories) + 1)
        virtual_from, edges_from = np.searchsorted(virtual_of, every), np.searchsorted(of, every)
        number = np.empty(len(needed), dtype=np.int64)
        number[:size] = np.arange(size) - np.repeat(self._starts[:-1], np.diff(self._starts))
        number[virtual] = np.arange(len(virtual)) + (np.diff(self._starts) - virtual_from[:-1])[virtual_of]
        return np.stack([*number[edges[:2]], edges[2]]), edges_from, virtual, virtual_from

    def _useful(self, edges: Column) -> Column:
        """Without edges that lead from where nothing leads, or to where nothing goes on: most of them, at least."""
        size = int(self._starts[-1])
        along = [t for t in self.transitions if t.step.relation in ALONG]
        entered, left = np.zeros((2, self.states + 1), dtype=bool)
        entered[[0, *(t.end for t in along)]] = True
        left[[0, *(t.start for t in along)]] = True
        for _ in range(PRUNED):
            reached, going = np.repeat(entered, size), np.repeat(left, size)
            reached[edges[1]] = going[edges[0]] = True
            kept = reached[edges[0]] & going[edges[1]]
            if kept.all():
                break
            edges = edges[:, kept]
        return edges

    def _history(self, nodes: Column) -> Column:
        if len(self.histories) == 1:
            return np.zeros(len(nodes), dtype=np.int64)
        return np.asarray(np.searchsorted(self._starts[1:], nodes % max(int(self._starts[-1]), 1), side="right"))

    def _local(self, nodes: Column) -> Column:
        return np.asarray(nodes % max(int(self._starts[-1]), 1) - self._starts[self._history(nodes)])

    def _partners(self) -> Column:
        """Of a load-reserved its store-conditional, and the other way round; -1 of all others."""
        found = np.full(int(self._starts[-1]), -1, dtype=np.int32)
        for start, history in zip(self._starts.tolist(), self.histories, strict=False) if self._exclusive else ():
            if history.pair is not None:
                load, store = history.pair.T
                kept = (history.location[load] == history.location[store]) & (history.source[load] != AMBIGUOUS)
                load, store = load[kept], store[kept]
                found[start + load], found[start + store] = store, load
        return found

    def _joined(self, name: str) -> Column:
        return np.concatenate([getattr(history, name) for history in self.histories])

    def _tags(self) -> Column:
        tags = np.zeros(len(self._classes.size), dtype=np.int64)
        for bit, test in enumerate(self.sets):
            tags |= self._classes.of(test).astype(np.int64) << bit
        return np.asarray(tags[self._classes.number])

    def _gatherers(self, plain: bool) -> tuple[Any, Any, Any]:
        """Whoever comes, along po or po-loc, after the same ones: after whom, and who that is."""
        rows: list[tuple[int, int, int]] = []
        gathered: list[tuple[int, int]] = []
        targets: list[tuple[int, int]] = []
        entered, left = ({0, *(getattr(t, side) for t in self.transitions)} for side in ("end", "start"))
        for gatherer in gatherers(self._all_transitions):
            before, after = self._here(gatherer.gathered, entered), self._here(gatherer.targets, left)
            if before and after:
                rows.append((gatherer.along, len(gathered), len(targets)))
                gathered += before
                targets += after
        rows.append((0, len(gathered), len(targets)))
        return (filled("gatherer", rows, plain), filled("gathered", gathered, plain),
                filled("target", targets, plain))

    def _here(self, some: Iterable[Members], states: set[int]) -> list[tuple[int, int]]:
        """Those that there are here, in states that there are."""
        return sorted((members.state, self.number(members.set)) for members in some
                      if members.state in states and self._classes.of(members.set).any())

    def _readings(self, plain: bool) -> Any:
        return filled("reading", [(*READING[t.step.relation], self.number(t.before), self.number(t.after))
                                   for t in self.transitions if _plain_reading(t)], plain)


def _plain_reading(transition: Transition) -> bool:
    return transition.step.relation in READING and not transition.step.inverse and (
        transition.start == transition.end == 0)


def filled(name: str, values: Sequence[Sequence[int]] | Column, plain: bool) -> Any:
    fields = [field.partition(":")[0] for field in FIELDS[name].split()]
    columns = np.array(values, dtype=np.int64).reshape(-1, len(fields)).T
    return _table(name, plain, **dict(zip(fields, columns, strict=True)))


def _table(name: str, plain: bool, **columns: Column) -> Any:
    table = rows(name, len(next(iter(columns.values()))), plain, FIELDS)
    for field, column in columns.items():
        if plain:
            for row, value in zip(table, column.tolist(), strict=True):
                setattr(row, field, value)
        else:
            table[field] = column
    return table


def _successive(history: History) -> Column:
    """From each access to the next of its thread at its location."""
    accesses = np.flatnonzero(history.kind != FENCE)
    places = max(len(history.locations), 1)
    place = history.thread[accesses].astype(np.int64) * places + history.location[accesses]
    place = place.astype(np.min_scalar_type(len(history.threads) * places))  # small numbers are sorted much faster
    by_place = np.argsort(place, kind="stable")
    order, same = accesses[by_place], np.diff(place[by_place]) == 0
    return np.stack([order[:-1][same], order[1:][same]], axis=1)


def ranks(histories: Sequence[History]) -> tuple[Column, Column]:
    """Where there is a choice, the write of lowest rank goes first: by the times of the trace, or in its order, where
    reads come after what they read then. And which histories have neither: `clock.py` finds ranks for these."""
    sizes = [len(history) for history in histories]
    of = np.repeat(np.arange(len(sizes)), sizes)
    place = np.arange(len(of)) - np.repeat(np.cumsum([0, *sizes[:-1]]), sizes)
    timeless = _late(histories, of, np.concatenate([history.source for history in histories]) > place)
    start = 0
    for number, (size, history) in enumerate(zip(sizes, histories, strict=True)):
        if history.begin is not None and (timed := _by_time(history)) is not None:
            readers = np.flatnonzero(history.source >= 0)
            if not _late([history], np.zeros(len(readers), dtype=np.int64),
                         timed[history.source[readers]] > timed[readers])[0]:
                place[start:start + size], timeless[number] = timed, False
        start += size
    return place, timeless


def _late(histories: Sequence[History], of: Column, late: Column) -> Column:
    """In which histories do reads come before what they read, more than one operation in a hundred?"""
    found: Column = np.bincount(of[late], minlength=len(histories)) * 100 > [len(history) for history in histories]
    return found


def _by_time(history: History) -> Column | None:
    """The place of each operation by when it ended, or began where nobody knows that; one of which neither is known
    with the one before it in its thread. None where hardly anybody tells."""
    if history.begin is None or (history.begin != NO_TICK).sum() * 2 < len(history):
        return None
    times = np.stack([history.begin, history.begin if history.end is None else history.end])
    if int(times.max()) >= LATEST // len(history.threads):
        times = np.unique(times, return_inverse=True)[1].reshape(times.shape)
    order = by_thread(history)
    later = history.thread[order].astype(np.int64) * (int(times.max()) + 1)  # than all of the thread before
    begun = np.empty(len(history), dtype=np.int64)
    begun[order] = np.maximum.accumulate(np.maximum(times[0, order], 0) + later) - later
    place = np.empty(len(history), dtype=np.int64)
    place[np.argsort(np.maximum(begun, times[1]), kind="stable")] = np.arange(len(history))
    return place
