"""The rows of a dataset, as columns. What is long (messages, explanations) stays on disk until it is asked for."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from gradual.batch import MARKER, REPLACES
from gradual.history import InputError
from gradual.models import shipped

Numbers = npt.NDArray[Any]

WORDS = ("source", "model", "verdict", "decided_by", "version")
FIGURES = ("operations", "seconds", "unordered_percent")
TEXTS = ("history", "message", "explanation", "cycle", "steps")
COLUMNS = (*WORDS, *FIGURES, "number", "modified", *TEXTS, "threads", "locations")
BATCH = 4096
"""Rows decoded at a time where only a few are wanted: explanations are long."""

VERDICTS = ("violation", "error", "unknown", "consistent")


@dataclass(frozen=True)
class Results:
    """One row per history and model, in the order of source, number and model, however the parts were cut."""

    parts: list[tuple[Path, int]]
    """The files, and how many rows each has."""
    place: Numbers
    """Where each row stands in the parts, one after the other."""
    sources: pa.Array
    source: Numbers
    folders: list[str]
    folder: Numbers
    models: list[str]
    model: Numbers
    verdicts: list[str]
    verdict: Numbers
    criteria: list[str]
    criterion: Numbers
    number: Numbers
    operations: Numbers
    seconds: Numbers
    percent: Numbers
    """Figures are floats, nan where there is none."""
    versions: list[str]
    newest: datetime | None

    def __len__(self) -> int:
        return len(self.place)

    @staticmethod
    def read(dataset: Path) -> Results:
        """All of a dataset but what is long. InputError where it is none."""
        parts = _parts(dataset)
        tables = [_guarded(part, _short_columns) for part in parts]
        table = pa.concat_tables([_NOTHING, *tables]).unify_dictionaries()
        return _results(table, [(part, len(one)) for part, one in zip(parts, tables, strict=True)])

    def to_pandas(self) -> Any:
        """All columns, a row per history and model."""
        tables = [_guarded(part, pq.read_table) for part, _ in self.parts]
        whole = pa.concat_tables(tables, promote_options="default") if tables else _NOTHING
        return whole.take(pa.array(self.place)).to_pandas()

    def _repr_html_(self) -> str:
        from gradual.report import notebook

        return notebook.html(self)

    def text(self, row: int) -> tuple[str, str, str, str]:
        """Source, model, verdict and criterion of a row."""
        source = strings(self.sources.slice(int(self.source[row]), 1))[0]
        return (source, self.models[self.model[row]], self.verdicts[self.verdict[row]],
                self.criteria[self.criterion[row]])

    def fetch(self, rows: Numbers, columns: list[str]) -> list[dict[str, Any]]:
        """Other columns of some rows. Memory stays within a batch and what is asked for."""
        wanted = np.sort(self.place[rows])
        found: dict[int, dict[str, Any]] = {}
        start = 0
        for part, count in self.parts:
            inside = wanted[(wanted >= start) & (wanted < start + count)] - start
            if len(inside):
                taken = _guarded(part, lambda path, inside=inside: list(_taken(path, inside, columns)))
                found.update(zip((inside + start).tolist(), taken, strict=True))
            start += count
        return [found[place] for place in self.place[rows].tolist()]


def strings(array: Any) -> list[str]:
    """As Python strings, nulls empty. Bytes that are no UTF-8 (file names may hold them) stay readable."""
    return ["" if raw is None else raw.decode("utf-8", "backslashreplace")
            for raw in array.cast(pa.string()).cast(pa.binary()).to_pylist()]


def kind(verdict: str) -> str:
    """A name for the style sheet: never a string of the dataset."""
    return verdict if verdict in VERDICTS else "other"


def _parts(dataset: Path) -> list[Path]:
    if dataset.is_file():
        return [dataset]
    if not dataset.is_dir():
        raise InputError("there is no such dataset; `gradual batch` makes one", str(dataset))
    parts = sorted(path for path in _files(dataset) if path.suffix == ".parquet")
    if not parts and not (dataset / MARKER).exists():
        raise InputError("there is no .parquet file in this folder; `gradual batch` makes such a dataset", str(dataset))
    replaced = {dataset / name for part in parts for name in _guarded(part, _replaced)}
    return [part for part in parts if part not in replaced]


def _replaced(part: Path) -> list[str]:
    """The parts that this one was made from."""
    names: list[str] = json.loads((pq.read_schema(part).metadata or {}).get(REPLACES, b"[]"))
    return names


def _files(folder: Path) -> Iterator[Path]:
    """What is data: names that begin with _ or . are for the housekeeping of whoever writes."""
    for entry in os.scandir(folder):
        if entry.name.startswith(("_", ".")):
            continue
        if entry.is_dir():
            yield from _files(Path(entry.path))
        else:
            yield Path(entry.path)


def _guarded(part: Path, read: Any) -> Any:
    """What `read` makes of a file, its failures in the user's terms."""
    try:
        return read(part)
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.strerror:
            raise InputError(error.strerror.lower(), str(part)) from None
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise InputError(f"not a Parquet file, or a damaged one: {reason}", str(part)) from None


def _short_columns(part: Path) -> Any:
    names = pq.read_schema(part).names
    if lacking := [name for name in COLUMNS if name not in names]:
        raise InputError(f"no column {', '.join(lacking)}; `gradual batch` makes datasets with all of them", str(part))
    with pq.ParquetFile(part, read_dictionary=list(WORDS)) as file:
        table = file.read(columns=[*WORDS, *FIGURES, "number", "modified"])
    return pa.table({name: _cast(table[name], name, type, part) for name, type in _TYPES.items()})


_TYPES = (dict.fromkeys(WORDS, pa.dictionary(pa.int32(), pa.string())) | dict.fromkeys(FIGURES, pa.float64())
          | {"number": pa.int64(), "modified": pa.timestamp("us", "UTC")})
_NOTHING = pa.table({name: pa.array([], type) for name, type in _TYPES.items()})


def _cast(column: Any, name: str, type: Any, part: Path) -> Any:
    try:
        return _encoded(column) if name in WORDS else column.cast(type)
    except pa.ArrowException:
        raise InputError(f"the column {name} holds {column.type}, not {type} as `gradual batch` writes it",
                         str(part)) from None


def _encoded(column: Any) -> Any:
    if column.type == pa.dictionary(pa.int32(), pa.string()):
        return column
    return column.cast(pa.string()).dictionary_encode()


def _taken(part: Path, places: Numbers, columns: list[str]) -> Iterator[dict[str, Any]]:
    """The rows at `places`, which ascend. Row groups without any are not read."""
    with pq.ParquetFile(part) as file:
        start = 0
        for group in range(file.num_row_groups):
            end = start + file.metadata.row_group(group).num_rows
            if not np.any((places >= start) & (places < end)):
                start = end
                continue
            for batch in file.iter_batches(BATCH, row_groups=[group], columns=columns):
                here = places[(places >= start) & (places < start + len(batch))] - start
                yield from _dicts(batch.take(pa.array(here)))
                start += len(batch)


def _dicts(batch: Any) -> Iterator[dict[str, Any]]:
    names = batch.schema.names
    columns = [strings(column) if name in TEXTS else column.cast(pa.int64()).to_pylist()
               for name, column in zip(names, batch.columns, strict=True)]
    for values in zip(*columns, strict=True):
        yield dict(zip(names, values, strict=True))


def _results(table: Any, parts: list[tuple[Path, int]]) -> Results:
    source, sources = _sorted_codes(table["source"])
    model, models = _ranked_codes(table["model"], tuple(map(str, shipped())))
    verdict, verdicts = _ranked_codes(table["verdict"], VERDICTS, whole=True)
    criterion, criteria = _ranked_codes(table["decided_by"], ())
    number = table["number"].fill_null(0).to_numpy()
    order = np.lexsort((verdict, model, number, source))
    folder, folders = _folders(sources)
    figures = {name: table[name].fill_null(float("nan")).to_numpy()[order] for name in FIGURES}
    return Results(
        parts=parts, place=order, sources=sources, source=source[order],
        folders=folders, folder=folder[source[order]] if len(order) else order,
        models=models, model=model[order], verdicts=verdicts, verdict=verdict[order],
        criteria=criteria, criterion=criterion[order], number=number[order],
        operations=figures["operations"], seconds=figures["seconds"], percent=figures["unordered_percent"],
        versions=[version for version in _ranked_codes(table["version"], ())[1] if version],
        newest=_newest(table["modified"]))


def _newest(column: Any) -> datetime | None:
    newest = pc.max(column).cast(pa.int64()).as_py()
    if newest is None:
        return None
    try:
        return datetime.fromtimestamp(newest // 1_000_000, timezone.utc)
    except (OverflowError, ValueError, OSError):  # a file system may claim any year
        return None


def _codes(column: Any) -> tuple[Numbers, Any]:
    """Per row, the place of its string among the strings; nulls are empty strings."""
    whole = column.combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = pa.concat_arrays(whole.chunks) if whole.num_chunks else pa.array([], column.type)
    values = pa.concat_arrays([whole.dictionary.cast(pa.string()), pa.array([""])])
    codes = whole.indices.fill_null(len(values) - 1).to_numpy(zero_copy_only=False)
    return codes, values


def _sorted_codes(column: Any) -> tuple[Numbers, Any]:
    """The strings that occur, sorted, each once; and the place of each row's."""
    codes, values = _codes(column)
    distinct = pc.unique(values.take(pa.array(np.unique(codes))))
    distinct = distinct.take(pc.sort_indices(distinct))
    return pc.index_in(values, distinct).fill_null(0).to_numpy(zero_copy_only=False)[codes], distinct


def _ranked_codes(column: Any, known: tuple[str, ...], whole: bool = False) -> tuple[Numbers, list[str]]:
    """The same with the strings we know first, in our order; the `whole` of them even if some do not occur."""
    codes, distinct = _sorted_codes(column)
    names = strings(distinct)
    ranked = [name for name in known if whole or name in names]
    ranked += [name for name in names if name not in known]
    rank = np.array([ranked.index(name) for name in names], np.int64)
    return rank[codes], ranked


def _folders(sources: Any) -> tuple[Numbers, list[str]]:
    """The folder of each source, with its slash."""
    folders = pc.replace_substring_regex(sources, pattern=r"[^/]*$", replacement="")
    codes, distinct = _sorted_codes(pa.chunked_array([folders.dictionary_encode()]))
    return codes, [name or "./" for name in strings(distinct)]
