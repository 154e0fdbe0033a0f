"""TraceGen logs: requests paired with responses, LR with SC, times, runs that were cut off; axe behind a prefix.

The logs are made by hand, in the form that rocket-chip's TraceGen.scala prints. The project's converter to axe
(scripts/toaxe.py) says what they mean: what it would write stands beside each.
"""

from __future__ import annotations

import io

import pytest
from gradual.adapters import blackparrot, tracegen

from gradual import check
from gradual.history import History, InputError, Options


def parsed(text: str, adapter: object = tracegen) -> History | InputError:
    (history,) = adapter.read(io.BytesIO(text.encode()), "trace.log", Options())  # type: ignore[attr-defined]
    assert isinstance(history, History | InputError)
    return history


def operations(text: str) -> list[str]:
    history = parsed(text)
    assert isinstance(history, History), history
    return [f"{history.threads[history.thread[at]]}: {history.what(at)} @ {history.times(at)}"
            for at in range(len(history))]


def test_requests_and_responses() -> None:
    assert operations("""\
 1: load-req     0x0000000008 #0000 @64
0: store-req 5 0x0000100008 #7 @145
1: resp 0 #0 @96
0: swap-req 6 0x0000100008 #1 @150
0: resp 0 #7 @160
0: resp 5 #1 @170
0: fence-req @300
0: fence-resp @310
0: load-req 0x100008 #7 @311
0: resp 6 #7 @320
FINISHED 2
""") == ["1: R 0x8=0 @ 64:96", "0: W 0x100008=5 @ 145:", "0: RMW 0x100008: 5→6 @ 150:", "0: fence @ 300:310",
         "0: R 0x100008=6 @ 311:320"]


LRSC = """\
0: load-reserve-req 0x8 #0 @10
0: store-cond-req 7 0x8 #1 @20
0: resp 0 #0 @30
0: resp {} #1 @40
"""


def test_a_store_conditional_that_succeeds_is_an_rmw_with_the_times_of_its_load() -> None:
    assert operations(LRSC.format(0)) == ["0: RMW 0x8: 0→7 @ 10:30"]


def test_one_that_fails_leaves_a_load() -> None:
    assert operations(LRSC.format(1)) == ["0: R 0x8=0 @ 10:30"]


def test_requests_between_make_a_pair() -> None:
    """As one operation, another thread could not be seen between them."""
    text = """\
0: load-reserve-req 0x8 #0 @10
0: load-req 0x10 #2 @15
0: store-cond-req 7 0x8 #1 @20
0: resp 0 #0 @30
0: resp 0 #2 @31
0: resp 0 #1 @40
1: store-req 1 0x10 #0 @10
1: resp 0 #0 @12
1: load-req 0x8 #0 @20
1: resp 0 #0 @21
"""
    history = parsed(text)
    assert isinstance(history, History)
    assert [history.what(at) for at in range(3)] == ["LR 0x8=0", "R 0x10=0", "SC 0x8=7"]
    assert history.pair is not None and history.pair.tolist() == [[0, 2]]
    assert check(history, "sc").verdict == "consistent"


UNANSWERED = "".join(LRSC.splitlines(keepends=True)[:-1])
SEEN = "1: load-req 0x8 #0 @41\n1: resp {} #0 @45\n"


@pytest.mark.parametrize(("text", "told"), [
    ("0: load-req 0x8 #0 @10\n", []),
    ("0: store-req 1 0x8 #0 @10\n", []),
    (f"0: store-req 1 0x8 #0 @10\n{SEEN.format(1)}", ["0: W 0x8=1 @ 10:", "1: R 0x8=1 @ 41:45"]),
    (f"0: swap-req 1 0x8 #0 @10\n{SEEN.format(1)}", ["0: W 0x8=1 @ 10:", "1: R 0x8=1 @ 41:45"]),
    ("0: fence-req @10\n", []),
    (UNANSWERED + SEEN.format(7), ["0: RMW 0x8: 0→7 @ 10:30", "1: R 0x8=7 @ 41:45"]),
    (UNANSWERED, ["0: R 0x8=0 @ 10:30"]),
    ("0: load-req 0x8 #0 @10\n0: resp 0 #0 @12\n1: resp 0 #", ["0: R 0x8=0 @ 10:12"]),
])
def test_runs_that_were_cut_off(text: str, told: list[str]) -> None:
    """What nobody saw did not take place; the others of these would be lost by the converter."""
    assert operations(text) == told


def test_what_is_left_out_is_noted() -> None:
    found = parsed("""\
0: load-req 0x8 #0 @10
0: load-req 0x8 #1 @20
0: resp 0 #1 @15
0: store-req 1 0x8 #2 @30
0: load-req 0x8 #3 @40
""")
    assert isinstance(found, History)
    assert found.notes == ("2 requests without a response are left out (the first: line 1)",
                           "1 request with a response of an earlier cycle is without an end (the first: line 2)")


def test_a_violation_shows_the_lines_of_the_log() -> None:
    """Store buffering, where the loads began after the stores were answered: WMO has no say, SC has."""
    history = parsed("""\
simulator started
0: store-req 1 0x8 #0 @10
1: store-req 1 0x10 #0 @10
0: load-req 0x10 #1 @11
1: load-req 0x8 #1 @11
0: resp 0 #1 @12
1: resp 0 #1 @12
0: resp 0 #0 @20
1: resp 0 #0 @20
""")
    assert isinstance(history, History)
    assert check(history, "wmo").verdict == "consistent"
    verdict = check(history, "sc")
    assert verdict.verdict == "violation"
    assert [history.where(at) for at in range(4)] == [
        "thread 0, line 2, time 10:", "thread 1, line 3, time 10:", "thread 0, line 4, time 11:12",
        "thread 1, line 5, time 11:12"]


def test_wmo_counts_the_times() -> None:
    """Message passing: the second load began after the first was answered."""
    text = "0: store-req 1 0x8 #0 @10\n0: fence-req @11\n0: fence-resp @12\n0: store-req 1 0x10 #1 @13\n" + "".join(
        f"0: resp 0 #{tag} @20\n" for tag in (0, 1)) + "1: load-req 0x10 #0 @15\n1: load-req 0x8 #1 @{}\n" + (
        "1: resp 1 #0 @30\n1: resp 0 #1 @60\n")
    for begin, verdict in ((29, "consistent"), (31, "violation")):
        history = parsed(text.format(begin))
        assert isinstance(history, History)
        assert check(history, "wmo").verdict == verdict


@pytest.mark.parametrize(("text", "line", "words"), [
    ("0: load-req 0x8 #0 @1\n0: resp x #0 @2\n", 2, "expected resp VALUE #TAG @CYCLE, found 'x #0 @2'"),
    ("0: load-req 0x8 @1\n", 1, "expected load-req ADDRESS #TAG @CYCLE"),
    ("0: store-req 0x8 #0 @1\n", 1, "expected store-req VALUE ADDRESS #TAG @CYCLE"),
    ("0: resp 1 #3 @2\n", 1, "thread 0 has no open request with tag 3 that this could answer"),
    ("0: load-req 0x8 #0 @1\n1: resp 1 #0 @2\n", 2, "thread 1 has no open request with tag 0"),
    ("0: load-req 0x8 #0 @1\n0: resp 1 #0 @2\n0: resp 1 #0 @3\n", 3, "thread 0 has no open request with tag 0"),
    ("0: fence-resp @2\n", 1, "thread 0 has no open fence"),
    ("0: store-req 99999999999999999999999 0x8 #0 @1\n0: resp 0 #0 @2\n", 1, "does not fit into 64 bits"),
])
def test_bad_lines(text: str, line: int, words: str) -> None:
    error = parsed(text)
    assert isinstance(error, InputError)
    assert error.line == line
    assert words in error.message


# axe behind a prefix


def test_axe_lines_in_a_log_keep_their_place() -> None:
    text = "boot\n#AXE 0: M[1] := 1\n[12] #AXE 0: M[2] == 0\nnoise check\n#AXE 1: M[2] := 1\n\n#AXE 1: M[1] == 0\n"
    history = parsed(text, blackparrot)
    assert isinstance(history, History)
    assert history.line.tolist() == [2, 3, 5, 7]
    assert check(history, "sc").verdict == "violation"
    assert check(history, "tso").verdict == "consistent"
    assert history.where(3) == "thread 1, line 7"


def test_several_histories_and_bad_lines_behind_the_prefix() -> None:
    text = "#AXE 0: M[1] := 1\n#AXE check\nnoise\n#AXE 0: M[1] = 1\n#AXE check\n#AXE 0: M[1] == 0\n"
    first, second, third = blackparrot.read(io.BytesIO(text.encode()), "bp.log", Options())
    assert isinstance(first, History) and isinstance(third, History)
    assert isinstance(second, InputError) and second.line == 4
    assert third.line.tolist() == [6]
