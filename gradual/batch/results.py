"""The results of a batch: a Parquet dataset that grows by whole parts.

A folder of parts. Each holds rows (one per history and model) and, in its metadata, the files that
were checked to their end. A part appears under its name only once it is whole, rows and metadata
together, so whatever ends a run, the next one knows exactly what is left to do.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from gradual.batch import MARKER, REPLACES, BatchError, Key, Limits
from gradual.batch.work import Row
from gradual.files import appearing
from gradual.models import shipped

_COMPLETE = b"gradual.complete"
_USED = b"gradual.used"
"""The addresses of --initial that the histories read so far have."""

SCHEMA = pa.schema([
    ("source", pa.string()), ("history", pa.string()), ("number", pa.int64()), ("model", pa.string()),
    ("verdict", pa.string()), ("decided_by", pa.string()), ("operations", pa.int64()), ("threads", pa.int64()),
    ("locations", pa.int64()), ("write_pairs", pa.int64()), ("unordered_pairs", pa.int64()),
    ("unordered_percent", pa.float64()), ("ordered_by", pa.string()),
    ("given", pa.list_(pa.string())), ("without", pa.string()), ("conflicts", pa.int64()),
    ("seconds", pa.float64()), ("message", pa.string()), ("explanation", pa.string()), ("cycle", pa.string()),
    ("steps", pa.string()), ("pairs_tried", pa.string()), ("witness", pa.list_(pa.int32())), ("file_size", pa.int64()),
    ("modified", pa.timestamp("us", tz="UTC")), ("timeout", pa.float64()), ("memory", pa.int64()),
    ("version", pa.string())])

Stamp = tuple[int | None, int | None]
"""Size and time of a file: when they change, so may its verdicts."""


class Results:
    """The dataset in `folder`, open for one writer."""

    def __init__(self, folder: Path, options: dict[str, Any], limits: Limits = Limits()) -> None:  # noqa: B008 — a tuple
        self.folder = folder
        self._limits = limits
        self.notes: list[str] = []
        """What the user should know of what was found there."""
        self._rows: list[pa.RecordBatch] = []
        self._completed: list[tuple[str, str, Stamp]] = []
        self._lock = self._open(options)
        self._set_damaged_aside()
        self._refuse_other_columns()
        self._finish_compaction()
        self._next = max((int(part.stem.split("-")[1]) for part in self._parts()), default=-1) + 1
        self._complete: dict[tuple[str, str], Stamp] = {}
        self.used: set[int | str] = set()
        """The addresses of --initial that some history has."""
        for part in self._parts():
            self._complete.update(_completed(_metadata(part)))
            self.used.update(json.loads(_metadata(part).get(_USED, b"[]")))
        self._again = {part: _unsettled(part, limits) for part in self._parts()}
        """Of each part, the rows that are worth another try under these limits."""
        self._open_again = {key for found in self._again.values() for key in found.values()}
        self.tried_again = 0
        """How many of them `begun` took."""

    def _open(self, options: dict[str, Any]) -> int:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            marker = self.folder / MARKER
            if not marker.exists():
                if any(not path.name.startswith(("part-", "_")) for path in self.folder.iterdir()):
                    raise BatchError(f"{self.folder} holds other things; choose another --out")
                with appearing(str(marker)) as stream:
                    stream.write(json.dumps(options, sort_keys=True).encode())
            lock = os.open(marker, os.O_RDWR)
        except FileExistsError:
            raise BatchError(f"{self.folder} is a file; results need a folder, choose another --out") from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BatchError(f"another batch is writing to {self.folder}; wait, or choose another --out") from None
        try:
            before = json.loads(marker.read_bytes())
        except ValueError:
            raise BatchError(f"{marker} is damaged; delete it and run the same command again") from None
        if before != options:
            changed = ", ".join(f"--{name} {before.get(name)!r}, now {options.get(name)!r}"
                                for name in sorted(before | options) if before.get(name) != options.get(name))
            raise BatchError(f"{self.folder} was made with other options ({changed}); choose another --out")
        return lock

    def _set_damaged_aside(self) -> None:
        """What such a part held is checked again: nobody knows what it was, so no file counts as ended."""
        damaged = [part for part in self._parts() if not _whole(part)]
        for part in set(self._parts()) - set(damaged) if damaged else ():
            self._without(part, (), {source for (source, _), _ in _completed(_metadata(part))})
        for part in damaged:
            part.rename(part.with_name(f"_damaged-{part.name}"))
            self.notes.append(f"{part} is damaged and was set aside; what it held is checked again")

    def _refuse_other_columns(self) -> None:
        for part in self._parts():
            if missing := set(SCHEMA.names) - set(pq.read_schema(part).names):
                raise BatchError(f"{part} has no column {', '.join(sorted(missing))}: another version of gradual made "
                                 f"{self.folder}; choose another --out")

    def _reopen(self, sources: set[str]) -> None:
        """Take back the word that these files were ended, which may stand in any part: always before their rows."""
        self._complete = {key: stamp for key, stamp in self._complete.items() if key[0] not in sources}
        for part in self._parts():
            self._without(part, (), sources)

    def close(self) -> None:
        os.close(self._lock)

    # --- what is there

    def _parts(self) -> list[Path]:
        return parts(self.folder)

    def is_complete(self, source: str, model: str, stamp: Stamp) -> bool:
        return self._complete.get((source, model)) == stamp and (source, model) not in self._open_again

    def begun(self, stamps: dict[str, Stamp], models: Container[str]) -> dict[str, set[Key]]:
        """Of files that are not ended, what is there already. Rows that are out of date, or tried again, go."""
        done: dict[str, set[Key]] = defaultdict(set)
        old: dict[Path, list[int]] = defaultdict(list)
        reopened: set[str] = set()
        for part in self._parts():
            for place, source, key, stamp in _keys(part, stamps):
                again = key[1] in models and place in self._again.get(part, ())
                if stamp == stamps[source] and not again:
                    done[source].add(key)
                else:
                    old[part].append(place)
                    reopened.add(source)
                    self.tried_again += again
        if reopened:
            self._reopen(reopened)
        for part, rows in old.items():
            self._without(part, rows)
        return done

    def _without(self, part: Path, rows: Iterable[int], reopened: Container[str] = ()) -> None:
        """The part without some rows, and without the word that these files were ended."""
        metadata, gone = _metadata(part), set(rows)
        noted = list(_completed(metadata))
        ended = [(source, model, stamp) for (source, model), stamp in noted if source not in reopened]
        if gone or len(ended) < len(noted):
            table = pq.read_table(part)
            kept = table.take(pa.array(sorted(set(range(len(table))) - gone), pa.int64()))
            _write(part, [kept], metadata | _noted(ended))

    # --- adding

    def add(self, rows: list[Row]) -> None:
        self._rows.append(_batch([row | self._limits._asdict() for row in rows]))

    def complete(self, source: str, model: str, stamp: Stamp) -> None:
        self._completed.append((source, model, stamp))

    def flush(self) -> None:
        """One part more. OSError when the disk is full or read-only: nothing is half-written then."""
        if self._rows or self._completed:
            table = pa.Table.from_batches(self._rows, SCHEMA)
            _write(self.folder / f"part-{self._next:08}.parquet", [table], self._noted(self._completed))
            self._next += 1
            for source, model, stamp in self._completed:
                self._complete[source, model] = stamp
            self._rows, self._completed = [], []

    def _noted(self, completed: list[tuple[str, str, Stamp]]) -> dict[bytes, bytes]:
        return _noted(completed) | {_USED: json.dumps(sorted(self.used, key=str)).encode()}

    def compact(self) -> None:
        """Many parts become one: it names those it replaces, so that they are never taken twice."""
        old = self._parts()
        if len(old) < 2:
            return
        metadata = self._noted([(source, model, stamp) for (source, model), stamp in self._complete.items()])
        metadata[REPLACES] = json.dumps([part.name for part in old]).encode()
        _write(self.folder / f"part-{self._next:08}.parquet", (pq.read_table(part) for part in old), metadata)
        self._next += 1
        self._finish_compaction()

    def _finish_compaction(self) -> None:
        for part in self._parts():
            for name in json.loads(_metadata(part).get(REPLACES, b"[]")):
                (self.folder / name).unlink(missing_ok=True)
        for unfinished in self.folder.glob("*.part"):
            unfinished.unlink()


def _batch(rows: list[Row]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(
        [pa.array([_text(row.get(column.name)) for row in rows], column.type) for column in SCHEMA], schema=SCHEMA)


def _text(cell: Any) -> Any:
    """Text from a trace or a file's name may hold halves of characters: spelled out, as Parquet wants whole ones."""
    return cell.encode("utf-8", "backslashreplace").decode() if isinstance(cell, str) else cell


def parts(folder: Path) -> list[Path]:
    return sorted(folder.glob("part-*.parquet"))


def _whole(part: Path) -> bool:
    try:
        for _ in pq.ParquetFile(part).iter_batches():
            pass
    except (pa.ArrowException, OSError):
        return False
    return True


def _unsettled(part: Path, limits: Limits) -> dict[int, tuple[str, str]]:
    """The rows that stayed unknown or failed under other limits, and their files and models."""
    table = pq.read_table(part, columns=["source", "model", "verdict", *limits._fields])
    places = pc.indices_nonzero(pc.is_in(table["verdict"], pa.array(["unknown", "error"])))
    rows = zip(places.to_pylist(), table.take(places).to_pylist(), strict=True)
    return {place: (row["source"], row["model"]) for place, row in rows
            if Limits(row["timeout"], row["memory"]) != limits}


def _keys(part: Path, sources: Iterable[str]) -> Iterator[tuple[int, str, Key, Stamp]]:
    """Of the rows of these files: their places, and what they are of."""
    table = pq.read_table(part, columns=["source", "number", "model", "file_size", "modified"])
    at = pc.indices_nonzero(pc.is_in(table["source"], pa.array(sources, pa.string())))
    table = table.take(at)
    times = table["modified"].cast(pa.int64()).to_pylist()
    rows = table.drop_columns(["modified"]).to_pylist()
    for place, row, time in zip(at.to_pylist(), rows, times, strict=True):
        yield place, row["source"], (row["number"], row["model"]), (row["file_size"], time)


def _write(part: Path, tables: Iterable[pa.Table], metadata: dict[bytes, bytes]) -> None:
    schema = SCHEMA.with_metadata(metadata)
    with appearing(str(part)) as stream:
        with pq.ParquetWriter(stream, schema, compression="zstd") as writer:
            for table in tables:
                writer.write_table(table.replace_schema_metadata(metadata))
        stream.flush()
        os.fsync(stream.fileno())


def _metadata(part: Path) -> dict[bytes, bytes]:
    found = pq.read_schema(part).metadata or {}
    return {key: found[key] for key in (_COMPLETE, _USED, REPLACES) if key in found}


def _noted(completed: list[tuple[str, str, Stamp]]) -> dict[bytes, bytes]:
    return {_COMPLETE: json.dumps(completed).encode()}


def _completed(metadata: dict[bytes, bytes]) -> Iterator[tuple[tuple[str, str], Stamp]]:
    for source, model, (size, modified) in json.loads(metadata.get(_COMPLETE, b"[]")):
        yield (source, model), (size, modified)


def read(folder: Path, columns: list[str], sources: Iterable[str], models: Iterable[str]) -> pa.Table:
    """The rows of some files and models, in order."""
    wanted = list(dict.fromkeys([*columns, "source", "number", "model"]))
    table = pa.concat_tables([SCHEMA.empty_table().select(wanted),
                              *(pq.read_table(part, columns=wanted).replace_schema_metadata(None)
                                for part in parts(folder))])
    chosen = pc.and_(pc.is_in(table["source"], pa.array(sources, pa.string())),
                     pc.is_in(table["model"], pa.array(models, pa.string())))
    table = table.filter(chosen)
    strength = pc.index_in(table["model"], pa.array(map(str, shipped()), pa.string()))
    order = [("source", "ascending"), ("number", "ascending"), ("strength", "ascending"), ("model", "ascending")]
    return table.append_column("strength", strength).sort_by(order).drop_columns(["strength"])


def count(folder: Path) -> int:
    """Rows there are."""
    return sum(pq.read_metadata(part).num_rows for part in parts(folder))


def rows(folder: Path, columns: list[str], sources: Iterable[str], models: Iterable[str]) -> Iterator[dict[str, Any]]:
    """The same, one by one."""
    for batch in read(folder, columns, sources, models).to_batches(max_chunksize=1000):
        yield from batch.to_pylist()
