"""The verdicts of this checkout and of another one, side by side.

    python -m experiments.agree --before DIR [--histories 50000] [--traces ../shared/traces]

Random histories of 4 to 60 operations with rmws, fences and final values (half of them from machines, so that many
are consistent), the corpus, the traces beside the repository, the hard histories; each under SC, TSO and PSO. Both
checkouts run as a process that reads the same files. Differences are listed, their histories kept in build/agree/;
exits with 1 if there is one. Where one side ran out of time, or neither can read a trace, nothing can be compared:
this is counted.
"""

from __future__ import annotations

import argparse
import csv
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import gradual
from experiments.satisfiability import first_formula, history_of
from experiments.trees import ROOT, THIS, Tree, Worker, add_before
from gradual.history import History, InputError
from gradual.machines import FAULTS, generate

sys.path.insert(0, str(ROOT / "tests"))
from random_histories import random_history

MODELS = ("sc", "tso", "pso")
KEPT = ROOT / "build" / "agree"
CHUNK = 500
"""Random histories per file."""
SMALLEST, LARGEST = 4, 60
VARIABLES = (5, 10, 20, 40, 80)
SPELLED = {"OK": "consistent", "NO": "violation"}
ROOM = 120.0
"""Seconds for the whole file beyond the limits of its checks."""

Answer = dict[str, Any]
Key = tuple[int, str]
"""The number of a history in its file, and a model."""


@dataclass(frozen=True)
class Sheet:
    """A file to be judged by both, with the verdicts that are known."""

    source: str
    file: Path
    count: int = 1
    addresses: tuple[str, ...] = ()
    expected: dict[Key, str] = field(default_factory=dict)


def random_histories(count: int, seed: int) -> Iterator[History]:
    rng = Random(seed)
    for number in range(count):
        yield random_history(rng, max_threads=6, max_locations=6, min_operations=SMALLEST, max_operations=LARGEST,
                             final=0.15) if number % 2 else machine_history(rng)


def machine_history(rng: Random) -> History:
    """Sound machines make consistent histories, those with a fault ones that miss a model by little."""
    machine = rng.choice(("sc", "tso", "pso", rng.choice(list(FAULTS))))
    return generate(machine, rng.randint(2, 8), rng.randint(SMALLEST, LARGEST), rng.randint(1, 6), rng.randrange(10**9),
                    write_ratio=rng.uniform(0.2, 0.7), rmw_ratio=rng.choice((0, 0.05, 0.2)),
                    fence_ratio=rng.choice((0, 0.03, 0.1)))


def random_sheets(count: int, seed: int, folder: Path) -> Iterator[Sheet]:
    made = random_histories(count, seed)
    for number in range(0, count, CHUNK):
        file, some = folder / f"random-{number}.jsonl", list(islice(made, CHUNK))
        gradual.write(some, file)
        yield Sheet("random", file, len(some))


def hard_sheets(folder: Path) -> Iterator[Sheet]:
    for variables in VARIABLES:
        for satisfiable, verdict in ((True, "consistent"), (False, "violation")):
            file = folder / f"formula-{variables}-{verdict}.jsonl"
            gradual.write([history_of(first_formula(variables, satisfiable), file.stem)], file)
            yield Sheet("hard", file, expected={(0, model): verdict for model in MODELS})


def corpus_sheets() -> Iterator[Sheet]:
    with open(ROOT / "traces" / "verdicts.csv", newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    for file, addresses in dict.fromkeys((row["file"], row["addresses"]) for row in rows):
        yield Sheet("corpus", ROOT / "traces" / file, sum(row["file"] == file for row in rows), _some(addresses))


def shared_sheets(folder: Path) -> Iterator[Sheet]:
    """Logs as their manifests name them, and axe's litmus tests with its verdicts."""
    for manifest in sorted(folder.glob("*/manifest.csv")):
        with open(manifest, newline="", encoding="utf-8") as stream:
            for row in csv.DictReader(stream):
                start = int(row["address"], 16)
                yield Sheet(manifest.parent.name, manifest.parent / row["log"], 1,
                            (f"{start:#x}:{start + int(row['bytes']):#x}",),
                            {(0, model): SPELLED[row[model.upper()]] for model in MODELS if model.upper() in row})
    if (suite := folder / "axe-litmus").is_dir():
        told = {model: (suite / f"{model.upper()}.txt").read_text().split("\n") for model in MODELS}
        expected = {(number, model): SPELLED[line.split()[0]] for model, lines in told.items()
                    for number, line in enumerate(lines) if line}
        yield Sheet("axe-litmus", suite / "tests.axe", len(expected) // len(MODELS), (), expected)


def _some(addresses: str) -> tuple[str, ...]:
    return (addresses,) if addresses else ()


class Comparison:
    """Counts by source, and the differences."""

    def __init__(self) -> None:
        self.counts: dict[str, Counter[str]] = {}
        self.differences = 0

    def add(self, sheet: Sheet, sides: list[list[Answer] | None]) -> None:
        count = self.counts.setdefault(sheet.source, Counter())
        if None in sides:
            count["undecided"] += sheet.count * len(MODELS)
            return
        this, before = ({(answer["number"], answer["model"]): answer for answer in side or ()} for side in sides)
        for key in sorted(this.keys() | before.keys()):
            said = [side.get(key, {}).get("verdict", "missing") for side in (this, before)]
            count[self._kind(said, sheet.expected.get(key))] += 1
            if self._kind(said, sheet.expected.get(key)) == "different":
                self._tell(sheet, key, [this.get(key, {}), before.get(key, {})])

    def _kind(self, said: list[str], expected: str | None) -> str:
        if "unknown" in said:
            return "undecided"
        if said == ["error", "error"]:
            return "unreadable"
        return said[0] if said[0] == said[1] == (expected or said[0]) else "different"

    def _tell(self, sheet: Sheet, key: Key, answers: list[Answer]) -> None:
        self.differences += 1
        texts = [f"{answer.get('verdict', 'missing')} ({answer.get('decided_by') or answer.get('message', '')})"
                 for answer in answers]
        known = f", known to be {sheet.expected[key]}" if key in sheet.expected else ""
        print(f"DIFFERENT {sheet.source} {sheet.file.name} #{key[0]} {key[1]}: this {texts[0]}, before {texts[1]}"
              f"{known}{keep(sheet, key[0])}", flush=True)

    def table(self) -> Iterator[str]:
        kinds = ("consistent", "violation", "undecided", "unreadable", "different")
        yield f"{'':<12}" + "".join(f"{kind:>12}" for kind in kinds)
        for source, count in self.counts.items():
            yield f"{source:<12}" + "".join(f"{count[kind]:>12}" for kind in kinds)


def keep(sheet: Sheet, number: int) -> str:
    """Histories made for the occasion are gone afterwards, but the one that tells the two apart is wanted."""
    if sheet.source not in ("random", "hard"):
        return ""
    history = next(islice(gradual.read(sheet.file), number, None))
    if isinstance(history, InputError):
        return ""
    KEPT.mkdir(parents=True, exist_ok=True)
    file = KEPT / f"{sheet.file.stem}-{number}.jsonl"
    gradual.write([history], file)
    return f"; kept in {file.relative_to(ROOT)}"


def compare(sheets: Iterator[Sheet], sides: list[tuple[Tree, str]], timeout: float) -> Comparison:
    """Both sides at work on a file at the same time."""
    comparison, workers = Comparison(), [Worker(tree) for tree, _ in sides]
    try:
        with ThreadPoolExecutor(len(sides)) as pool:
            for sheet in sheets:
                limit = ROOM + 2 * timeout * len(MODELS) * min(sheet.count, 10)
                asked = [pool.submit(worker.ask, _job(sheet, engine, timeout), limit)
                         for worker, (_, engine) in zip(workers, sides, strict=True)]
                comparison.add(sheet, [answer.result() for answer in asked])
                _progress(comparison)
    finally:
        for worker in workers:
            worker.stop()
    return comparison


def _job(sheet: Sheet, engine: str, timeout: float) -> dict[str, Any]:
    return {"file": str(sheet.file), "models": MODELS, "addresses": sheet.addresses,
            "options": {"engine": engine, "timeout": timeout}}


def _progress(comparison: Comparison) -> None:
    if sys.stderr.isatty():
        done = sum(sum(count.values()) for count in comparison.counts.values())
        print(f"\r{done} verdicts, {comparison.differences} differences ", end="", file=sys.stderr, flush=True)


SOURCES = ("corpus", "traces", "random", "hard")


def sheets_of(chosen: argparse.Namespace, folder: Path) -> Iterator[Sheet]:
    if "corpus" in chosen.only:
        yield from corpus_sheets()
    if "traces" in chosen.only and chosen.traces.is_dir():
        yield from shared_sheets(chosen.traces)
    elif "traces" in chosen.only:
        print(f"left out: there is no {chosen.traces}", file=sys.stderr)
    if "random" in chosen.only:
        yield from random_sheets(chosen.histories, chosen.seed, folder)
    if "hard" in chosen.only:
        yield from hard_sheets(folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_before(parser)
    parser.add_argument("--histories", type=int, default=50_000, metavar="N", help="random ones")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="+", choices=SOURCES, default=SOURCES, help="some of what is compared")
    parser.add_argument("--traces", type=Path, default=ROOT.parent / "shared" / "traces", metavar="DIR")
    parser.add_argument("--timeout", type=float, default=20.0, metavar="S", help="seconds for each check")
    parser.add_argument("--engines", nargs=2, default=("schedule", "saturation"), metavar=("THIS", "BEFORE"),
                        help="of the two sides; these name no criteria, which is ten times as fast")
    chosen = parser.parse_args()
    if chosen.before is None:
        parser.error("--before DIR is missing: the checkout to compare with")
    sides = [(THIS, chosen.engines[0]), (chosen.before, chosen.engines[1])]
    with tempfile.TemporaryDirectory() as name:
        comparison = compare(sheets_of(chosen, Path(name)), sides, chosen.timeout)
    print("\n".join(comparison.table()))
    print(f"{comparison.differences or 'no'} differences")
    sys.exit(bool(comparison.differences))


if __name__ == "__main__":
    main()
