"""On a terminal: colours where there is one and nobody minds, completion by real shells, no pager."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FIGURES = Path(__file__).parents[1] / "traces" / "figures.csv"
GRADUAL = Path(sys.executable).parent / "gradual"
RED = "\033[1;31mSC violation\033[0m by"


def on_a_terminal(*arguments: str | Path, **environment: str) -> str:
    """What a terminal is sent. Whoever waited for a key would wait for ever: a test that hangs has found a pager."""
    master, slave = pty.openpty()
    with subprocess.Popen([sys.executable, "-m", "gradual.cli", *map(str, arguments)], stdin=slave, stdout=slave,
                          stderr=slave, env={**os.environ, "TERM": "xterm", "PAGER": "less", **environment}) as process:
        os.close(slave)
        told = b""
        try:
            while piece := os.read(master, 1 << 16):
                told += piece
        except OSError:  # the other end is closed
            pass
        process.wait(60)
    os.close(master)
    return told.decode()


def test_verdicts_have_colours_on_a_terminal() -> None:
    told = on_a_terminal("check", FIGURES, "--oneline", NO_COLOR="")
    assert RED in told and "[fig-1a]: \033" in told
    assert "\033[32mTSO consistent\033[0m" in on_a_terminal("check", FIGURES, "--model", "tso", NO_COLOR="")
    assert RED in on_a_terminal("explain", FIGURES, "--history", "SB", NO_COLOR="")


def test_and_nowhere_else() -> None:
    for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        told = on_a_terminal("check", FIGURES, "--oneline", **environment)
        assert "SC violation" in told and "\033[1" not in told
    assert "\033[1" not in on_a_terminal("check", FIGURES, "--json", NO_COLOR="")
    piped = subprocess.run([sys.executable, "-m", "gradual.cli", "check", str(FIGURES)], capture_output=True, text=True,
                           env={**os.environ, "TERM": "xterm", "NO_COLOR": "", "CLICOLOR_FORCE": "1"})
    assert "SC violation" in piped.stdout and "\033" not in piped.stdout + piped.stderr


def test_a_trace_brings_no_colours(tmp_path: Path) -> None:
    trace = tmp_path / "odd: SC violation.csv"
    trace.write_text("thread,op,address,value\n0,W,\033[1;31mx,1\n0,R,\033[1;31mx,0\n")
    told = on_a_terminal("check", trace, NO_COLOR="")
    assert "x=1" in told and "\033[1;31mx" not in told


def completed(*lines: str, cwd: Path) -> list[list[str]]:
    """What bash offers for the last word of each line."""
    script = [f"PATH='{GRADUAL.parent}':$PATH; source <(gradual --show-completion bash); complete -p gradual"]
    for line in lines:
        words = " ".join(f"'{word}'" for word in line.split(" "))
        script.append(f"COMP_WORDS=({words}); COMP_CWORD={line.count(' ')}; _gradual_completion gradual; "
                      'echo "offered ${COMPREPLY[*]}"')
    done = subprocess.run(["bash", "-c", "\n".join(script)], cwd=cwd, capture_output=True, text=True, timeout=60)
    registered, *offered = done.stdout.splitlines()
    assert "-o default" in registered, done.stderr  # file names where nothing is offered
    return [line.split()[1:] for line in offered]


@pytest.mark.skipif(shutil.which("bash") is None or not GRADUAL.exists(), reason="needs bash, and gradual installed")
def test_bash_completes(tmp_path: Path) -> None:
    command, model, format, machine, file = completed(
        "gradual ch", "gradual check --model rv", "gradual check --format ", "gradual generate --machine broken-d",
        "gradual check trace", cwd=tmp_path)
    assert (command, model, machine, file) == (["check"], ["rvwmo"], ["broken-drop", "broken-duplicate"], [])
    assert {"axe", "csv", "gem5"} <= {*format}
