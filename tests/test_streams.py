"""One history that never ends: its verdict is that of the whole history, whatever was forgotten on the way."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from random import Random
from threading import Thread

import numpy as np
import pytest
from random_histories import EVERY_KIND, Row, assemble

from gradual import adapters, files
from gradual.deadline import NEVER
from gradual.deciding import engine
from gradual.deciding.pipeline import check
from gradual.deciding.stream import FORGOTTEN, OVERFULL, End, Refused, Stream
from gradual.evidence.forgetting import NOBODY, Facts
from gradual.evidence.verdict import Cycle
from gradual.history import FENCE, READ, REAL_TIME, RMW, WRITE, Builder, History, InputError, Options
from gradual.machines import generate
from gradual.models import load, usual
from gradual.models.fit import fit

sys.path.insert(0, str(Path(__file__).parents[1]))

from experiments.streams import compared, pieces, small, streamed

GRADUAL = [sys.executable, "-m", "gradual.cli", "check"]
STREAM = ["-", "--stream", "--model"]
HEADER = "thread,op,address,value\n"


def run(text: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*GRADUAL, *arguments], input=text, capture_output=True, text=True, timeout=120)


def rows(*operations: str) -> History:
    """`0 W x 1`, `1 R x 0`: a line each."""
    builder = Builder("stream", "")
    for line, operation in enumerate(operations, 1):
        thread, kind, address, value = operation.split()
        (builder.write if kind == "W" else builder.read)(thread, address, int(value), line=line)
    return builder.build()


def in_ones(history: History, model: str = "sc", **limits: int) -> tuple[End, Stream]:
    return streamed(history, model, 1, **limits)


# --- what may be forgotten


def test_the_verdict_is_that_of_the_whole_history() -> None:
    found, _, forgotten = compared(60, seed=7)
    assert forgotten > 500
    assert {what for what in found if what.endswith(("WRONG", "without a reason"))} == set()
    assert found["consistent: consistent"] > 10 and found["violation: violation"] > 10


def test_in_real_time_too() -> None:
    """With lines that are late, too: then it is unknown. What needs the times is never told as the model's fault."""
    found, _, forgotten = compared(80, seed=7, timed=True)
    assert forgotten > 500
    assert {what for what in found if what.endswith(("WRONG", "without a reason"))} == set()
    assert found["consistent: consistent"] > 10 and found["violation: violation"] > 10


def test_fences_of_every_kind_stay_as_long_as_they_order_something() -> None:
    rng = Random(5)
    for _ in range(40):
        rows = [Row(rng.randrange(3), rng.choices((READ, WRITE, RMW, FENCE), (5, 5, 1, 4))[0], rng.randrange(2),
                    rng.randrange(4)) for _ in range(rng.randint(4, 16))]
        history = assemble(rows, fences=EVERY_KIND)
        model = rng.choice(usual()).name
        end, _ = streamed(history, model, rng.choice((1, 2, 5)), threads=len(history.threads))
        assert end.verdict.verdict == check(history, model, unordered=False, engine="schedule").verdict


def test_facts_hold_in_every_run() -> None:
    """Where they say that a write comes before another of its location, there is no run the other way round."""
    rng, asked = Random(3), 0
    for _ in range(40):
        history, model = small(rng), rng.choice(usual())
        outcome = engine.decide(history, fit(model), NEVER) if (history.source != -2).all() else None
        if outcome is None or outcome.status != engine.CONSISTENT or len(history) > 60:
            continue
        facts = Facts(history, model.name, outcome.order)
        pairs = [(a, b) for a in history.writes.tolist() for b in history.writes.tolist()
                 if a != b and history.location[a] == history.location[b] and facts.precede(a, b)]
        for a, b in rng.sample(pairs, min(5, len(pairs))):
            asked += 1
            assert engine.decide(history, fit(model), NEVER, extra=[(b, a)]).status == engine.VIOLATED
    assert asked > 30


def test_what_everybody_has_seen_overwritten_is_forgotten() -> None:
    history = rows("0 W x 1", "1 R x 1", "0 W x 2", "1 R x 2", "0 R x 2")
    order = [0, 1, 2, 3, 4]
    cut = Facts(history, "SC", order).cut(range(2), len(history))
    assert cut.count == 5 and cut.memory.tolist() == [2] and not cut.kept.any()
    assert Facts(history, "SC", order).cut(range(2), 3).count == 3
    silent = rows("0 W x 1", "1 R y 0", "0 W x 2", "0 R x 2")
    cut = Facts(silent, "SC", [0, 1, 2, 3]).cut(range(2), 4)
    assert cut.count == 0 and cut.memory.tolist() == [NOBODY, NOBODY]


def test_an_order_that_is_open_is_not_forgotten() -> None:
    """Nobody looked at x: later, either value may be there, and not both by turns."""
    blind = ("0 W x 1", "1 W x 2", "0 W y 1", "1 R y 1", "1 W z 1", "0 R z 1")
    for last in (1, 2):
        assert in_ones(rows(*blind, f"0 R x {last}", f"1 R x {last}"), threads=2)[0].verdict.verdict == "consistent"
    end, _ = in_ones(rows(*blind, "0 R x 1", "1 R x 2", "0 R x 2", "1 R x 1"), threads=2)
    assert end.verdict.verdict == "violation"


def test_windows_stay_small() -> None:
    history = generate("tso", 4, 3000, 16, 3)
    stream = Stream(load("tso"), kept=0)
    held = []
    for piece in pieces(history, 500):
        stream.take(piece)
        held.append(stream.checkpoint.window)
    assert max(held) < 600 and stream.checkpoint.certified == stream.checkpoint.line
    assert stream.close().verdict.verdict == "consistent"


# --- violations


SEEN = ("0 W x 1", "1 R x 1", "0 W x 2", "1 R x 2", "0 R x 2", "1 W y 1", "0 R y 1")


def test_a_value_that_was_forgotten() -> None:
    end, stream = in_ones(rows(*SEEN, "1 R x 1", "1 W z 1", "0 R z 1"), threads=2)
    assert stream.window.forgotten and end.verdict.decided_by == FORGOTTEN and end.verdict.verdict == "violation"
    assert "line 8" in end.verdict.message and "stored at line 1" in end.verdict.message


def test_what_memory_held_before_a_cycle() -> None:
    end, stream = streamed(rows(*SEEN, "0 W x 3", "0 W y 2", "1 R y 2", "1 R x 2"), "sc", len(SEEN))
    assert stream.window.forgotten and end.verdict.verdict == "violation" and isinstance(end.verdict.evidence, Cycle)
    starts = [edge.start for edge in end.verdict.evidence.edges]
    held, = stream.window.held_before(end.history, starts)
    assert held.startswith("x held 2 ") and "line 3;" in held
    assert sorted(end.history.line[starts].tolist()) == [8, 9, 10, 11]


def test_a_load_waits_for_its_store() -> None:
    end, _ = in_ones(rows("0 R x 1", "0 W y 1", "1 R y 1", "1 W x 2", "2 W x 1"), threads=3)
    assert end.verdict.verdict == "consistent"
    early = Stream(load("sc"))
    for piece in pieces(rows("1 W y 1", "0 R x 1", "0 R y 1"), 1):
        early.take(piece)
    assert early.checkpoint.certified == 1
    assert early.close().verdict.decided_by == "thin-air"


def test_with_all_threads_there_a_load_that_all_have_passed_waits_no_more() -> None:
    stream = Stream(load("sc"), threads=2)
    for piece in pieces(rows("1 W z 1", "0 R x 7", "0 W y 1", "1 R y 1", "1 R z 1"), 1):
        stream.take(piece)
        if stream.end:
            break
    assert stream.end is not None and stream.end.verdict.decided_by == "thin-air"
    assert stream.checkpoint.operations == 4


# --- real time


def timed(*operations: str) -> History:
    """`0 W x 1 5 7`: began at 5 and ended at 7."""
    builder = Builder("stream", "")
    for line, operation in enumerate(operations, 1):
        thread, kind, address, value, begin, end = operation.split()
        (builder.write if kind == "W" else builder.read)(thread, address, int(value), line=line, begin=int(begin),
                                                         end=int(end))
    return replace(builder.build(), real_time=True)


def ticking(operations: Iterable[str]) -> list[str]:
    return [f"{operation} {10 * at} {10 * at + 8}" for at, operation in enumerate(operations, 1)]


def test_in_real_time_nobody_waits_for_a_silent_thread() -> None:
    silent = ticking(["2 R x 0", *BUSY])
    end, stream = in_ones(timed(*silent, "9 R x 40 900 905", "2 R x 40 910 915"), window=20)
    assert end.verdict.verdict == "consistent" and not stream.checkpoint.assumed and stream.window.forgotten > 60
    end, stream = in_ones(timed(*silent, "2 R x 2 900 905"), window=20)
    assert (end.verdict.verdict, end.verdict.decided_by, end.verdict.given) == ("violation", REAL_TIME, (REAL_TIME,))
    assert "in real time every thread had seen a later store to x" in end.verdict.message
    wrong = ("0 W a 1 900 905", "0 W b 1 910 915", "1 R b 1 920 925", "1 R a 0 930 935")
    end, _ = streamed(timed(*silent, *wrong), "sc", len(silent))
    assert (end.verdict.verdict, end.verdict.given) == ("violation", ()) and isinstance(end.verdict.evidence, Cycle)


def test_a_line_that_is_late_for_real_time_is_said() -> None:
    silent = ticking(["2 R x 0", *BUSY])
    end, stream = in_ones(timed(*silent, "2 R x 40 20 905"), window=20)
    assert end.verdict.verdict == "consistent" and "--real-time wants lines" in stream.checkpoint.assumed[0]
    end, _ = in_ones(timed(*silent, "2 R x 40 20 25"), window=20)
    assert (end.verdict.verdict, end.verdict.decided_by) == ("unknown", OVERFULL) and "line 82" in end.verdict.message


def test_real_time_on_the_command_line() -> None:
    header = "thread,op,address,value,begin,end\n"
    done = run(header + "0,W,x,1,1,5\n1,R,x,0,6,8\n", *STREAM, "all", "--real-time")
    assert done.returncode == 1 and done.stdout.count("violation in real time") == 3
    assert "began" in done.stdout or "ended" in done.stdout
    done = run(header + "0,W,x,1,1,5\n1,R,x,0,4,8\n", *STREAM, "all", "--real-time", "--json")
    assert [json.loads(line)["given"] for line in done.stdout.splitlines()] == [["real-time"]] * 3
    done = run(HEADER + "0,W,x,1\n", *STREAM, "sc", "--real-time")
    assert done.returncode == 2 and "--real-time needs times" in done.stdout


# --- limits


BUSY = [line for n in range(2, 42, 2) for line in (f"0 W x {n}", f"1 R x {n}", f"1 W y {n}", f"0 R y {n}")]


def test_a_silent_thread_fills_the_window_and_that_is_said() -> None:
    end, stream = in_ones(rows("2 R x 0", *BUSY), window=20, threads=3)
    assert end.verdict.verdict == "consistent"
    assert any("silent threads (2)" in what and "--window" in what for what in stream.checkpoint.assumed)
    end, _ = in_ones(rows("2 R x 0", *BUSY, "2 R x 2"), window=20, threads=3)  # which is consistent, and was forgotten
    assert end.verdict.verdict == "unknown" and end.verdict.decided_by == OVERFULL
    end, _ = in_ones(rows("2 R x 0", *BUSY, "2 R x 2"), threads=3)
    assert end.verdict.verdict == "consistent"


def test_a_violation_that_needs_nothing_of_before_is_one_in_spite_of_that() -> None:
    wrong = ("0 W a 100", "0 W b 100", "1 R b 100", "1 W a 101", "1 W b 101", "0 R b 101", "0 R a 100")
    end, stream = in_ones(rows("2 R x 0", *BUSY, *wrong), window=20, threads=3)
    assert stream.checkpoint.assumed and end.verdict.verdict == "violation"


def test_a_thread_that_comes_late_is_said() -> None:
    end, stream = in_ones(rows(*BUSY, "9 R x 40"), threads=2)
    assert end.verdict.verdict == "consistent" and "thread 9 comes after" in stream.checkpoint.assumed[0]
    end, _ = in_ones(rows(*BUSY, "9 R x 0"), threads=2)  # it may have started first of all
    assert end.verdict.verdict == "unknown"
    assert in_ones(rows(*BUSY, "9 R x 0"), threads=3)[0].verdict.verdict == "consistent"


def test_a_load_that_waits_for_ever_ends_the_stream() -> None:
    end, _ = in_ones(rows("0 R q 5", *BUSY), window=20)
    assert end.verdict.verdict == "unknown" and "line 1" in end.verdict.message and "--window" in end.verdict.message


def test_what_is_refused() -> None:
    with pytest.raises(Refused, match="TSO"):
        Stream(load("rvwmo"))
    builder = Builder("pair", "")
    builder.read("0", "x", 0, line=1, marks=8)
    builder.write("0", "x", 1, line=2, pair=1)
    with pytest.raises(InputError, match="load-reserved"):
        Stream(load("sc")).take(builder.build())


def test_initial_values_hold_for_all_pieces() -> None:
    text = '{"op": "init", "value": 5}\n{"thread": 0, "op": "W", "address": "x", "value": 1}\n'
    late = '{"thread": 0, "op": "R", "address": "%s", "value": 5}\n'
    stream = Stream(load("sc"))
    for piece in (text, late % "y", late % "z"):
        stream.take(next(item for item in adapters.adapter("jsonl").read(io.BytesIO(piece.encode()), "-", Options())
                         if isinstance(item, History)))
    assert stream.close().verdict.verdict == "consistent"
    stream = Stream(load("sc"))
    with pytest.raises(InputError, match="two initial values"):
        for value in (5, 6):
            builder = Builder("", "")
            builder.initial("x", value)
            builder.write("0", "x", value + 2, line=1)
            stream.take(builder.build())


# --- files


@pytest.mark.parametrize("format", ["csv", "jsonl", "axe"])
def test_pieces_have_the_lines_of_the_whole(format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    history = generate("tso", 3, 400, 4, 2)
    text = io.BytesIO()
    adapters.writer(format).write([history], text)
    if format == "jsonl":  # an operation per line
        rows = json.loads(text.getvalue())["operations"]
        text = io.BytesIO("".join(json.dumps(row) + "\n" for row in rows).encode())
    (tmp_path / f"trace.{format}").write_bytes(b"# a comment\n" * (format == "csv") + text.getvalue())
    whole, = files.read(tmp_path / f"trace.{format}", None, Options())
    monkeypatch.setattr(files, "HEAD", 256)
    monkeypatch.setattr(files, "LINES", 20)
    parts = list(files.pieces(tmp_path / f"trace.{format}", None, Options()))
    assert isinstance(whole, History) and len(parts) > 5
    joined = [piece for piece in parts if isinstance(piece, History)]
    for column in ("line", "read", "written", "kind"):
        assert np.array_equal(np.concatenate([getattr(piece, column) for piece in joined]), getattr(whole, column))


@pytest.mark.parametrize(("text", "message"), [
    (HEADER + "0,W,x,1\n0,Q,x,1\n", "-:3: op 'Q'"),
    ("history," + HEADER + "a,0,W,x,1\nb,0,W,x,1\n", "-:3: a stream is one history, and after a comes b"),
    (HEADER, "no operations"),
    (HEADER.strip() + ",addr\n0,R,x,0,\n0,R,y,0,1\n", "cannot take dependencies (`addr`)"),
    ("", "nothing in it"),
    ('{"histories": []}', "json cannot be read as a stream"),
])
def test_bad_streams(text: str, message: str) -> None:
    done = run(text, *STREAM, "sc")
    assert done.returncode == 2 and message in done.stdout and "Traceback" not in done.stderr


def test_what_stands_before_an_error_is_taken() -> None:
    done = run(HEADER + "0,W,x,1\n1,R,x,1\n1,R,x,0\n0,Q,x,1\n", *STREAM, "sc")
    assert done.returncode == 1 and "SC violation" in done.stdout and "R x=0 (thread 1, line 4)" in done.stdout


def test_the_lines_of_a_stream_are_handed_on_in_time() -> None:
    """However little comes at a time, and however fast."""
    with suppress(BrokenPipeError), subprocess.Popen(
            [*GRADUAL, *STREAM, "sc"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as process:
        assert process.stdin and process.stdout
        process.stdin.write(HEADER + "0,W,x,1\n0,R,x,0\n")
        writer = Thread(target=_drip, args=(process,))
        writer.start()
        assert "SC violation" in process.stdout.readline()
        process.kill()
        writer.join()


def _drip(process: subprocess.Popen[str]) -> None:
    """A line every hundredth of a second, for ten seconds."""
    assert process.stdin
    with suppress(BrokenPipeError):
        for n in range(1000):
            process.stdin.write(f"1,W,y,{n + 1}\n")
            process.stdin.flush()
            time.sleep(0.01)


@pytest.mark.parametrize("more", ["0: M[0] := 3\n", "# more\n0: M[0] := 3\ncheck\n"])
def test_check_ends_a_stream_of_axe(more: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text, trace = "0: M[0] := 1\n1: M[0] == 1\ncheck # the end\n", tmp_path / "trace.axe"
    for lines in (1, 6000):
        monkeypatch.setattr(files, "LINES", lines)
        monkeypatch.setattr(files, "HEAD", 8 * lines)
        trace.write_text(text)
        assert not [piece for piece in files.pieces(trace, None, Options()) if isinstance(piece, InputError)]
        trace.write_text(text + more)
        *found, error = files.pieces(trace, None, Options())
        assert "a stream is one history, and after trace#1 comes more" in str(error)
        assert sum(len(piece) for piece in found if isinstance(piece, History)) == 2


def test_a_final_value_that_nobody_wrote_is_told() -> None:
    done = run(HEADER + "0,W,x,1\n1,W,x,2\n,final,x,3\n", *STREAM, "sc")
    assert done.returncode == 1 and "SC violation" in done.stdout and "x is left with 3 (line 4)" in done.stdout


@pytest.mark.parametrize(("final", "status", "words"), [
    (6000, 0, "SC consistent"), (1, 1, "x must be left with 1 (line 6002): that was stored at line 2, and something"),
    (9999, 1, "x must be left with 9999 (line 6002): nobody wrote that")])
def test_final_values_of_what_was_forgotten(final: int, status: int, words: str) -> None:
    done = run(HEADER + "".join(f"0,W,x,{n}\n" for n in range(1, 6001)) + f",final,x,{final}\n", *STREAM, "sc")
    assert done.returncode == status and words in done.stdout and "0 in the window" in done.stdout


@pytest.mark.parametrize(("parts", "more"), [
    ((",init,x,5\n", "0,R,x,5\n"), ()), ((",init,,5\n", "0,R,x,5\n"), ()),
    (("0,W,0x80,5\n", "0,W,0x90,6\n", "0,R,0x80,5\n"), ("--addresses", "0x80:0x88"))])
def test_pieces_without_operations(parts: tuple[str, ...], more: tuple[str, ...]) -> None:
    with subprocess.Popen([*GRADUAL, *STREAM, "sc", *more], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as process:
        assert process.stdin and process.stdout
        for text in (HEADER, *parts):
            process.stdin.write(text)
            process.stdin.flush()
            time.sleep(0.4)
        process.stdin.close()
        assert "SC consistent" in process.stdout.read()


def test_two_final_values_of_one_location() -> None:
    stream = Stream(load("sc"))
    stream.take(rows("0 W x 1"))
    with pytest.raises(InputError, match="x is given two final values"):
        for value in (1, 1, 2):
            builder = Builder("", "")
            builder.final("x", value, line=value)
            stream.take(builder.build())


def test_many_marks_of_a_comment_behind_a_check() -> None:
    done = run("0: M[0] := 1\ncheck\n" + 80 * "#" + "\ncheck\n", *STREAM, "sc", "--format", "axe")
    assert done.returncode == 0, done.stdout


def test_options_that_do_not_go_together() -> None:
    for arguments in (["-", "-", "--stream"], ["-", "--stream", "--witness", "w"], ["-", "--window", "5"],
                      ["-", "--stream", "--model", "rvwmo"]):
        done = run("", *arguments)
        assert done.returncode == 2 and done.stderr.startswith("gradual: ") and not done.stdout


def test_the_record_of_a_stream() -> None:
    done = run(HEADER + "0,W,x,1\n0,R,y,0\n1,W,y,1\n1,R,x,0\n", *STREAM, "all", "--json")
    sc, tso, pso = map(json.loads, done.stdout.splitlines())
    assert done.returncode == 1 and [r["verdict"] for r in (sc, tso, pso)] == ["violation", "consistent", "consistent"]
    assert [edge["from"]["line"] for edge in sc["cycle"]] == [5, 2, 3, 4] and sc["end"] and not sc["assumed"]
    assert (tso["operations"], tso["line"], tso["certified_line"]) == (4, 5, 5)


def test_a_line_that_has_come_is_taken_and_ctrl_c_tells_how_far_it_was() -> None:
    with subprocess.Popen([*GRADUAL, *STREAM, "sc", "--json"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as process:
        assert process.stdin and process.stdout
        process.stdin.write(HEADER + "0,W,x,1\n0,R,x,0\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["verdict"] == "violation"
        process.stdin.close()
    with suppress(BrokenPipeError), subprocess.Popen(
            [*GRADUAL, *STREAM, "sc", "--json"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True) as process:
        assert process.stdin and process.stdout and process.stderr
        process.stdin.write(HEADER)
        writer = Thread(target=_go_on, args=(process,))
        writer.start()
        assert json.loads(process.stdout.readline())["end"] is False
        process.send_signal(signal.SIGINT)
        told = process.stderr.readline()
        last = json.loads(process.stdout.readlines()[-1])
        writer.join()
    assert (last["end"], last["verdict"]) == (True, "unknown") and last["certified_line"] > 1
    assert process.returncode == 130 and "stopped; " in told and "SC certified up to line " in told


def _go_on(process: subprocess.Popen[str]) -> None:
    assert process.stdin
    with suppress(BrokenPipeError):
        for n in range(1, 10_000):
            process.stdin.write(f"0,W,x,{n}\n")
            process.stdin.flush()
            time.sleep(0.1)


def test_time_limits_hold() -> None:
    done = run(HEADER + "0,W,x,1\n", *STREAM, "sc", "--timeout", "0")
    assert done.returncode == 3 and "unknown" in done.stdout and "within 0 s" in done.stdout


def test_values_that_come_again() -> None:
    with pytest.raises(InputError, match="one of several stores"):
        in_ones(rows("0 W x 1", "0 W x 2", "1 R x 1", "0 W x 1"), threads=3)
    _, stream = in_ones(rows(*SEEN, "0 W x 1"), threads=2)
    assert "stores a value again" in stream.checkpoint.assumed[0] and "line 1)" in stream.checkpoint.assumed[0]


def test_widths_that_overlap_across_pieces() -> None:
    stream = Stream(load("sc"))
    with pytest.raises(InputError, match="8 bytes at 0x1000 \\(line 1\\) and 4 bytes at 0x1004 \\(line 3\\)"):
        for line, (address, size) in enumerate(((0x1000, 8), (0x1008, 8), (0x1004, 4)), 1):
            builder = Builder("", "")
            builder.write("0", hex(address), line, line=line, size=size)
            stream.take(builder.build())
