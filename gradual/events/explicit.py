"""J+R by explicit search. Configurations are tuples of nodes, a node of each thread's tree.

AeJ(P, Q) ⇔ P ⊆ Q and J(Z, Q) for every *terminal* Z of AJ*(P), as J(Z, Q) only grows with Z. So

    allowed(P) = ∩ of the allowed(P') of its AJ-successors P', one event further;
    allowed(Z) = the reads in Z or justified by Z, where Z has no successor,

and the player goes from P to any Q ⊇ P whose reads are in allowed(P). O(C·T·|V|) operations on masks for all of
`allowed`, with C configurations and T threads; up to C² moves.
"""

from __future__ import annotations

from collections import deque
from itertools import product

from gradual.events.goal import Goal
from gradual.events.structure import members

Configuration = tuple[int, ...]
"""A node of each thread: its place in `_Tree`, 0 the root."""


class _Tree:
    """One thread: its nodes, each before all that follows it. Node 0 is the root."""

    def __init__(self, goal: Goal, thread: int) -> None:
        structure = goal.structure
        self.events: list[int | None] = [None, *(e.number for e in structure.events if e.thread == thread)]
        place = {event: at for at, event in enumerate(self.events)}
        self.masks = [structure.upto(event) for event in self.events]
        self.children = [[place[child] for child in structure.children.get((thread, event), ())]
                         for event in self.events]
        self.after = [[at] for at in range(len(self.events))]
        """Each node and all that follow it."""
        for at in reversed(range(len(self.events))):
            self.after[at] += [later for child in self.children[at] for later in self.after[child]]
        self.leaves = {place[leaf.event]: leaf for leaf in structure.leaves[thread]}


class Explicit:
    """The game on one structure."""

    def __init__(self, goal: Goal) -> None:
        self.goal = goal
        self.structure = goal.structure
        self.trees = [_Tree(goal, thread) for thread in range(len(self.structure.leaves))]
        self.justifying = self.structure.justifies(goal.justifies)
        self._allowed: dict[Configuration, int] = {}
        self.reached: dict[Configuration, Configuration | None] = {}
        """Where the player has been, each with where it came from."""

    def play(self) -> list[int] | None:
        """The moves to a final configuration that is justified in itself, as masks, from the initial writes on; a
        shortest such play. None where there is no play."""
        start = (0,) * len(self.trees)
        self.reached = {start: None}
        todo = deque([start])
        if self._final(start):
            return [self.mask(start)]
        while todo:
            at = todo.popleft()
            for further in self._moves(at):
                if further not in self.reached:
                    self.reached[further] = at
                    if self._final(further):
                        return self._way_to(further)
                    todo.append(further)
        return None

    def _way_to(self, configuration: Configuration | None) -> list[int]:
        way = []
        while configuration is not None:
            way.append(self.mask(configuration))
            configuration = self.reached[configuration]
        return way[::-1]

    def _moves(self, at: Configuration) -> product[Configuration]:
        refused = self.structure.reads & ~self.allowed(at)
        return product(*([node for node in tree.after[place] if not tree.masks[node] & refused]
                         for tree, place in zip(self.trees, at, strict=True)))

    def _final(self, at: Configuration) -> bool:
        leaves = tuple(tree.leaves[node] for tree, node in zip(self.trees, at, strict=True) if node in tree.leaves)
        return len(leaves) == len(at) and self.goal.met(leaves) and self._justified(self.mask(at))

    def _justified(self, events: int) -> bool:
        return all(self.justifying[read] & events for read in members(events & self.structure.reads))

    def mask(self, at: Configuration) -> int:
        found = self.structure.initial
        for tree, node in zip(self.trees, at, strict=True):
            found |= tree.masks[node]
        return found

    # --- the opponent

    def allowed(self, start: Configuration) -> int:
        """The reads that are justified wherever the opponent leads."""
        todo = [start]
        while todo:
            at = todo[-1]
            following = [] if at in self._allowed else self._successors(at)
            waiting = [further for further in following if further not in self._allowed]
            todo += waiting
            if waiting:
                continue
            todo.pop()
            if at in self._allowed:
                continue
            found = self._at_the_end(at) if not following else -1
            for further in following:
                found &= self._allowed[further]
            self._allowed[at] = found
        return self._allowed[start]

    def _successors(self, at: Configuration) -> list[Configuration]:
        """AJ, event by event."""
        events, found = self.mask(at), []
        for thread, tree in enumerate(self.trees):
            for child in tree.children[at[thread]]:
                event = tree.events[child]
                assert event is not None
                if not self.structure.reads >> event & 1 or self.justifying[event] & events:
                    found.append((*at[:thread], child, *at[thread + 1:]))
        return found

    def _at_the_end(self, at: Configuration) -> int:
        events = self.mask(at)
        found = events & self.structure.reads
        for read in members(self.structure.reads & ~events):
            if self.justifying[read] & events:
                found |= 1 << read
        return found
