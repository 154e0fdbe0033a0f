"""Reads or writes a trace once, after a small one, and prints as JSON what that took.

Run by the Python of the tree that is measured, so it uses what every version has.

    {"file": "long.log", "small": "short.log", "addresses": ["0x1000:0x2000"]}
    {"file": "out.axe", "small": "small.csv", "source": "trace.parquet"}
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from time import process_time
from typing import Any

import gradual
from gradual.history import Addresses, Options


def read(file: str, job: dict[str, Any]) -> list[Any]:
    return list(gradual.read(file, options=Options(Addresses.parse(job.get("addresses", [])))))


def main() -> None:
    job = json.loads(sys.argv[1])
    histories = read(job["small"], job)
    if "source" in job:
        gradual.write(histories, job["file"])
        histories = read(job["source"], job)
    started = process_time()
    if "source" in job:
        gradual.write(histories, job["file"])
    else:
        histories = read(job["file"], job)
    seconds = process_time() - started
    print(json.dumps({"seconds": seconds, "peak": peak(), "operations": sum(map(len, histories))}))


def peak() -> float:
    """Memory that this process has held, in MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1000


if __name__ == "__main__":
    main()
