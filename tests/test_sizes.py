"""Accesses of 1, 2, 4 and 8 bytes to common bytes: one operation each, reads-from and store order byte by byte."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest
from command import gradual as run
from gradual.adapters import adapter

import gradual
from gradual.deadline import Deadline
from gradual.deciding import engine, shrinking
from gradual.deciding.classification import classify
from gradual.deciding.pipeline import check
from gradual.deciding.stream import Stream
from gradual.evidence import certificate
from gradual.evidence.certificate import CertificateError
from gradual.evidence.verdict import Cycle, Edge, Evidence, ThinAir, Witness
from gradual.history import EXCLUSIVE, FENCE, READ, WRITE, Builder, History, InputError, Options, split, word
from gradual.models import load
from gradual.models.fit import fit

sys.path.insert(0, str(Path(__file__).parents[1]))
from experiments.sizes.brute import MODELS, Brute
from experiments.sizes.histories import random_history

Row = tuple[str, str, int, int, int]
"""Thread, R or W, address, size, value."""


def history_of(*rows: Row, tears: bool = False, **options: int) -> History:
    builder = Builder("sizes", "", Options(**options), tears=tears)  # type: ignore[arg-type]
    for line, (thread, op, address, size, value) in enumerate(rows, 2):
        (builder.read if op == "R" else builder.write)(thread, address, value, line=line, size=size)
    return builder.build()


def complaint(*rows: Row, **options: int) -> InputError:
    with pytest.raises(InputError) as error:
        history_of(*rows, **options)
    return error.value


def verdict(history: History, model: str = "sc") -> str:
    return check(history, model).verdict


def read(name: str, text: str) -> History:
    found = next(iter(adapter(name).read(io.BytesIO(text.encode()), "trace", Options())))
    assert isinstance(found, History), found
    return found


# --- the definition


def some(seed: int, count: int, torn: bool = False) -> Iterator[History]:
    rng = Random(seed)
    while count:
        history = random_history(rng, 7, torn=torn)
        if history.mixed:
            count -= 1
            yield history


@pytest.mark.parametrize("torn", [False, True])
def test_verdicts_agree_with_brute_force_over_bytes(torn: bool) -> None:
    """`python -m experiments.sizes` compares thousands. Every verdict is certified on the way."""
    seen = set()
    for history in some(11 + torn, 45, torn):
        brute = Brute(history)
        for model in MODELS:
            found = verdict(history, model)
            seen.add(found)
            assert (found == "consistent") == brute.allows(model), (model, history.to_pandas())
    assert seen == {"consistent", "violation"}


def test_compiled_and_plain_kernels_agree() -> None:
    fits = fit(load("tso"))
    for history in some(5, 25):
        events = split(history)
        plain, compiled = (engine.decide(events, fits, Deadline(None), compiled=how).status for how in (False, True))
        assert plain == compiled


# --- cells


def test_an_access_is_as_many_events_as_it_has_cells() -> None:
    events = split(history_of(("0", "W", 0x80, 8, 0x0807060504030201), ("1", "R", 0x82, 2, 0x0403),
                              ("1", "R", 0x90, 4, 0)))
    assert events.locations == ("0x80..0x81", "0x82..0x83", "0x84..0x87", "0x90..0x93")
    assert events.part_of is not None and events.part_of.tolist() == [0, 0, 0, 1, 2]
    assert events.written.tolist()[:3] == [0x0201, 0x0403, 0x08070605]
    assert events.source.tolist()[3:] == [1, -1]


def test_one_size_per_location_is_no_mix() -> None:
    history = history_of(("0", "W", 0x80, 4, 1), ("1", "R", 0x84, 8, 0), ("1", "R", 0x80, 4, 1))
    assert not history.mixed and history.source.tolist() == [-3, -1, 0]
    assert load("sc").takes(history) is history


# --- verdicts


def test_zero_stores_of_8_bytes_and_byte_reads() -> None:
    """As of NaxRiscv: nothing but zeros, so every write may have been read."""
    rows: list[Row] = [("0", "W", 0x80, 8, 0), ("0", "R", 0x83, 1, 0), ("1", "R", 0x80, 8, 0), ("1", "W", 0x84, 4, 0),
                       ("1", "R", 0x87, 1, 0)]
    assert {verdict(history_of(*rows), model) for model in ("sc", "tso", "pso", "rvwmo")} == {"consistent"}
    assert verdict(history_of(*rows, ("0", "R", 0x86, 1, 7))) == "violation"


def test_an_access_is_not_torn() -> None:
    torn = history_of(("0", "W", 0x80, 8, 0x0202020201010101), ("1", "R", 0x80, 8, 0x0000000001010101),
                      ("1", "R", 0x80, 4, 0x01010101))
    for model in ("sc", "tso", "pso", "rvwmo"):
        found = check(torn, model)
        assert isinstance(found.evidence, Cycle) and {edge.kind for edge in found.evidence.edges} == {"wr", "rw"}
        told = gradual.explain(found, torn)
        assert "R 0x80..0x87=0x1010101" in told or "read 0x80..0x87=0x1010101" in told


def test_a_read_may_take_bytes_from_several_writes() -> None:
    history = history_of(("0", "W", 0x80, 1, 1), ("1", "W", 0x81, 1, 2), ("2", "R", 0x80, 2, 0x0201))
    assert verdict(history) == "consistent"


def test_forwarding_is_by_bytes() -> None:
    """A load takes a byte from the store buffer and the other from memory, which is overwritten before the buffer is
    emptied: of each byte that is coherent."""
    rows: list[Row] = [("0", "W", 0x80, 1, 1), ("0", "R", 0x80, 2, 0x0201), ("1", "W", 0x80, 2, 0x0202),
                       ("1", "W", 0x80, 2, 0x0303), ("1", "R", 0x80, 2, 0x0303), ("1", "R", 0x80, 1, 1)]
    assert verdict(history_of(*rows), "tso") == "consistent"
    assert verdict(history_of(*rows), "sc") == "violation"


def test_a_large_history_with_a_planted_tear() -> None:
    rng, memory, rows = Random(3), bytearray(64), []
    for number in range(1200):
        size = rng.choice((1, 2, 4, 8))
        at = rng.randrange(64 // size) * size
        if rng.random() < 0.4:
            memory[at:at + size] = bytes(rng.randrange(256) for _ in range(size))
            op = "W"
        else:
            op = "R"
        rows.append((str(number % 4), op, 0x1000 + at, size, int.from_bytes(memory[at:at + size], "little")))
    assert verdict(history_of(*rows), "tso") == "consistent"
    tear: list[Row] = [("0", "W", 0x2000, 8, 0x0202020201010101), ("1", "R", 0x2000, 8, 0x01010101),
                       ("2", "R", 0x2004, 4, 0)]
    assert verdict(history_of(*rows[:800], *tear, *rows[800:]), "tso") == "violation"


def test_initial_and_final_values_have_bytes() -> None:
    builder = Builder("", "", Options(initial_at={0x80: 0x0102}))
    builder.write("0", 0x81, 7, size=1, line=1)
    builder.read("1", 0x80, 0x0702, size=2, line=2)
    builder.final(0x80, 0x0702, line=3)
    assert verdict(builder.build()) == "consistent"
    builder = Builder("", "")
    builder.write("0", 0x80, 0x0101, size=2, line=1)
    builder.read("0", 0x81, 1, size=1, line=2)
    builder.final(0x80, 0x0001, line=3)
    found = check(builder.build(), "sc")
    assert found.decided_by == "final"


def test_the_order_of_stores_holds_for_what_overlaps() -> None:
    builder = Builder("", "")
    builder.write("0", 0x80, 0x0101, size=2, order=2)
    builder.write("1", 0x81, 2, size=1, order=1)
    builder.read("0", 0x80, 0x0201, size=2)
    found = check(builder.build(), "sc")
    assert (found.verdict, found.decided_by, found.without) == ("violation", "store-order", "consistent")


# --- the certificate


def proves(history: History, model: str, evidence: Evidence) -> bool:
    try:
        certificate.check(history, load(model), evidence)
    except CertificateError:
        return False
    return True


def test_a_run_must_not_tear_an_access() -> None:
    history = history_of(("0", "W", 0x80, 2, 0x0201), ("1", "R", 0x80, 1, 1), ("1", "R", 0x81, 1, 0))
    assert verdict(history) == "violation"
    assert not proves(history, "sc", Witness([0, 2, 3, 1])), "stores one byte, and the other one later"
    assert not proves(history, "sc", Witness([0, 1, 2, 3])), "the second byte was not 0 then"


def test_coherence_does_not_pass_from_byte_to_byte() -> None:
    """The cycle of test_forwarding_is_by_bytes goes through two bytes: it breaks no axiom of TSO."""
    history = history_of(("0", "W", 0x80, 1, 1), ("0", "R", 0x80, 2, 0x0201), ("1", "W", 0x80, 2, 0x0202),
                         ("1", "W", 0x80, 2, 0x0303), ("1", "R", 0x80, 1, 1))
    edges = (Edge("po", 0, 1), Edge("rw", 2, 6), Edge("ww", 5, 0))
    for scope in ("coherence", "global"):
        assert not proves(history, "tso", Cycle(edges, scope, assumed=((3, 5),)))
        assert not proves(history, "tso", Cycle(edges, scope))


def one_after_another(history: History) -> History:
    """The same accesses with values that they have in the order of the trace: a consistent history."""
    memory: dict[int, int] = {}
    read, starts = history.read.copy(), [int(name, 16) for name in history.locations]
    assert history.size is not None
    for row in np.flatnonzero(history.kind != FENCE).tolist():
        here = range(start := starts[history.location[row]], start + int(history.size[row]))
        if history.kind[row] != WRITE:
            read[row] = word(int.from_bytes(bytes(memory.get(byte, 0) for byte in here), "little"))
        if history.kind[row] != READ:
            stored = (int(history.written[row]) & (1 << 64) - 1).to_bytes(8, "little")
            memory.update(zip(here, stored, strict=False))
    return replace(history, read=read)


@pytest.mark.parametrize("model", MODELS)
def test_evidence_proves_nothing_of_other_values(model: str) -> None:
    seen = 0
    for history in some(21, 40):
        found, other = check(history, model), one_after_another(history)
        assert isinstance((run_of := check(other, model)).evidence, Witness)
        if found.verdict == "violation":
            seen += 1
            assert not proves(other, model, found.evidence)  # type: ignore[arg-type]
            assert not proves(history, model, run_of.evidence)
    assert seen > 2


def test_thin_air_is_looked_at_by_cells() -> None:
    history = history_of(("0", "W", 0x80, 2, 0x0201), ("1", "R", 0x81, 1, 9))
    found = check(history, "sc")
    assert isinstance(found.evidence, ThinAir)
    assert not proves(history, "sc", replace(found.evidence, operation=0))


# --- misaligned accesses, and what is not defined


def test_bytes_of_a_misaligned_access_are_several_accesses_on_riscv() -> None:
    rows: list[Row] = [("0", "W", 0x81, 2, 0x0201), ("1", "R", 0x81, 1, 0), ("1", "R", 0x82, 1, 2),
                       ("1", "R", 0x81, 1, 0)]
    history = history_of(*rows, tears=True)
    assert history.notes == ("1 misaligned access is taken for several, of a byte",)
    assert verdict(history) == "consistent"
    assert verdict(history_of(("0", "W", 0x80, 2, 0x0201), *((t, op, at - 1, size, value)
                                                            for t, op, at, size, value in rows[1:]))) == "violation"
    assert "W 0x82=2 of 0x81..0x82" in split(history).what(1)
    with pytest.raises(InputError, match="is several in that log"):
        gradual.write([history], "-", format="csv")


def test_elsewhere_a_misaligned_access_to_common_bytes_is_an_error() -> None:
    error = complaint(("0", "W", 0x81, 2, 0x0201), ("1", "R", 0x81, 1, 1))
    assert error.line == 2 and "2 bytes at 0x81 is not aligned" in error.message and "line 3" in error.message


BAD: list[tuple[list[Row], int, str]] = [
    ([("0", "W", 0x80, 8, 1), ("1", "R", 0x80, 0, 1), ("1", "R", 0x80, 4, 1)], 3, "this access at 0x80 is not known"),
    ([("0", "W", 0x80, 16, 1), ("1", "R", 0x80, 4, 1)], 2, "values have 8 bytes at most"),
    ([("0", "W", 0x80, 2, 1), ("1", "R", 0x80, 1, 0x101)], 3, "0x101 does not fit into the size 1 of this access"),
    ([("0", "W", 0x80, 1, 0x123), ("1", "R", 0x80, 1, 0x23)], 2, "0x123 does not fit into the size 1 of this access"),
    ([("0", "W", 2**64 - 4, 8, 1)], 2, "8 bytes at 0xfffffffffffffffc goes beyond the last address"),
]


@pytest.mark.parametrize(("rows", "line", "words"), BAD)
def test_what_is_not_defined_is_refused(rows: list[Row], line: int, words: str) -> None:
    error = complaint(*rows)
    assert error.line == line and words in error.message


def test_initial_values_of_all_locations_have_no_bytes() -> None:
    error = complaint(("0", "W", 0x80, 2, 1), ("1", "R", 0x80, 1, 1), initial=7)
    assert "give initial values by their addresses" in error.message


@pytest.mark.parametrize("text", ["thread,op,address,value,size\n0,W,x,1,8\n1,R,x,1,4\n"])
def test_names_have_no_bytes(tmp_path: Path, text: str) -> None:
    (tmp_path / "names.csv").write_text(text)
    found = run("check", tmp_path / "names.csv")
    assert found.returncode == 2
    assert "x is accessed with 4 bytes here and with 8 in line 2" in found.stderr + found.stdout


def test_sign_extended_loads_are_bytes() -> None:
    history = history_of(("0", "W", 0x80, 2, 0xFF80), ("1", "R", 0x80, 1, -128), ("1", "R", 0x80, 2, -128))
    assert history.read.tolist()[1:] == [0x80, 0xFF80] and verdict(history) == "consistent"


# --- formats and commands


def test_spike_and_gem5_logs_mix_sizes() -> None:
    spike = read("spike", "core   0: 3 0x0000000080000104 (0x00a13023) mem 0x80002000 0x0000000000000102\n"
                          "core   1: 3 0x0000000080000120 (0x00110503) x10 0x1 mem 0x80002001\n")
    assert spike.mixed and verdict(spike, "rvwmo") == "consistent"
    line = "{}: system.cpu{}: T0 : 0x10966 @th1+26 : {} : {} :  D=0x{:016x} A=0x7f4c0\n"
    gem5 = read("gem5", line.format(1000, 0, "sd a5, 0(a0)", "MemWrite", 0x1FF) +
                line.format(2000, 1, "lb a5, 0(a0)", "MemRead", (1 << 64) - 1))
    assert gem5.mixed and gem5.read.tolist() == [0, 0xFF] and verdict(gem5, "tso") == "consistent"


@pytest.fixture()
def torn(tmp_path: Path) -> Path:
    file = tmp_path / "torn.csv"
    file.write_text("thread,op,address,value,size\n2,W,0x90,1,4\n0,W,0x80,0x0202020201010101,8\n2,R,0x90,1,4\n"
                    "1,R,0x80,0x01010101,8\n1,R,0x80,0x01010101,4\n")
    return file


def test_the_cycle_names_accesses_and_bytes(torn: Path) -> None:
    found = run("check", torn, "--model", "tso")
    assert found.returncode == 1
    assert "R 0x80..0x87=0x1010101 (thread 1, line 5)" in found.stdout
    assert "wr → R 0x80..0x87=0x1010101 (thread 1, line 5)   reads 0x80..0x83 from it" in found.stdout
    record = json.loads(run("check", torn, "--json").stdout)
    assert {(edge["edge"], edge["to"]["size"], edge["to"]["bytes"]) for edge in record["cycle"]} == {
        ("rw", 8, "0x84..0x87"), ("wr", 8, "0x80..0x83")}


def test_the_commands_that_explain(torn: Path, tmp_path: Path) -> None:
    found = run("explain", torn, "--svg", tmp_path / "torn.svg", "--html", tmp_path / "torn.html")
    assert found.returncode == 1 and "Thread 1 read 0x80..0x87=0x1010101 at line 5." in found.stdout
    assert "0x80..0x87" in (tmp_path / "torn.svg").read_text()
    shrunk = run("shrink", torn, "-o", tmp_path / "small.csv")
    assert shrunk.returncode == 0, shrunk.stderr
    assert run("check", tmp_path / "small.csv").returncode == 1
    assert len((tmp_path / "small.csv").read_text().splitlines()) == 4
    assert run("convert", torn, tmp_path / "again.jsonl").returncode == 0
    assert "reads 0x80..0x83 from it" in run("check", tmp_path / "again.jsonl").stdout
    assert "axe has no sizes" in run("convert", torn, tmp_path / "again.axe").stderr


def test_what_is_not_defined_where_sizes_mix_says_so(torn: Path) -> None:
    assert "different sizes share bytes" in run("check", torn, "--engine", "datalog").stdout
    history = history_of(("0", "W", 0x80, 2, 0x0201), ("1", "R", 0x80, 1, 1))
    truths = classify(history)
    assert truths["SC"] is True and truths["CC"] is None
    assert check(history, load("pslo")).verdict == "unknown"


def test_a_reservation_of_bytes_that_others_store_alone() -> None:
    """What holds a store off is read where that stores: of the load-reserved's bytes those, not its first one."""
    builder = Builder("", "")
    builder.write("0", 0x80, 3, size=1, line=1)
    builder.write("1", 0x80, 0x203, size=2, line=2)
    builder.read("1", 0x80, 0x203, size=2, line=3, marks=EXCLUSIVE)
    builder.read("1", 0x80, 0x203, size=2, line=4)
    builder.read("1", 0x80, 0x303, size=2, line=5)
    builder.write("1", 0x80, 0x303, size=2, line=6, marks=EXCLUSIVE, pair=2)
    builder.write("0", 0x80, 0x301, size=2, line=7)
    history = builder.build()
    assert history.pair is not None and {verdict(history, model) for model in MODELS} == {"violation"}
    brute = Brute(history)
    assert not any(brute.allows(model) for model in MODELS)


def test_shrinking_leaves_the_tear() -> None:
    history = next(one for one in some(4, 200) if verdict(one) == "violation" and len(one) > 5)
    small = shrinking.shrink(history, "sc")
    assert verdict(small) == "violation" and len(small) <= len(history)
    assert not {READ, WRITE}.isdisjoint(small.kind.tolist())


def test_what_memory_held_may_be_unknown_byte_by_byte() -> None:
    def held(*rows: Row) -> str:
        return verdict(history_of(*rows, unknown=True))

    before: list[Row] = [("0", "R", 0x80, 4, 0x04030201), ("1", "R", 0x82, 1, 3), ("1", "W", 0x80, 2, 0)]
    assert held(*before) == "consistent"
    assert held(*before, ("1", "R", 0x83, 1, 5)) == "violation"
    assert held(*before, ("1", "R", 0x80, 8, 0x04030000)) == "consistent"


HEAD = "thread,op,address,value,read,size\n"


@pytest.mark.parametrize("way", [("check",), ("check", "--stream")])
@pytest.mark.parametrize(("rows", "options"), [
    ("0,W,0x80,-1,,4\n1,R,0x80,0xffffffff,,4\n", ()),
    ("0,W,x,-1,,1\n1,R,x,0xff,,1\n", ()),
    ("0,W,0x80,0xffffffffffffff80,,4\n1,R,0x80,0xffffff80,,4\n1,RMW,0x80,-1,-128,4\n1,R,0x80,-1,,4\n", ()),
    ("0,R,0x80,-1,,4\n", ("--initial", "0xffffffff")),
    ("0,R,0x80,-1,,4\n", ("--initial", "0x80=0xffffffff")),
    (",init,0x80,-1,,\n0,R,0x80,0xffff,,2\n0,W,0x80,-2,,2\n,final,0x80,0xfffe,,\n", ()),
])
def test_values_of_one_size_are_bytes_too(tmp_path: Path, way: tuple[str, ...], rows: str,
                                          options: tuple[str, ...]) -> None:
    (tmp_path / "extended.csv").write_text(HEAD + rows)
    found = run(*way, tmp_path / "extended.csv", *options)
    assert found.returncode == 0, found.stdout + found.stderr


def test_what_memory_starts_and_ends_with_must_fit() -> None:
    for say, what in ((Builder.initial, "initial"), (Builder.final, "final")):
        builder = Builder("", "")
        builder.read("0", 0x80, 1, size=2, line=1)
        say(builder, 0x80, 0x12345, line=2)
        with pytest.raises(InputError, match=f"the {what} value 0x12345 does not fit into the 2 bytes at 0x80"):
            builder.build()


@pytest.mark.parametrize("way", [("check",), ("check", "--stream")])
@pytest.mark.parametrize(("rows", "words"), [
    (",init,0x80,1,,4\n0,R,0x80,1,,8\n", "said to have 4 bytes, and the widest access that begins at 0x80 has 8 bytes"),
    (",final,0x80,1,,1\n0,W,0x80,1,,2\n", "said to have 1 byte, and the widest access that begins at 0x80 has 2 bytes"),
    (",unknown,0x80,7,,8\n0,W,0x80,1,,8\n", "nobody knows the value of an unknown location"),
])
def test_what_is_said_of_memory_is_of_whole_accesses(tmp_path: Path, way: tuple[str, ...], rows: str,
                                                     words: str) -> None:
    (tmp_path / "said.csv").write_text(HEAD + rows)
    found = run(*way, tmp_path / "said.csv")
    assert found.returncode == 2 and words in found.stdout, found.stdout + found.stderr


def test_what_is_said_of_memory_counts_where_sizes_mix(tmp_path: Path) -> None:
    trace, image = tmp_path / "mixed.csv", tmp_path / "image.csv"
    trace.write_text(HEAD + "0,R,0x80,0x11,,1\n0,R,0x84,0x22,,1\n1,W,0x80,0,,8\n1,R,0x84,0,,2\n")
    assert run("check", trace).returncode == 1  # memory starts with zeros
    for said, words in (("0x80,0x2200000011\n", "SC consistent"), ("0x80,0x2200000011\n0x84,0x22\n", "SC consistent"),
                        ("0x80,0x2300000011\n", "SC violation"), ("0x82,1\n", "no access starts at 0x82"),
                        ("0x80,0x11\n0x84,0x22\n", "byte 0x84 is given two initial values"),
                        ("0x84,0x12345\n", "does not fit into the 2 bytes at 0x84")):
        image.write_text("address,value\n" + said)
        assert words in run("check", trace, "--initial-from", image).stdout
    trace.write_text(HEAD + ",unknown,0x80,,,8\n0,R,0x80,0x11,,1\n0,R,0x84,0x22,,1\n1,W,0x80,0,,8\n")
    assert run("check", trace).returncode == 0
    trace.write_text(trace.read_text() + "1,R,0x88,3,,1\n")
    assert run("check", trace).returncode == 1


def test_shrinking_cuts_what_is_said_of_memory(tmp_path: Path) -> None:
    trace = tmp_path / "said.csv"
    trace.write_text(HEAD + ",init,0x80,0x1122334455667788,,\n,final,0x80,0x1122334455667788,,\n0,R,0x80,"
                     "0x1122334455667788,,8\n0,R,0x80,0x7788,,2\n1,R,0x84,0x99,,1\n")
    shrunk = run("shrink", trace, "-o", tmp_path / "small.csv")
    assert shrunk.returncode == 0, shrunk.stdout + shrunk.stderr
    assert run("check", tmp_path / "small.csv").returncode == 1


def test_a_stream_learns_sizes_late() -> None:
    stream = Stream(load("sc"))
    for value, size in ((None, 0), (0xFFFF, 2)):
        builder = Builder("", "")
        if value is None:
            builder.initial(0x80, -1, line=1)
        else:
            builder.read("0", 0x80, value, size=size, line=2)
        stream.take(builder.build())
    assert stream.close().verdict.verdict == "consistent"


def test_explanations_name_the_bytes(tmp_path: Path) -> None:
    (tmp_path / "part.csv").write_text(HEAD + "0,W,0x80,0x2211,,2\n1,R,0x80,0x2200,,2\n1,R,0x81,0x22,,1\n")
    told = run("explain", tmp_path / "part.csv").stdout
    assert "returned the initial value of 0x80: " in told and "From 0x81 of this store, " in told
    assert "that takes one size per location" in run("check", "--compare-orders", tmp_path / "part.csv").stdout


def test_reasons_of_differences_need_one_size(tmp_path: Path) -> None:
    (tmp_path / "sb.csv").write_text(HEAD + "0,W,0x80,1,,2\n0,R,0x90,0,,2\n1,W,0x90,1,,2\n1,R,0x80,0,,1\n")
    assert "where accesses to common bytes are of one size" in run("diff-models", tmp_path / "sb.csv").stdout
