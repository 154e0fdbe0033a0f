"""Relations of events that can push numbers: each event gets the greatest number of those that lead to it.

A vector has a number per event, NOWHERE where there is none; several vectors are the rows of a matrix. Pushing
costs a few passes over the vector, however many pairs the relation has.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import Protocol

import numpy as np

from gradual.evidence.sorting import in_order
from gradual.history import Column

NOWHERE = -1
FOREVER = np.iinfo(np.int64).max
LONG = 64
"""Entries that a segment has, on average, where it pays to go through them one by one."""


class Relation(Protocol):
    """A set of pairs of events."""

    def push(self, values: Column, forward: bool = True) -> Column:
        """For each event b the greatest of values[a] over pairs (a, b); over pairs (b, a) when not `forward`."""


class Pairs:
    """Pairs one by one."""

    def __init__(self, start: Column, end: Column) -> None:
        self._start = np.asarray(start, dtype=np.int64)
        self._end = np.asarray(end, dtype=np.int64)

    def push(self, values: Column, forward: bool = True) -> Column:
        start, end = (self._start, self._end) if forward else (self._end, self._start)
        pushed = np.full_like(values, NOWHERE)
        np.maximum.at(pushed.T, end, values.T[start])  # events are the last axis; numpy is fast along the first
        return pushed


class Chain:
    """Entries in segments: each entry that gives is before each later one of its segment that takes.

    `event` says which event an entry stands for, one that gives at most once and takes at most once. Where there are
    `marks`, entries of one mark are not related.
    """

    def __init__(self, event: Column, segment: Column, marks: Column | None = None,
                 gives: Column | None = None) -> None:
        self._event = event
        self._segment = segment
        self._marks = marks
        self._plain = gives is None
        self._gives = np.ones(len(event), dtype=bool) if gives is None else gives
        self._takes = np.ones(len(event), dtype=bool) if gives is None else ~gives

    def push(self, values: Column, forward: bool = True) -> Column:
        if forward and self._marks is None and self._plain:
            pushed = np.full_like(values, NOWHERE)
            pushed[..., self._event] = _before(values[..., self._event], self._starts)
            return pushed
        way = slice(None) if forward else slice(None, None, -1)
        gives, takes = (self._gives, self._takes) if forward else (self._takes, self._gives)
        event, segment, gives, takes = self._event[way], self._segment[way], gives[way], takes[way]
        given = np.where(gives, values[..., event], NOWHERE)
        if self._marks is None:
            best = _before(given, _starts(segment))
        elif forward and self._blocks is not None:
            best = _before(given, self._starts)[..., self._blocks]
        else:
            best = _before_apart(given, segment, self._marks[way])
        pushed = np.full_like(values, NOWHERE)
        pushed[..., event[takes]] = best[..., takes]
        return pushed

    @cached_property
    def _starts(self) -> Column:
        """The first entries of the segments."""
        return _starts(self._segment)

    @cached_property
    def _blocks(self) -> Column | None:
        """For each entry the first of those around it with the same mark, where no mark comes again later in a segment:
        then whatever is before that one has another mark."""
        assert self._marks is not None
        first = np.zeros(len(self._marks), dtype=bool)
        first[self._starts] = True
        first[1:] |= self._marks[1:] != self._marks[:-1]
        places = np.flatnonzero(first)
        marks = self._marks[places] + 1  # from 0 on: what reads nothing has none
        if int(np.bincount(marks).max(initial=0)) > 1:  # some mark comes again: in the same segment?
            number = np.searchsorted(self._starts, places, side="right")
            order = in_order(marks)
            again = np.diff(marks[order]) == 0
            if (again & (np.diff(number[order]) == 0)).any():
                return None
        around: Column = np.repeat(places, np.diff(np.append(places, len(first))))
        return around


class Onwards:
    """What a relation leads to, and whatever another one leads to from there."""

    def __init__(self, first: Relation, then: Relation) -> None:
        self._first = first
        self._then = then

    def push(self, values: Column, forward: bool = True) -> Column:
        if forward:
            reached = self._first.push(values)
            return np.maximum(reached, self._then.push(reached))
        return self._first.push(np.maximum(values, self._then.push(values, False)), False)


class Tested:
    """A relation from one set to another."""

    def __init__(self, start: Column, relation: Relation, end: Column) -> None:
        self._start = start
        self._relation = relation
        self._end = end

    def push(self, values: Column, forward: bool = True) -> Column:
        start, end = (self._start, self._end) if forward else (self._end, self._start)
        return np.where(end, self._relation.push(np.where(start, values, NOWHERE), forward), NOWHERE)


class Timed:
    """Entries in segments: each is before every later one of its segment that is known to have begun after it ended.

    What is known of beginnings never goes back within a segment: so an entry is before all from some place on.
    """

    def __init__(self, event: Column, segment: Column, ended: Column, began: Column) -> None:
        self._event = event
        bounds = np.r_[np.flatnonzero(np.diff(segment, prepend=-2) != 0), len(event)]
        self._segment = segment
        self._first = np.empty(len(event), dtype=np.int64)
        for low, high in pairwise(bounds.tolist()):
            from_then = low + np.searchsorted(began[low:high], ended[low:high], side="right")
            self._first[low:high] = np.maximum(from_then, np.arange(low, high) + 1)
        self._given = np.flatnonzero(self._first < np.repeat(bounds[1:], np.diff(bounds)))

    def push(self, values: Column, forward: bool = True) -> Column:
        pushed = np.full_like(values, NOWHERE)
        given, entries = self._given, values[..., self._event]
        if forward:
            onwards = Pairs(given, self._first[given]).push(entries)
            best = np.maximum(onwards, _before(onwards, _starts(self._segment)))
        else:
            back = np.maximum(entries, _before(entries[..., ::-1], _starts(self._segment[::-1]))[..., ::-1])
            best = np.full_like(entries, NOWHERE)
            best[..., given] = back[..., self._first[given]]
        pushed[..., self._event] = best
        return pushed


class Same:
    """Events of one group with each other, and with themselves; those of group -1 are in none."""

    def __init__(self, group: Column) -> None:
        self._event = in_order(group + 1)[np.count_nonzero(group < 0):]
        self._first = np.flatnonzero(np.r_[True, np.diff(group[self._event]) != 0])[:len(self._event)]
        self._size = np.diff(np.r_[self._first, len(self._event)])

    def push(self, values: Column, forward: bool = True) -> Column:
        pushed = np.full_like(values, NOWHERE)
        if len(self._event):
            best = np.maximum.reduceat(values[..., self._event], self._first, axis=-1)
            pushed[..., self._event] = np.repeat(best, self._size, axis=-1)
        return pushed


class Apart:
    """Events of different groups; those of group -1 with all, and with themselves."""

    def __init__(self, group: Column) -> None:
        alone = int(group.max(initial=-1)) + 1 + np.cumsum(group < 0)
        self._marks = np.where(group < 0, alone, group)
        self._alone = group < 0

    def push(self, values: Column, forward: bool = True) -> Column:
        one_segment = np.zeros(values.shape[-1], dtype=np.int64)
        before = _before_apart(values, one_segment, self._marks)
        after = _before_apart(values[..., ::-1], one_segment, self._marks[::-1])[..., ::-1]
        pushed: Column = np.maximum(np.maximum(before, after), np.where(self._alone, values, NOWHERE))
        return pushed


def _starts(segment: Column) -> Column:
    """The first entries of segments."""
    return np.flatnonzero(np.r_[True, segment[1:] != segment[:-1]][:len(segment)])


def _before(given: Column, starts: Column) -> Column:
    """For each entry the greatest number of the earlier ones of its segment: segment by segment, where they are long.

    Short ones are lifted above each other, so that one running maximum serves all.
    """
    best, size = np.full_like(given, NOWHERE), given.shape[-1]
    if LONG * len(starts) <= size:
        for low, high in pairwise([*starts.tolist(), size]):
            np.maximum.accumulate(given[..., low:high - 1], axis=-1, out=best[..., low + 1:high])
        return best
    best[..., 1:] = given[..., :-1]
    best[..., starts] = NOWHERE
    lift = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, size))) * (int(given.max(initial=0)) + 2)
    lifted: Column = np.maximum.accumulate(best + lift, axis=-1) - lift
    return lifted


def _before_apart(given: Column, segment: Column, marks: Column) -> Column:
    """The same, of the earlier entries with another mark than its own.

    Each entry keeps the greatest number so far, its mark, and the greatest of another mark; what two stretches keep
    gives what both keep together, so stretches of doubled length are put together until they reach the start.
    """
    best, mark = given.copy(), np.broadcast_to(marks, given.shape).copy()
    second = np.full_like(given, NOWHERE)
    longest = int(np.unique(segment, return_counts=True)[1].max(initial=0))
    reach = 1
    while reach < longest:
        within = np.zeros(len(segment), dtype=bool)
        within[reach:] = segment[reach:] == segment[:-reach]
        other = np.where(within, _shifted(best, reach), NOWHERE)
        other_mark, other_second = _shifted(mark, reach), np.where(within, _shifted(second, reach), NOWHERE)
        loser = np.where(mark != other_mark, np.minimum(best, other), NOWHERE)
        second = np.maximum(np.maximum(second, other_second), loser)
        mark = np.where(other > best, other_mark, mark)
        best = np.maximum(best, other)
        reach *= 2
    starts = np.r_[True, segment[1:] != segment[:-1]][:len(segment)]
    earlier = np.where(_shifted(mark, 1) != marks, _shifted(best, 1), _shifted(second, 1))
    return np.where(starts, NOWHERE, earlier)


def _shifted(values: Column, by: int) -> Column:
    shifted = np.full_like(values, NOWHERE)
    shifted[..., by:] = values[..., :-by]
    return shifted
