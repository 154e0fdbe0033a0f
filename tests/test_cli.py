"""The command line as a user meets it: a subprocess, its output, its exit status."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest
from command import gradual

from gradual.cli.commands import COMMANDS, program

TRACES = Path(__file__).parents[1] / "traces"
FIGURES = TRACES / "figures.csv"
FIGURE_NAMES = ["fig-1a", "fig-1b", "fig-1c", "fig-1d", "fig-3", "SB", "future"]
SB = "thread,op,address,value\n0,W,x,1\n0,R,y,0\n1,W,y,1\n1,R,x,0\n"
OK = "thread,op,address,value\n0,W,x,1\n1,R,x,1\n"
FIELDS = {"history", "source", "model", "verdict", "decided_by", "operations", "threads", "locations", "write_pairs",
          "unordered_pairs", "unordered_percent", "seconds", "message"}


def records(done: subprocess.CompletedProcess[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    file = tmp_path / "trace.csv"
    file.write_text(SB)
    return file


def test_exit_statuses(trace: Path, tmp_path: Path) -> None:
    good = tmp_path / "good.csv"
    good.write_text(OK)
    assert gradual("check", good).returncode == 0
    assert gradual("check", good, trace).returncode == 1
    assert gradual("check", trace, "--model", "tso").returncode == 0
    assert gradual("check", good, tmp_path / "missing.csv").returncode == 2
    assert gradual("check", trace, tmp_path / "missing.csv").returncode == 1
    assert gradual("check", trace, "--model", "arm").returncode == 2
    assert gradual("check").returncode == 2
    assert gradual("check", trace, "--model", "tso", "--timeout", "0").returncode == 3
    assert gradual("check", trace, tmp_path / "missing.csv", "--model", "tso", "--timeout", "0").returncode == 2


def test_a_violation_in_words(trace: Path) -> None:
    done = gradual("check", trace)
    assert "SC violation by CCM" in done.stdout
    for part in ("R x=0 (thread 1, line 5)", "W x=1 (thread 0, line 2)", "R y=0 (thread 0, line 3)", "rw →", "po →"):
        assert part in done.stdout


def test_json_rows(trace: Path) -> None:
    done = gradual("check", trace, FIGURES, "--model", "all", "--json")
    rows = records(done)
    assert [row["model"] for row in rows] == ["SC", "TSO", "PSO"] * 8
    assert [row["history"] for row in rows[::3]] == ["trace", *FIGURE_NAMES]
    for row in rows:
        assert set(row) >= FIELDS
        assert ("cycle" in row) == (row["verdict"] == "violation")
        assert ("witness" in row) == (row["verdict"] == "consistent")
    first = rows[0]
    assert first["source"] == str(trace)
    assert (first["operations"], first["threads"], first["locations"]) == (4, 2, 2)
    assert [edge["edge"] for edge in first["cycle"]] == ["rw", "po", "rw", "po"]  # type: ignore[index,union-attr]
    assert sorted(rows[1]["witness"]["order"]) == [0, 1, 2, 3]  # type: ignore[index]


def test_write_pairs_are_counted(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("thread,op,address,value\n0,W,x,1\n1,W,x,2\n2,W,x,3\n2,W,x,4\n0,W,y,1\n")
    row = records(gradual("check", file, "--json"))[0]
    assert (row["write_pairs"], row["unordered_pairs"]) == (6, 5)
    assert row["unordered_percent"] == pytest.approx(500 / 6, abs=1e-3)


def test_models_can_be_repeated(trace: Path) -> None:
    rows = records(gradual("check", trace, "--model", "pso", "--model", "sc", "--model", "pso", "--json"))
    assert [row["model"] for row in rows] == ["SC", "PSO"]


@pytest.mark.parametrize("completion", ["auto", "enumerate", "sat", "direct"])
def test_completions(completion: str) -> None:
    done = gradual("check", TRACES / "search.csv", "--completion", completion, "--json")
    assert [row["verdict"] for row in records(done)] == ["violation", "violation"]
    assert records(done)[0]["decided_by"] == (completion if completion != "auto" else "search")
    assert records(done)[0]["pairs_tried"]


def test_search_is_said(tmp_path: Path) -> None:
    assert "search ordered" in gradual("check", TRACES / "search.csv").stdout


def test_standard_input(trace: Path) -> None:
    done = gradual("check", "-", stdin=SB)
    assert done.returncode == 1
    assert done.stdout.startswith("-: SC violation")
    assert records(gradual("check", "-", "--json", stdin=SB))[0]["history"] == "stdin"


def test_input_errors_cost_only_their_history(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("history,thread,op,address,value\na,0,W,x,1\na,1,R,x,1\nb,0,W,x,one\nc,0,W,x,1\nc,1,W,,1\n"
                    "c,1,R,x,1\nd,0,W,x,1\n")
    done = gradual("check", file, tmp_path, tmp_path / "none", FIGURES, "--json")
    rows = records(done)
    assert [row["verdict"] for row in rows[:6]] == ["consistent", "error", "error", "consistent", "error", "error"]
    assert [row["history"] for row in rows[:4]] == ["a", "b", "c", "d"]
    assert f"{file}:4" in str(rows[1]["message"])
    assert f"{file}:6" in str(rows[2]["message"])
    assert len(rows) == 13


def test_bytes_that_are_no_trace(tmp_path: Path) -> None:
    for name, content in {"empty": b"", "zeros": bytes(1000), "text": b"hello\nworld\n", "gz": b"\x1f\x8b\x08broken",
                          "t.csv": b"\xff\xfe\x00", "u.json": b"{", "v.parquet": b"PAR1xxxx"}.items():
        (tmp_path / name).write_bytes(content)
        done = gradual("check", tmp_path / name)
        assert done.returncode == 2, name
        assert name in done.stdout


def test_addresses_select(tmp_path: Path) -> None:
    log = TRACES / "gem5" / "MIbug-TimingSimpleCPU-4t-100o-plain-s11.log.gz"
    row = records(gradual("check", log, "--addresses", "0x7f4c0:0x834c0", "--json"))[0]
    assert (row["verdict"], row["operations"], row["threads"]) == ("violation", 100, 4)
    halves = ("--addresses", "0x7f4c0:0x7f540", "--addresses", "0x7f540:0x834c0")
    assert records(gradual("check", log, *halves, "--json"))[0]["operations"] == 100
    assert gradual("check", log, "--addresses", "0x0:0x10").returncode == 2
    assert gradual("check", log, "--addresses", "12").returncode == 2
    file = tmp_path / "t.csv"
    file.write_text("thread,op,address,value\n0,W,0x10,1\n0,W,32,2\n0,R,16,5\n")
    assert gradual("check", file, "--addresses", "0x20:0x21").returncode == 0
    assert gradual("check", file, "--addresses", "0x10:0x20").returncode == 1


def test_a_log_without_a_selection_says_what_to_do() -> None:
    done = gradual("check", TRACES / "gem5" / "MIbug-TimingSimpleCPU-4t-100o-plain-s11.log.gz")
    assert done.returncode == 2
    assert "--addresses" in done.stdout


def test_initial_values(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("thread,op,address,value\n0,R,x,5\n0,R,y,7\n")
    assert gradual("check", file).returncode == 1
    assert gradual("check", file, "--initial", "5", "--initial", "y=7").returncode == 0
    assert gradual("check", file, "--initial", "y=z").returncode == 2


def test_witness_file(trace: Path, tmp_path: Path) -> None:
    out = tmp_path / "w.jsonl"
    gradual("check", trace, "--model", "all", "--witness", out)
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row["model"] for row in rows] == ["TSO", "PSO"]
    assert {entry["line"] for entry in rows[0]["order"]} == {2, 3, 4, 5}
    assert rows[0]["store_order"]["x"][0]["written"] == 1
    assert gradual("check", trace, "--witness", tmp_path / "no" / "w").returncode == 2


def test_classify() -> None:
    rows = records(gradual("classify", FIGURES, "--json"))
    assert [row["history"] for row in rows] == FIGURE_NAMES
    assert rows[1]["criteria"] == {"CC": True, "CCv": True, "CM": False, "CCM": False, "SC": False, "wCCM": True,
                                   "TSO": True, "PSO": True}
    table = gradual("classify", FIGURES).stdout.splitlines()
    assert table[0].split() == ["history", "CC", "CCv", "CM", "CCM", "SC", "wCCM", "TSO", "PSO"]
    assert table[2].split() == ["fig-1b", *"✓✓✗✗✗✓✓✓"]


def test_classify_reports_what_it_cannot_read(tmp_path: Path) -> None:
    done = gradual("classify", tmp_path / "none.csv", FIGURES, "--json")
    assert done.returncode == 2
    assert set(records(done)[0]["criteria"].values()) == {None}  # type: ignore[attr-defined]
    assert len(records(done)) == 8


@pytest.mark.parametrize("format", ["csv", "json", "jsonl", "axe"])
def test_generate_and_check(format: str) -> None:
    made = gradual("generate", "--machine", "tso", "--threads", "3", "--operations", "30", "--locations", "2", "--seed",
                   "5", "--histories", "3", "--format", format)
    rows = records(gradual("check", "-", "--model", "tso", "--json", stdin=made.stdout))
    assert [row["verdict"] for row in rows] == ["consistent"] * 3
    assert [row["operations"] for row in rows] == [30] * 3
    assert made.stdout == gradual("generate", "--machine", "tso", "--threads", "3", "--operations", "30", "--locations",
                                  "2", "--seed", "5", "--histories", "3", "--format", format).stdout


def test_generate_broken(tmp_path: Path) -> None:
    out = tmp_path / "b.parquet"
    assert gradual("generate", "--machine", "broken", "--histories", "8", "--output", out).returncode == 0
    verdicts = {row["verdict"] for row in records(gradual("check", out, "--json"))}
    assert "violation" in verdicts
    assert gradual("generate", "--machine", "nosuch").returncode == 2
    assert "broken" in gradual("generate", "--machine", "help").stdout


def test_convert_from_any_to_any(tmp_path: Path) -> None:
    files = [Path(FIGURES), *(tmp_path / name for name in ("a.json", "b.jsonl", "c.parquet", "d.axe", "e.arrow",
                                                           "f.csv.gz"))]
    for previous, file in pairwise(files):
        assert gradual("convert", previous, file).returncode == 0
    rows = records(gradual("check", *files, "--model", "all", "--json"))
    verdicts = [[row["verdict"] for row in rows if row["source"] == str(file)] for file in files]
    assert len(verdicts[0]) == 21
    assert verdicts == [verdicts[0]] * len(files)
    piped = gradual("convert", files[-1], "-", "--to", "jsonl")
    assert len(records(piped)) == 7


def test_convert_refuses_clearly(tmp_path: Path) -> None:
    assert "gem5" in gradual("convert", FIGURES, tmp_path / "x", "--to", "gem5").stderr
    done = gradual("convert", FIGURES, tmp_path / "x.unknown")
    assert done.returncode == 2
    assert "choose one of" in done.stderr
    missing = gradual("convert", tmp_path / "none.csv", tmp_path / "x.csv")
    assert missing.returncode == 2
    assert gradual("convert", FIGURES, tmp_path / "no" / "x.csv").returncode == 2
    (itself := tmp_path / "a.csv").write_text("thread,op,address,value\n0,W,x,1\n")
    before = itself.read_text()
    assert "another file" in gradual("convert", itself, itself).stderr
    assert itself.read_text() == before


def test_formats_are_listed_with_examples() -> None:
    listed = gradual("formats").stdout
    for name in ("gem5", "axe", "csv", "json", "jsonl", "parquet", "arrow"):
        assert f"\n{name}:" in f"\n{listed}"


def test_format_can_be_chosen(trace: Path) -> None:
    assert gradual("check", trace, "--format", "csv").returncode == 1
    assert gradual("check", trace, "--format", "axe").returncode == 2
    assert "no format called" in gradual("check", trace, "--format", "vcd").stderr


def test_help_has_examples() -> None:
    for command in ("check", "classify", "generate", "convert"):
        assert "gradual " in gradual(command, "--help").stdout.split("Options")[1]
    assert "check" in gradual("--help").stdout
    assert gradual("--version").stdout.startswith("gradual ")


def test_strange_names(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("with space.csv", "quo'te\".csv", "new\nline.csv", "ünïcode.csv",
                                          "[bold]red.csv", "<b>.csv", os.fsdecode(b"\xff.csv"))]
    for file in files:
        file.write_text(SB)
    assert [row["source"] for row in records(gradual("check", *files, "--json"))] == list(map(str, files))
    done = gradual("check", *files)
    assert (done.returncode, done.stdout.count("SC violation")) == (1, len(files))


def test_nothing_heavy_is_imported(trace: Path) -> None:
    code = ("import sys; sys.argv = ['gradual', *{arguments!r}]\nimport gradual.cli\n"
            "try:\n    gradual.cli.main()\nexcept SystemExit:\n    pass\n"
            "print([m for m in ('pandas', 'llvmlite', 'pyarrow', 'gradual.telling.shorten', 'gradual.cli.batch')\n"
            "       if m in sys.modules], file=sys.stderr)")
    history = subprocess.run([sys.executable, "-m", "gradual.cli", "generate"], capture_output=True, check=True).stdout
    trace.write_bytes(history)
    for arguments in (["--help"], ["check", str(trace)]):
        done = subprocess.run([sys.executable, "-c", code.format(arguments=arguments)], capture_output=True, text=True)
        assert done.stderr.strip().endswith("[]" if "check" in arguments else "['gradual.cli.batch']"), done.stderr
    large = trace.with_suffix(".axe")
    gradual("generate", "--operations", 3000, "-o", large)
    done = subprocess.run([sys.executable, "-c", code.format(arguments=["check", str(large)])], capture_output=True,
                          text=True)
    assert done.stderr.strip().endswith("['llvmlite']"), done.stderr


def test_one_command_is_as_among_all() -> None:
    for name in COMMANDS:
        assert f"Usage: gradual {name} " in gradual(name, "--help").stdout
    (alone,) = program("check").registered_commands
    assert [alone.callback] == [command.callback for command in program().registered_commands][:1]


def test_answers_come_while_the_stream_goes_on() -> None:
    """A simulator that is still running gets its verdicts already."""
    line = json.dumps({"history": "h", "operations": [{"thread": 0, "op": "W", "address": "x", "value": 1}]}) + "\n"
    with subprocess.Popen([sys.executable, "-u", "-m", "gradual.cli", "check", "-", "--json"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin and process.stdout
        for _ in range(3):
            process.stdin.write(line)
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["verdict"] == "consistent"
            time.sleep(0.05)
        process.stdin.close()
        assert process.wait(30) == 0


def test_a_reader_that_goes_away_is_no_drama(tmp_path: Path) -> None:
    program = f"{sys.executable} -m gradual.cli"
    command = (f"{program} generate --histories 2000 --operations 50 --format jsonl | {program} check - | head -1; "
               "echo ${PIPESTATUS[*]}")
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    assert done.stdout.splitlines()[-1] == "141 141 0"


def test_a_witness_never_replaces_a_trace(trace: Path) -> None:
    before = trace.read_text()
    done = gradual("check", trace, "--model", "tso", "--witness", trace)
    assert done.returncode == 2
    assert "overwrite" in done.stderr
    assert trace.read_text() == before
    assert gradual("check", trace, "--witness", "-").returncode == 2


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_outputs_that_cannot_be_written(trace: Path, unbuffered: str) -> None:
    if not Path("/dev/full").is_char_device():
        pytest.skip("there is no /dev/full")
    for arguments, status in (
            (f"check {trace} --model tso > /dev/full", 2), ("generate > /dev/full", 2),
            (f"check {trace} --model tso --witness /dev/full > /dev/null", 2),
            (f"check {trace} > /dev/full", 1), (f"check {trace} >&-", 1),  # a violation stays one
            (f"check - < {trace} > /dev/full", 1), (f"check - --stream < {trace} > /dev/full", 1)):
        done = subprocess.run(["bash", "-c", f"{sys.executable} -m gradual.cli {arguments}"], capture_output=True,
                              text=True, env={**os.environ, "PYTHONUNBUFFERED": unbuffered})
        assert done.returncode == status, arguments
        assert done.stderr.startswith("gradual: "), done.stderr
        assert len(done.stderr.splitlines()) == 1
    assert Path("/dev/full").is_char_device()


def test_standard_input_closed_or_named_twice(trace: Path) -> None:
    closed = subprocess.run(["bash", "-c", f"{sys.executable} -m gradual.cli check - <&-"], capture_output=True,
                            text=True)
    assert closed.returncode == 2
    assert "Traceback" not in closed.stderr
    assert gradual("check", "-", "-", stdin=SB).returncode == 2


def test_nothing_to_check_is_said(tmp_path: Path) -> None:
    (tmp_path / "none.json").write_text('{"histories": []}')
    assert gradual("check", tmp_path / "none.json").returncode == 2
    (tmp_path / "header.csv").write_text("thread,op,address,value\n")
    done = gradual("check", tmp_path / "header.csv")
    assert done.returncode == 2
    assert "no operations" in done.stdout
    allowed = gradual("check", tmp_path / "header.csv", "--allow-empty")
    assert allowed.returncode == 0
    assert "0 operations" in allowed.stdout
    assert gradual("convert", tmp_path / "none.json", tmp_path / "out.csv").returncode == 2
    assert not (tmp_path / "out.csv").exists()


def test_a_dead_monitor_is_an_error_in_every_format(tmp_path: Path) -> None:
    (tmp_path / "header.csv").write_text("thread,op,address,value\n")
    (tmp_path / "none.json").write_text('{"operations": []}')
    (tmp_path / "none.jsonl").write_text('{"history": "a", "operations": []}\n')
    for ending in ("parquet", "arrow"):
        assert gradual("convert", tmp_path / "header.csv", tmp_path / f"none.{ending}").returncode == 0
    files = sorted(tmp_path.iterdir())
    assert len(files) == 5
    rows = records(gradual("check", *files, "--json"))
    assert [row["verdict"] for row in rows] == ["error"] * 5
    done = gradual("batch", *files, "--out", tmp_path / "results")
    assert done.returncode == 2


def test_an_input_error_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("thread,op,address,value\n0,W,x,one\n")
    done = gradual("check", tmp_path / "t.csv", "--model", "all")
    assert done.stdout == f"{tmp_path / 't.csv'}:2: error: value 'one' is not a number\n"
    assert len(records(gradual("check", tmp_path / "t.csv", "--model", "all", "--json"))) == 3
    assert gradual("explain", tmp_path / "t.csv", "--model", "all").stdout.count("one") == 1


def test_witnesses_of_compiled_schedules(tmp_path: Path) -> None:
    """Beyond 3 000 operations the order is an array; as JSON its numbers are numbers."""
    assert gradual("generate", "--machine", "tso", "--operations", "3500", "-o", tmp_path / "t.csv").returncode == 0
    done = gradual("check", tmp_path / "t.csv", "--model", "tso", "--witness", tmp_path / "w.jsonl", "--json")
    assert done.returncode == 0
    record = json.loads((tmp_path / "w.jsonl").read_text())
    assert sorted(step["operation"] for step in record["order"]) == list(range(3500))
    assert sorted(records(done)[0]["witness"]["order"]) == list(range(3500))  # type: ignore[index]


def test_engines(trace: Path) -> None:
    for engine, decided_by in (("auto", "CCM"), ("datalog", "CCM"), ("schedule", "cycle")):
        row = records(gradual("check", trace, "--engine", engine, "--json"))[0]
        assert (row["verdict"], row["decided_by"]) == ("violation", decided_by)


def test_models_in_any_case(trace: Path) -> None:
    assert [row["model"] for row in records(gradual("check", trace, "--model", "TSO", "--json"))] == ["TSO"]


def test_final_values_are_named(tmp_path: Path) -> None:
    done = gradual("check", TRACES / "litmus.axe")
    assert "is left with it (line 29)" in done.stdout


def test_two_initial_values(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("thread,op,address,value\n,init,x,5\n,init,x,6\n0,R,x,5\n")
    done = gradual("check", file)
    assert done.returncode == 2
    assert "two initial values" in done.stdout
    assert gradual("check", file, "--initial", "=5").returncode == 2


def test_many_verdicts_are_counted() -> None:
    done = gradual("check", FIGURES)
    assert done.stderr.strip() == "gradual: 7 violations"


def test_ctrl_c_works_while_the_ladder_is_climbed(tmp_path: Path) -> None:
    import signal

    made = gradual("generate", "--operations", "3000").stdout
    (tmp_path / "t.csv").write_text(made)
    command = [sys.executable, "-m", "gradual.cli", "check", str(tmp_path / "t.csv"), "--engine", "datalog"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(3)
    process.send_signal(signal.SIGINT)
    started = time.monotonic()
    out, error = process.communicate(timeout=30)
    assert time.monotonic() - started < 5
    assert process.returncode == 130
    assert "Traceback" not in out + error


def test_orders_side_by_side() -> None:
    log = TRACES / "gem5" / "MI-TimingSimpleCPU-2t-100o-plain-s1.log.gz"
    arguments = ("check", log, "--addresses", "0x7f4c0:0x834c0", "--compare-orders", "--model", "sc", "--model", "tso")
    sc, tso = records(gradual(*arguments, "--json"))
    assert list(sc["orders"]) == ["CCv", "CCM", "saturation"]  # type: ignore[call-overload]
    assert list(tso["orders"]) == ["wCCM", "saturation"]  # type: ignore[call-overload]
    values = list(sc["orders"].values())  # type: ignore[attr-defined]
    assert values == sorted(values, reverse=True)
    assert "% by saturation" in gradual(*arguments).stdout


def test_many_small_histories_in_one_file(tmp_path: Path) -> None:
    """Decided together, in compiled code, and answered as one by one."""
    file = tmp_path / "many.csv"
    gradual("generate", "--machine", "tso", "--threads", "3", "--operations", "12", "--locations", "2", "--histories",
            "150", "--output", file)
    together = records(gradual("check", file, "--model", "all", "--json"))
    assert [row["history"] for row in together[::3]] == [f"tso-{number}" for number in range(150)]
    alone = records(gradual("check", "-", "--model", "all", "--json", stdin=file.read_text()))
    for row, other in zip(together, alone, strict=True):
        for unlike in ("seconds", "source"):
            row.pop(unlike), other.pop(unlike)
        assert row == other
    assert {row["verdict"] for row in together} == {"consistent", "violation"}


def test_unordered_pairs_of_a_large_history_are_counted_when_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "large.parquet"
    gradual("generate", "--machine", "tso", "--operations", "20001", "--locations", "64", "--output", file)
    (row,) = records(gradual("check", file, "--model", "tso", "--json"))
    assert (row["verdict"], row["decided_by"], row["unordered_pairs"], row["unordered_percent"]) == (
        "consistent", "schedule", None, None)
    (row,) = records(gradual("check", file, "--model", "tso", "--json", "--unordered"))
    assert row["ordered_by"] == "saturation" and row["unordered_pairs"] is not None
    assert "--unordered" in gradual("check", file, "--model", "tso").stdout
    assert "% of write pairs" in gradual("check", file, "--model", "tso", "--unordered").stdout


HEX = "thread,op,address,value\n0,W,deadbeef,1\n1,R,DEADBEEF,1\n0,W,10,2\n1,R,1a,0\n"


def test_hex_without_0x_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(HEX)
    plain = gradual("check", tmp_path / "t.csv")
    assert plain.stderr.count("look like hex without 0x (deadbeef, DEADBEEF, 10)") == 1 and "--hex" in plain.stderr
    done = gradual("check", tmp_path / "t.csv", "--hex")
    assert done.returncode == 0 and not done.stderr
    assert "3 locations" in done.stdout
    (tmp_path / "v.csv").write_text("thread,op,address,value\n0,W,x,ff\n1,R,x,FF\n2,R,x,0xff\n")
    assert "--hex reads hex without 0x" in gradual("check", tmp_path / "v.csv").stdout
    assert gradual("check", tmp_path / "v.csv", "--hex").returncode == 0
    assert not gradual("check", "-", stdin=SB.replace("x", "a").replace("y", "b")).stderr  # names like any other


def test_initial_values_of_nothing(trace: Path) -> None:
    done = gradual("check", trace, "--initial", "zz=5")
    assert done.returncode == 1 and "no history has the address zz" in done.stderr and "SC violation" in done.stdout
    done = gradual("check", trace, "--initial", "zz=5", "--model", "tso")
    assert done.returncode == 2 and "no history has the address zz" in done.stderr and "consistent" in done.stdout
    assert gradual("check", trace, "--initial", "x=1=2").returncode == 2
    assert gradual("check", trace, "--initial", "x=7", "--model", "tso").returncode == 1  # nobody wrote 0


def test_verdicts_in_words(tmp_path: Path, trace: Path) -> None:
    """People get words, JSON the names; and no percentage of a saturation that stopped."""
    done = gradual("check", trace, "--model", "tso")
    assert "TSO consistent, a run explains every value (" in done.stdout
    assert records(gradual("check", trace, "--model", "tso", "--json"))[0]["decided_by"] == "schedule"
    gradual("generate", "--machine", "broken", "--operations", "800", "--seed", "3", "-o", tmp_path / "broken.csv")
    done = gradual("check", tmp_path / "broken.csv")
    assert "SC violation by a cycle (" in done.stdout
    assert "saturation stopped at the first contradiction" in done.stdout and "left unordered" not in done.stdout
    row = records(gradual("check", tmp_path / "broken.csv", "--json"))[0]
    assert (row["decided_by"], row["ordered_by"], row["unordered_percent"]) == ("cycle", "saturation", None)
