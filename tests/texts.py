"""Models as texts, built by hand: those that have a second opinion in the certificate, and some that have none."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

from gradual.models.syntax import (
    Check,
    Difference,
    Expression,
    Identity,
    Intersection,
    Name,
    Named,
    Product,
    Sequence,
    Union,
)


@dataclass(frozen=True)
class Text:
    """What the certificate asks of a model."""

    name: str
    checks: tuple[Check, ...]
    splits_rmws: bool = False


def union(*terms: Expression | str) -> Expression:
    return reduce(Union, [Name(term) if isinstance(term, str) else term for term in terms])


def path(*steps: Expression | str) -> Expression:
    """Steps one after the other: sets are tests."""
    def step(of: Expression | str) -> Expression:
        if isinstance(of, str):
            return Identity(Name(of)) if of[0].isupper() else Name(of)
        return of

    return reduce(Sequence, map(step, steps))


def fences(first: str, then: str) -> Identity:
    """The fences that order at least `first` before them, and at least `then` after them."""
    kinds = [f"Fence.{p}.{s}" for p in ("r", "w", "rw") for s in ("r", "w", "rw") if first in p and then in s]
    return Identity(union(*kinds))


FENCE = Named("fence", union(
    path("R", "po", fences("r", "")), path("W", "po", fences("w", "")),
    path(fences("", "r"), "po", "R"), path(fences("", "w"), "po", "W"),
    path("R", "po", "Fence.tso", "po", "M"), path("W", "po", "Fence.tso", "po", "W")))
TSO_PPO = Named("ppo", union(path("R", "po", "M"), path("M", "po", "W")))
PSO_PPO = Named("ppo", union(path("R", "po", "M"), path("W", "po-loc", "W")))
WMO_PPO = Named("ppo", union(path("R", "po-loc", "M"), path("W", "po-loc", "W"), "addr", "data", path("ctrl", "W")))
COHERENCE = Check("acyclic", union("po-loc", "rf", "co", "fr"), "coherence")
ATOMICITY = Check("empty", Intersection(Name("rmw"), path("fre", "coe")), "atomicity")


def template(name: str, ppo: Expression) -> Text:
    return Text(name, (COHERENCE, Check("acyclic", union(ppo, FENCE, "rfe", "co", "fr"), "global")))


SHIPPED = {
    "SC": Text("SC", (COHERENCE, Check("acyclic", union("po", "rf", "co", "fr"), "global"))),
    "TSO": template("TSO", TSO_PPO),
    "PSO": template("PSO", PSO_PPO),
}
"""SC with the coherence that follows from its other axiom, as the certificate's own SC has it."""

WEAK = Text("WMO", (*template("WMO", WMO_PPO).checks, ATOMICITY))
"""Dependencies, fences, lr/sc."""
ODD = Text("odd", (
    Check("irreflexive", path("fr", "po", "rf", "po"), "observation"),
    Check("empty", Difference(Intersection(Name("coe"), Product(Name("W"), Name("X"))), path("co", "co")), "next"),
    Check("acyclic", union("po-loc", "rf", "co"), "first"),
    Check("acyclic", union(path("W", "po", "W"), "co"), "second")))
"""No single order explains it, and one of its axioms asks what the store order does not hold."""
