"""Checkouts of this project, each run by its own Python: this one, and the one it is compared with."""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import threading
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
WORKER = Path(__file__).with_name("worker.py")
PARTS, SUFFIXES = ("gradual", "adapters", "datalog"), (".py", ".lp", ".cat")


@dataclass(frozen=True)
class Tree:
    """A checkout with an installation of it."""

    name: str
    root: Path
    python: Path

    @property
    def command(self) -> list[str]:
        """A worker. Isolated: what lies in the folder or in PYTHONPATH must not be taken for the installation."""
        return [str(self.python), "-I", str(WORKER)]

    @cached_property
    def fingerprint(self) -> str:
        """Of the code that is measured."""
        digest = hashlib.sha256()
        for file in sorted(file for part in PARTS for file in (self.root / part).rglob("*") if file.suffix in SUFFIXES):
            digest.update(file.read_bytes())
        return digest.hexdigest()[:12]


THIS = Tree("this", ROOT, Path(sys.executable))


def tree_before(folder: Path) -> Tree:
    """The checkout that `--before` names."""
    python = folder.absolute() / ".venv" / "bin" / "python"
    if not python.exists():
        raise argparse.ArgumentTypeError(f"{folder} has no .venv: run `make demo` there first")
    found = subprocess.run([python, "-I", "-c", "import gradual; print(gradual.__file__)"], capture_output=True,
                           text=True)
    if not Path(found.stdout.strip()).is_relative_to(folder.resolve()):
        raise argparse.ArgumentTypeError(f"the .venv of {folder} has another gradual installed, or none: run "
                                         "`make demo` there first")
    return Tree("before", folder.absolute(), python)


def add_before(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--before", type=lambda text: tree_before(Path(text)), metavar="DIR",
                        help="another checkout, with its .venv, to compare with")


class Worker:
    """A process that checks one file after the other. To be used in a `with`."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def ask(self, job: dict[str, Any], limit: float) -> list[dict[str, Any]] | None:
        """The answers, or None when they took more than `limit` seconds or the worker died."""
        process = self._running()
        assert process.stdin and process.stdout
        alarm = threading.Timer(limit, process.kill)
        alarm.start()
        try:
            process.stdin.write(json.dumps(job) + "\n")
            process.stdin.flush()
            found: list[dict[str, Any]] = []
            for line in process.stdout:
                answer = json.loads(line)
                if "end" in answer:
                    return found
                found.append(answer)
        except BrokenPipeError:
            pass
        finally:
            alarm.cancel()
        self.stop()
        return None

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _running(self) -> subprocess.Popen[str]:
        if self._process is None:
            self._process = subprocess.Popen(self.tree.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                             text=True)
        return self._process
