"""Every measurement, in a CSV file that is written as they come: a run that was stopped goes on from there."""

from __future__ import annotations

import csv
import statistics
import threading
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from experiments.bench.workloads import Workload


@dataclass(frozen=True)
class Sample:
    """One measurement, or the reason why there is none."""

    peer: str
    code: str
    model: str
    kind: str
    order: str
    operations: int
    threads: int
    locations: int
    limit: float
    """Seconds it was given."""
    verdict: str | None = None
    seconds: float | None = None
    cpu: float | None = None
    """Seconds of the processor: what else the machine does shows less in them."""
    peak_mb: float | None = None
    conflicts: int | None = None
    failure: str | None = None

    @property
    def workload(self) -> Workload:
        return Workload(self.model, self.kind, self.order, self.operations, self.threads, self.locations)


class Journal:
    """The samples by peer and workload. Those of other versions of a peer stay in the file, and are not seen; nor are
    failures with less time than there is now."""

    def __init__(self, file: Path, codes: dict[str, str], limit: float) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._samples: dict[tuple[str, Workload], list[Sample]] = {}
        for sample in _read(file) if file.exists() else ():
            if codes.get(sample.peer) == sample.code and not (sample.failure and sample.limit < limit):
                self._keep(sample)

    def add(self, sample: Sample) -> None:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with self._lock, open(self._file, "a", newline="", encoding="utf-8") as stream:
            new = not stream.tell()
            writer = csv.DictWriter(stream, [field.name for field in fields(Sample)], lineterminator="\n")
            if new:
                writer.writeheader()
            writer.writerow(asdict(sample))
        self._keep(sample)

    def of(self, peer: str, workload: Workload) -> list[Sample]:
        return self._samples.get((peer, workload), [])

    def failure(self, peer: str, workload: Workload) -> str | None:
        return next((sample.failure for sample in self.of(peer, workload) if sample.failure), None)

    def median(self, peer: str, workload: Workload, name: str) -> float | None:
        values = [value for sample in self.of(peer, workload) if (value := getattr(sample, name)) is not None]
        return statistics.median(values) if values else None

    def verdicts(self, workload: Workload) -> dict[str, str]:
        """Who says what."""
        return {peer: sample.verdict for (peer, of), samples in self._samples.items() if of == workload
                for sample in samples if sample.verdict}

    def _keep(self, sample: Sample) -> None:
        self._samples.setdefault((sample.peer, sample.workload), []).append(sample)


def _read(file: Path) -> list[Sample]:
    with open(file, newline="", encoding="utf-8") as stream:
        return [_sample(row) for row in csv.DictReader(stream)]


def _sample(row: dict[str, str]) -> Sample:
    def real(name: str) -> float | None:
        return float(row[name]) if row[name] else None

    return Sample(row["peer"], row["code"], row["model"], row["kind"], row["order"], int(row["operations"]),
                  int(row["threads"]), int(row["locations"]), float(row["limit"]), row["verdict"] or None,
                  real("seconds"), real("cpu"), real("peak_mb"), int(row["conflicts"]) if row["conflicts"] else None,
                  row["failure"] or None)
