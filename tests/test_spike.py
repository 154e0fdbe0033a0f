"""Spike commit logs: every real one against the program that made it, and each rule by a small one."""

from __future__ import annotations

import csv
import gzip
import io
import re
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from gradual.adapters import spike
from gradual.adapters._words import decode

from gradual import check
from gradual.history import AQRL, EXCLUSIVE, FENCE, RMW, Addresses, History, InputError, Options
from gradual.history.annotations import aqrl_name, fence_name

ROOT = Path(__file__).parents[1]
OURS = ROOT / "traces" / "spike"
SHARED = ROOT.parent / "shared" / "traces" / "spike"

Row = dict[str, str]


# The real logs


def manifest() -> list[Row]:
    with (SHARED / "manifest.csv").open() as file:
        return list(csv.DictReader(file))


def read_log(path: Path, low: int, size: int = 16384) -> History:
    with gzip.open(path) as stream:
        (history,) = spike.read(stream, path.name, Options(addresses=Addresses([(low, low + size)])))
    assert isinstance(history, History), history
    return history


def client_program(row: Row, places: list[int]) -> dict[str, str]:
    """What the client that made the log does, as assembly, per hart."""
    operations = re.search(r"(\d+)o", row["log"])
    assert operations is not None
    parameters = [row["harts"], operations[1], str(len(places)), str(places[1] // 8), row["seed"]]
    text = subprocess.run([sys.executable, str(SHARED / "client.py"), *parameters], capture_output=True, text=True,
                          check=True).stdout
    return dict(re.findall(r"^(hart\d+):\n(.*?)^j done$", text, re.MULTILINE | re.DOTALL))


def steps(assembly: str) -> list[str]:
    """The accesses and fences of a hart with what they depend on, by the registers that the client uses."""
    found: list[str] = []
    value, place, loaded = 0, 0, 0
    for line in assembly.splitlines():
        name, *operands = re.split(r"[ ,()]+", line.strip(")"))
        if name == "li" or (name == "addi" and operands[0] == "a5"):
            value = int(operands[-1])
        elif name == "addi":
            place = int(operands[-1])
        elif name.startswith("fence"):
            found.append("fence " + ("tso" if name == "fence.tso" else ".".join(operands)))
        elif name == "ld":
            found.append(f"R {operands[1]}" + (f" addr {loaded}" if operands[2] == "a4" and loaded else ""))
        elif name == "sd":
            found.append(f"W {operands[1]}={value}" + (f" data {loaded}" if operands[0] == "a5" and loaded else ""))
        elif name.startswith("amoswap"):
            found.append(f"RMW {place}={value} {name.removeprefix('amoswap.d').strip('.')}".strip())
        elif name == "lr.d":
            found.append(f"LR {place}")
        elif name == "sc.d":
            found.append(f"SC {place}={value}")
        if name in ("ld", "lr.d") or name.startswith("amoswap"):
            loaded = len(found)
    return found


def told(history: History, thread: int, base: int) -> list[str]:
    """The same of a history, numbers of operations as its thread counts them."""
    own = [at for at in range(len(history)) if history.thread[at] == thread]
    number = {operation: place for place, operation in enumerate(own, 1)}
    found = []
    for at in own:
        if history.kind[at] == FENCE:
            orders = 15 if history.fence is None else int(history.fence[at])
            found.append(f"fence {fence_name(orders)}")
            continue
        letter = history.what(at).split()[0].partition(".")[0]
        words = [letter, str(int(history.address(at), 16) - base)]
        if letter in ("W", "SC", "RMW"):
            words[1] += f"={history.written[at]}"
        assert history.marks is not None
        words += [aqrl_name(int(history.marks[at]))] if letter == "RMW" and history.marks[at] else []
        for kind, pairs in (("addr", history.addr), ("data", history.data)):
            words += [f"{kind} {number[a]}" for a, b in ([] if pairs is None else pairs.tolist()) if b == at]
        found.append(" ".join(words))
    return found


def without_failures(expected: list[str], found: list[str]) -> list[str]:
    """The client's steps but for the store-conditionals that failed, later steps counted anew; and without fences at
    either end, which order nothing."""
    first = next(at for at, step in enumerate(expected) if not step.startswith("fence"))
    last = max(at for at, step in enumerate(expected) if not step.startswith("fence"))
    number, kept = dict[int, int](), list[str]()
    for at, step in enumerate(expected):
        if not first <= at <= last or (step.startswith("SC") and found[len(kept):len(kept) + 1] != [step]):
            continue
        number[at + 1] = len(kept) + 1
        kept.append(re.sub(r"(addr|data) (\d+)", lambda match: f"{match[1]} {number[int(match[2])]}", step))
    return kept


@pytest.mark.skipif(not SHARED.exists(), reason=f"the collection of logs ({SHARED}) is not here")
def test_every_shared_log_is_the_program_that_made_it_and_consistent() -> None:
    """Kind, place, value, fence kind, acquire and release, dependencies of every operation of every hart."""
    rows = manifest()
    assert len(rows) == 7
    dependencies = failures = 0
    for row in rows:
        base = int(row["address"], 16)
        history = read_log(SHARED / row["log"], base, int(row["bytes"]))
        assert sorted(history.threads) == sorted(f"hart{n}" for n in range(int(row["harts"])))
        places = sorted(int(name, 16) - base for name in history.locations)
        program = {name: steps(text) for name, text in client_program(row, places).items()}
        whole = [step for hart in program.values() for step in hart]
        said = {"loads": "R ", "stores": "W ", "swaps": "RMW", "lr_sc_pairs": "LR", "fence_tso": "fence tso"}
        assert {column: sum(step.startswith(word) for step in whole) for column, word in said.items()} == {
            column: int(row[column]) for column in said}
        for thread, name in enumerate(history.threads):
            found = told(history, thread, base)
            assert found == without_failures(program[name], found), (row["log"], name)
        assert history.pair is not None and history.addr is not None and history.data is not None
        dependencies += len(history.addr) + len(history.data)
        failures += int(row["lr_sc_pairs"]) - len(history.pair)
        for model in ("sc", "rvwmo", "wmo") if len(history) < 1000 else ("sc",):  # SC is the strongest
            assert check(history, model).verdict == "consistent", (row["log"], model)
    assert dependencies > 400 and failures


def test_logs_of_the_corpus_are_consistent() -> None:
    for log, operations in (("spike-2h-100o-s7-dis.log.gz", 108), ("spike-4h-200o-s1.log.gz", 210)):
        history = read_log(OURS / log, 0x80002080)
        assert len(history) == operations
        assert check(history, "sc").verdict == "consistent"


def test_lines_point_into_the_log() -> None:
    history = read_log(OURS / "spike-2h-100o-s7-dis.log.gz", 0x80002080)
    lines = gzip.decompress((OURS / "spike-2h-100o-s7-dis.log.gz").read_bytes()).splitlines()
    for at in range(len(history)):
        line = lines[history.line[at] - 1].decode()
        assert line.startswith(f"core   {history.threads[history.thread[at]][-1]}: 3 ")
        assert history.kind[at] == FENCE or f"mem 0x{int(history.address(at), 16):016x}" in line


# Rules, each by a small log


def commit(word: int, effects: str = "", core: int = 0, wide: int = 16) -> str:
    return f"core {core:3d}: 3 0x{0x80000000:0{wide}x} (0x{word:0{8 if word & 3 == 3 else 4}x}){effects}\n"


def reads(register: str, value: int, address: int) -> str:
    return f" {register:<3} 0x{value:016x} mem 0x{address:016x}"


def writes(address: int, value: int, size: int = 8) -> str:
    return f" mem 0x{address:016x} 0x{value:0{2 * size}x}"


LD, SD, LW, SW = 0x00053583, 0x00B53023, 0x00052583, 0x00B52023  # a1 from and to 0(a0)
X, Y = 0x80002000, 0x80002040


def parsed(*lines: str, **options: object) -> History | InputError:
    (history,) = spike.read(io.BytesIO("".join(lines).encode()), "spike.log", Options(**options))  # type: ignore[arg-type]
    return history


def history_of(*lines: str, **options: object) -> History:
    history = parsed(*lines, **options)
    assert isinstance(history, History), history
    return history


def operations(*lines: str, **options: object) -> list[str]:
    history = history_of(*lines, **options)
    return [f"{history.threads[history.thread[at]]} {history.what(at)}" for at in range(len(history))]


def message(*lines: str, **options: object) -> tuple[int, str]:
    error = parsed(*lines, **options)
    assert isinstance(error, InputError), error
    return error.line, error.message


def test_a_violation_shows_the_lines_of_the_log() -> None:
    sb = [commit(SD, writes(X, 1)), commit(LD, reads("x11", 0, Y)),
          commit(SD, writes(Y, 1), 1), commit(0x8082, core=1), commit(LD, reads("x11", 0, X), 1)]
    verdict = check(history_of(*sb), "sc")
    assert verdict.verdict == "violation"
    assert check(history_of(*sb), "tso").verdict == "consistent"
    history = history_of(*sb)
    assert [history.where(at) for at in range(4)] == [
        "hart0, line 1", "hart0, line 2", "hart1, line 3", "hart1, line 5"]


def test_the_example() -> None:
    (history,) = spike.read(io.BytesIO(spike.EXAMPLE.encode()), "spike.log", Options())
    assert isinstance(history, History)
    assert [history.what(at) for at in range(len(history))] == [
        "W 0x80002000=42", "R 0x80002000=42", "fence", "RMW.rl 0x80002000: 42→84"]
    assert history.line.tolist() == [2, 3, 4, 5]


@pytest.mark.parametrize(("word", "effects", "shown"), [
    (0x00050583, reads("x11", 0xFFFFFFFFFFFFFF80, X), "R 0x80002000=128"),  # lb: sign-extended
    (0x00055583, reads("x11", 0xFFFE, X), "R 0x80002000=65534"),  # lhu
    (LW, reads("x11", 0xFFFFFFFFFFFFFFFF, X), "R 0x80002000=4294967295"),
    (0x00052587, " f11 0xffffffff3f800000 mem 0x0000000080002000", "R 0x80002000=1065353216"),  # flw: boxed
    (0x00B50023, writes(X, 0xAB, 1), "W 0x80002000=171"),
    (SW, writes(X, 7, 4), "W 0x80002000=7"),
    (0x610C, reads("x11", 5, X), "R 0x80002000=5"),  # c.ld a1, 0(a0)
    (0xE10C, writes(X, 6), "W 0x80002000=6"),  # c.sd a1, 0(a0)
    (0x65A2, reads("x11", 5, X), "R 0x80002000=5"),  # c.ldsp a1, 8(sp)
    (0xE42E, writes(X, 6), "W 0x80002000=6"),  # c.sdsp a1, 8(sp)
    (0x0CB535AF, f"{reads('x11', 3, X)}{writes(X, 4)}", "RMW.aq 0x80002000: 3→4"),  # amoswap.d.aq a1, a1, (a0)
    (0x06B525AF, f"{reads('x11', 0xFFFFFFFFFFFFFFFF, X)}{writes(X, 1, 4)}", "RMW.aqrl 0x80002000: 4294967295→1"),
])
def test_accesses(word: int, effects: str, shown: str) -> None:
    assert operations(commit(word, effects), initial=int(re.search(r"[=:] ?(\d+)", shown)[1])  # type: ignore[index]
                      if shown[0] == "R" else 0) == [f"hart0 {shown}"]


@pytest.mark.parametrize(("word", "kind"), [
    (0x0FF0000F, "fence"), (0x0330000F, "fence"), (0x0230000F, "fence r.rw"), (0x0110000F, "fence w.w"),
    (0x0220000F, "fence r.r"), (0x0310000F, "fence rw.w"), (0x8330000F, "fence tso"), (0x0000100F, "fence i"),
])
def test_fences(word: int, kind: str) -> None:
    fenced = [commit(SD, writes(X, 1)), commit(word), commit(SD, writes(Y, 1))]
    assert operations(*fenced)[1] == f"hart0 {kind}"
    assert len(operations(commit(word), *fenced[::2], commit(word))) == 2  # they order nothing at either end


@pytest.mark.parametrize("word", [0x0100000F, 0x0CC0000F])  # pause, fence io,io
def test_fences_of_nothing_are_none(word: int) -> None:
    assert len(operations(commit(SD, writes(X, 1)), commit(word), commit(SD, writes(Y, 1)))) == 2


LR, SC = 0x100535AF, 0x18B5362F  # lr.d a1, (a0); sc.d a2, a1, (a0)


def test_a_store_conditional_that_succeeds_is_paired() -> None:
    history = history_of(commit(LR, reads("x11", 0, X)), commit(SC, f" x12 0x{0:016x}{writes(X, 1)}"))
    assert [history.what(at) for at in range(2)] == ["LR 0x80002000=0", "SC 0x80002000=1"]
    assert history.pair is not None and history.pair.tolist() == [[0, 1]]


def test_one_that_fails_is_nothing_and_breaks_the_pair() -> None:
    history = history_of(commit(LR, reads("x11", 0, X)), commit(SC, f" x12 0x{1:016x}"),
                         commit(SC, f" x12 0x{0:016x}{writes(X, 1)}"))
    assert len(history) == 2
    assert history.pair is None


def test_atomics_into_x0() -> None:
    add, swap = 0x00B5302F, 0x08B5302F  # amoadd.d x0, a1, (a0); amoswap.d x0, a1, (a0)
    source = commit(0x4589, f" x11 0x{2:016x}")  # c.li a1, 2
    effects = f" mem 0x{X:016x}{writes(X, 9)}"
    assert operations(source, commit(add, effects), initial=7) == ["hart0 RMW 0x80002000: 7→9"]
    history = history_of(commit(swap, effects))
    assert history.what(0) == "W 0x80002000=9"
    assert history.notes == ("atomics that set x0 show no value that they read, and are taken for stores",)


def test_loads_into_x0_are_left_out() -> None:
    assert operations(commit(0x00053003, f" mem 0x{X:016x}"), commit(SD, writes(X, 1))) == ["hart0 W 0x80002000=1"]


def dependencies(*lines: str, **options: object) -> dict[str, list[list[int]]]:
    history = history_of(*lines, **options)
    return {name: pairs.tolist() for name in ("addr", "data", "ctrl") if (pairs := getattr(history, name)) is not None}


def sets(word: int, register: str, value: int = 0) -> str:
    return commit(word, f" {register:<3} 0x{value:016x}")


LOAD = commit(LD, reads("x11", 0, X))
ADD_A2_A1 = sets(0x00B60633, "x12")  # add a2, a2, a1
STORE_A2, LOAD_BY_A2 = commit(0x00C53023, writes(Y, 1)), commit(0x00063583, reads("x11", 0, Y))


@pytest.mark.parametrize(("lines", "found"), [
    ([LOAD, ADD_A2_A1, STORE_A2], {"data": [[0, 1]]}),
    ([LOAD, ADD_A2_A1, LOAD_BY_A2], {"addr": [[0, 1]]}),
    ([LOAD, commit(0x00B60463), STORE_A2], {"ctrl": [[0, 1]]}),  # beq a2, a1
    ([LOAD, commit(0xC191), STORE_A2], {"ctrl": [[0, 1]]}),  # c.beqz a1
    ([LOAD, commit(0x8582), STORE_A2], {"ctrl": [[0, 1]]}),  # c.jr a1
    ([LOAD, sets(0x862E, "x12"), STORE_A2], {"data": [[0, 1]]}),  # c.mv a2, a1
    ([LOAD, sets(0x962E, "x12"), STORE_A2], {"data": [[0, 1]]}),  # c.add a2, a1
    ([LOAD, ADD_A2_A1, sets(0x0605, "x12"), STORE_A2], {"data": [[0, 1]]}),  # c.addi a2: reads it
    ([LOAD, ADD_A2_A1, sets(0x4605, "x12"), STORE_A2], {}),  # c.li a2: does not
    ([LOAD, ADD_A2_A1, sets(0x00000637, "x12"), STORE_A2], {}),  # lui a2
    ([LOAD, commit(0x34059073), sets(0x34002673, "x12"), STORE_A2], {"data": [[0, 1]]}),  # by mscratch
    ([LOAD, commit(0x34159073), sets(0x34102673, "x12"), STORE_A2], {}),  # by mepc: a trap may have set it
    ([LOAD, sets(0xF2058653, "f12"), commit(0x00C53027, writes(Y, 1))], {"data": [[0, 1]]}),  # fmv.d.x, fsd
    ([LOAD, sets(0x5E0040D7, "x12"), STORE_A2], {}),  # a vector instruction: unknown
])
def test_dependencies_follow_registers(lines: list[str], found: dict[str, list[list[int]]]) -> None:
    assert dependencies(*lines) == found


def test_a_swap_depends_on_its_registers_and_passes_on_itself_alone() -> None:
    swap = commit(0x08C536AF, f"{reads('x13', 0, Y)}{writes(Y, 1)}")  # amoswap.d a3, a2, (a0)
    by_swap = commit(0x00D53023, writes(X, 3))  # sd a3
    assert dependencies(LOAD, ADD_A2_A1, swap, by_swap) == {"data": [[0, 1], [1, 2]]}


def test_a_successful_store_conditional_is_a_source() -> None:
    sc = commit(SC, f" x12 0x{0:016x}{writes(X, 1)}")
    assert dependencies(commit(LR, reads("x11", 0, X)), sc, STORE_A2) == {"data": [[0, 1], [1, 2]]}
    failed = commit(SC, f" x12 0x{1:016x}")
    assert dependencies(commit(LR, reads("x11", 0, X)), failed, STORE_A2) == {}


def test_loads_that_are_not_selected_are_unknown() -> None:
    history = history_of(commit(LD, reads("x11", 0, 0x1000)), ADD_A2_A1, STORE_A2,
                         addresses=Addresses([(X, X + 0x100)]))
    assert history.data is None
    assert history.notes[0].startswith("1 access may depend on more than is known")


def test_words_of_32_bit_machines() -> None:
    """c.flw and c.jal stand where c.ld and c.addiw stand on wider ones."""
    assert decode(0x610C, 32)[:3] == ("read", 4, b"f11")
    assert decode(0x2005, 32).use == ("set", b"x1", ())
    assert decode(0x2005, 64).use == ("set", b"x0", (b"x0",))
    assert operations(commit(SW, " mem 0x80002000 0x00000001", wide=8)) == ["hart0 W 0x80002000=1"]


ABI = "ra sp gp tp t0 t1 t2 s0 s1 a0 a1 a2 a3 a4 a5 a6 a7 s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 t3 t4 t5 t6"


def test_disassembly_and_the_words_agree() -> None:
    """The real logs have both: registers that the text names are those that the word names."""
    number = {name: b"x%d" % at for at, name in enumerate(re.findall(r"\w+", ABI), 1)}
    text = gzip.decompress((OURS / "spike-2h-100o-s7-dis.log.gz").read_bytes()).decode()
    lines = {*re.findall(r"^core +\d+: 0x[0-9a-f]+ \(0x([0-9a-f]+)\) (\S+ *.*)$", text, re.MULTILINE)}
    assert len(lines) > 80
    for word, disassembly in lines:
        it = decode(int(word, 16))
        named = {number[name] for name in re.findall(r"\w+", disassembly.partition(" ")[2]) if name in number}
        _, target, sources = it.use
        mine = {it.target, *it.address, *it.data, target, *sources} - {b"", b"x0"}
        assert {name for name in mine if not name.startswith(b"csr")} == named, disassembly
        order = re.search(r"\.(aq|rl|aqrl)\b", disassembly)
        assert it.marks & ~EXCLUSIVE == (AQRL[order[1]] if order else 0)


# Bad input


def test_what_is_missing_is_said() -> None:
    assert "--log-commits" in message("core   0: 0x0000000080000000 (0x00b53023) sd      a1, 0(a0)\n")[1]
    outside = message(commit(SD, writes(X, 1)), addresses=Addresses([(0, 8)]))[1]
    assert outside == "no access falls inside --addresses 0x0:0x8; this log touches 0x80002000 to 0x80002000"


def test_a_log_that_was_cut_off() -> None:
    assert message(commit(SD, writes(X, 1)), commit(SD, writes(X, 2))[:-4]) == (
        2, "the log ends in the middle of this line (there is no line end); take it out")


def test_vectors_are_refused_where_they_matter() -> None:
    vector = commit(0x02056087, f" e32 m1 l2 v1  0x{7:016x} mem 0x{X:016x} mem 0x{X + 4:016x}")  # vle32.v
    line, words = message(commit(SD, writes(Y, 1)), vector)
    assert line == 2 and "vectors" in words
    assert operations(commit(SD, writes(Y, 1)), vector, addresses=Addresses([(Y, Y + 8)])) == ["hart0 W 0x80002040=1"]


def test_what_nobody_wrote_hints_at_selecting_addresses() -> None:
    lines = commit(SD, writes(X, 1)), commit(LD, reads("x11", 7, Y)), commit(LD, reads("x11", 1, X))
    line, words = message(*lines)
    assert line == 2 and f"{Y:#x} is read as 7" in words and "--addresses LO:HI" in words
    assert len(operations(*lines, addresses=Addresses([(X, Y + 8)]))) == 3


def test_traps_and_other_lines_do_nothing() -> None:
    assert operations("core   0: exception trap_load_page_fault, epc 0x0000000080000000\n",
                      "core   0:           tval 0x0000000000000000\n", "core   0: >>>>  main\n", "\n", "warning\n",
                      commit(SD, writes(X, 1))) == ["hart0 W 0x80002000=1"]


def test_no_damage_does_more_than_an_error() -> None:
    text = gzip.decompress((OURS / "spike-2h-100o-s7-dis.log.gz").read_bytes())[:20_000]
    random = Random(7)
    for _ in range(60):
        data = bytearray(text)
        for _ in range(random.randrange(1, 40)):
            data[random.randrange(len(data))] = random.choice(b"0123456789abcdefx ():\nm\xff")
        for item in spike.read(io.BytesIO(bytes(data)), "spike.log", Options()):
            assert isinstance(item, History | InputError)


def test_rmws_are_one_event() -> None:
    history = read_log(OURS / "spike-4h-200o-s1.log.gz", 0x80002080)
    assert (history.kind == RMW).sum() == 10
