"""All of it: python -m experiments.paper [--quick] [--histories N] [--source machine gem5 rtl] [--timeout S]

Interrupted, the same command goes on where it was. Raw measurements in measurements.parquet, figures as SVG and PNG,
tables in tables.md.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from experiments.paper import figures, percentages, sources, study
from experiments.paper.measure import Store, machine_notes, measure

HERE = Path(__file__).resolve().parents[1]


def main(names: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="three sizes, few histories: under two minutes")
    parser.add_argument("--histories", type=int, help="per point (the paper: 200; 5, or 1 with --quick)")
    parser.add_argument("--source", nargs="+", choices=sources.NAMES, default=["machine", "gem5"])
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds for one check")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    folder = arguments.out or HERE / ("results/paper-quick" if arguments.quick else "results/paper")
    count = arguments.histories or (1 if arguments.quick else 5)
    store = Store(folder / "measurements.parquet")
    chosen = names or list(figures.TITLES)
    measure([point for name in chosen for source in _sources(name, arguments.source, arguments.quick)
             for point in figures.points(name, source, count, arguments.quick)], store, arguments.timeout)
    write(folder, store, chosen, whole=names is None, quick=arguments.quick)
    if names is None:
        wrong = list(figures.wrong_shapes(store.frame))
        for line in wrong:
            print(f"not as expected: {line}")
        raise SystemExit(1 if wrong else 0)


def _sources(name: str, asked: list[str], quick: bool) -> list[str]:
    """Only the machines go to a million operations; a quick run has real logs for the violations alone."""
    if name == "large":
        return ["machine"]
    return [source for source in asked if source == "machine" or name == "5" or not quick]


def write(folder: Path, store: Store, names: list[str], *, whole: bool, quick: bool) -> None:
    lines = ["# Measurements", "", *(f"- {note}" for note in machine_notes()), "- seeds from 1 on", ""]
    for name in names:
        figures.draw(store.frame, name, folder)
        title = f"Fig. {name}: {figures.TITLES[name]}" if name != "large" else figures.TITLES[name]
        lines += [f"## {title}", "", "Seconds, medians.", "", figures.table(store.frame, name)]
    if whole:
        lines += ["## Percentages", "", percentages.report(quick)]
        lines += ["## Faults and criteria", "", study.faults(5 if quick else 100)]
        lines += ["## Unordered writes", "", study.heat_map(folder, 2 if quick else 20)]
    (folder / "tables.md").write_text("\n".join(lines), encoding="utf-8")
    print(f"{folder / 'tables.md'}")


if __name__ == "__main__":
    main()
