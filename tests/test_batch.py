"""Batches: every row once, whatever happens on the way."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from command import GRADUAL
from command import gradual as run

import gradual
from gradual.batch.find import find, printable
from gradual.machines import generate

VARYING = ["seconds"]


def batch(*arguments: object, cwd: Path | None = None, pages: bool = False,
          **more) -> subprocess.CompletedProcess[bytes]:
    command = ["batch", *map(str, arguments), *([] if pages else ["--no-pages"])]
    if not {"-j", "--jobs", "--dask"} & set(arguments):
        command += ["--jobs", "1"]  # a process starts in a second: those of all tests together are minutes
    if not more:
        return run(*command, cwd=cwd, text=False)
    return subprocess.run([*GRADUAL, *command], capture_output=True, cwd=cwd, timeout=120, **more)


def rows(out: Path) -> pd.DataFrame:
    frame = pd.read_parquet(out).drop(columns=VARYING)
    frame["witness"] = [None if w is None else list(w) for w in frame["witness"]]
    frame = frame.sort_values(["source", "number", "model"], ignore_index=True)
    assert not frame.duplicated(["source", "number", "model"]).any()
    return frame


def write(path: Path, machine: str = "sc", count: int = 1, seed: int = 0, operations: int = 24) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    gradual.write((generate(machine, 3, operations, 3, seed + n, name=f"h{n}") for n in range(count)), path)
    return path


def begun(out: Path) -> None:
    """Wait until a batch has its results open."""
    while not (out / "_gradual.json").exists():
        time.sleep(0.05)
    time.sleep(0.3)


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    """Good, violating and damaged files, some with many histories."""
    folder = tmp_path / "traces"
    for n in range(30):
        write(folder / f"a/sound{n}.csv", seed=n)
    for n in range(6):
        write(folder / f"b/broken{n}.csv", "broken", seed=n)
    write(folder / "many.csv", count=600)
    write(folder / "many.parquet", "tso", count=120, seed=7)
    (folder / "b/damaged.csv").write_text("thread,op,address,value\n0,W,x,one\n")
    (folder / "b/damaged.parquet").write_bytes(b"PAR1nothing")
    (folder / "b/empty.csv").write_text("")
    (folder / "README.md").write_text("about these traces\n")
    return folder


def test_rows_are_those_of_check(traces: Path, tmp_path: Path) -> None:
    done = batch(traces, "--out", tmp_path / "r", "--model", "sc", "--model", "tso")
    assert done.returncode == 1, done.stderr
    found = rows(tmp_path / "r")
    names = sorted(str(path) for path in traces.rglob("*") if path.is_file() and path.name != "README.md")
    assert sorted(found["source"].unique()) == names
    printed = run("check", "--json", "--model", "sc", "--model", "tso", *names).stdout.splitlines()
    expected = [json.loads(line) for line in printed]
    assert len(expected) == len(found)
    got = {(row["source"], row["history"], row["model"]): row for row in found.to_dict("records")}
    for line in expected:
        row = got[line["source"], line["history"], line["model"]]
        assert row["verdict"] == line["verdict"]
        if line["verdict"] != "error":
            assert (row["operations"], row["write_pairs"]) == (line["operations"], line["write_pairs"])
        if line["verdict"] == "violation":
            assert json.loads(row["cycle"]) == line["cycle"]
            assert "cannot all come one after the other" in row["explanation"]
        if line["verdict"] == "consistent":
            assert sorted(row["witness"]) == sorted(line["witness"]["order"])
    one = found[found["source"] == str(traces / "a/sound0.csv")].iloc[0]
    status = (traces / "a/sound0.csv").stat()
    assert one["file_size"] == status.st_size
    assert one["modified"].value // 1000 == status.st_mtime_ns // 1000
    assert one["version"] == gradual.__version__
    assert b"README.md" in done.stderr


def test_the_same_command_again_does_nothing(traces: Path, tmp_path: Path) -> None:
    first = batch(traces, "--out", tmp_path / "r")
    before = rows(tmp_path / "r")
    parts = sorted((tmp_path / "r").iterdir())
    again = batch(traces, "--out", tmp_path / "r")
    assert again.returncode == first.returncode == 1
    assert sorted((tmp_path / "r").iterdir()) == parts
    pd.testing.assert_frame_equal(rows(tmp_path / "r"), before)


def test_another_model_and_a_changed_file(traces: Path, tmp_path: Path) -> None:
    batch(traces / "a", "--out", tmp_path / "r")
    batch(traces / "a", "--out", tmp_path / "r", "--model", "all")
    assert set(rows(tmp_path / "r")["model"]) == {"SC", "TSO", "PSO"}
    assert len(rows(tmp_path / "r")) == 90
    write(traces / "a/sound3.csv", seed=99, operations=30)
    batch(traces / "a", "--out", tmp_path / "r", "--model", "all")
    found = rows(tmp_path / "r")
    assert len(found) == 90
    assert set(found[found["source"].str.endswith("sound3.csv")]["operations"]) == {30}


@pytest.mark.parametrize("seed", [int(os.environ.get("SEED", "1"))])
def test_killed_at_random_moments(traces: Path, tmp_path: Path, seed: int) -> None:
    """kill -9 or Ctrl-C, again and again, then to the end: the rows of an uninterrupted run, each once."""
    rng = random.Random(seed)
    assert batch(traces, "--out", tmp_path / "whole", "--model", "sc", "--model", "tso").returncode == 1
    command = [*GRADUAL, "batch", str(traces), "--out", str(tmp_path / "r"), "--no-pages", "--model", "sc", "--model",
               "tso"]
    for _ in range(3):
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            time.sleep(rng.uniform(0.3, 3.0))
            process.send_signal(rng.choice([signal.SIGKILL, signal.SIGINT]))
    assert batch(*command[len(GRADUAL) + 1:]).returncode == 1
    pd.testing.assert_frame_equal(rows(tmp_path / "r"), rows(tmp_path / "whole"))


def test_killed_between_compaction_and_clearing(traces: Path, tmp_path: Path) -> None:
    batch(traces / "a", "--out", tmp_path / "r")
    (old,) = (tmp_path / "r").glob("part-*")
    shutil.copy(old, tmp_path / "copy")
    batch(traces, "--out", tmp_path / "r")
    before = rows(tmp_path / "r")
    shutil.copy(tmp_path / "copy", old)  # as if the old part had not been cleared away
    (tmp_path / "r/part-00000009.parquet.part").write_text("half of a part")
    batch(traces, "--out", tmp_path / "r")
    pd.testing.assert_frame_equal(rows(tmp_path / "r"), before)


def test_interrupted_says_how_to_go_on(traces: Path, tmp_path: Path) -> None:
    write(traces / "long.csv", count=8000)
    command = [*GRADUAL, "batch", str(traces), "--out", str(tmp_path / "r")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        begun(tmp_path / "r")
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate()
    assert process.returncode == 130
    assert b"the same command goes on from there" in stderr
    assert b"Traceback" not in stderr


CRASHING = """
import os, sys
from gradual.batch import work
row = work._row
def crash(found, trace, number, settings):
    if found.name == "h7" and trace.source.endswith("many.parquet"):
        os.abort()
    return row(found, trace, number, settings)
from gradual.deciding import pipeline, many
decide = many.decide
def crashing(histories, model):
    if any(h.name == "h7" and h.file.endswith("many.parquet") for h in histories):
        os.abort()
    return decide(histories, model)
many.decide = crashing
check = pipeline.check
def crashing_check(history, *a, **k):
    if history.name == "h7" and history.file.endswith("many.parquet"):
        os.abort()
    return check(history, *a, **k)
pipeline.check = crashing_check
"""


def test_a_worker_that_crashes_costs_one_row(traces: Path, tmp_path: Path) -> None:
    """A real process that really aborts: sitecustomize plants the crash in every process of the run."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site/usercustomize.py").write_text(CRASHING)
    (tmp_path / "site/sitecustomize.py").write_text(CRASHING)
    done = batch(traces, "--out", tmp_path / "r", env=os.environ | {"PYTHONPATH": str(tmp_path / "site")})
    assert done.returncode == 1, done.stderr
    found = rows(tmp_path / "r")
    batch(traces, "--out", tmp_path / "whole")
    expected = rows(tmp_path / "whole")
    died = found[found["message"].str.contains("worker died")]
    assert list(died["history"]) == ["h7"]
    assert list(died["verdict"]) == ["error"]
    assert "SIGABRT" in died.iloc[0]["message"]
    pd.testing.assert_frame_equal(found.drop(index=died.index), expected.drop(index=died.index))


def test_memory_limit_costs_one_row(tmp_path: Path) -> None:
    write(tmp_path / "t/large.parquet", operations=400_000)
    write(tmp_path / "t/small.csv")
    done = batch(tmp_path / "t", "--out", tmp_path / "r", "--memory", "60M")
    assert done.returncode == 2, done.stderr
    found = rows(tmp_path / "r").set_index("source")
    assert found.loc[str(tmp_path / "t/large.parquet"), "verdict"] == "error"
    assert "memory" in found.loc[str(tmp_path / "t/large.parquet"), "message"]
    assert found.loc[str(tmp_path / "t/small.csv"), "verdict"] == "consistent"


def test_timeout(tmp_path: Path) -> None:
    write(tmp_path / "t.parquet", operations=200_000)
    assert batch(tmp_path / "t.parquet", "--out", tmp_path / "r", "--timeout", "0").returncode == 3
    assert list(rows(tmp_path / "r")["verdict"]) == ["unknown"]


def test_fail_fast(tmp_path: Path) -> None:
    for n in range(40):
        write(tmp_path / f"t/{n:02}.csv", "broken", seed=n, count=80)
    done = batch(tmp_path / "t", "--out", tmp_path / "r", "--fail-fast", "-j", "1")
    assert done.returncode == 1
    assert len(rows(tmp_path / "r")) < 3200


def test_only_violations(traces: Path, tmp_path: Path) -> None:
    batch("traces", "../" + tmp_path.name + "/traces/b", "--out", "r", "--only-violations", "bad", cwd=tmp_path)
    found = rows(tmp_path / "r")
    violating = set(found[found["verdict"] == "violation"]["source"])
    copied = {str(path.relative_to(tmp_path / "bad")) for path in (tmp_path / "bad").rglob("*") if path.is_file()}
    assert copied == violating
    for name in copied:
        assert (tmp_path / "bad" / name).read_bytes() == (tmp_path / name).read_bytes()


NAMES = ["with space.csv", "quo'te\".csv", "new\nline.csv", "ünï.csv", "<script>alert(1)</script>.csv", "-o.csv",
         os.fsdecode(b"not-\xff-utf8.csv"), "glob[1]*.csv"]


def test_odd_names(tmp_path: Path) -> None:
    folder = tmp_path / "t"
    folder.mkdir()
    content = write(tmp_path / "x.csv").read_bytes()
    for name in NAMES:
        (folder / name.replace("/", "_")).write_bytes(content)
    done = batch(folder, "--out", tmp_path / "r", "--junit", tmp_path / "r.xml", "--only-violations", tmp_path / "bad")
    assert done.returncode == 0, done.stderr
    assert b"\nline.csv" not in done.stdout
    assert sorted(rows(tmp_path / "r")["source"]) == sorted(
        printable(str(folder / name.replace("/", "_"))) for name in NAMES)
    assert batch(folder, "--out", tmp_path / "r").returncode == 0
    assert len(rows(tmp_path / "r")) == len(NAMES)
    named = [folder / name.replace("/", "_") for name in NAMES]
    assert batch(*named, "--out", tmp_path / "named").returncode == 0
    assert len(rows(tmp_path / "named")) == len(NAMES)


def test_the_same_file_twice(tmp_path: Path) -> None:
    write(tmp_path / "t/a.csv")
    (tmp_path / "t/link.csv").symlink_to("a.csv")
    for paths in (["t/a.csv", "t/a.csv"], ["t", "./t/a.csv"], ["t/*.csv", "t"]):
        shutil.rmtree(tmp_path / "r", ignore_errors=True)
        assert batch(*paths, "--out", "r", cwd=tmp_path).returncode == 0
        assert len(rows(tmp_path / "r")) == 1


def test_nothing_to_check(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = batch(tmp_path / "empty", "--out", tmp_path / "r")
    assert done.returncode == 2
    assert b"there is no trace in" in done.stderr
    assert not (tmp_path / "r").exists()
    done = batch(tmp_path / "absent.csv", "--out", tmp_path / "r")
    assert done.returncode == 2
    assert rows(tmp_path / "r")["message"].str.contains("no such file").all()


def test_unreadable_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "t/good.csv")
    closed = tmp_path / "t/closed"
    write(closed / "hidden.csv")
    closed.chmod(0)
    if os.access(closed, os.R_OK):  # root may read anything: have the system call refuse instead
        scandir = os.scandir

        def refusing(path="."):
            if str(path) == str(closed):
                raise PermissionError(13, "Permission denied", str(path))
            return scandir(path)

        monkeypatch.setattr(os, "scandir", refusing)
    found = {trace.path: trace.error for trace in find([str(tmp_path / "t")], None).traces}
    closed.chmod(0o700)
    assert found == {str(tmp_path / "t/good.csv"): "", str(closed): "permission denied"}


def test_output_that_cannot_be_written(traces: Path, tmp_path: Path) -> None:
    for out in ("/proc/results", "/dev/null/results"):
        done = batch(traces / "a", "--out", out)
        assert done.returncode == 2
        assert len(done.stderr.splitlines()) == 1, done.stderr
    (tmp_path / "file").write_text("")
    assert b"is a file" in batch(traces / "a", "--out", tmp_path / "file").stderr
    assert b"holds other things" in batch(traces / "a", "--out", traces).stderr


def test_a_full_disk(traces: Path, tmp_path: Path) -> None:
    """A file system of 24 kB, where one can be mounted; what fits stays, and the run goes on elsewhere."""
    small = tmp_path / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24k", "none", str(small)], capture_output=True).returncode:
        pytest.skip("no permission to mount a small file system")
    try:
        done = batch(traces, "--out", small / "r")
        assert done.returncode == 2
        assert b"no space left" in done.stderr
        assert b"Traceback" not in done.stderr
        subprocess.run(["mount", "-o", "remount,size=64m", str(small)], check=True)
        batch(traces, "--out", small / "r")
        batch(traces, "--out", tmp_path / "whole")
        pd.testing.assert_frame_equal(rows(small / "r"), rows(tmp_path / "whole"))
    finally:
        subprocess.run(["umount", str(small)], check=True)


def test_other_options_are_refused(traces: Path, tmp_path: Path) -> None:
    batch(traces / "a", "--out", tmp_path / "r")
    done = batch(traces / "a", "--out", tmp_path / "r", "--initial", "7")
    assert done.returncode == 2
    assert b"other options" in done.stderr


def test_two_writers(traces: Path, tmp_path: Path) -> None:
    write(traces / "long.csv", count=8000)  # more than is done when the second one looks
    command = [*GRADUAL, "batch", str(traces), "--out", str(tmp_path / "r"), "--model", "all"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        begun(tmp_path / "r")
        done = batch(traces, "--out", tmp_path / "r")
        process.kill()
    assert done.returncode == 2
    assert b"another batch is writing" in done.stderr


@pytest.mark.parametrize("arguments", [["--memory", "lots"], ["--format", "vcd"], ["--jobs", "0"], ["--model", "arm"]])
def test_usage(tmp_path: Path, arguments: list[str]) -> None:
    write(tmp_path / "a.csv")
    done = batch(tmp_path / "a.csv", "--out", tmp_path / "r", *arguments)
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr
    assert not (tmp_path / "r").exists()


def test_pages_of_violations(tmp_path: Path) -> None:
    for n in range(3):
        write(tmp_path / f"t/{n}.csv", "tso", seed=n, operations=80)
    assert batch("t", "--out", "r", cwd=tmp_path, pages=True).returncode == 1
    found = rows(tmp_path / "r")
    violations = found[found["verdict"] == "violation"]
    pages = list((tmp_path / "r/_pages").iterdir())
    assert len(pages) == len(violations) > 0
    assert run("report", "r", "-o", "report.html", cwd=tmp_path).returncode == 0
    report = (tmp_path / "report.html").read_text()
    for page in pages:
        assert f'href="r/_pages/{page.name}"' in report
        assert "The contradiction" in page.read_text()
    checked = run("check", *violations["source"], cwd=tmp_path)
    shown = checked.stdout.replace("\n    ", "\n")
    assert all(explanation in shown for explanation in violations["explanation"]), "one shortening for both"


def test_damaged_results(traces: Path, tmp_path: Path) -> None:
    batch(traces, "--out", tmp_path / "r")
    before = rows(tmp_path / "r")
    (part,) = (tmp_path / "r").glob("part-*")
    part.write_bytes(part.read_bytes()[:5000])
    done = batch(traces, "--out", tmp_path / "r")
    assert b"damaged and was set aside" in done.stderr
    pd.testing.assert_frame_equal(rows(tmp_path / "r"), before)
    (tmp_path / "r/_gradual.json").write_text("{")
    done = batch(traces, "--out", tmp_path / "r")
    assert done.returncode == 2
    assert b"delete it and run the same command again" in done.stderr


def test_more_time_is_another_try(tmp_path: Path) -> None:
    write(tmp_path / "t.csv", count=3)
    assert batch(tmp_path / "t.csv", "--out", tmp_path / "r", "--timeout", "0", "--completion", "sat").returncode == 3
    assert set(rows(tmp_path / "r")["verdict"]) == {"unknown"}
    assert batch(tmp_path / "t.csv", "--out", tmp_path / "r", "--timeout", "60", "--completion", "sat").returncode == 0
    assert list(rows(tmp_path / "r")["verdict"]) == ["consistent"] * 3


def test_another_try_is_not_forgotten_when_it_is_killed(tmp_path: Path) -> None:
    """The word that a file was ended may stand in another part than its rows."""
    from gradual.batch import Limits
    from gradual.batch.results import Results

    out, key = tmp_path / "r", ("t.csv", "SC", (1, 1))
    results = Results(out, {}, Limits(1))
    results.add([{"source": "t.csv", "number": n, "model": "SC", "verdict": verdict, "file_size": 1, "modified": 1}
                 for n, verdict in enumerate(("unknown", "consistent"))])
    results.flush()
    results.complete(*key)
    results.flush()
    results.close()
    for changed in (1, 0):  # with another limit; then as after a kill
        results = Results(out, {}, Limits(2))
        assert not results.is_complete(*key)
        assert results.begun({"t.csv": (1, 1)}, ["SC"]) == {"t.csv": {(1, "SC")}}
        assert results.tried_again == changed
        assert list(pd.read_parquet(out)["verdict"]) == ["consistent"]
        results.close()


def test_what_was_not_asked_for_keeps_its_rows(tmp_path: Path) -> None:
    write(tmp_path / "good.csv")
    (tmp_path / "bad.csv").write_text("thread,op,address,value\n0,W,x,one\n")
    assert batch(tmp_path / "bad.csv", "--out", tmp_path / "r", "--model", "all").returncode == 2
    before = rows(tmp_path / "r")
    assert batch(tmp_path / "good.csv", "--out", tmp_path / "r", "--timeout", "5").returncode == 0
    pd.testing.assert_frame_equal(rows(tmp_path / "r").query("verdict == 'error'"), before, check_dtype=False)
    assert batch(tmp_path / "bad.csv", "--out", tmp_path / "r", "--timeout", "5").returncode == 2
    again = rows(tmp_path / "r").query("verdict == 'error'")
    assert sorted(zip(again["model"], again["timeout"].isna(), strict=True)) == [
        ("PSO", True), ("SC", False), ("TSO", True)]


def test_a_file_that_changes_and_changes_back(tmp_path: Path) -> None:
    """The word that it was ended goes with its rows."""
    file, old = write(tmp_path / "t.csv", count=3), tmp_path / "old.csv"
    shutil.copy2(file, old)
    batch(file, "--out", tmp_path / "r", "--model", "all")
    before = rows(tmp_path / "r")
    write(file, count=2, seed=9)
    batch(file, "--out", tmp_path / "r", "--model", "sc")
    shutil.copy2(old, file)
    batch(file, "--out", tmp_path / "r", "--model", "all")
    pd.testing.assert_frame_equal(rows(tmp_path / "r"), before)


def test_a_damaged_part_with_rows_of_files_that_ended_elsewhere(tmp_path: Path) -> None:
    file = write(tmp_path / "t.csv", count=3)
    batch(file, "--out", tmp_path / "r")
    before = rows(tmp_path / "r")
    part, = (tmp_path / "r").glob("part-*")
    shutil.copy2(part, tmp_path / "r/part-00000009.parquet")  # it says that the file was ended, too
    data = bytearray(part.read_bytes())
    data[4:-4000] = bytes(len(data) - 4004)  # the pages; the footer is whole
    part.write_bytes(data)
    import pyarrow.parquet as pq

    kept = pq.read_table(tmp_path / "r/part-00000009.parquet")
    pq.write_table(kept.slice(0, 1), tmp_path / "r/part-00000009.parquet")
    done = batch(file, "--out", tmp_path / "r")
    assert b"is damaged and was set aside" in done.stderr
    pd.testing.assert_frame_equal(rows(tmp_path / "r"), before)


def test_results_of_another_version_are_refused(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    file = write(tmp_path / "t.csv")
    batch(file, "--out", tmp_path / "r")
    part, = (tmp_path / "r").glob("part-*")
    pq.write_table(pq.read_table(part).drop_columns(["timeout"]), part)
    done = batch(file, "--out", tmp_path / "r")
    assert (done.returncode, done.stderr.count(b"\n")) == (2, 1)
    assert b"another version" in done.stderr


def test_violations_of_an_earlier_run_are_copied_too(tmp_path: Path) -> None:
    (tmp_path / "t").mkdir()
    (tmp_path / "t/bad.csv").write_text("thread,op,address,value\n0,W,x,1\n0,R,y,0\n1,W,y,1\n1,R,x,0\n")
    assert batch(tmp_path / "t", "--out", tmp_path / "r").returncode == 1
    batch(tmp_path / "t", "--out", tmp_path / "r", "--only-violations", tmp_path / "late")
    assert [file.name for file in (tmp_path / "late").rglob("*.csv")] == ["bad.csv"]
    for _ in range(2):  # what was copied is not looked at
        batch(".", "--out", tmp_path / "r2", "--only-violations", "copies", cwd=tmp_path / "t")
    assert [file.name for file in (tmp_path / "t/copies").rglob("*.csv")] == ["bad.csv"]


def test_links_to_folders_are_followed_once(tmp_path: Path) -> None:
    write(tmp_path / "runs/one/t.csv")
    (tmp_path / "regression").mkdir()
    (tmp_path / "regression/latest").symlink_to("../runs")
    (tmp_path / "runs/back").symlink_to("..")
    (tmp_path / "runs/one/a.csv").symlink_to("t.csv")
    found = find([str(tmp_path / "regression")], None)
    assert [trace.path for trace in found.traces] == [str(tmp_path / "regression/latest/one/t.csv")]
    assert [trace.path for trace in find([str(tmp_path)], None).traces] == [str(tmp_path / "runs/one/t.csv")]


def test_what_may_never_end_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "f.csv")
    done = batch(tmp_path / "*.csv", "/dev/zero", "--out", tmp_path / "r", "--model", "sc")
    assert done.returncode == 2
    assert all("a pipe or a device" in message for message in rows(tmp_path / "r")["message"])
    assert len(rows(tmp_path / "r")) == 2


def test_interrupted_as_it_starts(tmp_path: Path) -> None:
    write(tmp_path / "t.csv", count=8000)  # more than is done by then
    for after in (0, 0.1, 0.3):
        process = subprocess.Popen([*GRADUAL, "batch", str(tmp_path / "t.csv"), "--out", str(tmp_path / f"r{after}"),
                                    "--model", "all"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        while not children.read_text():  # its workers
            time.sleep(0.01)
        time.sleep(after)
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        assert (process.returncode, b"Traceback" in errors) == (130, False), errors.decode()


def test_an_interrupt_that_a_library_swallows_is_heeded(tmp_path: Path) -> None:
    """Whatever is raised in a destructor goes no further."""
    write(tmp_path / "t.csv", count=8000)
    script = tmp_path / "swallowing.py"
    script.write_text(f"""
import signal, sys
from gradual.batch.board import Board

class Library:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)

if __name__ == "__main__":
    Board.show = lambda self: Library() and None
    sys.argv = ["gradual", "batch", {str(tmp_path / "t.csv")!r}, "--out", {str(tmp_path / "r")!r}]
    from gradual.cli import main
    main()
""")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, timeout=60)
    assert done.returncode == 130
    assert b"the same command goes on from there" in done.stderr


def test_reading_that_runs_out_of_memory_is_told(tmp_path: Path) -> None:
    """A large history costs its own row, wherever the file lets one read on, and never those of another worker."""
    write(tmp_path / "small.jsonl", count=600, operations=20)
    gradual.write([generate("sc", 8, 100_000, 64, 1, name="large")], tmp_path / "large.jsonl")
    lines = (tmp_path / "small.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "t.jsonl").write_bytes(b"".join(lines[:300]) + (tmp_path / "large.jsonl").read_bytes()
                                       + b"".join(lines[300:]))
    done = batch(tmp_path / "t.jsonl", "--out", tmp_path / "r", "--memory", "40M", "-j", "2")
    found = rows(tmp_path / "r")
    assert len(found) == 601
    assert set(found[found["number"] != 300]["verdict"]) == {"consistent"}
    assert "memory" in found[found["number"] == 300]["message"].item()
    assert b"Traceback" not in done.stderr
    assert batch(tmp_path / "t.jsonl", "--out", tmp_path / "r").returncode == 0
    assert set(rows(tmp_path / "r")["verdict"]) == {"consistent"} and len(rows(tmp_path / "r")) == 601


def test_only_what_was_asked_for_counts(tmp_path: Path) -> None:
    write(tmp_path / "t.csv", "tso", operations=300, seed=1)
    assert batch(tmp_path / "t.csv", "--out", tmp_path / "r", "--model", "all").returncode == 1
    done = batch(tmp_path / "t.csv", "--out", tmp_path / "r", "--model", "tso")
    assert done.returncode == 0
    assert b"2 rows of other files or models" in done.stderr


def test_what_is_no_trace_is_left_alone(tmp_path: Path) -> None:
    write(tmp_path / "t/a.csv")
    os.mkfifo(tmp_path / "t/pipe.csv")
    (tmp_path / "t/manifest.csv").write_text("name,size\na,1\n")
    done = batch(tmp_path / "t", "--out", tmp_path / "r")
    assert done.returncode == 0
    assert len(rows(tmp_path / "r")) == 1
    assert b"2 files in the folders left alone" in done.stderr


def test_no_more_workers_than_work_and_cores_allow(tmp_path: Path) -> None:
    from gradual.batch.work import Settings
    from gradual.batch.workers import AT_ONCE, Workers

    crew = Workers(300, Settings())
    try:
        assert len(crew._crew) <= AT_ONCE
        assert list(crew.events([])) == []
        assert len(crew._crew) <= AT_ONCE
    finally:
        crew.close()
    (tmp_path / "t.csv").write_text("thread,op,address,value\n0,W,x,1\n")
    started = time.monotonic()
    assert batch(tmp_path / "t.csv", "--out", tmp_path / "r", "-j", "300").returncode == 0
    assert time.monotonic() - started < 30


HEX = "thread,op,address,value\n0,W,10,1\n0,R,1a,0\n"


def test_oversights_are_told_once(tmp_path: Path) -> None:
    """Whatever the number of files, models and workers; and what was read before an interruption counts."""
    for n in range(3):
        (tmp_path / f"hex{n}.csv").write_text(HEX)
    write(tmp_path / "other.csv")
    given = [*sorted(tmp_path.glob("*.csv")), "--model", "all", "--initial", "10=0", "-j", "2"]
    done = batch(*given, "--out", tmp_path / "r", cwd=tmp_path)
    assert done.returncode == 0 and b"no history" not in done.stderr
    assert done.stderr.count(b"hex0.csv and 2 other files: the addresses look like hex without 0x (10, 1a)") == 1
    done = batch(*given, "--out", tmp_path / "r", cwd=tmp_path)
    assert done.returncode == 0 and not done.stderr  # nothing was read, and it is known what was


def test_initial_values_of_nothing_and_hex(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(HEX)
    for _ in range(2):
        done = batch("t.csv", "--initial", "zz=5", "--initial", "10=0", "--out", "r", cwd=tmp_path)
        assert done.returncode == 2 and done.stderr.count(b"no history has the address zz") == 1
    done = batch("t.csv", "--initial", "0x1a=0", "--hex", "--out", "hex", cwd=tmp_path)
    assert done.returncode == 0 and not done.stderr
