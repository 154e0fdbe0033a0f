"""The compiled scanner of gem5's Exec logs finds what the reader finds that goes line by line."""

from __future__ import annotations

import gzip
import io
import random
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from gradual.adapters import _exec_scanner, gem5

from gradual.compiler import can_compile
from gradual.history import Addresses, History, InputError, Options

OURS = Path(__file__).parents[1] / "traces" / "gem5"
X = 0x7F4C0
SHARED = Options(addresses=Addresses([(X, X + 64)]))
ALL = Options(addresses=Addresses([(0, 1 << 64)]))

pytestmark = pytest.mark.skipif(not can_compile(), reason="there is no LLVM")


def told(item: History | InputError) -> object:
    if isinstance(item, InputError):
        return type(item), str(item)
    return {field.name: column.tolist() if isinstance(column := getattr(item, field.name), np.ndarray) else column
            for field in fields(item)}


def both(data: bytes, options: Options, monkeypatch: pytest.MonkeyPatch, few: int = 0, block: int = 1 << 20,
         ) -> tuple[object, object]:
    """Without the scanner, and with it after so many lines."""
    found = []
    monkeypatch.setattr(_exec_scanner, "BLOCK", block)
    for lines in (1 << 60, few):
        monkeypatch.setattr(_exec_scanner, "FEW", lines)
        (item,) = gem5.read(io.BufferedReader(io.BytesIO(data)), "run.log", options)  # type: ignore[arg-type]
        found.append(told(item))
    return found[0], found[1]


REGISTERS = ("a0", "a1", "a5", "s1", "ra", "zero", "x0", "fa0")
ADDRESSES = (X, X + 8, X + 16, 0x100, 0xFFFFFFFFFFFFFFC0)
RISCV = (
    "addi {r}, {s}, {n}", "addw {r}, {s}, {t}", "c_mv {r}, {s}", "c_li {r}, {n}", "c_addi {r}, {n}", "lui {r}, {n}",
    "csrrw {r}, mscratch, {s}", "csrrs {r}, fcsr", "csrrw {r}, {n}, {s}", "bge {r}, {s}, -{n}", "c_bnez {r}, {n}",
    "c_jalr {r}", "jalr {r}, {n}({s})", "c_jr {r}", "c_j {n}", "c_not {r}", "vadd_vv {r}, {s}", "fence rw, rw",
    "fence r, rw", "fence_i", "fence", "prefetch_r {n}({s})", "fmadd_d {r}, {s}, {t}, {u}")
LOADS = ("ld {r}, {n}({s})", "c_ld {r}, 0({s})", "lr_d {r}, ({s})", "lr_d_aq {r}, ({s})",
         "amoswap_d[l] {r}, {s}, ({t})", "amoadd_d {r}, {s}, ({t})", "amomax_d[l] {r}, {s}, ({t})",
         "amominu_d[l] {r}, {s}, ({t})", "amoor_d_rl {r}, {s}, ({t})", "sc_d {r}, {s}, ({t})",
         "sc_d_rl {r}, {s}, ({t})", "amoadd_d[s] {r}, {s}, ({t})")
STORES = ("sd {r}, {n}({s})", "c_sdsp {r}, {n}(sp)")
MACROS = ("amoswap_d_aq {r}, {s}, ({t})", "amoadd_d_aqrl {r}, {s}, ({t})", "lr_d ({s})", "mov\trax, DS:[rip + 0x{n}]")
X86 = ("  MOV_R_M : ld   rax, DS:[rdi + 0x{n}]", "  MOV_M_R : st   rax, DS:[rdi]", "  XCHG_M_R : ldstl   t1, DS:[rdx]",
       "  XCHG_M_R : stul   rax, DS:[rdx]", "  PREFETCH_T0 : ld   t0, DS:[rdi]")
X86_PLAIN = ("  MFENCE", "  LFENCE : lfence", "  MOV_R_I : limm   eax, 0x{n}", "\tXCHG_M_R.mfence")
RARE = ("ecall", "vle64_v {r}, ({s})", "  MOV_R_M : ldfp   %xmm0_low, DS:[rdi]", "  MOV_R_M : ld   rax, DS:[rdi]",
        "sd {r}, 0({s})")
TAILS = ("", "", "", "", "  FetchSeq=1369  CPSeq=907", "  flags=(IsLoad)", " FAULTING", " : FAULTING", " D=0x1", "\r")
NOISE = ("", "info: nothing", "   100: system.mem: access of size 8", "0: system.cpu0: T0 : 0x10 @x",
         "x: system.cpu0: T0 : 1 : 2",
         "1000: system.cpu0: T0 : 0x10 @x    : c_li a5, 1 : IntAlu :  D=0xZZ",
         "1000: system.cpu0: T0 : 0x10 @x    : ld a5, 0(a0) : MemRead :  D=0x1 A=0x7F4C0",
         "1000: system.cpu1: T0 : 0x10 @x    : c_li a5, 1 : IntAlu :  D=0x12345678901234567890",
         "1000: system.cpu1: 0x10 @x    : ld a5, 0(a0) : MemRead :  D=0x1 A=0x7f4c0")


class Logs:
    """Random logs, mostly as gem5 prints them."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def log(self, x86: bool, trouble: float) -> bytes:
        choose = self._random
        text = [f"1: system.cpu{cpu}: T0 : 0x8 @_start    : c_li {register}, 3          : IntAlu :  D=0x{cpu + 3:016x}"
                for cpu in range(3) for register in REGISTERS if choose.random() > trouble]
        for number in range(choose.randrange(1, 60)):
            text.append(choose.choice(NOISE) if choose.random() < trouble else self._line(number, x86, trouble))
            if choose.random() < 0.1:
                text.append(text[-1])  # a store that is printed again
        return ("\n".join(text) + "\n" * (choose.random() < 0.9)).encode()

    def _line(self, number: int, x86: bool, trouble: float) -> str:
        choose = self._random
        head = f"{1000 + number // 2:7}: system.cpu{choose.randrange(3)}: T0"
        pc = f"{choose.choice((0x10, 0x14, 0x18, 0x2000)):#x} @th1+{choose.randrange(3)}{choose.choice(('   ', '. 0'))}"
        if choose.random() < 0.1:
            return f"{head} : {pc} : {self._spelled(choose.choice(MACROS)):26}"
        kind = choose.choice(("load", "load", "store", "plain", "plain"))
        shapes = {"load": X86 if x86 else LOADS, "store": X86 if x86 else STORES, "plain": X86_PLAIN if x86 else RISCV}
        text = self._spelled(choose.choice(RARE if choose.random() < trouble else shapes[kind]))
        data, address = kind != "plain" or choose.random() < 0.6, kind != "plain"
        if choose.random() < trouble / 2:
            data, address = choose.random() < 0.5, choose.random() < 0.5
        result = f" D={choose.choice((0, 0, 1, 7, 1 << 63, choose.getrandbits(64))):#018x}" if data else ""
        result += f" A={choose.choice(ADDRESSES):#x}" if address else ""
        tail = choose.choice(TAILS[: len(TAILS) if choose.random() < trouble else 6])
        operation = choose.choice(("MemRead : ", "IntAlu : ", "IntAlu : ", ""))
        return f"{head} : {pc} : {text:26} : {operation}{result}{tail}"

    def _spelled(self, shape: str) -> str:
        names = {name: self._random.choice(REGISTERS) for name in "rstu"}
        return shape.format(n=self._random.choice((0, 8, 1888)), **names)


def logs(seed: int, many: int, trouble: float) -> Iterator[bytes]:
    made = Logs(seed)
    return (made.log(x86=at % 3 == 2, trouble=trouble) for at in range(many))


@pytest.mark.parametrize(("seed", "trouble", "few", "block"),
                         [(1, 0.0, 0, 1 << 20), (2, 0.02, 30, 411), (3, 0.1, 0, 93)])
def test_scanner_and_lines(seed: int, trouble: float, few: int, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    histories = 0
    for data in logs(seed, 30, trouble):
        for options in (SHARED, ALL):
            plain, scanned = both(data, options, monkeypatch, few, block)
            assert scanned == plain, data
            histories += isinstance(plain, dict)
    assert histories > 5


@pytest.mark.parametrize("log", sorted(OURS.glob("*.log.gz")), ids=lambda path: path.name)
def test_logs_of_the_corpus(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = gzip.decompress(log.read_bytes())
    for options in (Options(), Options(addresses=Addresses([(X, X + 16384)]))):
        plain, scanned = both(data, options, monkeypatch, 100, 1 << 16)
        assert scanned == plain


def line(text: str, result: str = "", cpu: int = 0, pc: int = 0x10) -> str:
    return f"1000: system.cpu{cpu}: T0 : {pc:#x} @th1    : {text:26} : IntAlu : {result}\n"


def test_a_log_of_odd_lines_is_left_to_the_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    """Old versions print no thread numbers: the scanner gives up, in the middle of a line."""
    monkeypatch.setattr(_exec_scanner, "PATIENCE", 1_000)
    old = line("sd a5, 0(a0)", f" D=0x1 A={X:#x}").replace("T0 : ", "")
    data = "".join(old.replace("0x1 ", f"{at:#x} ") for at in range(1, 60)).encode()
    plain, scanned = both(data, SHARED, monkeypatch, 0, 700)
    assert isinstance(plain, dict) and len(plain["kind"]) == 59
    assert scanned == plain


def test_more_texts_fences_cpus_and_operations_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_exec_scanner, "TEXTS", 8)
    monkeypatch.setattr(_exec_scanner, "OPERATIONS", 16)
    names = [f"{letter}{number}" for letter in "ast" for number in range(10)]
    lines = []
    for round in range(12):
        for at, name in enumerate(names):
            lines += [line(f"addi {name}, {names[at - 1]}, 1", " D=0x1", round), line("fence rw, rw", "", round) * 30,
                      line(f"ld {name}, 0({names[at - 1]})", f" D={round:#x} A={X:#x}", round, at)]
    plain, scanned = both("".join(lines).encode(), SHARED, monkeypatch)
    assert isinstance(plain, dict) and len(plain["addr"]) > 100 and len(plain["kind"]) > 10_000
    assert scanned == plain


def test_values_from_many_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sum of a hundred loads: the latest are known, and that there are more."""
    lines = []
    for at in range(100):
        lines += [line("ld a1, 0(a0)", f" D=0x0 A={X:#x}", 0, 4 * at), line("add a5, a5, a1", " D=0x1"),
                  line("c_beqz a5, 8") if at % 7 == 0 else ""]
    lines += [line("sd a5, 0(a0)", f" D=0x1 A={X:#x}"), line("csrrw a5, mscratch, a5", " D=0x1"),
              line("csrrw a5, mscratch, zero", " D=0x1"), line("sd a5, 0(a0)", f" D=0x2 A={X:#x}")]
    plain, scanned = both("".join(lines).encode(), SHARED, monkeypatch)
    assert isinstance(plain, dict) and len(plain["data"]) == 128
    assert scanned == plain


def test_a_log_that_shows_the_store_order_is_left_to_the_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    """From its beginning; where such lines come late, nobody knows which stores they are of."""
    lines = []
    for value in (5, 6, 7):
        block = " ".join(f"{byte:#x}" for byte in [value, *[0] * 63])
        lines += [f"1000: system.ruby.l1_cntrl0.sequencer: Cache hit at [{X:#x}, line {X:#x}]\n",
                  f"1000: system.ruby.l1_cntrl0.sequencer: set data [ {block} ]\n",
                  line("sd a5, 0(a0)", f" D={value:#x} A={X:#x}", 0, 4 * value)]
    data = "".join(lines).encode()
    plain, early = both(data, SHARED, monkeypatch, 2)
    assert isinstance(plain, dict) and plain["order"] == [0, 1, 2]
    assert early == plain
    _, late = both(data, SHARED, monkeypatch, 0)
    assert late == plain | {"order": None}
