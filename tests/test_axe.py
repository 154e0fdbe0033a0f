"""`gradual axe`: the real axe's output, byte for byte, on whatever it judges; and what scripts do with it."""

from __future__ import annotations

import io
import os
import select
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from random import Random

import pytest
from conftest import SHARED

from gradual import machines
from gradual import write as write_trace
from gradual.cli import axe

AXE = SHARED / "tools" / "axe"
SB = "0: M[0] := 1\n0: M[1] == 0\n1: M[1] := 1\n1: M[0] == 0\n"
MP = "0: M[0] := 1\n0: M[1] := 1\n1: M[1] == 1 @ 1:2\n1: M[0] == 0 @ 5:6\n"
GOOD = "0: M[5] := 1\n1: M[5] == 1\n"

needs_axe = pytest.mark.skipif(not AXE.is_file(), reason="the real axe, ../shared/tools/axe, is not here")


def theirs(*words: str | Path, stdin: str = "") -> tuple[str, int, str]:
    """The real one: output, exit status, messages."""
    done = subprocess.run([str(AXE), *map(str, words)], input=stdin.encode(), capture_output=True, timeout=60)
    return done.stdout.decode(), done.returncode, done.stderr.decode()


def ours(*words: str | Path, stdin: str = "") -> tuple[str, int, str]:
    """The drop-in, in this process."""
    out, messages = (io.TextIOWrapper(io.BytesIO(), write_through=True) for _ in range(2))
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(messages):
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        status = axe.run([*map(str, words)])
    return out.buffer.getvalue().decode(), status, messages.buffer.getvalue().decode()  # type: ignore[attr-defined]


def random_text(rng: Random, timed: bool) -> str:
    """A history as axe takes it, in which no thread reads what it writes only later: axe looks past that."""
    threads, places = rng.randint(1, 4), rng.randint(1, 3)
    plan = [(rng.randrange(threads), rng.choice("RRRWWWMS"), rng.randrange(places)) for _ in range(rng.randint(1, 12))]
    clock, lines = [0] * threads, []
    for now, (thread, kind, place) in enumerate(plan, 1):
        can = [0, *(value for value, (other, what, at) in enumerate(plan, 1)
                    if what in "WM" and at == place and (other != thread or value < now))]
        what = {"R": f"M[{place}] == {rng.choice(can)}", "W": f"M[{place}] := {now}", "S": "sync",
                "M": f"{{ M[{place}] == {rng.choice(can)}; M[{place}] := {now} }}"}[kind]
        clock[thread] += rng.randint(1, 5)
        end = "" if kind == "W" or rng.random() < 0.3 else clock[thread] + rng.randint(1, 12)
        lines.append(f"{thread}: {what}" + (f" @ {clock[thread]}:{end}" if timed and rng.random() < 0.8 else ""))
    return "\n".join([*lines, "check\n"])


@needs_axe
@pytest.mark.parametrize("model", ["SC", "tso", "PSO", "WMO"])
def test_answers_are_those_of_axe(shared_traces: Path, tmp_path: Path, model: str) -> None:
    rng, traces = Random(f"axe {model}"), tmp_path / "random.axe"
    traces.write_text("".join(random_text(rng, timed=place % 2 == 0) for place in range(150)))
    machine = {"tso": "pso", "PSO": "wmo"}.get(model, "broken")
    write_trace([machines.generate(machine, 4, 60, 4, seed) for seed in range(12)], made := tmp_path / "made.axe")
    for file in (traces, made, shared_traces / "axe-litmus" / "tests.axe"):
        for flags in ([], ["-i", "-g"])[:1 if file == made else 2]:
            answers = theirs("check", model, file, *flags)
            assert answers == ours("check", model, file, *flags)
            assert file != traces or {"OK", "NO"} == set(answers[0].split())


@needs_axe
@pytest.mark.parametrize("text", [
    "", "# nothing\n", "check\n", "check check\n0: sync\ncheck", SB, f"{SB}check\n{GOOD}", f"{SB}# check\n{GOOD}check",
    f"{GOOD}check {SB}", "0: M[0] := 1 @ 5:\n0: M[0] == 1 @ 3:4\ncheck\n"])
def test_where_histories_end(text: str) -> None:
    for flags in ([], ["-i"]):
        assert theirs("check", "TSO", "-", *flags, stdin=text)[:2] == ours("check", "TSO", "-", *flags, stdin=text)[:2]


@needs_axe
@pytest.mark.parametrize("words", [
    [], ["check"], ["check", "TSO"], ["prove", "TSO", "{sb}"], ["check", "TSO", "{sb}", "--fast"],
    ["check", "TSO", "missing.axe"], ["check", "nothing", "{sb}"], ["check", "TSO", "{bad}"],
    ["test", "SC", "{sb}", "{no}"], ["test", "TSO", "{sb}", "{no}"], ["test", "TSO", "{sb}", "{long}"],
    ["test", "TSO", "{sb}", "missing"], ["test", "TSO", "{sb}", "{bad}"], ["test", "SC", "{sb}", "{named}", "-i"],
    ["test", "SC", "{bad}", "{no}"]])
def test_command_lines(tmp_path: Path, words: list[str]) -> None:
    texts = {"sb": SB, "bad": "0: M[0] = 1\n", "no": "NO\n", "long": "OK\nOK\n", "named": "OK SB\n"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    given = [word.format(**{name: tmp_path / name for name in texts}) for word in words]
    (output, status, messages), mine = theirs(*given), ours(*given)
    assert (output, status) == mine[:2]
    assert messages.splitlines()[:1] == mine[2].splitlines()[:1] or "Parse error" in messages or "model" in messages


@needs_axe
def test_the_suite_of_axe_passes_its_test(shared_traces: Path) -> None:
    suite = shared_traces / "axe-litmus"
    for model in ("SC", "WMO"):
        words = ("test", model, suite / "tests.axe", suite / f"{model}.txt")
        assert theirs(*words) == ours(*words)


def test_where_axe_is_wrong_or_gives_up() -> None:
    assert ours("check", "WMO", "-", stdin="0: M[0] == 1\n0: M[0] := 1\n")[:2] == ("NO\n", 0)
    assert ours("check", "SC", "-", stdin="0: M[0] == 7\n")[:2] == ("NO\n", 0)
    assert ours("check", "SC", "-", stdin="0: M[0] := 0x100000000\n1: M[0] == 0x100000000\n")[0] == "OK\n"


def test_what_is_lacking_is_said() -> None:
    out, status, message = ours("check", "POW", "-", stdin=SB)
    assert (out, status) == ("", 1) and "POWER" in message and "WMO" in message
    assert "no history" in ours("check", "SC", "-", stdin=f"{GOOD}check\n{GOOD}")[2]


def test_strict_is_the_exit_status_of_gradual(tmp_path: Path) -> None:
    for text, status in ((GOOD, 0), (SB, 1), ("0: M[0] = 1", 2), (f"{SB}check\n0: nothing\ncheck", 1)):
        assert ours("check", "SC", "-", "--strict", stdin=text)[1] == status
    assert ours("check", "SC", tmp_path / "missing", "--strict")[1] == 2


def test_times_count_unless_they_are_ignored() -> None:
    fenced = MP.replace("0: M[1]", "0: sync\n0: M[1]")
    assert ours("check", "WMO", "-", stdin=fenced)[0] == "NO\n"
    assert ours("check", "WMO", "-", "-i", stdin=fenced)[0] == "OK\n"


def test_the_executable(tmp_path: Path) -> None:
    """Installed as a user does it; answers come as histories do."""
    folder = tmp_path / "with spaces '"
    assert main("axe", "--install", str(folder)).returncode == 0
    with subprocess.Popen([folder / "axe", "check", "TSO", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as running:
        assert running.stdin is not None and running.stdout is not None
        for text, answer in ((SB, "OK\n"), ("0: M[0] == 1\n0: M[0] := 1\n", "NO\n")):
            running.stdin.write(f"{text}check\n")
            running.stdin.flush()
            assert select.select([running.stdout], [], [], 30)[0] and running.stdout.readline() == answer
        running.stdin.close()
        assert running.wait(30) == 0
    again = main("axe", "--install", str(folder))
    assert again.returncode == 2 and "already" in again.stderr


def main(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "gradual.cli", *words], capture_output=True, text=True)


def test_own_models_and_gradual_axe(tmp_path: Path) -> None:
    (tmp_path / "any.cat").write_text('Any "anything goes"\n')
    (tmp_path / "sb.axe").write_text(SB)
    done = main("axe", "check", str(tmp_path / "any.cat"), str(tmp_path / "sb.axe"), "-i", "--strict")
    assert (done.stdout, done.returncode) == ("OK\n", 0), done.stderr


@needs_axe
def test_a_script_around_tracegen_runs_unchanged(tmp_path: Path) -> None:
    """With the real axe on PATH and with the drop-in, all output alike."""
    assert main("axe", "--install", str(tmp_path / "bin")).returncode == 0
    experiments = Path(__file__).parents[1] / "experiments" / "tracegen"

    def told(axe: Path, machine: str) -> tuple[str, int, str]:
        path = f"{axe.parent}:{Path(sys.executable).parent}:{os.environ['PATH']}"
        done = subprocess.run([experiments / "check.sh", "-s", "1", "-k", tmp_path / axe.parent.name, sys.executable,
                               experiments / "emulator.py", machine], capture_output=True, text=True,
                              env={**os.environ, "PATH": path})
        return done.stdout, done.returncode, done.stderr

    for machine, expected in (("wmo", ("seed 1: OK\n", 0, "")), ("broken-duplicate", ("seed 1: NO\n", 1, ""))):
        assert told(AXE, machine) == told(tmp_path / "bin" / "axe", machine) == expected
    assert (tmp_path / "tools" / "1.log").read_text() == (tmp_path / "bin" / "1.log").read_text()
