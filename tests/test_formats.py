"""Formats side by side: each is recognised as itself and as nothing else."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from gradual.adapters._valueless import refusal

from gradual import adapters
from gradual.history import InputError

TRACES = Path(__file__).parents[1] / "traces"
SHARED = Path(__file__).parents[2] / "shared" / "traces"


def recognised(head: bytes) -> list[str]:
    return [name for name in adapters.names() if adapters.adapter(name).recognise(head)]


def beginning(path: Path) -> bytes:
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
        return stream.read(1 << 16)


@pytest.mark.parametrize("name", [name for name in adapters.names() if adapters.adapter(name).EXAMPLE])
def test_examples_are_recognised_as_what_they_are(name: str) -> None:
    example = adapters.adapter(name).EXAMPLE.encode()
    if name not in ("arrow", "parquet"):  # these show their columns
        assert recognised(example) == [name]


def test_traces_are_recognised_as_what_their_folder_says() -> None:
    """Those that ship, and the larger collection where it is there."""
    found = 0
    for folder, name in (("gem5", "gem5"), ("gem5-x86", "gem5"), ("spike", "spike")):
        for root in (TRACES, SHARED):
            for path in (root / folder).glob("*.gz"):
                assert recognised(beginning(path)) == [name], path
                found += 1
    assert found >= 7


@pytest.mark.parametrize(("head", "name"), [
    (b'0, 0xffffffff80000a12, 0x12345678, "ld a5, 0(a0)", load, 0x00012345, RAM\n', "a QEMU execlog"),
    (b'0, 0xa14, 0xf87f42b4, "cmp r4, r7"\n', "a QEMU execlog"),
    (b"Format: <data address>: <data size>, <(r)ead/(w)rite/opcode>\n0x7ffc2059:  8, w\n", "a DynamoRIO memory trace"),
    (b"0x00007f59c2d002d3:  5, call\n0x00007ffeacab0ec8:  8, w\n", "a DynamoRIO memory trace"),
    (b"           5           2:     3264692 read   8 byte(s) @ 0x00007f by PC 0x00007f\n", "a DynamoRIO memory trace"),
    (b"C0:        125 [1] pc=[0000000000010040] W[r10=0000000000000000][1] R[r 0=0] R[r 0=0] inst=[f1402573]\n",
     "Rocket's commit log"),
    (b"gem5\x2a\x00\x00\x0a\x08", "a gem5 packet trace"),
    (b"r,2147483648,64,0,1000\nw,2147483712,64,0,2000\n", "a gem5 packet trace"),
])
def test_logs_without_values_are_refused_by_name(head: bytes, name: str) -> None:
    assert recognised(head) == []
    for file in ("log", "trace.csv"):
        with pytest.raises(InputError, match=f"this looks like {name}, which has .*; use .* instead"):
            adapters.recognise(head, file)


def test_no_trace_is_taken_for_one_without_values() -> None:
    for path in TRACES.rglob("*.*"):
        assert not refusal(beginning(path)), path
    for name in adapters.names():
        assert not refusal(adapters.adapter(name).EXAMPLE.encode())
