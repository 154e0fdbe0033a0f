"""Checks what it is asked to, a JSON object per line in, one per history and model out; `{"end": true}` after each job.

Run by the Python of the tree that is measured, so it uses what every version has: `gradual.read`, `gradual.check`.

    {"file": "trace.csv", "models": ["sc", "tso"], "addresses": [], "options": {"timeout": 20}, "repetitions": 1}

`options` go to `gradual.check`. With repetitions there are more answers, as long as they take less than a second
together: noise shows in short times. A history that cannot be read or judged is an answer with the verdict `error`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from time import perf_counter, process_time
from typing import Any

import gradual
from gradual.history import Addresses, Options

Answer = dict[str, Any]
ENOUGH = 1.0
"""Seconds after which nothing is repeated."""


def answers(job: dict[str, Any]) -> Iterator[Answer]:
    options = Options(Addresses.parse(job.get("addresses", [])))
    try:
        for number, history in enumerate(gradual.read(job["file"], options=options)):
            for model in job["models"]:
                for answer in repeated(history, model, job):
                    yield {"number": number, "model": model, **answer}
    except gradual.InputError as error:
        yield {"number": 0, "model": "", "history": "", "verdict": "error", "message": str(error)}


def repeated(history: Any, model: str, job: dict[str, Any]) -> Iterator[Answer]:
    spent = 0.0
    for _ in range(job.get("repetitions", 1)):
        answer = judged(history, model, job.get("options", {}))
        yield answer
        spent += answer.get("seconds", ENOUGH)
        if spent >= ENOUGH:
            return


def judged(history: Any, model: str, options: dict[str, Any]) -> Answer:
    if isinstance(history, gradual.InputError):
        return {"history": "", "verdict": "error", "message": str(history)}
    answer: Answer = {"history": history.name, "operations": len(history), "threads": len(history.threads)}
    started, worked = perf_counter(), process_time()
    try:
        verdict = gradual.check(history, model, **options)
    except Exception as error:  # of a decider: the others are still to be compared
        return answer | {"verdict": "error", "message": f"{type(error).__name__}: {error}"}
    return answer | {"verdict": verdict.verdict, "decided_by": verdict.decided_by, "message": verdict.message,
                     "seconds": perf_counter() - started, "cpu": process_time() - worked,
                     "conflicts": getattr(verdict, "conflicts", None)}


def main() -> None:
    for line in sys.stdin:
        for answer in answers(json.loads(line)):
            print(json.dumps(answer))
        print(json.dumps({"end": True}), flush=True)


if __name__ == "__main__":
    main()
