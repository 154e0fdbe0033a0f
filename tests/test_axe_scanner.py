"""The compiled scanner of axe's text finds what the reader finds that goes statement by statement."""

from __future__ import annotations

import io
import random
from collections.abc import Iterator

import numpy as np
import pytest
from gradual.adapters import _axe_scanner, axe
from gradual.adapters._text import decode, is_text

from gradual.compiler import can_compile
from gradual.history import Addresses, History, InputError, Options, Share

PIECES = [
    "0", "1", "12", "007", "0x1f", "-1", "-0x2", "0xffffffffffffffff", "18446744073709551615", "M[3]", "M[ 0x10 ]",
    "v3", "v 3", "M[-1]", "==", ":=", ":", ";", "{", "}", "<", ">", "sync", "final", "check", "checks", "@", "@ 5:9",
    "@ 7", "@ :9", "@ 3:", "#", "# name", "# two words", "\n", "\n", " ", "\t", "\r\n", "é", "_"]
STATEMENTS = [
    "0: M[3] := 7", "1: M[3] == 7", "1: v3 == 0", "0:{M[3]==7;M[3]:=8}", "2 : < v1 == 0 ; M[1] := 3 >", "0: sync",
    "final M[3] == 8", "check", "check # c", "# name\n", "1: M[0x10] == -1 @ 5:9", "1: v2 == 0 @ 10:", "1: sync @ 20",
    "0: M[3] := 9 @ 30:", "0: v4 == 0 @:40", "0: { M[3] == 7; M[4] := 8 }", "1: M[3] = 1",
    "3: M[1] := 99999999999999999999"]


def texts(seed: int, many: int) -> Iterator[bytes]:
    choose = random.Random(seed)
    for _ in range(many):
        parts: list[str] = []
        for _ in range(choose.randrange(1, 14)):
            parts.append(choose.choice(STATEMENTS if choose.random() < 0.93 else PIECES))
            parts.append(choose.choice(["\n", "\n", "\n", " ", "  # c\n", "\n\n", ""]))
        text = "".join(parts)
        if choose.random() < 0.15:
            at = choose.randrange(len(text) + 1)
            text = text[:at] + choose.choice(PIECES) + text[at:]
        yield text.encode()


def told(item: History | InputError) -> object:
    if isinstance(item, InputError):
        return type(item), str(item)
    return (item.name, item.threads, item.locations, item.notes,
            *(None if column is None else column.tolist() for column in (
                item.thread, item.kind, item.location, item.read, item.written, item.source, item.line, item.initial,
                item.final, item.final_value, item.final_line, item.begin, item.end)))


@pytest.fixture
def by_scanner(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    if not can_compile():
        pytest.skip("there is no LLVM")
    with monkeypatch.context() as patched:
        patched.setattr(axe, "_SMALL", -1)
        yield


def both(data: bytes, options: Options, file: str = "-") -> tuple[list[object], list[object]]:
    small = axe._SMALL
    found = []
    for axe._SMALL in (1 << 60, small):
        found.append([told(item) for item in axe.read(io.BufferedReader(io.BytesIO(data)), file, options)])
    return found[0], found[1]


@pytest.mark.usefixtures("by_scanner")
@pytest.mark.parametrize("options", [Options(), Options(addresses=Addresses([(1, 4)])),
                                     Options(initial_at={3: 7}), Options(share=Share(1, 2))],
                         ids=["all", "addresses", "initial", "share"])
@pytest.mark.parametrize("block", [7, 1 << 20])
def test_scanner_and_statements(block: int, options: Options, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_axe_scanner, "BLOCK", block)
    if options.share.of > 1:
        monkeypatch.setattr("gradual.history.options.BLOCK", 1)
    for data in texts(block, 300):
        plain, scanned = both(data, options, "-" if block == 7 else "f.axe")
        assert scanned == plain, data


@pytest.mark.usefixtures("by_scanner")
def test_room_runs_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a long history statements are found in portions; a short one behind it begins on its line."""
    monkeypatch.setattr(_axe_scanner, "ROOM", 5)
    long = "".join(f"{n % 3}: M[{n % 2}] := {n + 1}\n" for n in range(57))
    plain, scanned = both(f"# long\n{long}check\n0: sync\ncheck 1: sync\n".encode(), Options())
    assert scanned == plain
    assert len(scanned) == 3


@pytest.mark.usefixtures("by_scanner")
def test_a_pipe_is_answered_at_once() -> None:
    """A history is there as soon as its check is, though the pipe stays open."""

    class Pipe(io.RawIOBase):
        pieces: list[bytes] = [b"0: M[0] := 1\nche", b"ck\n", b"0: sync\n"]  # noqa: RUF012
        taken = 0

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
            piece = self.pieces[self.taken] if self.taken < len(self.pieces) else b""
            self.taken += 1
            buffer[:len(piece)] = piece
            return len(piece)

    pipe = Pipe()
    histories = axe.read(io.BufferedReader(pipe), "-", Options())
    assert isinstance(first := next(histories), History)
    assert pipe.taken <= 3
    assert np.array_equal(first.written, [1])
    assert len(list(histories)) == 1


def test_a_history_is_called_by_the_last_comment_before_it() -> None:
    """A single word, on a line of its own before all code; what follows the last `check` on its line is none."""
    def called(data: bytes, number: int) -> str:
        found = None
        for at, line in enumerate(io.BytesIO(data)):
            code, comment, after = line.partition(b"#")
            if code.removeprefix(b"\xef\xbb\xbf").strip():
                break
            if comment and (at > 0 or number == 0):
                found = words[0] if len(words := decode(after).split()) == 1 and is_text(words[0]) else None
        return found or f"x#{number + 1}"

    choose = random.Random(7)
    for _ in range(5000):
        data = b"".join(choose.choices([b"# a", b"#b c", b"#", b" ", b"\n", b"\r\n", b"\t", b"0: sync", b"\xef\xbb\xbf",
                                        b"# \xff"], k=choose.randint(0, 9)))
        number = choose.randint(0, 1)
        assert axe._called("x.axe", data, number) == called(data, number), data
