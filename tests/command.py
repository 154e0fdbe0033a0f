"""`gradual` in a process of its own that starts at once: it is forked from one that has imported everything.

Streams, folder, limits, signals and exit status are those of a process like any other; only the imports, a third of a
second each time, are done once. Tests of what happens before `main`, of the environment and of interrupts start
`GRADUAL` anew.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO, NoReturn

GRADUAL = [sys.executable, "-m", "gradual.cli"]
TIMEOUT = 120.0
IMPORTED = ("gradual.cli.commands", "gradual.cli.check", "gradual.judge", "gradual.batch.run",
            "gradual.deciding.engine", "gradual.deciding.saturation",
            "gradual.programs.observe", "gradual.report", "gradual.telling.webpage",
            "clingo", "llvmlite.binding", "numpy", "pandas", "pyarrow.parquet", "pysat.solvers")


def gradual(*arguments: object, stdin: str | bytes | None = None, cwd: Path | str | None = None,
            text: bool = True) -> subprocess.CompletedProcess[Any]:
    """The command with these arguments, done: its status and what it printed, as text or as bytes."""
    command = list(map(str, arguments))
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        given.write(stdin.encode() if isinstance(stdin, str) else stdin or b"")
        given.seek(0)
        job = {"arguments": command, "cwd": str(cwd or os.getcwd()), "environment": dict(os.environ)}
        status = _status(job, [given, out, errors])
        told = [_told(stream, text) for stream in (out, errors)]
    return subprocess.CompletedProcess(["gradual", *command], status, *told)


def _told(stream: BinaryIO, text: bool) -> str | bytes:
    stream.seek(0)
    printed = stream.read()
    assert b"Traceback" not in printed, printed.decode(errors="replace")
    return printed.decode(errors="replace") if text else printed


def _status(job: dict[str, Any], streams: list[BinaryIO]) -> int:
    server = _server()
    socket.send_fds(server, [json.dumps(job).encode()], [stream.fileno() for stream in streams])
    process = int(server.recv(64))
    alarm = threading.Timer(TIMEOUT, os.killpg, (process, signal.SIGKILL))
    alarm.start()
    try:
        return int(server.recv(64))
    finally:
        alarm.cancel()


@cache
def _server() -> socket.socket:
    """For this process of tests; it ends when nobody is connected any more."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    subprocess.Popen([sys.executable, "-X", "utf8", __file__, str(theirs.fileno())], pass_fds=[theirs.fileno()],
                     stdin=subprocess.DEVNULL, start_new_session=True)
    theirs.close()
    return ours


def _serve(client: socket.socket) -> None:
    for name in IMPORTED:
        importlib.import_module(name)
    gc.freeze()
    while True:
        job, streams, _, _ = socket.recv_fds(client, 1 << 20, 3)
        if not job:
            return
        process = os.fork()
        if not process:
            client.close()
            _perform(json.loads(job), streams)
        for stream in streams:
            os.close(stream)
        client.send(str(process).encode())
        _, status = os.waitpid(process, 0)
        client.send(str(os.waitstatus_to_exitcode(status)).encode())


def _perform(job: dict[str, Any], streams: list[int]) -> NoReturn:
    """What `python -m gradual.cli` does once it has started."""
    os.setsid()
    os.environ.clear()
    os.environ.update(job["environment"])
    os.chdir(job["cwd"])
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin, sys.stdout, sys.stderr = (os.fdopen(number, way, closefd=False) for number, way in enumerate("rww"))
    sys.modules["__main__"] = ModuleType("__main__")  # nothing that worker processes would have to import
    sys.argv = ["gradual", *job["arguments"]]
    status: object = 70
    try:
        from gradual.cli import main

        main()
        status = 0
    except SystemExit as end:
        status = end.code
    finally:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status if isinstance(status, int) else bool(status))


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
