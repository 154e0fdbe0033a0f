"""Several files of one run as one history: CVA6's logs of each hart, and any other format.

CVA6's logs are those of Spike, spelled as CVA6's tracer (corev_apu/tb/rvfi_tracer.sv) spells them.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from gradual.adapters import cva6
from gradual.adapters._words import decode
from typer.testing import CliRunner

from gradual import check, files
from gradual.cli.commands import program
from gradual.history import Addresses, History, InputError, Options

SPIKE = Path(__file__).parents[1] / "traces" / "spike"
app = program()
SHARED = Addresses([(0x80002080, 0x80006080)])


def one(items: Iterator[History | InputError]) -> History:
    (history,) = items
    assert isinstance(history, History), history
    return history


def join(*paths: Path | str, format: str | None = None, **options: object) -> History | InputError:
    (found,) = files.read_joined([str(path) for path in paths], format, Options(**options))  # type: ignore[arg-type]
    return found


# CVA6


def as_cva6(log: bytes, folder: Path) -> list[Path]:
    """A log of Spike as CVA6 would have printed it: a file of each hart; registers padded with blanks; what an atomic
    is given for what it leaves; load-reserves and failed store-conditionals as stores."""
    made: dict[str, list[str]] = {}
    values: dict[tuple[str, str], str] = {}
    for core, rest in re.findall(r"^core +(\d+): (\d 0x.*)$", log.decode(), re.MULTILINE):
        lines = made.setdefault(core, [])
        pc, word = re.findall(r"0x[0-9a-f]+", rest)[:2]
        it = decode(int(word, 16))
        head, register, memory = rest[: rest.index(")") + 1], re.search(r" (x\d+) +(0x\w+)", rest), rest.rfind(" mem ")
        if it.does in ("rmw", "conditional", "reserve", "write"):
            name = it.data[0].decode() if it.data else "x0"
            place = re.search(r" mem (0x\w+)", rest)
            address = place[1] if place else values[core, it.address[0].decode()]
            effects = f" mem {address} {values.get((core, name), '0x' + '0' * 16)}"
        else:
            effects = rest[memory:] if memory > 0 else ""
        if register is not None:
            values[core, register[1]] = register[2]
            head += f" x{int(register[1][1:]):2d} {register[2]}"
        lines += [f"core   0: {pc} (0x{int(word, 16):08x}) DASM({int(word, 16):08x})", head + effects]
    for core, lines in made.items():
        text = "\n".join([*lines, "LD_PAGE_FAULT exception @ 0x0000000080000124 (0x00012503)"])
        (folder / f"trace_rvfi_hart_{int(core):02x}.dasm").write_text(f"{text}\n")
    return sorted(folder.iterdir())


@pytest.mark.parametrize("log", ["spike-2h-100o-s7-dis.log.gz", "spike-4h-200o-s1.log.gz"])
def test_what_spike_did_is_the_same_in_the_words_of_cva6(log: str, tmp_path: Path) -> None:
    spike = one(files.read(SPIKE / log, None, Options(addresses=SHARED)))
    paths = as_cva6(gzip.decompress((SPIKE / log).read_bytes()), tmp_path)
    assert len(paths) == len(spike.threads)
    whole = join(*paths, addresses=SHARED)
    assert isinstance(whole, History), whole
    assert told(whole) == told(spike)
    assert [note.partition(":")[0] for note in whole.notes] == [path.name for path in paths]
    assert check(whole, "sc").verdict == "consistent"
    for at in range(len(whole)):
        text = Path(whole.file_of(at)).read_text().splitlines()[whole.line[at] - 1]
        assert text.startswith("3 0x")
        assert whole.location[at] < 0 or f"{int(whole.address(at), 16):016x}" in text


def told(history: History) -> dict[str, list[object]]:
    """What each thread did, with all that is said of it, operations by their numbers in the thread."""
    number: dict[int, int] = {}
    found: dict[str, list[object]] = {}
    for at in range(len(history)):
        own = found.setdefault(history.threads[history.thread[at]], [])
        number[at] = len(own)
        pairs = [(name, number[a]) for name in ("addr", "data", "ctrl", "pair")
                 if (column := getattr(history, name)) is not None for a, b in column.tolist() if b == at]
        own.append((history.what(at), pairs, 0 if history.size is None else int(history.size[at])))
    return found


def cva6_log(*commits: tuple[int, str]) -> str:
    return "".join(f"core   0: 0x{0x80000000:016x} (0x{word:08x}) DASM({word:08x})\n"
                   f"3 0x{0x80000000:016x} (0x{word:0{8 if word & 3 == 3 else 4}x}){effects}\n"
                   for word, effects in commits)


X, Y = f"0x{0x80002000:016x}", f"0x{0x80002040:016x}"
STORE, LOAD = 0x00B53023, 0x00053403  # sd a1, 0(a0); ld s0, 0(a0)


def store_buffering(folder: Path) -> list[Path]:
    for hart, (own, other) in enumerate([(X, Y), (Y, X)]):
        (folder / f"trace_rvfi_hart_{hart:02x}.dasm").write_text(cva6_log(
            (STORE, f" mem {own} 0x{1:016x}"), (LOAD, f" x 8 0x{0:016x} mem {other}")))
    return sorted(folder.iterdir())


def test_a_violation_names_the_file_and_line_of_each_operation(tmp_path: Path) -> None:
    paths = store_buffering(tmp_path)
    for given in (paths, [tmp_path], [tmp_path / "trace_*.dasm"]):
        done = CliRunner().invoke(app, ["check", "--join", *map(str, given)])
        assert done.exit_code == 1
        assert "R 0x80002000=0 (hart1, line 4 of trace_rvfi_hart_01.dasm)" in done.output
        assert "W 0x80002000=1 (hart0, line 2 of trace_rvfi_hart_00.dasm)" in done.output
    done = CliRunner().invoke(app, ["check", "--join", "--json", *map(str, paths)])
    edge = json.loads(done.output)["cycle"][0]
    assert (edge["from"]["file"], edge["from"]["line"]) == (str(paths[1]), 4)
    assert json.loads(done.output)["source"] == str(tmp_path / "trace_rvfi_hart_0*.dasm")
    done = CliRunner().invoke(app, ["explain", "--join", str(tmp_path)])
    assert "hart1 read 0x80002000=0 at line 4 of trace_rvfi_hart_01.dasm" in done.output


@pytest.mark.parametrize("command", ["check", "classify", "diff-models", "shrink", "explain"])
def test_every_command_joins(command: str, tmp_path: Path) -> None:
    store_buffering(tmp_path)
    done = CliRunner().invoke(app, [command, str(tmp_path), "--join"])
    assert done.exit_code in (0, 1) and tmp_path.name in done.output, done.output
    alone = CliRunner().invoke(app, [command, str(tmp_path)])
    assert alone.exit_code == 2 and "--join" in alone.output


def test_convert_joins(tmp_path: Path) -> None:
    store_buffering(tmp_path)
    done = CliRunner().invoke(app, ["convert", "--join", str(tmp_path), "-", "--to", "csv"])
    rows = ["hart0,W,0x80002000,1", "hart0,R,0x80002040,0", "hart1,W,0x80002040,1", "hart1,R,0x80002000,0"]
    assert done.output.splitlines()[1:] == [f"{row},,,8,{tmp_path.name}" for row in rows]


def test_a_batch_takes_each_folder_for_a_run(tmp_path: Path) -> None:
    for run in ("a", "b"):
        (tmp_path / "runs" / run).mkdir(parents=True)
        store_buffering(tmp_path / "runs" / run)
    done = subprocess.run([sys.executable, "-m", "gradual.cli", "batch", "--join", "runs", "--out", "out", "-j", "1",
                           "--only-violations", "bad", "--no-pages"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    assert re.search(r"runs +SC +2 +0 +2 ", done.stdout)
    assert len([*(tmp_path / "bad").rglob("*.dasm")]) == 4


def test_a_hart_that_did_nothing_is_no_error(tmp_path: Path) -> None:
    paths = store_buffering(tmp_path)
    idle = tmp_path / "trace_rvfi_hart_02.dasm"
    idle.write_text(cva6_log((0x10500073, "")))
    whole = join(*paths, idle)
    assert isinstance(whole, History) and whole.threads == ("hart0", "hart1")
    elsewhere = join(*paths, idle, addresses=Addresses([(0, 8)]))
    assert isinstance(elsewhere, InputError) and "no access falls inside" in elsewhere.message


@pytest.mark.parametrize(("name", "thread"), [
    ("trace_rvfi_hart_0a.dasm", "hart10"), ("x/trace_rvfi_hart_00.dasm.gz", "hart0"), ("core.dasm", "core.dasm")])
def test_the_file_names_the_hart(name: str, thread: str) -> None:
    (history,) = cva6.read(io.BytesIO(cva6_log((STORE, f" mem {X} 0x{1:016x}")).encode()), name, Options())
    assert isinstance(history, History) and history.threads == (thread,)


def test_atomics_show_what_they_are_given(tmp_path: Path) -> None:
    path = tmp_path / "hart_00.dasm"
    path.write_text(cva6_log((0x00B5342F, f" x 8 0x{5:016x} mem {X} 0x{2:016x}")))  # amoadd.d s0, a1, (a0)
    history = one(files.read(path, None, Options(initial=5)))
    assert history.what(0) == "RMW 0x80002000: 5→7"
    path.write_text(cva6_log((0x00B5302F, f" mem {X} 0x{2:016x}")))
    (error,) = files.read(path, None, Options())
    assert isinstance(error, InputError) and (error.line, "sets x0" in error.message) == (2, True)


def test_rockets_commit_log_has_no_addresses(tmp_path: Path) -> None:
    path = tmp_path / "rocket.log"
    path.write_text("3 0x0000000080000104 (0x00a12023)\n3 0x0000000080000120 (0x00012503) x10 0x000000000000002a\n")
    (error,) = files.read(path, None, Options())
    assert isinstance(error, InputError) and "Rocket's commit log" in error.message and "TraceGen" in error.message


# Other formats


def test_tables_are_joined_with_all_they_say(tmp_path: Path) -> None:
    header = "thread,op,address,value,read,addr,data,ctrl,pair,begin,fence\n"
    (tmp_path / "a.csv").write_text(f"{header}0,W,0x10,1,,,,,,3,\n0,F,,,,,,,,,w.w\n0,W,0x20,1,,,,,,5,\n")
    (tmp_path / "b.csv").write_text(f"{header}1,R,32,1,,,,,,,\n1,R,0x10,0,,1,,,,,\n1,LR,0x30,0,,,,1,,,\n"
                                    "1,SC,0x30,2,,,,,3,,\n,init,0x40,7,,,,,,,\n1,RMW,0x40,8,7,,2,,,,\n"
                                    ",final,0x30,2,,,,,,,\n")
    whole = join(tmp_path / "a.csv", tmp_path / "b.csv")
    assert isinstance(whole, History), whole
    assert sorted(whole.locations) == ["0x10", "0x20", "0x30", "0x40"]  # 32 is 0x20
    assert [whole.what(at) for at in range(len(whole))] == [
        "W 0x10=1", "fence w.w", "W 0x20=1", "R 0x20=1", "R 0x10=0", "LR 0x30=0", "SC 0x30=2", "RMW 0x40: 7→8"]
    assert {name: column.tolist() for name, column in whole.annotations().items() if name in (
        "addr", "data", "ctrl", "pair")} == {"addr": [[3, 4]], "data": [[4, 7]], "ctrl": [[3, 5]], "pair": [[5, 6]]}
    assert whole.begin is not None and whole.begin.tolist()[:3] == [3, -1, 5]
    assert whole.final_value[whole.locations.index("0x30")] == 2
    assert check(whole, "rvwmo").verdict == "violation"


@pytest.mark.parametrize(("texts", "file", "words"), [
    (["thread,op,address,value\n0,W,x,1\n", "thread,op,address,value\n0,R,x,1\n"], "1.csv",
     "thread 0 is in {0}.csv too; files can be joined when each has threads of its own"),
    (["thread,op,address,value,history\n0,W,x,1,a\n0,W,x,1,b\n"], "0.csv", "one history each, and there are 2"),
    (["thread,op,address,value\n0,W,x,1\n", "thread,op,address,value\n1,Q,x,1\n"], "1.csv", "op 'Q'"),
    (["thread,op,address,value\n0,W,x,1\n,init,x,3\n", "thread,op,address,value\n1,W,x,2\n,init,x,4\n"], "1.csv",
     "two initial values"),
])
def test_what_cannot_be_joined(texts: list[str], file: str, words: str, tmp_path: Path) -> None:
    for number, text in enumerate(texts):
        (tmp_path / f"{number}.csv").write_text(text)
    error = join(*sorted(tmp_path.iterdir()))
    assert isinstance(error, InputError)
    assert error.file == str(tmp_path / file)
    assert words.format(str(tmp_path / "0")) in error.message


def test_folders_of_different_traces_are_refused(tmp_path: Path) -> None:
    store_buffering(tmp_path)
    (tmp_path / "notes.txt").write_text("nothing\n")
    assert isinstance(join(tmp_path), History)
    (tmp_path / "tandem.log").write_text("core   0: 3 0x80000104 (0x00a12023) mem 0x80002000 0x0000002a\n")
    error = join(tmp_path)
    assert isinstance(error, InputError)
    assert "(cva6) and tandem.log (spike); name those to join" in error.message
    nothing = join(tmp_path / "none")
    assert isinstance(nothing, InputError) and "no such file" in nothing.message
    (tmp_path / "empty").mkdir()
    empty = join(tmp_path / "empty")
    assert isinstance(empty, InputError) and empty.message == "there is no trace in this folder"
