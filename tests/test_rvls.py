"""RVLS logs: queues, replays, flushes, the order of the stores; instruction words where there are some.

The logs are made by hand, in the form that the file backend of RVLS's tracer prints.
"""

from __future__ import annotations

import io

import pytest
from gradual.adapters import rvls

from gradual import check
from gradual.history import History, InputError, Options

X, Y = 0x80002000, 0x80002008


def parsed(text: str) -> History | InputError:
    (history,) = rvls.read(io.BytesIO(text.encode()), "trace.log", Options())
    return history


def history_of(*lines: str) -> History:
    history = parsed("".join(f"{line}\n" for line in lines))
    assert isinstance(history, History), history
    return history


def operations(*lines: str) -> list[str]:
    history = history_of(*lines)
    return [history.describe(at) for at in range(len(history))]


def access(what: str, hart: int, entry: int, address: int, value: int, size: int = 8) -> str:
    return f"rv {what} {hart} {entry} {size} {address:016x} {value:016x}"


def load(hart: int, address: int, value: int, word: str = "", entry: int = 0) -> tuple[str, ...]:
    return (access("load exe", hart, entry, address, value), f"rv load com {hart} {entry}",
            f"rv rf w {hart} 0 32 {value:016x}", f"rv commit {hart} 0000000080000000 {word}".strip())


def store(hart: int, address: int, value: int, word: str = "", entry: int = 0) -> tuple[str, ...]:
    return access("store com", hart, entry, address, value), f"rv commit {hart} 0000000080000000 {word}".strip()


def test_the_last_execution_before_the_commit_counts() -> None:
    assert operations(access("load exe", 0, 3, X, 1), access("load exe", 0, 3, Y, 2), "time 700",
                      access("load exe", 0, 3, X, 0), "rv load com 0 3", "rv commit 0 80000000") == [
        "R 0x80002000=0 (hart0, line 4, tick 700)"]


def test_what_is_flushed_must_execute_again() -> None:
    error = parsed("\n".join([access("load exe", 0, 3, X, 1), "rv load flu 0", "rv load com 0 3", ""]))
    assert isinstance(error, InputError) and error.line == 3 and "not executed" in str(error)


def test_a_value_is_what_the_register_is_set_to_in_the_width_of_the_access() -> None:
    history = history_of(access("store com", 0, 0, X, 0xFFFF, 1), "rv commit 0 80000000",
                         access("load exe", 1, 0, X, 0, 1), "rv load com 1 0", "rv rf w 1 0 32 ffffffffffffffff",
                         "rv commit 1 80000000")
    assert [history.what(at) for at in range(2)] == ["W 0x80002000=255", "R 0x80002000=255"]
    assert history.size is not None and history.size.tolist() == [1, 1]


def test_stores_become_visible_in_an_order_of_their_own() -> None:
    """Before they commit, too; a store that nobody sees is left open."""
    history = history_of(*store(0, X, 1, entry=0), *store(0, X, 2, entry=1), access("store exe", 1, 5, X, 3),
                         "rv store bro 0 1", "rv store bro 1 5", "rv store com 1 5", "rv commit 1 80000000",
                         "rv store bro 0 0", *store(1, X, 4, entry=6))
    assert history.order is not None and history.order.tolist() == [2, 0, 1, -1]
    verdict = check(history, "tso")
    assert not verdict and verdict.decided_by == "store-order" and check(history.knowing(()), "tso")


def test_a_trap_ends_an_instruction_without_its_accesses() -> None:
    assert operations(access("load exe", 0, 0, X, 7), "rv load com 0 0", "rv trap 0 0 13", *load(0, X, 0)) == [
        "R 0x80002000=0 (hart0, line 4)"]


def test_a_load_and_a_store_of_one_instruction_are_an_rmw() -> None:
    lines = (*load(0, X, 0)[:-1], access("store com", 0, 1, X, 5), "rv commit 0 80000000", "rv store bro 0 1")
    history = history_of(*lines)
    assert history.what(0) == "RMW 0x80002000: 0→5" and history.order is not None and history.notes
    again = history_of(*store(1, X, 5), *(line.replace("0000000000000000", "0000000000000005") for line in lines))
    assert again.what(1) == "R 0x80002000=5" and again.order is None  # it writes what it read


LD_A1_A0, SD_A2_A1, FENCE_W_W = "00053583", "00c5b023", "0110000f"
LR_D, SC_D, BNEZ_A1 = "100535af", "18c536af", "00059463"


def test_instruction_words_have_fences_dependencies_and_pairs() -> None:
    history = history_of("rv new 0 RV64IMA MSU 32 0 0", *load(0, X, 0, LD_A1_A0), *store(0, Y, 1, SD_A2_A1),
                         f"rv commit 0 80000000 {FENCE_W_W}", *load(0, X, 0, LR_D), f"rv commit 0 80000000 {BNEZ_A1}",
                         "rv store sc 0 0", *store(0, X, 2, SC_D), "rv store sc 0 1", f"rv commit 0 80000000 {SC_D}")
    assert [history.what(at) for at in range(len(history))] == [
        "R 0x80002000=0", "W 0x80002008=1", "fence w.w", "LR 0x80002000=0", "SC 0x80002000=2"]
    assert history.addr is not None and history.addr.tolist() == [[0, 1]]
    assert history.pair is not None and history.pair.tolist() == [[3, 4]]
    assert history.ctrl is not None and history.ctrl.tolist() == [[3, 4]]
    assert history.line.tolist() == [2, 6, 8, 9, 15] and not history.notes


@pytest.mark.parametrize(("lines", "line", "words"), [
    (["rv load com 0 3"], 1, "not executed"),
    (["rv store com 0 3"], 1, "not executed"),
    (["rv store bro 0 3"], 1, "entry 3 of hart0 has no store"),
    ([access("store com", 0, 0, X, 1), access("store com", 0, 1, X, 2)], 2, "a second store"),
    ([access("load exe", 0, 0, X, 1), "rv load com 0 0", access("store com", 0, 0, Y, 2)], 3,
     "this store commits at 0x80002008 before the instruction of line 1 does"),
    ([access("load exe", 0, 0, X, 1, 3)], 1, "3 bytes"),
    (["rv load exe 0 0 4 xyz 1"], 1, "expected rv load exe HART ENTRY BYTES ADDRESS VALUE, found"),
    (["rv commit 0 80000000", "rv commit zero"], 2, "expected rv commit"),
    (["rv commit 0 80000000"], 0, "no load or store that commits"),
])
def test_what_cannot_be_read_is_said_with_its_line(lines: list[str], line: int, words: str) -> None:
    error = parsed("".join(f"{text}\n" for text in lines))
    assert isinstance(error, InputError) and error.line == line and words in str(error), error


def test_a_log_that_was_cut_off_is_refused() -> None:
    error = parsed("\n".join([*store(0, X, 1), "rv commit 0 8000"]))
    assert isinstance(error, InputError) and error.line == 3 and "no line end" in str(error)
