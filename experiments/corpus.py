"""Checks the corpus in traces/ and prints a table of verdicts. Exit status 1 if one is not the expected one."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from pathlib import Path

import gradual
from gradual.history import Addresses, History, InputError, Options

TRACES = Path(__file__).parents[1] / "traces"
MODELS = ("SC", "TSO", "PSO")


def expectations() -> Iterator[tuple[History, dict[str, str]]]:
    """Every history of the corpus, with the verdict each model must give."""
    with open(TRACES / "verdicts.csv", newline="", encoding="utf-8") as table:
        rows = list(csv.DictReader(table))
    for file, addresses in dict.fromkeys((row["file"], row["addresses"]) for row in rows):
        options = Options(Addresses.parse([addresses] if addresses else []))
        expected = {row["history"]: row for row in rows if row["file"] == file}
        for item in gradual.read(TRACES / file, options=options):
            if isinstance(item, InputError):
                raise item
            yield item, expected[item.name]


def main() -> None:
    print(f"{'history':<48}{'operations':>10}" + "".join(f"  {model:<24}" for model in MODELS))
    wrong = 0
    for history, expected in expectations():
        cells = []
        for model in MODELS:
            verdict = gradual.check(history, model, engine="datalog")
            surprise = "" if verdict.verdict == expected[model] else f", expected {expected[model]}!"
            wrong += bool(surprise)
            cells.append(f"  {f'{verdict.verdict} ({verdict.decided_by}){surprise}':<24}")
        print(f"{history.name:<48}{len(history):>10}" + "".join(cells).rstrip())
    print(f"{'every verdict is the expected one' if not wrong else f'{wrong} verdicts are not the expected ones'}, "
          "and each was certified before it was printed")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
