"""Kernels compiled: they do what the same lines do plain."""

from __future__ import annotations

import importlib
import random
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from random_histories import random_history
from strict import strict

from gradual import compiler
from gradual.compiler import compiled, kernel, records, translation
from gradual.history import Builder, History

FIELDS = {"row": "a b c:i8 d:f8", "one": "x y z:i8 real:f8"}
LIMIT = 20


class Both(NamedTuple):
    row: Any
    now: Any


@kernel
def arithmetic(g: Both) -> int:
    now = g.now[0]
    now.z = (now.x // now.y) * 1000 + now.x % now.y
    now.z += (now.x & now.y) ^ (now.x | now.y)
    now.z -= (now.x >> 2) + (now.y << 3)
    now.real = now.real * 1.5 + now.x - 2
    if now.real > 1e9 or now.real < -1e9:
        now.real *= 1e-9
    return -now.x + min(now.x, now.y) - 2 * max(now.x, now.y)


@kernel
def loops(g: Both) -> int:
    total, n = 0, len(g.row)
    for i in range(n):
        if g.row[i].a % 3 == 0:
            continue
        for j in range(i, n):
            total += g.row[j].b
            if total > 50:
                break
        total -= i
    for i in range(n - 1, -1, -2):
        g.row[i].c = total + i
    k = 0
    while True:
        k += 1
        if k >= LIMIT or total + k > 70:
            return total * k


@kernel
def conditions(g: Both) -> int:
    now, found = g.now[0], 0
    # the second half must not be looked at: there is no such row
    if now.x < len(g.row) and now.x >= 0 and g.row[now.x].a > now.y:
        found = 1
    beyond = now.x < 0 or now.x >= len(g.row)
    either = not beyond and g.row[now.x].b in (1, 3, LIMIT)
    found += 2 if beyond else 4
    if either or not found < 5:
        found = -found
    first, second = g.row[0], g.row[len(g.row) - 1]
    first.a, second.a = second.a, first.a
    return found + called(g, found, 3) + (1 if is_even(found) else 0)


@kernel
def called(g: Both, x: int, depth: int) -> int:
    if depth == 0:
        return x
    g.now[0].y += depth
    return called(g, x + 1, depth - 1)


@kernel
def is_even(x: int) -> bool:
    return x % 2 == 0


HERE = sys.modules[__name__]


def both(plain: bool, seed: int) -> Both:
    numbers = random.Random(seed)
    made = Both(records.rows("row", numbers.randrange(1, 9), plain, FIELDS), records.rows("one", 1, plain, FIELDS))
    for row in made.row:
        records.put(row, a=numbers.randrange(-9, 9), b=numbers.randrange(5), c=numbers.randrange(-(1 << 40), 1 << 40))
    records.put(made.now[0], x=numbers.randrange(-12, 12), y=numbers.choice([-7, -2, -1, 1, 3, 5]),
               z=numbers.getrandbits(40))
    return made


def values(context: Both) -> list[float]:
    names = {"row": "abcd", "now": ("x", "y", "z", "real")}
    return [float(row[name] if isinstance(row, np.void) else getattr(row, name))
            for table, fields in names.items() for row in getattr(context, table) for name in fields]


@pytest.mark.parametrize("function", [arithmetic, loops, conditions], ids=lambda function: function.__name__)
def test_compiled_is_what_it_is_plain(function: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADUAL_CACHE_DIR", str(tmp_path))
    fast = compiled(function.__name__, (HERE,), {"Both": both(False, 0)})
    for seed in range(300):
        plain, compact = both(True, seed), both(False, seed)
        assert fast(compact) == function(plain), seed
        assert values(compact) == values(plain), seed


@pytest.mark.parametrize("line", [
    "return [x]", "for y in (1, 2): pass", "x: int = 3", "return g.rows[0].a", "return g.row[0].missing",
    "return unknown(x)", "x = 1 / 2", "x = g.row[0]", "assert x", "return x ** 2", "g.row = 1", "del x"])
def test_other_python_is_refused(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "strange.py").write_text("from gradual.compiler import kernel\n\n"
                                         f"@kernel\ndef strange(g: 'Both', x: int) -> int:\n    {line}\n    return 0\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "strange", raising=False)
    program = translation.Program((importlib.import_module("strange"),), {"'Both'": both(False, 0)})
    with pytest.raises(NotImplementedError, match=r"strange"):
        program.text("strange")


@pytest.fixture
def strictly(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tables of plain kernels know their ends; compiled they would not be told."""
    from gradual.deciding.engine import choices, plan

    made, grown, filled, table = records.rows, records.longer, plan.filled, plan._table
    monkeypatch.setattr(records, "rows", lambda *given: strict(made(*given)))
    monkeypatch.setattr(records, "longer", lambda *given: strict(grown(*given)))
    for module in (plan, choices):
        monkeypatch.setattr(module, "filled", lambda *given: strict(filled(*given)))
    monkeypatch.setattr(plan, "_table", lambda *given, **columns: strict(table(*given, **columns)))


def few_values(rng: random.Random, mixed: bool) -> History:
    """Reads and writes of 0 and 1, of bytes that are one or the other, aligned or not; and final values."""
    builder = Builder("", "", tears=mixed)
    for line in range(1, rng.randint(8, 20)):
        size = rng.choice((1, 2, 4)) if mixed else 0
        start = rng.randrange(0, 8 // max(size, 1)) * size + (rng.random() < 0.1) if mixed else rng.randrange(2)
        one, other = (sum(rng.choice((0, 0, 1)) << 8 * byte for byte in range(size or 1)) for _ in range(2))
        add = rng.choice((builder.read, builder.write))
        if rng.random() < 0.1 and (not mixed or start % size == 0):
            builder.rmw(str(rng.randrange(3)), 0x80 + start, one, other, line=line, size=size)
        else:
            add(str(rng.randrange(3)), 0x80 + start, one, line=line, size=size)
    if not mixed and rng.random() < 0.3:
        builder.final(0x80, 1)
    return builder.build()


@pytest.mark.parametrize("mixed", [False, True])
def test_kernels_stay_within_their_tables_where_values_repeat(mixed: bool, strictly: None,
                                                              monkeypatch: pytest.MonkeyPatch) -> None:
    from gradual.deciding.pipeline import check
    from gradual.history import InputError

    monkeypatch.setattr(compiler, "pays", lambda operations: False)
    seen = set()
    for seed in range(150):
        rng = random.Random(seed)
        with suppress(InputError):  # sizes that do not go together
            seen.add(check(few_values(rng, mixed), rng.choice(("sc", "tso", "pso", "rvwmo"))).verdict)
    assert seen == {"consistent", "violation"}


def test_kernels_stay_within_their_tables(strictly: None) -> None:
    from gradual.deadline import NEVER
    from gradual.deciding import engine, saturation
    from gradual.deciding.observations import impossible_observation
    from gradual.models import load
    from gradual.models.fit import fit

    seen = set()
    for seed in range(150):
        history = random_history(random.Random(seed))
        if impossible_observation(history, None):
            continue  # not for the engine
        for model in ("sc", "tso", "pso"):
            seen.add(engine.decide(history, fit(load(model)), NEVER, compiled=False).status)
            saturation.Saturation(engine.Run([history], fit(load(model)), False), NEVER)
    assert seen == {engine.CONSISTENT, engine.VIOLATED}
