"""The loop end to end: clients, machines with planted faults, and commands that misbehave."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command import gradual as command

import gradual
from gradual.fuzz.client import MIXED, PATTERNS, random_client
from gradual.fuzz.machine import Small
from gradual.history import FENCE, READ
from gradual.machines import FAULTS


def fuzz(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return command("fuzz", *arguments, cwd=cwd)


@pytest.mark.parametrize("pattern", [*PATTERNS, MIXED])
def test_clients(pattern: str) -> None:
    for seed in range(20):
        client = random_client(3, 50, 5, seed, pattern)
        assert client == random_client(3, 50, 5, seed, pattern)
        operations = [operation for thread in client.threads for operation in thread]
        assert len(operations) == 50
        values = [o.value for o in operations if o.kind not in (READ, FENCE)]
        assert len(set(values)) == len(values) and 0 not in values
        assert len(set(client.addresses)) == 5
        read_back = json.loads(client.as_json())
        assert [len(thread) for thread in read_back["threads"]] == [len(thread) for thread in client.threads]


@pytest.mark.parametrize("machine", ["sc", "tso", "pso"])
def test_sound_machines_pass(machine: str) -> None:
    for seed in range(40):
        assert gradual.check(Small(machine).run(random_client(4, 60, 4, seed)), machine)
    assert fuzz("--machine", machine, "--model", machine, "--runs", 100).returncode == 0


@pytest.mark.parametrize("machine", list(FAULTS))
def test_planted_faults_are_caught_and_shrunk(machine: str, tmp_path: Path) -> None:
    done = fuzz("--machine", machine, "--save", tmp_path / "saved")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "first violation: history " in done.stdout
    whole, small = sorted((tmp_path / "saved").glob("*.csv"), key=lambda path: -path.stat().st_size)
    assert not gradual.check(small) and not gradual.check(whole)
    (found,) = gradual.read(small)
    assert len(found) <= 10


def test_a_command_with_c(tmp_path: Path) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("there is no gcc")
    done = fuzz("--command", "gcc -O1 -Wall -Werror -pthread {c} -o {c}.out && {c}.out", "--model", "tso", "--runs", 6)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "6 histories" in done.stdout


SIMULATOR = """
import json, sys
client = json.load(open(sys.argv[1]))
memory = {}
with open(sys.argv[2], "w") as trace:
    trace.write("thread,op,address,value,read\\n")
    for number, thread in enumerate(client["threads"]):
        for o in thread:
            if o["op"] == "F":
                trace.write(f"{number},F,,,\\n")
                continue
            old = memory.get(o["address"], 0)
            if o["op"] != "R":
                memory[o["address"]] = o["value"]
            trace.write(f"{number},{o['op']},{o['address']},{o.get('value', old)},{old if o['op'] == 'RMW' else ''}\\n")
"""


def test_a_command_with_json(tmp_path: Path) -> None:
    (tmp_path / "simulator it's.py").write_text(SIMULATOR)
    done = fuzz("--command", f"{sys.executable} \"simulator it's.py\" {{program}} {{trace}}", "--runs", 5, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "5 consistent" in done.stdout


@pytest.mark.parametrize(("command", "words"), [
    ("sleep 60", "took more than 0.5 s"), ("echo oops >&2; exit 3", "status 3: oops"), ("kill -9 $$", "status"),
    ("echo garbage", "cannot be read"), ("true", "cannot be read"), ("true {trace}", "left no trace")])
def test_commands_that_misbehave(command: str, words: str) -> None:
    done = fuzz("--command", command, "--runs", 2, "--run-timeout", 0.5)
    assert done.returncode == 2
    assert done.stdout.count(words) == 2, done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("arguments", [[], ["--machine", "sc", "--command", "x"], ["--machine", "mips"],
                                       ["--machine", "sc", "--pattern", "odd"]])
def test_usage(arguments: list[str]) -> None:
    done = fuzz(*arguments)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_the_host() -> None:
    if shutil.which("gcc") is None:
        pytest.skip("there is no gcc")
    import os

    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("there is only one core")
    script = Path(__file__).parent.parent / "experiments/host/run.py"
    done = subprocess.run([sys.executable, str(script), "--histories", "300"], capture_output=True, text=True,
                          timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "300 consistent, 0 violations" in done.stdout
