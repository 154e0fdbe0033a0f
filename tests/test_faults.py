"""A fault of ours has an exit status of its own, wherever it happens; closed streams and Ctrl-C have theirs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

OK = "thread,op,address,value\n0,W,x,1\n1,R,x,1\n"
SB = "thread,op,address,value\n0,W,x,1\n0,R,y,0\n1,W,y,1\n1,R,x,0\n"
GRADUAL = [sys.executable, "-m", "gradual.cli"]
FAULT = 70

INSIDE = "import gradual.deciding.pipeline as p\ndef boom(*_, **__): raise {error}\np.check = boom\n"
"""The decision of a history fails."""
OUTSIDE = "import gradual.judge as j\ndef boom(*_, **__): raise {error}\nj.Judge.judgements = boom\n"
"""What holds all histories together fails."""


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    (tmp_path / "ok.csv").write_text(OK)
    return tmp_path / "ok.csv"


def broken(tmp_path: Path, code: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Runs `gradual` with a part of it replaced, in its worker processes too."""
    (tmp_path / "broken").mkdir(exist_ok=True)
    (tmp_path / "broken/sitecustomize.py").write_text(code)
    path = os.pathsep.join(filter(None, [str(tmp_path / "broken"), os.environ.get("PYTHONPATH")]))
    return subprocess.run([*GRADUAL, *map(str, arguments)], capture_output=True, text=True, timeout=120,
                          env={**os.environ, "PYTHONPATH": path})


@pytest.mark.parametrize("error", ["TypeError('boom')", "EOFError('boom')", "TimeoutError", "AssertionError('boom')"])
def test_a_fault_outside_of_a_history(trace: Path, tmp_path: Path, error: str) -> None:
    done = broken(tmp_path, OUTSIDE.format(error=error), "check", trace)
    assert done.returncode == FAULT
    assert "fault in gradual" in done.stderr


def test_a_fault_inside_costs_its_history_alone(trace: Path, tmp_path: Path) -> None:
    done = broken(tmp_path, INSIDE.format(error="TypeError('boom')"), "check", trace)
    assert done.returncode == FAULT
    assert "a fault in gradual" in done.stdout and "boom" in done.stdout


@pytest.mark.parametrize("command", ["explain", "shrink", "diff-models", "classify"])
def test_a_fault_in_other_commands(trace: Path, tmp_path: Path, command: str) -> None:
    code = "import gradual.deciding.engine as e\ndef boom(*_, **__): raise KeyError('boom')\ne.decide = boom\n"
    assert broken(tmp_path, code, command, trace).returncode == FAULT


@pytest.mark.parametrize("code", [INSIDE, OUTSIDE])
def test_a_fault_in_a_worker(trace: Path, tmp_path: Path, code: str) -> None:
    done = broken(tmp_path, code.format(error="TypeError('boom')"), "batch", trace, "--out", tmp_path / "results",
                  "-j", "1")
    assert done.returncode == FAULT, done.stderr
    assert "a fault in gradual" in done.stdout + done.stderr


def test_a_violation_beside_a_fault_stays_one(tmp_path: Path) -> None:
    (tmp_path / "many.csv").write_text("history," + SB.replace("\n", "\nbad,").removesuffix("bad,") + "good,0,W,x,1\n")
    code = ("import gradual.deciding.pipeline as p\nreal = p.check\n"
            "def boom(history, *a, **k):\n    assert history.name == 'bad'\n    return real(history, *a, **k)\n"
            "p.check = boom\n")
    done = broken(tmp_path, code, "check", tmp_path / "many.csv")
    assert done.returncode == 1
    assert "a fault in gradual" in done.stdout


def test_a_broken_installation(trace: Path, tmp_path: Path) -> None:
    done = broken(tmp_path, "import sys\nsys.modules['typer'] = None\n", "check", trace)
    assert done.returncode == FAULT


def shell(command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["bash", "-c", f"{sys.executable} -m gradual.cli {command}"], capture_output=True, text=True,
                          timeout=60)


def test_closed_output(trace: Path, tmp_path: Path) -> None:
    done = shell(f"check {trace} >&-")
    assert done.returncode == 2
    assert done.stderr == "gradual: the output cannot be written: it is closed\n"
    assert shell(f"check {trace} >&- 2>&-").returncode == 2
    assert shell(f"convert {trace} {tmp_path / 'to.axe'} >&-").returncode == 0  # it writes nothing there


def test_closed_messages(trace: Path, tmp_path: Path) -> None:
    done = shell(f"check {trace} 2>&-")
    assert done.returncode == 0
    assert "SC consistent" in done.stdout
    (tmp_path / "sb.csv").write_text(SB)
    assert shell(f"check {tmp_path / 'sb.csv'} 2>&- <&-").returncode == 1
    assert shell(f"check {tmp_path / 'missing.csv'} 2>&-").returncode == 2


def test_ctrl_c_while_importing(tmp_path: Path) -> None:
    """An import that takes long, as from a slow disk."""
    (tmp_path / "slow").mkdir()
    (tmp_path / "slow/typer.py").write_text("import time\nopen('began', 'w').close()\ntime.sleep(60)\n")
    with subprocess.Popen([*GRADUAL, "formats"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env={**os.environ, "PYTHONPATH": str(tmp_path / "slow")}) as process:
        while not (tmp_path / "began").exists():
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, messages = process.communicate(timeout=30)
    assert (process.returncode, out, messages) == (130, b"", b"")
