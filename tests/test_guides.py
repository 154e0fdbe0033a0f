"""The guides in docs/: their commands run as they stand, and say what the guides say they do."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
GUIDES = sorted(path for path in (ROOT / "docs").glob("*.md") if path.name != "architecture.md")
BLOCK = re.compile(r"^```(sh|text)\n(.*?)^```", re.MULTILINE | re.DOTALL)
STATUSES = (0, 1)
"""1 is a violation, which is what most guides are about; everything else is a command that does not work."""


def blocks(guide: Path) -> list[tuple[str, list[str]]]:
    """The commands, each with what their output must hold: the lines of the `text` block behind it."""
    found: list[tuple[str, list[str]]] = []
    for kind, text in BLOCK.findall(guide.read_text("utf-8")):
        if kind == "sh":
            found.append((text, []))
        else:
            found[-1][1].extend(line.strip().removesuffix("…") for line in text.splitlines())
    return found


def test_there_are_guides() -> None:
    assert {guide.stem for guide in GUIDES} == {"cocotb", "gem5", "model", "spike", "tracegen"}


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.stem)
def test_a_guide(guide: Path, tmp_path: Path) -> None:
    if guide.stem == "cocotb":
        sys.path.insert(0, str(ROOT / "experiments" / "rtl"))
        from simulator import missing

        if missing():
            pytest.skip(missing())
    for name in ("traces", "experiments"):
        (tmp_path / name).symlink_to(ROOT / name)
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "NO_COLOR": "1"}
    for commands, expected in blocks(guide):
        told = ""
        for command in whole(commands):
            done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=tmp_path, env=environment,
                                  capture_output=True, text=True, timeout=120)
            assert done.returncode in STATUSES and "Traceback" not in done.stderr, (command, done.stdout, done.stderr)
            told += done.stdout
        for line in expected:
            assert line in told, (line, commands, told)


def whole(commands: str) -> list[str]:
    """Command by command; a here-document belongs to its line."""
    found, lines = [], iter(commands.splitlines())
    for line in lines:
        if "<<'END'" in line:
            for more in lines:
                line += f"\n{more}"
                if more == "END":
                    break
        found.append(line)
    return found


def test_links_lead_somewhere() -> None:
    for page in (*GUIDES, ROOT / "README.md"):
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text("utf-8")):
            assert (page.parent / target).exists(), (page.name, target)
