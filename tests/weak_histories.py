"""Histories with all that weak models look at: the vectors in their own notation, and random ones."""

from __future__ import annotations

import re

from gradual.history import AQRL, EXCLUSIVE, FENCES, Builder, History

TIME = 100
"""Between the times of two operations, where dependencies are told as times."""


def told(text: str, *, timed: bool = False) -> History:
    """A history such as `Wx1 Fw.w Wy1 ‖ Ry1 Rx0/a1 :: x=2`; with `timed`, dependencies as begin and end times."""
    threads, _, ends = text.partition("::")
    builder = Builder(text, "")
    for thread, operations in enumerate(threads.split("‖")):
        _thread(builder, str(thread), operations.split(), timed)
    for end in ends.split():
        location, value = end.split("=")
        builder.final(location, int(value))
    return builder.build()


def _thread(builder: Builder, name: str, operations: list[str], timed: bool) -> None:
    reserved = 0
    needed = [int(number) for text in operations for number in re.findall(r"/[adc](\d)", text)]
    for place, text in enumerate(operations, 1):
        body, *dependencies = text.split("/")
        body, _, order = body.partition(".") if not body.startswith("F") else (body, "", "")
        more: dict = {}
        if order:
            more["marks"] = AQRL[order if order in AQRL else order[:-1] + ".pc"]
        sources = [int(dependency[1:]) for dependency in dependencies]
        if timed:
            if sources:
                more["begin"] = place * TIME
            if place in needed and body[0] != "W":
                depending = [other for other, text in enumerate(operations, 1) if re.search(rf"/[adc]{place}", text)]
                more["end"] = depending[0] * TIME - 1
        else:
            for kind, key in (("a", "addr"), ("d", "data"), ("c", "ctrl")):
                if found := [int(d[1:]) for d in dependencies if d[0] == kind]:
                    more[key] = found
        if body.startswith("F"):
            kind = body[1:] or "rw.rw"
            builder.fence(name, FENCES[kind], **({key: more[key] for key in more if key == "ctrl"}))
            continue
        what, location, value = re.fullmatch(r"(LR|SC|R|W|U)([a-z])(\d+)", body).groups()  # type: ignore[union-attr]
        if what == "LR":
            more["marks"], reserved = more.get("marks", 0) | EXCLUSIVE, place
        if what == "SC":
            more["pair"], reserved = reserved, 0
        if what == "U":
            builder.rmw(name, location, int(value[0]), int(value[1]), **more)
        elif what in ("R", "LR"):
            builder.read(name, location, int(value), **more)
        else:
            builder.write(name, location, int(value), **more)


VECTORS = """
-+++++++  Wx1 Ry0 ‖ Wy1 Rx0
--------  Wx1 F Ry0 ‖ Wy1 F Rx0
-+++++++  Wx1 Ftso Ry0 ‖ Wy1 Ftso Rx0
-+++++++  Wx1 Rx1 Ry0 ‖ Wy1 Ry1 Rx0
-+++++++  Wx1 Rx1 Ry0/a2 ‖ Wy1 Ry1 Rx0/a2
-+++--++  LRx0 SCx1 Rx1 Ry0/a3 ‖ LRy0 SCy1 Ry1 Rx0/a3
---++-++  Ux01 Ry0 ‖ Uy01 Rx0
---+--++  Ux01.aq Ry0 ‖ Uy01.aq Rx0
-------+  Ux01 Fr.r Ry0 ‖ Wy1 F Rx0
--++--+-  Wx1 Uz01.aqrl Ry0 ‖ Wy1 Uw01.aqrl Rx0
-+++++++  Wx1 LRz0.aq SCz1.rl Ry0 ‖ Wy1 LRw0.aq SCw1.rl Rx0
-+++--++  Wx1 LRz0.aqrl SCz1.aqrl Ry0 ‖ Wy1 LRw0.aqrl SCw1.aqrl Rx0
---+--+-  Ux01.rl LRy0.aq ‖ Uy01.rl LRx0.aq
-+++++++  Wx1.rlp Ry0.aqp ‖ Wy1.rlp Rx0.aqp
--+++-++  Wx1 Wy1 ‖ Ry1 Rx0
--------  Wx1 Fw.w Wy1 ‖ Ry1 Rx0/a1
----+-++  Wx1 Fw.w Wy1 ‖ Ry1 Rx0/c1
----+-+-  Wx1 Fw.w Wy1 ‖ Ry1 Fi/c1 Rx0/c1
--++--+-  Wx1 Wy1.rlp ‖ Ry1.aqp Rx0
--++--+-  Wx1 Uy01.rl ‖ Uy12.aq Rx0
--------  Wx1 Fw.w Wy1 ‖ Ry1 Wz1/d1 Rz1 Rx0/a3
----+--+  Wx1 Fw.w Wy1 ‖ Ry1 Wz1/c1 Rz1 Rx0/a3/c1
-------+  Wx1 Fw.w Wy1 ‖ Ry1 Uz01/d1 Rx0/a2
----+-++  Wx1 Fw.w Wy1 ‖ Ry1 Wy2 Ry2 Rx0/a3
----+-++  Wx1 Fw.w Wy1 ‖ Ry1 Rz0/a1 Rz0 Rx0/a3
--------  Wx1 Fw.w Wy1 ‖ Ry1 Rz0/a1 Rz1 Rx0/a3 ‖ Wz1
---++-++  Rx1 Wy1 ‖ Ry1 Wx1
--------  Rx1 Wy1/d1 ‖ Ry1 Wx1/d1
--------  Rx1 Wy1/c1 ‖ Ry1 Wx1/d1
------+-  Rx1 Rz0/a1 Wy1 ‖ Ry1 Wx1/d1
--+++-++  Wx2 Wy1 ‖ Ry1 Wx1 :: x=2
------+-  Wx2 Fw.w Wy1 ‖ Ry1 Rz0/a1 Wx1 :: x=2
-+++++++  Wx1 Wy1 ‖ Wy2 Rx0 :: y=2
--+++-++  Wx1 Wy2 ‖ Wy1 Wx2 :: x=1 y=1
-+++++++  Wx1 Rx1 Ry0 ‖ Wy1 Wx2 :: x=1
--------  Wx1 ‖ Rx1 Wy1/d1 ‖ Ry1 Rx0/a1
---++-++  Wx1 ‖ Wy1 ‖ Rx1 Ry0 ‖ Ry1 Rx0
--------  Wx1 ‖ Wy1 ‖ Rx1 Ry0/a1 ‖ Ry1 Rx0/a1
------+-  Wx1 ‖ Rx1 Rx0
--------  Wx1 Rx2 ‖ Wx2 :: x=1
--------  Rx1 Wx1
--------  LRx0 SCx1 ‖ Wx2 :: x=1
++++++++  LRx0 Wx3 SCx1 ‖ Wx2 :: x=2
--------  LRx0 Wx3 SCx1 ‖ Wx2 Rx3
--------  LRx0 SCx1 ‖ LRx0 SCx2
"""
"""What each model allows (+): SC, TSO, PSO, WMO, RVWMO, Ztso, RMO, ARMv8."""
COLUMNS = ("sc", "tso", "pso", "wmo", "rvwmo", "ztso", "rmo", "armv8")

