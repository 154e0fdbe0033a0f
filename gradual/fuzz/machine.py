"""What a client runs on: one of our small machines, or any command that leaves a trace."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import tempfile
from array import array
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import BinaryIO, Protocol

from gradual import files
from gradual.fuzz.client import Client
from gradual.history import FENCE, History, InputError, Options
from gradual.machines import Program, machine_named, run_program

LAST = 300
"""Characters of what a failed command printed that are told."""


class Machine(Protocol):
    def run(self, client: Client) -> History | InputError:
        """The history of one run; an InputError when there is none."""


class Small:
    """A machine of gradual.machines."""

    def __init__(self, name: str) -> None:
        self.name = name

    def run(self, client: Client) -> History:
        """The threads are interleaved at random, by the client's seed."""
        rng = Random(client.seed)
        threads = len(client.threads)
        order = [thread for thread, program in enumerate(client.threads) for _ in program]
        rng.shuffle(order)
        left = [iter(program) for program in client.threads]
        operations = [next(left[thread]) for thread in order]
        program = Program(order, bytearray(o.kind for o in operations),
                          array("i", [max(o.location, 0) for o in operations]))
        memory = machine_named(self.name, client.seed)(threads, len(client.addresses), rng)
        return run_program(memory, program, f"{self.name}-{client.seed}", [hex(a) for a in client.addresses],
                           array("q", [o.value if o.kind != FENCE else 0 for o in operations]))


_PLACE = re.compile(r"(?<!\$)\{\{(program|c|trace|seed)\}\}|(?<!\$)\{(program|c|trace|seed)\}")


def filled(template: str, values: Mapping[str, str]) -> str:
    """A command with its places filled in. Other braces are the shell's or awk's; doubled ones are meant literally.

    >>> filled("awk '{print}' {c} ${c} {{c}}", {"c": "client.c"})
    "awk '{print}' client.c ${c} {c}"
    """
    return _PLACE.sub(lambda found: f"{{{found[1]}}}" if found[1] else values[found[2]], template)


class Command:
    """A simulator: `{program}` is the client as JSON, `{c}` as C, `{trace}` the file to write, `{seed}` the seed.

    Without `{trace}`, what it prints is the trace.
    """

    def __init__(self, template: str, format: str | None, options: Options, timeout: float) -> None:
        self.template = template
        self.format = format
        self.options = options
        self.timeout = timeout

    @property
    def _writes_trace(self) -> bool:
        """Or is what it prints the trace?"""
        return any(found[2] == "trace" for found in _PLACE.finditer(self.template))

    def run(self, client: Client) -> History | InputError:
        with tempfile.TemporaryDirectory(prefix="gradual-") as folder:
            trace = Path(folder) / "trace"
            failed = self._simulate(client, Path(folder), trace)
            if failed is not None:
                return failed
            found = list(files.read(trace, self.format, self.options))
        if len(found) > 1:
            return self._failed(client, f"left {len(found)} histories, and one run is one history")
        if isinstance(found[0], InputError):
            return self._failed(client, f"left a trace that cannot be read: {found[0].message}")
        return replace(found[0], name=f"seed-{client.seed}", file="")

    def _simulate(self, client: Client, folder: Path, trace: Path) -> InputError | None:
        names = {"program": folder / "client.json", "c": folder / "client.c", "trace": trace, "seed": client.seed}
        (folder / "client.json").write_text(client.as_json(), encoding="utf-8")
        (folder / "client.c").write_text(client.as_c(), encoding="utf-8")
        command = filled(self.template, {name: shlex.quote(str(value)) for name, value in names.items()})
        try:
            with nullcontext(subprocess.PIPE) if self._writes_trace else trace.open("wb") as printed:
                status, said = self._end(command, printed)
        except subprocess.TimeoutExpired:
            return self._failed(client, f"took more than {self.timeout:g} s and was stopped")
        if status:
            return self._failed(client, f"ended with status {status}: {said or 'it said nothing'}")
        if not trace.exists():
            return self._failed(client, "left no trace")
        return None

    def _end(self, command: str, printed: int | BinaryIO) -> tuple[int, str]:
        """Run to its end: the status, and the last words. Whatever stops us stops it, and all that it started."""
        with subprocess.Popen(command, shell=True, stdin=subprocess.DEVNULL, stdout=printed, stderr=subprocess.PIPE,
                              start_new_session=True) as process:
            try:
                out, errors = process.communicate(timeout=self.timeout)
            except BaseException:
                os.killpg(process.pid, signal.SIGKILL)
                raise
        return process.returncode, (errors or out or b"").decode("utf-8", "backslashreplace").strip()[-LAST:]

    def _failed(self, client: Client, what: str) -> InputError:
        return InputError(f"seed {client.seed}: the command {what}", self.template, history=f"seed {client.seed}")
