"""gem5 logs: every real one against the program that made it, and each rule by a small one."""

from __future__ import annotations

import csv
import gzip
import io
import re
import subprocess
import sys
from pathlib import Path
from random import Random

import numpy as np
import pytest
from gradual.adapters import _exec_scanner, gem5

from gradual import check
from gradual.history import FENCE, RMW, THIN_AIR, Addresses, History, InputError, Kind, Options

ROOT = Path(__file__).parents[1]
OURS = ROOT / "traces" / "gem5"
SHARED = ROOT.parent / "shared" / "traces" / "gem5"
Row = dict[str, str]


# The real logs


def manifest(folder: Path) -> list[Row]:
    path = folder / "manifest.csv"
    if not path.exists():
        return []
    with path.open() as file:
        return list(csv.DictReader(file))


def read_log(folder: Path, row: Row) -> History:
    low = int(row["address"], 16)
    options = Options(addresses=Addresses([(low, low + int(row["bytes"]))]))
    with gzip.open(folder / row["log"]) as stream:
        (history,) = gem5.read(stream, row["log"], options)
    assert isinstance(history, History), history
    return history


def check_against_manifest(history: History, row: Row) -> None:
    assert (history.kind != FENCE).sum() == int(row["accesses"])
    assert sorted(history.threads) == [f"cpu{k}" for k in range(int(row["threads"]))]
    written = history.written[history.writes]
    assert len(np.unique(written)) == len(written)
    assert not (history.source == THIN_AIR).any()
    assert history.size is not None and set(history.size[history.kind != FENCE].tolist()) == {8}
    assert row["client"] == "full" or not np.isin(history.kind, (RMW, FENCE)).any()


Step = tuple[str, int, int]


def trimmed(steps: list[Step]) -> list[Step]:
    """Fences before the first and after the last access order nothing; the reader leaves them out."""
    kept = [at for at, step in enumerate(steps) if step[0] != "F"]
    return steps[kept[0] : kept[-1] + 1]


def client_program(row: Row, folder: Path = SHARED) -> list[list[Step]]:
    """Per thread, (kind, byte offset, value written) of what the client that made the log does."""
    parameters = [row[key] for key in ("threads", "operations", "locations", "stride_words", "seed", "client")]
    source = subprocess.run([sys.executable, str(folder / "client.py"), *parameters], capture_output=True,
                            text=True, check=True).stdout
    programs = re.findall(r"^static void \*th\d+\(.*?^return 0;\}", source, re.MULTILINE | re.DOTALL)
    step = re.compile(r"^([WRUF])\((\d*),?(\d*)\)$", re.MULTILINE)
    return [trimmed([(kind, 8 * int(at or 0), int(value or 0)) for kind, at, value in step.findall(text)])
            for text in programs]


def history_program(history: History, base: int) -> list[list[Step]]:
    letters = {Kind.READ: "R", Kind.WRITE: "W", Kind.RMW: "U", Kind.FENCE: "F"}
    programs: dict[str, list[Step]] = {name: [] for name in sorted(history.threads)}
    for operation in range(len(history)):
        kind = Kind(history.kind[operation])
        offset = 0 if kind == FENCE else int(history.address(operation), 16) - base
        programs[history.threads[history.thread[operation]]].append(
            (letters[kind], offset, int(history.written[operation])))
    return list(programs.values())


@pytest.mark.parametrize("row", manifest(OURS), ids=lambda row: row["log"])
def test_logs_of_the_corpus(row: Row) -> None:
    check_against_manifest(read_log(OURS, row), row)


def test_the_corpus_is_there() -> None:
    assert len(manifest(OURS)) == 5


@pytest.mark.skipif(not SHARED.exists(), reason=f"the large collection of logs ({SHARED}) is not here")
def test_every_shared_log_is_the_program_that_made_it() -> None:
    """The kind, location and value of every operation, in program order, for every thread."""
    rows = manifest(SHARED)
    assert len(rows) == 38
    for row in rows:
        history = read_log(SHARED, row)
        check_against_manifest(history, row)
        program = client_program(row)
        assert history_program(history, int(row["address"], 16)) == program, row["log"]
        steps = [step[0] for thread in program for step in thread]
        assert (history.kind == RMW).sum() == steps.count("U")
        assert (history.kind == FENCE).sum() == steps.count("F")
        assert row["client"] == "plain" or (steps.count("U") and steps.count("F"))


SHARED_X86 = ROOT.parent / "shared" / "traces" / "gem5-x86"


@pytest.mark.skipif(not SHARED_X86.exists(), reason=f"the logs of x86 machines ({SHARED_X86}) are not here")
def test_every_shared_x86_log_is_the_program_that_made_it_and_is_judged_as_a_peer_does() -> None:
    """Accesses and fences per thread, and the verdicts: in order, out of order, with TSO switched off."""
    rows = manifest(SHARED_X86)
    assert len(rows) == 22
    fences = 0
    for row in rows:
        history = read_log(SHARED_X86, row)
        assert len(history) == int(row["accesses_and_fences"]), row["log"]
        assert history_program(history, int(row["address"], 16)) == client_program(row, SHARED_X86), row["log"]
        fences += int((history.kind == FENCE).sum())
        verdicts = {model: check(history, model).verdict for model in ("sc", "tso", "pso")}
        assert verdicts == {model: "consistent" if row[model.upper()] == "OK" else "violation" for model in verdicts}
    assert fences > 100


def test_store_buffering_with_mfences_is_no_tso() -> None:
    """Without its fences it would be: each load returns the old value."""
    def half(cpu: int, own: int, other: int, fence: list[str]) -> list[str]:
        return [x86("MOV_M_R", "st   rax, DS:[rdi]", 1, own, cpu=cpu, kind="MemWrite"), *fence,
                x86("MOV_R_M", "ld   rbx, DS:[rsi]", 0, other, cpu=cpu, kind="MemRead")]

    def verdict(fenced: bool) -> str:
        bare = [[line("  MFENCE                  ", cpu=cpu, kind="IntAlu")] if fenced else [] for cpu in (0, 1)]
        return check(history_of(*half(0, X, X + 64, bare[0]), *half(1, X + 64, X, bare[1])), "tso").verdict

    assert verdict(fenced=True) == "violation"
    assert verdict(fenced=False) == "consistent"


def test_lines_and_ticks_point_into_the_log() -> None:
    row = manifest(OURS)[0]
    history = read_log(OURS, row)
    with gzip.open(OURS / row["log"]) as stream:
        lines = stream.read().splitlines()
    for operation in range(len(history)):
        line = lines[history.line[operation] - 1]
        assert line.strip().startswith(b"%d: system.%s: " % (
            history.tick[operation], history.threads[history.thread[operation]].encode()))
        assert history.kind[operation] == FENCE or line.endswith(b" A=" + history.address(operation).encode())


# Small logs


def line(text: str, data: int | str | None = None, address: int | None = None, *, cpu: int | str = 0,
         tick: int = 1000, pc: str = "0x10966 @th1+26", kind: str = "IntAlu", after: str = "") -> str:
    """One line as gem5 prints it; `pc` ends in `. 0` for a micro-operation."""
    result = "" if data is None else f" D={data if isinstance(data, str) else format(data, '#018x')}"
    result += "" if address is None else f" A={address:#x}"
    name = cpu if isinstance(cpu, str) else f"system.cpu{cpu}: T0"
    pc = pc if pc[-3:-2] == "." else pc + "   "
    return f"{tick:7}: {name} : {pc} : {text:26} : {kind} : {result}{after}\n"


X = 0x7F4C0
ALL = Options(addresses=Addresses([(0, 1 << 64)]))
NOT_SELECTED = Options()


def outcome(text: str, options: Options = ALL) -> History | InputError:
    (result,) = gem5.read(io.BytesIO(text.encode()), "run.log.gz", options)
    return result


def history_of(*lines: str, options: Options = ALL) -> History:
    result = outcome("".join(lines), options)
    assert isinstance(result, History), result
    return result


def operations(*lines: str, options: Options = ALL) -> list[str]:
    history = history_of(*lines, options=options)
    return [f"{history.threads[history.thread[k]]} {history.what(k)}" for k in range(len(history))]


def complaint(*lines: str, options: Options = ALL) -> str:
    result = outcome("".join(lines), options)
    assert isinstance(result, InputError), result
    return str(result)


def selecting(low: int, high: int) -> Options:
    return Options(addresses=Addresses([(low, high)]))


def test_the_example() -> None:
    assert gem5.recognise(gem5.EXAMPLE.encode())
    assert operations(gem5.EXAMPLE) == ["cpu0 W 0x7f4c0=1", "cpu1 R 0x7f4c0=1", "cpu1 fence", "cpu1 RMW 0x7f4c0: 1→2"]


def test_a_history_is_named_for_its_file() -> None:
    history = history_of(line("sd a5, 0(a0)", 1, X))
    assert (history.name, history.file) == ("run", "run.log.gz")
    assert (history.line[0], history.tick[0]) == (1, 1000)


@pytest.mark.parametrize("asid", ["", "A0 ", "A17 "])
@pytest.mark.parametrize("thread", ["", "T0 : "])
@pytest.mark.parametrize("symbol", ["", " @th1+26", " @_Z3foo.part.0"])
@pytest.mark.parametrize("micro", ["   ", ". 0", ".12"])
@pytest.mark.parametrize("operation", ["", "MemWrite : "])
@pytest.mark.parametrize("after", ["", "  FetchSeq=1369  CPSeq=907", "  flags=(IsInteger|IsStore)",
                                   "  FetchSeq=1  CPSeq=2  flags=(IsStore)"])
def test_every_combination_of_fields(asid: str, thread: str, symbol: str, micro: str, operation: str,
                                     after: str) -> None:
    text = (f"  77000: system.cpu1: {asid}{thread}0x10966{symbol}{micro} : sd a5, 0(a0)               : "
            f"{operation} D=0x0000000000000015 A=0x7f4c0{after}\n")
    assert gem5.recognise(text.encode())
    assert operations(text) == ["cpu1 W 0x7f4c0=21"]


def test_the_layout_of_old_versions() -> None:
    text = "     187000: system.cpu T0 : @_start+6.0  :   POP_R : ld   t1, SS:[rsp] : MemRead :  D=0x1 A=0x7f4c0\n"
    assert gem5.recognise(text.encode())
    assert operations(text) == ["cpu R 0x7f4c0=1"]


@pytest.mark.parametrize(("component", "name"), [
    ("system.cpu: T0", "cpu"), ("system.cpu0: T0", "cpu0"), ("system.cpu07: T0", "cpu07"),
    ("system.cpu0: T1", "cpu0.T1"), ("system.switch_cpus0: T0", "switch_cpus0"),
    ("board.processor.cores0.core: T0", "cores0"), ("system.bigCluster.cpus1: T0", "cpus1"),
    ("ExecEnable: system.cpu3: T0", "cpu3"),
])
def test_thread_names(component: str, name: str) -> None:
    assert history_of(line("sd a5, 0(a0)", 1, X, cpu=component)).threads == (name,)


def test_two_clusters_keep_their_cpus_apart() -> None:
    history = history_of(line("sd a5, 0(a0)", 1, X, cpu="system.big.cpus0: T0"),
                         line("sd a5, 0(a0)", 2, X, cpu="system.little.cpus0: T0"),
                         line("sd a5, 0(a0)", 3, X, cpu="system.big.cpus0: A7 T0"))
    assert history.threads == ("cpus0", "system.little.cpus0")
    assert history.thread.tolist() == [0, 1, 0]


@pytest.mark.parametrize(("text", "size"), [
    ("lb a5, 0(a0)", 1), ("lbu a5, 0(a0)", 1), ("lh a5, 0(a0)", 2), ("lhu a5, 0(a0)", 2), ("lw a5, 0(a0)", 4),
    ("lwu a5, 0(a0)", 4), ("ld a5, 0(a0)", 8), ("c_lw a5, 0(a0)", 4), ("c_ld a5, 0(a0)", 8),
    ("c_lwsp a5, 0(sp)", 4), ("c_ldsp a5, 0(sp)", 8), ("flw fa0, 0(a0)", 4), ("fld fa0, 0(a0)", 8),
    ("c_fld fa0, 0(a0)", 8), ("c_fldsp fa0, 0(sp)", 8), ("c_flw fa0, 0(a0)", 4), ("lr_w a5, (a0)", 4),
    ("sb a5, 0(a0)", 1), ("sh a5, 0(a0)", 2), ("sw a5, 0(a0)", 4), ("sd a5, 0(a0)", 8), ("c_sw a5, 0(a0)", 4),
    ("c_sd a5, 0(a0)", 8), ("c_swsp a5, 0(sp)", 4), ("c_sdsp a5, 0(sp)", 8), ("fsw fa0, 0(a0)", 4),
    ("fsd fa0, 0(a0)", 8), ("c_fsd fa0, 0(a0)", 8), ("c_fsdsp fa0, 0(sp)", 8), ("sb zero, 400(a5)", 1),
])
def test_riscv_accesses_and_their_width(text: str, size: int) -> None:
    """D= may be the whole register, sign-extended: only the bytes that were moved count."""
    history = history_of(line(text, 0xFFFFFFFFFFFFFF85, X))
    value = np.uint64(0xFFFFFFFFFFFFFF85 & ((1 << 8 * size) - 1)).astype(np.int64)
    store = text.removeprefix("c_").startswith(("s", "fs"))
    assert history.size is not None and history.size[0] == size
    assert history.kind[0] == (Kind.WRITE if store else Kind.READ)
    assert (history.written if store else history.read)[0] == value


@pytest.mark.parametrize(("fence", "kept"), [
    ("fence rw, rw", "fence"), ("fence iorw, iorw", "fence"), ("fence iorw, rw", "fence"), ("fence r, r", "fence r.r"),
    ("fence w, w", "fence w.w"), ("fence iorw, ow", "fence rw.w"), ("fence r, rw", "fence r.rw"),
    ("fence rw, w", "fence rw.w"), ("fence w, r", "fence w.r"), ("fence_i", "fence i"),
    ("fence", ""), ("fence o, i", ""), ("sfence_vma zero, zero", ""), ("0x0cf4a7af fence", ""),
])
def test_fences_keep_what_they_order(fence: str, kept: str) -> None:
    found = operations(line("sd a5, 0(a0)", 1, X), line(fence, kind="No_OpClass"), line("ld a4, 0(a1)", 0, X + 8))
    assert found == ["cpu0 W 0x7f4c0=1", *[f"cpu0 {kept}"] * bool(kept), "cpu0 R 0x7f4c8=0"]


def test_fences_at_either_end_and_threads_of_fences_are_left_out() -> None:
    fence = line("fence rw, rw", kind="No_OpClass")
    history = history_of(fence, line("sd a5, 0(a0)", 1, X), fence, fence, line("ld a4, 0(a1)", 0, X + 8), fence,
                         line("fence rw, rw", cpu=1), line("ld a4, 0(a1)", 3, 0x100, cpu=1),
                         line("fence rw, rw", cpu=1), options=selecting(X, X + 16))
    assert history.threads == ("cpu0",)
    assert [history.what(k) for k in range(len(history))] == ["W 0x7f4c0=1", "fence", "fence", "R 0x7f4c8=0"]


def amo(text: str, old: int, cpu: int = 0, pc: str = "0x10caa @main+156") -> str:
    """An AMO's lines: the instruction, its micro-operation, and the fence of .aq."""
    mnemonic, operands = text.split(" ", 1)
    plain = mnemonic.removesuffix("rl").removesuffix("aq").removesuffix("_")
    macro = f"   1000: system.cpu{cpu}: T0 : {pc}    : {text:26}\n"
    micro = line(f"{plain}[l] {operands}", old, X, cpu=cpu, pc=pc + ". 0", kind="MemRead")
    fence = line("0x0cf4a7af fence", cpu=cpu, pc=pc + ". 1", kind="No_OpClass")
    return macro + micro + fence * ("aq" in mnemonic)


@pytest.mark.parametrize(("name", "old", "source", "new"), [
    ("amoswap_d", 7, 9, 9), ("amoadd_d", 7, 9, 16), ("amoand_d", 7, 9, 1), ("amoor_d", 7, 9, 15),
    ("amoxor_d", 7, 9, 14), ("amomax_d", 7, 9, 9), ("amomin_d", 9, 7, 7), ("amomaxu_d", 7, 9, 9),
    ("amominu_d", 9, 7, 7), ("amoadd_d", 2**64 - 1, 3, 2), ("amomax_d", 2**64 - 1, 3, 3),
    ("amomaxu_w", 3, 2**64 - 1, 2**32 - 1), ("amomin_d", 3, 2**64 - 1, 2**64 - 1), ("amominu_d", 2**64 - 1, 3, 3),
    ("amoswap_w", 7, 0xAAAAAAAA00000009, 9), ("amoadd_w", 0xFFFFFFFFFFFFFFFF, 3, 2),
    ("amomax_w", 0xFFFFFFFF80000000, 1, 1), ("amoswap_d_aq", 7, 9, 9), ("amoswap_w_rl", 7, 9, 9),
    ("amoadd_w_aqrl", 7, 9, 16),
])
def test_amos_compute_what_they_write(name: str, old: int, source: int, new: int) -> None:
    history = history_of(line("c_mv a2, a5", source), amo(f"{name} a6, a2, (a4)", old))
    size = 4 if "_w" in name else 8
    assert history.kind.tolist() == [RMW]
    assert int(history.read[0]) % 2**64 == old % 2 ** (8 * size)
    assert int(history.written[0]) % 2**64 == new
    assert history.size is not None and history.size[0] == size


def test_atomics_keep_acquire_and_release() -> None:
    """Their micro-operations do not name them, and the fences that carry them out are no operations."""
    found = operations(line("c_li a5, 3", 3), amo("amoswap_d_aq a4, a5, (s1)", 1), line("c_li a5, 4", 4),
                       amo("amoswap_d_aqrl a4, a5, (s1)", 3), line("c_li a5, 5", 5), amo("amoswap_d a4, a5, (s1)", 4),
                       amo("amoor_d_rl a4, zero, (s1)", 5))
    assert found == ["cpu0 RMW.aq 0x7f4c0: 1→3", "cpu0 RMW.aqrl 0x7f4c0: 3→4", "cpu0 RMW 0x7f4c0: 4→5",
                     "cpu0 R.rl 0x7f4c0=5"]


def test_an_amo_uses_the_source_before_it_overwrites_it() -> None:
    assert operations(line("c_li a5, 3", 3), amo("amoswap_d a5, a5, (s1)", 1), amo("amoadd_d a5, a5, (s1)", 3)) == [
        "cpu0 RMW 0x7f4c0: 1→3", "cpu0 RMW 0x7f4c0: 3→4"]


def test_the_zero_register() -> None:
    """An AMO into x0 prints the old value as its result, but x0 stays 0."""
    assert operations(line("c_li a5, 3", 3), amo("amoswap_d zero, a5, (s1)", 1), amo("amoswap_d a5, zero, (s1)", 3)
                      ) == ["cpu0 RMW 0x7f4c0: 1→3", "cpu0 RMW 0x7f4c0: 3→0"]


def test_registers_belong_to_one_cpu() -> None:
    assert operations(line("c_li a5, 3", 3), line("c_li a5, 4", 4, cpu=1), amo("amoswap_d a4, a5, (s1)", 0),
                      amo("amoswap_d a4, a5, (s1)", 3, cpu=1)) == ["cpu0 RMW 0x7f4c0: 0→3", "cpu1 RMW 0x7f4c0: 3→4"]


@pytest.mark.parametrize("setter", [
    line("ld a5, 0(a0)", 9, 0x100), line("addi a5, a0, 1", 9), line("c_li a5, 8", 8) + line("c_not a5", 9),
    line("jal a5, 100", 9), amo("amoadd_d a5, a1, (a2)", 9)
    .replace("7f4c0", "100"), line("lr_d a5, (a0)", 9, 0x100), line("csrrs a5, fcsr", 9),
    line("c_li a5, 9", 9) + line("sd a5, 0(a0)", 8, 0x100) + line("bne a5, a4, -14") + line("c_jalr a5", 7),
])
def test_what_sets_a_register(setter: str) -> None:
    found = operations(setter, amo("amoswap_d a4, a5, (s1)", 1), options=selecting(X, X + 8))
    assert found == ["cpu0 RMW 0x7f4c0: 1→9"]


def test_a_jump_that_links_sets_ra() -> None:
    assert operations(line("c_jalr a5", 9), amo("amoswap_d a4, ra, (s1)", 1)) == ["cpu0 RMW 0x7f4c0: 1→9"]


def test_an_unknown_source_register_is_refused_where_it_matters() -> None:
    lines = (line("ld a1, 0(a0)", 1, 0x100), amo("amoswap_d a4, a5, (s1)", 1))
    text = complaint(*lines)
    assert text.startswith("run.log.gz:3: ")
    assert "register a5" in text and "cpu0" in text and "must start earlier" in text
    assert operations(*lines, options=selecting(0x100, 0x108)) == ["cpu0 R 0x100=1"]


def test_a_system_call_makes_its_result_unknown() -> None:
    known = line("c_li a0, 3", 3) + line("c_li a1, 4", 4)
    call = line("ecall", pc="0x2000 @mmap", kind="No_OpClass")
    back = line("c_beqz a5, 60", pc="0x2004 @mmap+4")
    assert "register a0" in complaint(known, call, back, amo("amoswap_d a4, a0, (s1)", 1))
    assert operations(known, call, back, amo("amoswap_d a4, a1, (s1)", 1)) == ["cpu0 RMW 0x7f4c0: 1→4"]
    assert operations(known, call, call, back, amo("amoswap_d a4, a1, (s1)", 1)) == ["cpu0 RMW 0x7f4c0: 1→4"]


def test_another_thread_on_the_cpu_has_other_registers() -> None:
    text = complaint(line("c_li a1, 4", 4), line("ecall", pc="0x2000 @exit"),
                     line("blt a0, zero, 10", pc="0x42634 @clone+28"), amo("amoswap_d a4, a1, (s1)", 1))
    assert "register a1" in text


def test_the_store_half_of_an_amo_in_old_versions() -> None:
    assert operations(line("c_li a5, 3", 3), line("amoswap_d[l] a4, a5, (s1)", 1, X, pc="0x1000. 0"),
                      line("amoswap_d[s] a4, a5, (s1)", 3, X, pc="0x1000. 1")) == ["cpu0 RMW 0x7f4c0: 1→3"]


def test_an_rmw_that_changes_nothing_is_a_read() -> None:
    assert operations(line("sd a5, 0(a0)", 6, X), amo("amoor_d a4, zero, (s1)", 6)) == [
        "cpu0 W 0x7f4c0=6", "cpu0 R 0x7f4c0=6"]


def test_such_a_read_has_no_data_dependency() -> None:
    history = history_of(line("ld a5, 0(a0)", 0, X), amo("amoor_d a4, a5, (s1)", 6))
    assert history.kind.tolist() == [Kind.READ] * 2 and history.data is None


def test_a_jump_that_shows_no_result_makes_ra_unknown() -> None:
    assert "register ra" in complaint(line("c_jalr a5"), amo("amoswap_d a4, ra, (s1)", 1))


def test_atomics_without_their_micro_operations_are_refused() -> None:
    macro = "   1000: system.cpu0: T0 : 0x10caa @main    : amoswap_d a4, a5, (s1)    \n"
    text = complaint(line("sd a5, 0(a0)", 1, X), macro, line("ld a5, 0(a0)", 1, X))
    assert text.startswith("run.log.gz:2: ") and "ExecMicro" in text


LOAD_RESERVED = line("lr_d a5, (a0)", 5, X, pc="0x100. 0")
SET_A4 = line("c_li a4, 6", 6)


def store_conditional(status: int | None, address: int = X) -> str:
    return line("sc_d a3, a4, (a0)", status, address, pc="0x104. 0")


def test_load_reserved_and_store_conditional_are_a_pair() -> None:
    """Not one rmw: a later load may overtake the store."""
    history = history_of(SET_A4, LOAD_RESERVED, line("bne a5, a2, 8"), store_conditional(0))
    assert [history.what(at) for at in range(2)] == ["LR 0x7f4c0=5", "SC 0x7f4c0=6"]
    assert history.pair is not None and history.pair.tolist() == [[0, 1]]
    assert history.ctrl is not None and history.ctrl.tolist() == [[0, 1]]


def test_store_buffering_by_store_conditionals() -> None:
    """Only AMOs drain the buffer: a load may overtake a store-conditional, in TSO and Ztso."""
    def thread(cpu: int, own: int, other: int) -> tuple[str, ...]:
        return (line("c_li a4, 6", 6 + cpu, cpu=cpu), line("lr_d a5, (a0)", 0, own, cpu=cpu, pc="0x100. 0"),
                line("sc_d a3, a4, (a0)", 0, own, cpu=cpu, pc="0x104. 0"), line("ld a1, 0(a2)", 0, other, cpu=cpu))

    history = history_of(*thread(0, X, X + 8), *thread(1, X + 8, X))
    assert history.pair is not None and len(history.pair) == 2
    verdicts = {name: check(history, name).verdict for name in ("sc", "tso", "ztso", "rvwmo")}
    assert verdicts == {"sc": "violation", "tso": "consistent", "ztso": "consistent", "rvwmo": "consistent"}


def test_a_store_conditional_that_stores_what_was_read_is_left_out() -> None:
    assert operations(line("c_li a4, 5", 5), LOAD_RESERVED, store_conditional(0)) == ["cpu0 LR 0x7f4c0=5"]


@pytest.mark.parametrize(("between", "shown"), [
    (line("ld a1, 0(a2)", 0, X + 8), "cpu0 R 0x7f4c8=0"), (line("sd a1, 0(a2)", 1, X + 8), "cpu0 W 0x7f4c8=1"),
    (line("fence rw, rw"), "cpu0 fence"),
])
def test_an_operation_between_the_halves_divides_them(between: str, shown: str) -> None:
    assert operations(line("sd a1, 0(a2)", 9, X + 16), SET_A4, LOAD_RESERVED, between, store_conditional(0)) == [
        "cpu0 W 0x7f4d0=9", "cpu0 LR 0x7f4c0=5", shown, "cpu0 SC 0x7f4c0=6"]
    history = history_of(line("sd a1, 0(a2)", 9, X + 16), SET_A4, LOAD_RESERVED, between, store_conditional(0))
    assert history.pair is not None and history.pair.tolist() == [[1, 3]]


def test_a_failed_store_conditional_ends_the_reservation() -> None:
    history = history_of(SET_A4, LOAD_RESERVED, store_conditional(1), store_conditional(0))
    assert [history.what(at) for at in range(2)] == ["LR 0x7f4c0=5", "SC 0x7f4c0=6"]
    assert history.pair is None


def test_what_is_not_selected_does_not_divide_them() -> None:
    found = operations(SET_A4, LOAD_RESERVED, line("ld a1, 0(a2)", 0, 0x100), line("ld a1, 0(a2)", 0, X, cpu=1),
                       store_conditional(0), options=selecting(X, X + 8))
    assert found == ["cpu0 LR 0x7f4c0=5", "cpu1 R 0x7f4c0=0", "cpu0 SC 0x7f4c0=6"]


def test_halves_of_different_places_are_a_read_and_a_write() -> None:
    assert operations(SET_A4, LOAD_RESERVED, store_conditional(0, X + 8)) == ["cpu0 LR 0x7f4c0=5", "cpu0 SC 0x7f4c8=6"]


def test_a_failed_store_conditional_stores_nothing() -> None:
    assert operations(SET_A4, LOAD_RESERVED, store_conditional(1), store_conditional(1)) == ["cpu0 LR 0x7f4c0=5"]
    assert operations(SET_A4, LOAD_RESERVED, store_conditional(1), LOAD_RESERVED, store_conditional(0)) == [
        "cpu0 LR 0x7f4c0=5", "cpu0 LR 0x7f4c0=5", "cpu0 SC 0x7f4c0=6"]


def test_a_store_conditional_alone_is_a_write() -> None:
    assert operations(SET_A4, store_conditional(0)) == ["cpu0 SC 0x7f4c0=6"]


def test_a_store_conditional_must_tell_its_status() -> None:
    text = complaint(SET_A4, LOAD_RESERVED, store_conditional(None))
    assert text.startswith("run.log.gz:3: ") and "whether it succeeded" in text


def test_a_store_conditional_with_an_unknown_register_is_refused() -> None:
    assert "register a4" in complaint(LOAD_RESERVED, store_conditional(0))


# A faulting store is printed twice: at the fault, and when it is tried again


def test_a_store_printed_twice_counts_once() -> None:
    before, branch = line("c_li a5, 1", 1), line("c_bnez a5, -4", pc="0x10968 @th1+28")
    first, again = (line("sd a5, 0(a0)", 1, X, tick=tick) for tick in (1000, 15000))
    other_cpu = line("c_li a5, 1", 1, cpu=1)
    assert operations(before, first, again) == ["cpu0 W 0x7f4c0=1"]
    assert operations(before, first, other_cpu, again) == ["cpu0 W 0x7f4c0=1"]
    assert operations(before, first, branch, again) == ["cpu0 W 0x7f4c0=1"] * 2


def test_different_stores_in_a_row_all_count() -> None:
    before, first = line("c_li a5, 1", 1), line("sd a5, 0(a0)", 1, X)
    for other in (line("sd a5, 0(a0)", 2, X), line("sd a5, 0(a0)", 1, X + 8), line("sd a5, 0(a0)", 1, X, pc="0x10968")):
        assert len(operations(before, first, other)) == 2


def test_a_log_without_branches_repeats_only_within_a_tick() -> None:
    first, same, later = (line("sd a5, 0(a0)", 1, X, tick=tick) for tick in (1000, 1000, 2000))
    assert operations(first, same) == ["cpu0 W 0x7f4c0=1"]
    assert operations(first, later) == ["cpu0 W 0x7f4c0=1"] * 2


def test_a_load_that_faults_is_read_when_it_is_tried_again() -> None:
    fault, handler = line("ld a5, 0(a0)", None, X), line("csrrs a1, scause", 13, pc="0x9000 @trap")
    assert operations(fault, handler, line("ld a5, 0(a0)", 3, X)) == ["cpu0 R 0x7f4c0=3"]
    text = complaint(handler, fault, line("ld a5, 0(a0)", 3, X, pc="0x10968"))
    assert text.startswith("run.log.gz:2: ") and "no value (D=)" in text and "ExecResult" in text


def test_what_is_marked_as_faulting_did_nothing() -> None:
    """Neither the access nor its register; but a system call is a fault that succeeds."""
    handler = line("csrrs a1, scause", 13, pc="0x9000 @FAULTING+4")
    store, load = (line(text, 1, X, after="  FAULTING") for text in ("sd a5, 0(a0)", "ld a4, 0(a0)"))
    assert operations(store, handler, line("sd a5, 0(a0)", 1, X)) == ["cpu0 W 0x7f4c0=1"]
    assert operations(SET_A4, load, line("amoswap_d[l] a3, a4, (a0)", 1, X, pc="0x20. 0")) == ["cpu0 RMW 0x7f4c0: 1→6"]
    assert operations(line("sd a5, 0(a0)", 1, X), line("ld a5, 0(a1)", None, X + 8, after=" FAULTING")) == [
        "cpu0 W 0x7f4c0=1"]  # never tried again
    call = line("ecall", after="  FetchSeq=7 FAULTING", pc="0x10966")
    assert "a0" in complaint(line("c_li a0, 6", 6), call, line("amoswap_d[l] a3, a0, (a1)", 1, X, pc="0x1096a. 0"))
    assert operations(x86("MOV_M_R", "st   rax, DS:[rdi]", 1, X).replace("\n", " FAULTING\n"),
                      x86("MOV_M_R", "st   rax, DS:[rdi]", 2, X)) == ["cpu0 W 0x7f4c0=2"]


# x86


def x86(instruction: str, operation: str, data: int | None = None, address: int | None = None, *, micro: int = 0,
        cpu: int = 0, tick: int = 1000, kind: str = "IntAlu") -> str:
    return line(f"  {instruction} : {operation}", data, address, cpu=cpu, tick=tick, kind=kind,
                pc=f"0x401126 @main+16.{micro:2}")


@pytest.mark.parametrize(("register", "size"), [
    ("rax", 8), ("rdi", 8), ("r8", 8), ("r15", 8), ("t1", 8), ("eax", 4), ("esi", 4), ("r8d", 4), ("t1d", 4),
    ("ax", 2), ("sp", 2), ("r10w", 2), ("t12w", 2), ("al", 1), ("dil", 1), ("r9b", 1), ("t1b", 1),
])
def test_x86_loads_and_stores(register: str, size: int) -> None:
    history = history_of("   1000: system.cpu0: T0 : 0x401126 @main+16    : mov\trax, DS:[rdi]\n",
                         x86("MOV_R_M", f"ld   {register}, DS:[rdi]", 0xFFFFFFFFFFFFFF85, X, kind="MemRead"),
                         x86("MOV_M_R", f"st   {register}, DS:[8*rcx + rsi + 0x10]", 0x1122334455667788, X + 8))
    mask = (1 << 8 * size) - 1
    assert history.size is not None and history.size.tolist() == [size, size]
    assert history.kind.tolist() == [Kind.READ, Kind.WRITE]
    assert int(history.read[0]) % 2**64 == 0xFFFFFFFFFFFFFF85 & mask
    assert int(history.written[1]) == 0x1122334455667788 & mask


def locked(old: int, new: int, cpu: int = 0) -> list[str]:
    return [x86("XADD_LOCKED_M_R", "mfence", micro=0, cpu=cpu, kind="No_OpClass"),
            x86("XADD_LOCKED_M_R", "ldstl   t1d, DS:[rdi]", old, X, micro=1, cpu=cpu, kind="MemRead"),
            x86("XADD_LOCKED_M_R", "add   t2d, t1d, eax", new, micro=2, cpu=cpu),
            x86("XADD_LOCKED_M_R", "stul   t2d, DS:[rdi]", new, X, micro=3, cpu=cpu, kind="MemWrite"),
            x86("XADD_LOCKED_M_R", "mfence", micro=4, cpu=cpu, kind="No_OpClass")]


def test_x86_locked_instructions_are_one_rmw() -> None:
    found = operations(*locked(0, 1), *locked(1, 2, cpu=1), *locked(2, 3))
    assert [step for step in found if "fence" not in step] == [
        "cpu0 RMW 0x7f4c0: 0→1", "cpu1 RMW 0x7f4c0: 1→2", "cpu0 RMW 0x7f4c0: 2→3"]
    assert found.count("cpu0 fence") == 2  # after the first, before the second


def test_x86_failed_compare_and_swap_is_a_read() -> None:
    assert operations(*locked(4, 4)) == ["cpu0 R 0x7f4c0=4"]


def test_x86_unlocked_read_modify_write_is_two_operations() -> None:
    assert operations(x86("ADD_M_R", "ldst   t1, DS:[rdi]", 1, X), x86("ADD_M_R", "st   t1, DS:[rdi]", 2, X, micro=2)
                      ) == ["cpu0 R 0x7f4c0=1", "cpu0 W 0x7f4c0=2"]


@pytest.mark.parametrize(("instruction", "operation", "kept"), [
    ("MFENCE", "mfence", "fence"), ("LFENCE", "lfence", "fence r.rw"), ("SFENCE", "sfence", "fence w.w"),
    ("SFENCE", "mfence", "fence w.w")])
def test_x86_fences(instruction: str, operation: str, kept: str) -> None:
    found = operations(x86("MOV_M_R", "st   rax, DS:[rdi]", 1, X), x86(instruction, operation, kind="No_OpClass"),
                       x86("MOV_R_M", "ld   rax, DS:[rsi]", 0, X + 8))
    assert found == ["cpu0 W 0x7f4c0=1", f"cpu0 {kept}", "cpu0 R 0x7f4c8=0"]


@pytest.mark.parametrize(("instruction", "kept"), [("MFENCE", "fence"), ("LFENCE", "fence r.rw"),
                                                   ("SFENCE", "fence w.w")])
def test_x86_fences_without_micro_operation(instruction: str, kept: str) -> None:
    found = operations(x86("MOV_M_R", "st   rax, DS:[rdi]", 1, X), line(f"  {instruction:<24} ", kind="IntAlu"),
                       line("\tXCHG_M_R.mfence  ", kind="IntAlu"), x86("MOV_R_M", "ld   rax, DS:[rsi]", 0, X + 8))
    assert found == ["cpu0 W 0x7f4c0=1", f"cpu0 {kept}", "cpu0 R 0x7f4c8=0"]


@pytest.mark.parametrize(("instruction", "operation"), [
    ("PREFETCH_M", "ld   t0b, DS:[rdi]"), ("CLFLUSHOPT_M", "clflushopt   DS:[rdi]"), ("CALL", "cda   SS:[rsp]")])
def test_x86_operations_that_move_no_data(instruction: str, operation: str) -> None:
    stays = x86("MOV_M_R", "st   rax, DS:[rdi]", 1, X)
    for data in (0, None):
        assert operations(stays, x86(instruction, operation, data, X)) == ["cpu0 W 0x7f4c0=1"]


@pytest.mark.parametrize("operation", [
    "ldfp   %xmm0_low, DS:[rdi]", "ldsplitl   [t2, t3], DS:[t1]", "ld   ah, DS:[rdi]", "ld   %ctrl3, DS:[rdi]"])
def test_x86_accesses_of_unknown_width_are_refused_where_they_matter(operation: str) -> None:
    lines = x86("MOV_R_M", "ld   rax, DS:[rdi]", 0, 0x100), x86("XYZ_M", operation, 1, X)
    assert complaint(*lines).startswith("run.log.gz:2: ")
    assert operations(*lines, options=selecting(0x100, 0x108)) == ["cpu0 R 0x100=0"]


def test_x86_predicated_false_did_not_happen() -> None:
    text = x86("MOV_M_R", "st   rax, DS:[rdi]", 1, X)
    assert operations(text, text.replace(" :  D=", " : Predicated False D=").replace("0x401126", "0x401130")) == [
        "cpu0 W 0x7f4c0=1"]


# Arm, in the form that gem5's sources print


def arm(text: str, data: int | None = None, address: int | None = None, *, at: int = 16, kind: str = "",
        after: str = "") -> str:
    kind = kind or ("IntAlu" if address is None else "MemWrite" if text.startswith("st") else "MemRead")
    pc = f"{0x400600 + at:#x} @th1+{at}"
    return line(f"  {text}", data, address, cpu="system.cpu0: A0 T0", kind=kind, pc=pc, after=after)


def test_arm_accesses_their_marks_and_widths() -> None:
    history = history_of(
        line("  stp", cpu="system.cpu0: A0 T0").rsplit(" : ", 2)[0] + "\n",
        arm("strxi_uop   x27, [ureg0]", 5, X), arm("str   x1, [x2]", 7, X + 8),
        arm("ldrsb   w1, [w2, #3]", -1 % 2**64, X + 16), arm("ldr   x1, [x1, #2432]", 1 << 40, X + 24),
        arm("ldar   x1, [x2]", 7, X + 8), arm("stlrh   w1, [w2]", 9, X + 32),
        arm("ldapr   x1, [x2]", 7, X + 8), arm("prfm   PLDL1KEEP, [x1]", None, X))
    assert [history.what(at) for at in range(len(history))] == [
        "W 0x7f4c0=5", "W 0x7f4c8=7", "R 0x7f4d0=255", f"R 0x7f4d8={1 << 40}", "R.aq 0x7f4c8=7", "W.rl 0x7f4e0=9",
        "R.aq.pc 0x7f4c8=7"]
    assert history.size is not None and history.size.tolist() == [8, 4, 1, 8, 4, 2, 4]
    assert history.threads == ("cpu0",) and "4 or 8 bytes" in history.notes[0]


@pytest.mark.parametrize(("barrier", "kept"), [
    ("dmb   ish", ["fence"]), ("dmb   ishld", ["fence r.rw"]), ("dsb   st", ["fence w.w"]), ("isb   ", ["fence i"]),
    ("dmb   ", [])])
def test_arm_barriers_order_what_their_option_says(barrier: str, kept: list[str]) -> None:
    history = history_of(arm("str   x1, [x2]", 7, X), arm(barrier), arm("ldr   x1, [x2]", 7, X))
    assert [history.what(at) for at in range(len(history))] == ["W 0x7f4c0=7", *kept, "R 0x7f4c0=7"]
    assert any("without their option" in note for note in history.notes) == (not kept)


def exclusive(*, branch: str = "cbnz   w2, <th1+16>", goes: int = 28, sets: str = "movz   x0, #6, #0") -> list[str]:
    return [arm(sets, 6, at=12), arm("ldaxr   x1, xzr, [x3]", 5, X), arm("stxr   x0, x2, [x3]", 0, X, at=20),
            arm(branch, at=24), arm("add   x5, x5, #1", 1, at=goes)]


def test_arm_exclusives_succeeded_if_the_branch_says_so() -> None:
    """Whatever D= says: gem5 prints the last register that was set, which may be another one."""
    history = history_of(*exclusive())
    assert [history.what(at) for at in range(len(history))] == ["LR.aq 0x7f4c0=5", "SC 0x7f4c0=6"]
    assert history.pair is not None and history.pair.tolist() == [[0, 1]]
    assert operations(*exclusive(branch="cbz   w2, <th1+40>", goes=40))[1:] == ["cpu0 SC 0x7f4c0=6"]
    assert operations(*exclusive(goes=16)) == operations(*exclusive(branch="cbz   w2, <th1+40>")) == [
        "cpu0 LR.aq 0x7f4c0=5"]


@pytest.mark.parametrize(("lines", "number", "words"), [
    (exclusive(goes=4000), 3, "nothing tells whether"),  # an interrupt
    (exclusive()[:3], 3, "nothing tells whether"),
    ([*exclusive()[:3], arm("ldr   x1, [x4]", 5, X)], 3, "nothing tells whether"),
    (exclusive(sets="subs   x0, x1, #1"), 3, "is in register x0"),
    ([arm("ldr   x0, [x3]", 5, X, kind="FloatMemRead")], 1, "no RISC-V, x86 or Arm access"),
    ([arm("ldp_uop   x0, x1, [x3]", 5, X)], 1, "no RISC-V, x86 or Arm access"),
])
def test_what_arm_lines_do_not_tell_is_refused(lines: list[str], number: int, words: str) -> None:
    text = complaint(*lines)
    assert text.startswith(f"run.log.gz:{number}: ") and words in text


def test_an_arm_system_call_may_change_registers() -> None:
    lines = exclusive()
    assert "is in register x0" in complaint(lines[0], arm("svc   #0x0", after=" FAULTING"), *lines[1:])


# Stores that reach their cache, in the form that gem5's sources print


def reaches(cpu: int, address: int, value: int, *, tick: int = 1000, verb: str = "set", size: int = 8) -> str:
    """A store to a physical address that differs from the virtual one by pages."""
    start, name = address & ~63, f"{tick:7}: system.ruby.l1_cntrl{cpu}.sequencer"
    block = bytearray(range(64))
    block[address - start:address - start + size] = value.to_bytes(size, "little")
    shown = " ".join(f"{byte:#x}" for byte in block)
    return (f"{name}: Cache hit at [{address + 0x5000:#x}, line {start + 0x5000:#x}]\n"
            f"{name}: {verb} data [ {shown} ]\n")


def store(value: int, cpu: int, address: int = X) -> str:
    return line("sd a5, 0(a0)", value, address, cpu=cpu, pc=f"{0x1000 + 4 * value:#x}")


def orders(*lines: str) -> list[int]:
    history = history_of(*lines)
    return [-1] * len(history) if history.order is None else history.order.tolist()


def test_stores_that_reach_their_cache_are_the_store_order() -> None:
    amo = [line("c_li a5, 5", 5), line("amoswap_d[l] a4, a5, (a0)", 0x21, X, pc="0x30. 0")]
    lines = [store(0x21, 0), reaches(1, X, 0x22, tick=900), store(0x22, 1), *amo, reaches(0, X, 0x21),
             reaches(0, X, 5, verb="AMO new"), reaches(1, X + 8, 0x22)]
    assert orders(*lines) == [1, 0, 2]
    assert check(history_of(*lines), "sc")
    reads = (line("ld a5, 0(a0)", value, X, cpu=2) for value in (0x21, 0x22))
    assert check(history_of(*lines, *reads), "sc").decided_by == "store-order"


def test_long_logs_keep_them_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_exec_scanner, "FEW", 9)
    assert orders(*(text for value in range(1, 20) for text in (store(value, 0), reaches(0, X, value)))) == [*range(19)]


@pytest.mark.parametrize("lines", [
    [store(0x21, 0), reaches(0, X, 0x21), store(0x21, 1, X + 0x1000)],  # another page
    [store(0x21, 0), reaches(0, X, 0x21), reaches(1, X, 0x21)],
    [store(0x21, 0), reaches(0, X, 0x21).partition("\n")[2]],  # no address
    [store(0x21, 0), reaches(0, X, 0x21).replace("   1000", "   2000", 1)],
    [store(0x21, 0), reaches(0, X, 0x21), store(0x22, 0, X + 8), reaches(1, X + 8, 0x22)],  # two sequencers
    [store(0x21, 0), line("sw a5, 0(a0)", 0x21, X + 0x1000), reaches(0, X, 0x21)],
    [store(0x21, 0), reaches(0, X, 0x21, verb="read")],
])
def test_where_it_is_not_certain_which_store_it_was_the_order_stays_open(lines: list[str]) -> None:
    assert set(orders(*lines)) == {-1}


# Selecting, skipping, refusing


def test_selection_is_by_start_address() -> None:
    lines = [line("ld a5, 0(a0)", value, X + 8 * value) for value in range(3)]
    assert operations(*lines, options=selecting(X + 4, X + 12)) == ["cpu0 R 0x7f4c8=1"]
    several = Options(addresses=Addresses([(X, X + 1), (X + 16, X + 17)]))
    assert operations(*lines, options=several) == ["cpu0 R 0x7f4c0=0", "cpu0 R 0x7f4d0=2"]


def test_other_lines_are_skipped() -> None:
    assert operations(
        "gem5 Simulator System.  https://www.gem5.org\n", "\n", "warn: ignoring syscall set_robust_list(...)\n",
        "info: Entering event queue @ 0.  Starting simulation...\n",
        "  77000: system.cpu0.dcache: access for ReadReq [400:407] hit state: 7 : D=0x1 A=0x7f4c0\n",
        line("sd a5, 0(a0)", 1, X), "\xff\xfe garbage : : : \n", "   1: system.l1: T0 : \n") == ["cpu0 W 0x7f4c0=1"]


def test_carriage_returns_are_no_harm() -> None:
    assert operations(gem5.EXAMPLE.replace("\n", "\r\n")) == operations(gem5.EXAMPLE)


@pytest.mark.parametrize(("log", "kind"), [
    ("    7410500   0        Seq               Begin       >       [0x400, line 0x400] IFETCH\n", "ProtocolTrace"),
    ("   7410500   0    L1Cache                Load      I>IS     [0x400, line 0x400]\n", "ProtocolTrace"),
    ("  1000: system.cpu0: Initiating read at addr 400 (blk 400) expecting 0\n", "MemTest"),
    ("  1000: system.tester: completed request for proc: 1 addr: 0x400, size: 4, data: 3\n", "RubyTest"),
    ("  1000: system.physmem: Write from cpu0 of size 8 on address 0x400 data 0x1\n", "MemoryAccess"),
    ("  1000: system.cpu0.dcache: access for ReadReq [400:407] miss\n", "Cache"),
])
def test_logs_of_other_debug_flags_are_named(log: str, kind: str) -> None:
    assert gem5.recognise(log.encode())
    text = complaint(log * 3)
    assert kind in text and "no data values" in text and "--debug-flags=Exec" in text


def test_logs_without_data_say_which_flag_is_missing() -> None:
    assert "--debug-flags=Exec" in complaint("")
    assert "--debug-flags=Exec" in complaint("  1000: system.foo: bar\n")
    assert "ExecResult, ExecEffAddr" in complaint(line("c_bnez a5, -4"), line("c_li a5, 1", 1))
    assert "ExecResult, ExecEffAddr" in complaint(line("ld a5, 0(a0)"), line("sd a5, 0(a0)"))
    text = complaint(line("c_li a5, 1", 1), line("ld a5, 0(a0)", 1))
    assert text.startswith("run.log.gz:2: ") and "ExecEffAddr" in text


def test_what_nobody_wrote_hints_at_selecting_addresses() -> None:
    lines = line("sd a5, 0(a0)", 1, X), line("ld a5, 0(a0)", 7, X + 8)
    assert complaint(*lines, options=NOT_SELECTED).startswith(
        "run.log.gz:2: 0x7f4c8 is read as 7, which nobody wrote. The log holds every access of the program: select")
    assert len(operations(*lines)) == 2
    twice = complaint(*lines, line("ld a5, 0(a0)", 8, X + 8), options=Options(unknown=True))
    assert twice.startswith("run.log.gz:3: 0x7f4c8 is read as 8, which nobody wrote; nor did anybody write 7, as "
                            "which it is read too. The log") and "--addresses" in twice and "--initial" not in twice


def test_a_selection_that_fits_nothing_says_what_there_is() -> None:
    text = complaint(line("ld a5, 0(a0)", 1, 0x100), line("sd a5, 0(a0)", 1, 0x200), options=selecting(X, X + 8))
    assert "0x7f4c0:0x7f4c8" in text and "0x100 to 0x200" in text


@pytest.mark.parametrize("bad", [
    line("ld a5, 0(a0)", "[0000_0001]", X), line("ld a5, 0(a0)", "0x0000_0001", X), line("ld a5, 0(a0)", "", X),
    line("ld a5, 0(a0)", 1, X, tick=2**64), line("ld a5, 0(a0)", "0x00zz", X), line("ld a5, 0(a0)", 1, X)[:-1],
    line("ld a5, 0(a0)", 1, X)[:-4], line("ld a5, 0(a0)", 1)[:-4], line("ld a5, 0(a0)", 1, X).replace("A=0x", "A=#"),
    "   1000: system.cpu0: T0 : 0x10966 @th1+26    : ld a5, 0(a", line("vse64_v v1, (a0)", 1, X),
    line("  ldadd   x1, x2, [x0]", 1, X), line("cbo_zero (a0)", None, X), "junk" + line("ld a5, 0(a0)", 1, X),
])
def test_garbled_accesses_are_refused_with_their_line(bad: str) -> None:
    assert complaint(line("sd a5, 0(a0)", 1, X + 8), bad).startswith("run.log.gz:2: ")


def test_no_damage_does_more_than_an_error() -> None:
    """Bytes changed, taken out and put in anywhere in a log: it is read or refused, never a crash."""
    random = Random(0)
    whole = (gem5.EXAMPLE + LOAD_RESERVED + SET_A4 + store_conditional(0) + "".join(locked(2, 3))
             + line("ecall") + line("fence rw, rw")).encode()
    for _ in range(3000):
        log = bytearray(whole)
        for _ in range(random.randrange(1, 4)):
            at = random.randrange(len(log))
            log[at : at + random.randrange(3)] = random.choice([b"", b" ", b":", b" : ", b"\n", b"x", b"\xff", b"0"])
        (result,) = gem5.read(io.BytesIO(bytes(log[: random.randrange(len(log)) if random.random() < 0.2 else None])),
                              "damaged.log", ALL)
        assert isinstance(result, History | InputError)


def test_prefetches_need_no_value() -> None:
    assert operations(line("sd a5, 0(a0)", 1, X), line("prefetch_r 0(a0)", None, X)) == ["cpu0 W 0x7f4c0=1"]


def test_values_may_repeat() -> None:
    stack = [line("sd a5, 0(sp)", 5, 0x100), line("sd a5, 0(sp)", 5, 0x100, pc="0x10968 @th1+28"),
             line("ld a5, 0(sp)", 5, 0x100), line("sd a5, 0(a0)", 1, X)]
    assert operations(*stack)[:3] == ["cpu0 W 0x100=5", "cpu0 W 0x100=5", "cpu0 R 0x100=5"]
    assert operations(*stack, options=selecting(X, X + 8)) == ["cpu0 W 0x7f4c0=1"]


def test_sizes_may_mix() -> None:
    assert operations(line("sd a5, 0(a0)", 1, X), line("lw a5, 0(a0)", 1, X)) == [
        "cpu0 W 0x7f4c0..0x7f4c7=1", "cpu0 R 0x7f4c0..0x7f4c3=1"]


def test_other_formats_are_not_recognised() -> None:
    for other in (b"0: M[3] := 7\n0: v3 == 7\n", b"1: load-req     0x0000000008 #0000 @64\n", b"thread,op,address\n",
                  b"core   0: 3 0x0000000080000104 (0x00a12023) mem 0x80002000 0x0000002a\n", b'{"thread": 0}\n', b""):
        assert not gem5.recognise(other)


def test_a_banner_before_the_log_is_recognised() -> None:
    assert gem5.recognise(b"gem5 Simulator System.\n\nwarn: x\n" + gem5.EXAMPLE.encode())
