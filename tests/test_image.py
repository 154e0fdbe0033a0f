"""What memory held, from ELF programs, Verilog hex and tables: the bytes that the manuals say, and clear errors."""

from __future__ import annotations

import shutil
import struct
import subprocess
from pathlib import Path

import pytest

import gradual
from gradual.history import InputError, Options, read_image
from gradual.history.image import Block

TRACE = "thread,op,address,value,size\n0,R,{},{},{}\n0,W,{},77,{}\n"


def image(tmp_path: Path, content: str | bytes) -> gradual.history.Image:
    file = tmp_path / "memory"
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_image(str(file))


def elf(wide: bool, big: bool, *segments: tuple[int, int, bytes, int]) -> bytes:
    """Of segments: type, address, content, size in memory."""
    end = ">" if big else "<"
    head, size = (64, 56) if wide else (52, 32)
    body, table = b"", b""
    for kind, address, content, held in segments:
        at = head + size * len(segments) + len(body)
        table += (struct.pack(end + "IIQQQQQQ", kind, 0, at, address, address, len(content), held, 8) if wide else
                  struct.pack(end + "IIIIIIII", kind, at, address, address, len(content), held, 0, 4))
        body += content
    start = b"\x7fELF" + bytes([1 + wide, 1 + big, 1]) + bytes(9)
    fields = struct.pack(end + ("HHIQQQIHHHHHH" if wide else "HHIIIIIHHHHHH"), 2, 243, 1, 0, head, 0, 0, head, size,
                         len(segments), 0, 0, 0)
    return start + fields + table + body


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("big", [False, True])
def test_elf_segments(tmp_path: Path, wide: bool, big: bool) -> None:
    held = image(tmp_path, elf(wide, big, (1, 0x1000, bytes(range(1, 17)), 32), (4, 0x1000, b"note", 4)))
    order = "big" if big else "little"
    for size in (1, 2, 4, 8):
        assert held.value(0x1002, size) == int.from_bytes(bytes(range(3, 3 + size)), order)  # type: ignore[arg-type]
    assert held.value(0x1000) == int.from_bytes(bytes(range(1, 9 if wide else 5)), order)  # type: ignore[arg-type]
    assert held.value(0x1010, 8) == 0 and held.value(0x1018, 8) == 0  # .bss
    assert held.value(0x100E, 4) == int.from_bytes(bytes([15, 16, 0, 0]), order)  # type: ignore[arg-type]
    assert held.value(0x101C, 8) is None and held.value(0xFFF, 1) is None and held.value("x") is None


def test_a_real_program(tmp_path: Path) -> None:
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("no gcc here")
    (tmp_path / "a.c").write_text("volatile long shared = 0x1122334455667788, none; int main(void) { return 0; }\n")
    subprocess.run([compiler, "-no-pie", "-o", tmp_path / "a.out", tmp_path / "a.c"], check=True)
    symbols = subprocess.run(["nm", tmp_path / "a.out"], check=True, capture_output=True, text=True).stdout
    at = {line.split()[-1]: int(line.split()[0], 16) for line in symbols.splitlines() if len(line.split()) == 3}
    held = read_image(str(tmp_path / "a.out"))
    assert held.value(at["shared"]) == 0x1122334455667788 and held.value(at["none"], 8) == 0


@pytest.mark.parametrize(("text", "values"), [
    ("01 02 03 04 05 06 07 08\n@10 ff\n", {(0, 4): 0x04030201, (0, 0): 1, (16, 1): 255, (8, 1): None}),
    ("// words\n@2 0000_000a /* two\nlines */ b\n", {(8, 0): 10, (12, 4): 11, (8, 8): 0xB0000000A, (0, 4): None}),
    ("1122334455667788 x 3", {(0, 0): 0x1122334455667788, (8, 8): None, (16, 8): 3, (4, 4): 0x11223344}),
    ("ffffffffffffffff", {(0, 8): -1}), ("01\n@0\n02", {(0, 1): 2})])
def test_verilog_hex(tmp_path: Path, text: str, values: dict[tuple[int, int], int | None]) -> None:
    held = image(tmp_path, text)
    assert {place: held.value(*place) for place in values} == values


def test_a_table(tmp_path: Path) -> None:
    held = image(tmp_path, "# dump\nname;Address;value\na;0x10;0xff\nb;flag;-1\n")
    assert [held.value(at, 4) for at in (16, "flag", 17)] == [255, -1, None]
    assert image(tmp_path, "\ufeffaddress,value\n1,2\n").value(1) == 2


@pytest.mark.parametrize(("content", "words"), [
    ("", "there is nothing in it"), ("@10", "there is nothing in it"),
    ("12 34 main", "line 1: 'main' is neither a word"),
    ("12\n_", "line 2: '_' is neither a word"),
    ("@1ffffffffffffffff 12", "line 1: @1ffffffffffffffff is beyond the last"),
    (b"\x7fELF", "of no class and byte order"), (elf(True, False, (1, 0, b"x", 1))[:60], "ends too soon"),
    (elf(True, False, (1, 0, b"abcd", 4))[:-2], "the segment at 0x0 is not all there"),
    (elf(True, False, (4, 0, b"x", 1)), "no segments that are loaded"),
    (b"\xff\xfe\x80", "no ELF program, and no text"),
    ("address,value\nx,one\n", "line 2: 'one' is not a number"), ("address,value\n,1\n", "line 2: address is missing"),
    ("address,value\nx,1\nx,2\n", "line 3: x is given two values")])
def test_a_bad_file_is_told(tmp_path: Path, content: str | bytes, words: str) -> None:
    with pytest.raises(InputError, match=words):
        image(tmp_path, content)


def test_no_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_image(str(tmp_path / "none"))


def test_initial_values_compose(tmp_path: Path) -> None:
    held = image(tmp_path, "address,value\n1,11\n2,22\n3,33\n")
    trace = tmp_path / "trace.csv"
    rows = "".join(f"0,R,{at},{value}\n" for at, value in ((1, 11), (2, 5), (3, 6), (4, 9)))
    trace.write_text("thread,op,address,value\n,init,2,5\n" + rows)
    options = Options(initial=9, initial_at={3: 6}, image=held)
    assert gradual.check(trace, options=options).verdict == "consistent"
    large = tmp_path / "large.csv"  # which is read by columns
    large.write_text("thread,op,address,value\n,init,2,5\n" + rows * 6000)
    (history,) = gradual.read(large, options=options)
    assert isinstance(history, gradual.History) and history.initial.tolist() == [5, 11, 6, 9]


def test_a_location_is_as_wide_as_its_accesses(tmp_path: Path) -> None:
    held = image(tmp_path, "01 02 03 04 05 06 07 08")
    trace = tmp_path / "trace.csv"
    for size, value in (("", 1), (2, 0x201), (4, 0x4030201)):
        trace.write_text(TRACE.format(0, value, size, 0, size))
        assert gradual.check(trace, options=Options(image=held)).verdict == "consistent"


def test_blocks_have_bytes_and_zeros() -> None:
    block = Block(4, b"ab", 2)
    assert [block.bytes_at(at, 2) for at in (3, 4, 5, 6, 7)] == [None, b"ab", b"b\0", b"\0\0", None]
