"""What users expect and look for in vain elsewhere: quiet runs, other spellings of files, tables of Python programs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from command import gradual as run

import gradual
from gradual.history import InputError

SB = "thread,op,address,value\n0,W,x,1\n0,R,y,0\n1,W,y,1\n1,R,x,0\n"
EVIL = "a\x1b[2Jb\x07\u202e"


def only(path: Path) -> gradual.History:
    (history,) = gradual.read(path)
    assert isinstance(history, gradual.History), history
    return history


def test_quiet_and_one_line(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(SB)
    quiet = run("check", tmp_path / "t.csv", "--model", "all", "--quiet")
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (1, "", "")
    lines = run("check", tmp_path / "t.csv", "--model", "all", "--oneline").stdout.splitlines()
    assert [line.split()[1] for line in lines] == ["SC", "TSO", "PSO"]


def test_arrow_streams(tmp_path: Path) -> None:
    rows = {"thread": ["0", "0", "1", "1"], "op": list("WRWR"), "address": list("xyyx"), "value": [1, 0, 1, 0]}
    table = pa.table(rows)
    with pa.ipc.new_stream(tmp_path / "t.bin", table.schema) as writer:
        writer.write_table(table, max_chunksize=2)
    history = only(tmp_path / "t.bin")
    assert [history.what(operation) for operation in range(4)] == ["W x=1", "R y=0", "W y=1", "R x=0"]
    (tmp_path / "cut.bin").write_bytes((tmp_path / "t.bin").read_bytes()[:-200])
    assert any(isinstance(item, InputError) for item in gradual.read(tmp_path / "cut.bin"))


def test_comment_lines_in_csv(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("# made by hand\n\n" + SB.replace("1,W", "# 9,W,z,1\n1,W"))
    history = only(tmp_path / "t.csv")
    assert history.line.tolist() == [4, 5, 7, 8]
    large = "# first\nthread,op,address,value\n" + "".join(f"0,W,x,{i}\n" for i in range(1, 20_001)) + "# last\n"
    (tmp_path / "large.csv").write_text(large)
    assert len(only(tmp_path / "large.csv")) == 20_000


def test_a_thread_that_looks_like_a_comment_is_written_so_that_it_is_none(tmp_path: Path) -> None:
    builder = gradual.Builder("h", "")
    builder.write("#1", "x", 1)
    gradual.write([builder.build()], tmp_path / "t.csv")
    assert only(tmp_path / "t.csv").threads == ("#1",)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16(tmp_path: Path, encoding: str) -> None:
    mark = "" if encoding == "utf-16" else "\ufeff"
    (tmp_path / "t.csv").write_bytes((mark + SB).encode(encoding))
    assert len(only(tmp_path / "t.csv")) == 4
    (tmp_path / "cut.csv").write_bytes((mark + SB).encode(encoding)[:-1])
    (error,) = gradual.read(tmp_path / "cut.csv")
    assert isinstance(error, InputError) and "UTF-16" in error.message


def test_tables_of_python_programs() -> None:
    rows = [dict(zip(("thread", "op", "address", "value"), line.split(","), strict=True)) for line in SB.split()[1:]]
    assert gradual.check(rows).verdict == gradual.check(pd.DataFrame(rows)).verdict == "violation"
    assert gradual.check(rows, "tso")
    numbers = pd.DataFrame({"cpu": [0, 1], "op": ["W", "R"], "addr": [16, 16], "value": [1.0, 1.0]})
    assert gradual.check(numbers)
    assert gradual.classify(rows)["SC"] is False and len(gradual.shrink(rows)) == 4
    for bad in ([], [{"thread": 0}], pd.DataFrame({"thread": [], "op": [], "address": [], "value": []})):
        with pytest.raises(InputError):
            gradual.check(bad)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="2: value 'one'"):
        gradual.check([rows[0], {**rows[1], "value": "one"}])


def test_histories_as_data_frames() -> None:
    builder = gradual.Builder("h", "t.csv")
    builder.initial("x", 5)
    builder.rmw("0", "x", 5, 6, line=2, tick=10)
    builder.fence("0")
    builder.read("1", "x", 6)
    builder.final("x", 6)
    frame = builder.build().to_pandas()
    assert frame["op"].tolist() == ["init", "RMW", "F", "R", "final"]
    assert frame.loc[1, ["thread", "address", "value", "read", "time", "line"]].tolist() == ["0", "x", 6, 5, 10, 2]
    assert frame["value"].isna().tolist() == [False, False, True, False, False]
    assert gradual.check(frame)
    with pytest.raises(gradual.InputError, match="no operations"):
        gradual.check([])
    big = gradual.generate("tso", operations=300)
    assert len(big.to_pandas()) == 300
    assert gradual.check(big.to_pandas(), "tso").verdict == gradual.check(big, "tso").verdict == "consistent"


# --- what reaches the terminal


def test_no_control_character_reaches_the_terminal(tmp_path: Path) -> None:
    folder = tmp_path / EVIL
    folder.mkdir()
    good, bad, model = folder / "good.csv", folder / "bad.csv", folder / "evil.cat"
    good.write_text(f"history,thread,op,address,value\n{EVIL},{EVIL},W,{EVIL},1\n{EVIL},1,R,{EVIL},1\n"
                    f"{EVIL},1,R,{EVIL},0\n", encoding="utf-8")
    bad.write_text(f"thread,op,{EVIL}\n0,W,1\n", encoding="utf-8")
    model.write_text(f'M "{EVIL}"\nacyclic {EVIL} as x\n', encoding="utf-8")
    commands: list[list[str | Path]] = [
        ["check", good, bad], ["explain", good], ["shrink", good], ["diff-models", good, bad], ["classify", good],
        ["check", good, "--model", model], ["check", folder / "missing"], ["run", bad], ["models", model],
        ["check", good, "--format", EVIL], ["check", good, "--initial", f"{EVIL}{EVIL}=1"],
        ["shrink", good, "--history", f"{EVIL}{EVIL}"], ["convert", bad, folder / "out.csv"]]
    for command in commands:
        done = run(*command)
        said = done.stdout + done.stderr
        assert done.returncode in (0, 1, 2), said
        assert not any(letter in said for letter in EVIL if not letter.isprintable()), (command, said)
        assert "\\x07" in said, (command, said)


# --- fuzz


def test_braces_of_a_command_are_its_own(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(SB)
    done = run("fuzz", "--command", f"awk '{{print}}' {tmp_path / 't.csv'}", "--model", "tso", "--runs", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 history, 4 operations" in done.stdout and "verdicts: 1 consistent" in done.stdout


def test_saved_violations_can_be_run_again(tmp_path: Path) -> None:
    out = tmp_path / "saved"
    done = run("fuzz", "--machine", "broken-drop", "--seed", "3", "--save", out)
    assert done.returncode == 1, done.stdout
    again = json.loads(next(out.glob("*-run.json")).read_text())
    client = json.loads(next(out.glob("*-client.json")).read_text())
    assert again["seed"] == client["seed"]
    assert f"seed {client['seed']}" in next(out.glob("*-client.c")).read_text()
    repeated = subprocess.run(again["again"].replace("gradual", f"{sys.executable} -m gradual.cli", 1), shell=True,
                              capture_output=True, text=True)
    assert repeated.returncode == 1 and "first violation: history 1," in repeated.stdout


def test_classify_refuses_what_would_take_hours(tmp_path: Path) -> None:
    rows = "".join(f"{i % 4},W,{i % 9},{i + 1}\n" for i in range(20_001))
    (tmp_path / "t.csv").write_text("thread,op,address,value\n" + rows)
    done = run("classify", tmp_path / "t.csv")
    assert done.returncode == 2
    assert "gradual check --model all" in done.stderr and "--timeout" in done.stderr
