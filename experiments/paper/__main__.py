"""All of it: python -m experiments.paper [--quick] [--histories N] [--source machine gem5 rtl] [--timeout S]

Interrupted, the same command goes on where it was; so does one that asks for more. Raw measurements in
measurements.parquet, figures as PNG, tables in tables.md. Exits with 1 when a shape is not as it must be.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from experiments import computer
from experiments.paper import figures, percentages, sources, study
from experiments.paper.measure import KEY, Options, Task, measure
from experiments.paper.shapes import wrong_shapes
from experiments.paper.store import Store
from gradual.history import reason

BUILD = sources.PROJECT / "build"


class Part(NamedTuple):
    title: str
    wanted: Callable[[Options], list[Task]]
    report: Callable[[Store, Options, Path], str]


def _figure(name: str) -> Part:
    title = f"Fig. {name}: {figures.TITLES[name]}" if name != "large" else figures.TITLES[name].capitalize()
    return Part(title, lambda options: [task for panel in figures.panels(name, options) for task in panel.tasks],
                partial(figures.report, name))


PARTS = {
    **{name: _figure(name) for name in figures.TITLES},
    "percentages": Part("Percentages", percentages.wanted, percentages.report),
    "study": Part("Faults, and what stays unordered", study.wanted, study.report),
}


def main(names: list[str] | None = None) -> None:
    """The parts of these names, which print their tables; or all of them, into one file."""
    arguments = _arguments()
    options = Options(arguments.quick, arguments.histories or (1 if arguments.quick else 5), tuple(arguments.source),
                      arguments.timeout)
    folder = arguments.out or BUILD / ("paper-quick" if options.quick else "paper")
    tables = folder / "tables.md"
    measurements = folder / "measurements.parquet"
    if names is None and options.quick and tables.exists():  # a finished one says nothing of the checker of today
        tables.unlink()
        measurements.unlink(missing_ok=True)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SystemExit(f"--out {folder}: {reason(error)}") from None
    parts = {name: PARTS[name] for name in names or PARTS}
    wanted = {name: part.wanted(options) for name, part in parts.items()}
    try:
        with Store(measurements, KEY) as store:
            measure([task for some in wanted.values() for task in some], store, options.timeout)
    except KeyboardInterrupt:
        print("\ninterrupted; the same command goes on from here", file=sys.stderr)
        raise SystemExit(130) from None
    if not any(store.get(task.key) for some in wanted.values() for task in some):
        raise SystemExit("nothing was measured")
    texts = [f"## {part.title}\n\n{part.report(store, options, folder)}" for part in parts.values()]
    if names is None:
        tables.write_text("\n".join([_head(options), *texts]), encoding="utf-8")
    print(tables if names is None else "\n".join(texts))
    _judge({name: store.frame(task.key for task in some) for name, some in wanted.items()})


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few and short histories: under two minutes")
    parser.add_argument("--histories", type=_positive(int), help="per point of a figure (the paper: 200; 5, or 1 with "
                        "--quick)")
    parser.add_argument("--source", nargs="+", choices=sources.NAMES, default=["machine", "gem5"],
                        help="where the histories of figures and percentages come from (machine and gem5; the logs of "
                        "the latter are looked for in GRADUAL_GEM5_LOGS); the study of faults has the RTL in any case")
    parser.add_argument("--timeout", type=_positive(float), default=60.0, help="seconds for one check")
    parser.add_argument("--out", type=Path, help="folder (build/paper, or build/paper-quick)")
    return parser.parse_args()


def _positive(kind: Callable[[str], float]) -> Callable[[str], float]:
    def read(text: str) -> float:
        number = kind(text)
        if not number > 0:
            raise ValueError
        return number

    read.__name__ = f"positive {getattr(kind, '__name__', '')}"  # as argparse calls it when it complains
    return read


def _head(options: Options) -> str:
    notes = [*computer.notes(), f"{options.histories} histories per point, of gem5 every log; seeds from 1 on",
             f"time limit {options.timeout:g} s per check; > where it cut a median off",
             "an empty cell was not tried: shorter histories took too long already"
             + (", or it was left out of a quick run" if options.quick else "")]
    return "# Measurements\n\n" + "".join(f"- {note}\n" for note in notes)


def _judge(frames: dict[str, pd.DataFrame]) -> None:
    wrong = list(wrong_shapes(frames))
    for line in wrong:
        print(f"not as expected: {line}")
    if wrong:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
