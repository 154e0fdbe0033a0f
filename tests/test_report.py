"""The report of a batch: right, whole, the same every time, and safe whatever the traces are called."""

from __future__ import annotations

import doctest
import json
import re
from collections import Counter
from datetime import datetime, timezone
from functools import cache
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import gradual
from gradual.batch.results import SCHEMA
from gradual.deciding.ladder import LADDERS
from gradual.deciding.shrinking import IMPOSSIBLE
from gradual.history import REAL_TIME, STORE_ORDER, Builder, InputError
from gradual.report import charts, findings, gallery, glossary, groups, listing, report
from gradual.report.example import example
from gradual.report.findings import Finding
from gradual.report.results import VERDICTS, Results
from gradual.telling import markup
from gradual.telling import record as records

SCRIPT = "<script>document.title = 'owned'; window.owned = 1</script>"
HOSTILE = [
    SCRIPT, "</script></pre></details><img src=x onerror='window.owned = 1'>", "\"' onmouseover=\"window.owned = 1",
    "<!-- ", "]]>", "&lt;b&gt;", "a\0b\x1b[31m\x7f\x85", "first\nsecond\r\nthird", "gpj.\u202egnp", "\ufeff\u2028",
    "$dataset ${style}", "ünïcødé → 漢字 🙂", "javascript:alert(1)", "x" * 300, "../../etc/passwd", "</style><b>", "#",
    ""]
EXPLANATION = ("these cannot all come one after the other:\n       R x=0 (cpu0, line 3)\n"
               "  rw → W x=1 (cpu1, line 7)   overwrites the initial value that was read\n  po → R x=0 (cpu0, line 3)")


def one_row(**values: Any) -> dict[str, Any]:
    row: dict[str, Any] = dict.fromkeys(SCHEMA.names)
    row |= {"source": "traces/a.csv", "history": "a", "number": 0, "model": "SC", "verdict": "consistent",
            "decided_by": "greedy", "operations": 100, "threads": 4, "locations": 8, "write_pairs": 50,
            "unordered_pairs": 5, "unordered_percent": 10.0, "seconds": 0.01, "message": "", "version": "0.1.0",
            "modified": datetime(2024, 5, 6, 7, 8, tzinfo=timezone.utc)}
    return row | values


@cache
def evidence(names: tuple[str, str] = ("x", "y"), threads: tuple[str, str] = ("cpu0", "cpu1"), between: int = 0,
             turned: int = 0) -> dict[str, str]:
    """Store buffering as `gradual batch` tells it, with some writes in between, from any of its operations."""
    builder = Builder("SB", "sb.csv")
    for at, thread in enumerate(threads):
        builder.write(thread, names[at], 1, line=10 * at + 1)
        for n in range(between):
            builder.write(thread, f"own{at}", n + 1, line=10 * at + 2 + n)
        builder.read(thread, names[1 - at], 0, line=10 * at + 9)
    history = builder.build()
    found = records.violation(gradual.check(history, "sc", engine="schedule"), history)
    cycle = found["cycle"]
    if between:  # as the engine may tell it: each operation after the other
        steps = [records.operation(history, o) for o in range(len(history)) if history.thread[o] == 0]
        first = next(at for at, edge in enumerate(cycle) if edge["edge"] == "po" and edge["from"] == steps[0])
        cycle[first:first + 1] = [{"edge": "po", "from": a, "to": b} for a, b in pairwise(steps)]
    return {"cycle": json.dumps(cycle[turned:] + cycle[:turned]), "steps": json.dumps(found["steps"])}


def violation(**values: Any) -> dict[str, Any]:
    return one_row(**{"verdict": "violation", "decided_by": "CCM", "message": "R x=0 rw → W x=1 po → R x=0",
                      "explanation": EXPLANATION} | evidence() | values)


def failure(**values: Any) -> dict[str, Any]:
    nothing = dict.fromkeys(["decided_by", "operations", "threads", "locations", "unordered_percent", "seconds"])
    return one_row(**nothing | {"verdict": "error", "message": "line 3: what is this?"} | values)


def ordinary() -> list[dict[str, Any]]:
    rows = [one_row(source=f"traces/{folder}/{at}.csv", history=f"{folder}-{at}", model=model, operations=20 * at + 5,
                    seconds=0.001 * (at + 1), unordered_percent=float(7 * at % 90))
            for folder in ("gem5", "axe") for at in range(12) for model in ("SC", "TSO")]
    rows += [violation(source="traces/gem5/bad.log.gz", history="bad", model=model) for model in ("SC", "TSO", "PSO")]
    rows += [violation(source="traces/axe/worse.axe", history="worse", decided_by="CC"),
             one_row(source="traces/axe/hard.axe", verdict="unknown", decided_by=None, message="out of time"),
             failure(source="odd.csv")]
    return rows


def hostile() -> list[dict[str, Any]]:
    rows = []
    for at, text in enumerate(HOSTILE):
        named = evidence((f"{text}0", f"{text}1"), (f"t{text}", text + "u")) if text.strip("\0") else {"cycle": text}
        rows.append(violation(source=f"{text}/{text}.csv", history=text, number=at, decided_by=text, message=text,
                              explanation=text, version=text, **named))
        rows.append(failure(source=text, history=text, model=text, verdict=text, message=text * 3))
    return rows


def write(path: Path, rows: list[dict[str, Any]], parts: int = 1) -> Path:
    path.mkdir()
    for part in range(parts):
        pq.write_table(pa.Table.from_pylist(rows[part::parts], SCHEMA), path / f"part-{part}.parquet")
    (path / "_finished.parquet").write_text("no data")
    (path / ".hidden").mkdir()
    (path / ".hidden" / "x.parquet").write_text("no data")
    return path


def made(tmp_path: Path, rows: list[dict[str, Any]], **options: Any) -> Path:
    out = tmp_path / "report.html"
    report(write(tmp_path / "results.parquet", rows), out, **options)
    return out


class Reader(HTMLParser):
    """Demands that every element is closed in its turn, and keeps what it saw."""

    VOID = ("meta", "input", "wbr")

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.tables: dict[str, list[list[str]]] = {}
        self.texts: dict[str, str] = {}
        self._table, self._cell, self._id = "", None, ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs), attrs
        values = dict(attrs)
        self.elements.append((tag, values))
        self._id = values.get("id") or ""
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "table":
            self._table = values.get("id") or ""
            self.tables[self._table] = []
        elif tag == "tr":
            self.tables[self._table].append([])
        elif tag in ("td", "th"):
            self.tables[self._table][-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        self._id = ""

    def handle_data(self, data: str) -> None:
        if ("td" in self.open or "th" in self.open) and "title" not in self.open:
            self.tables[self._table][-1][-1] += data
        if self._id:
            self.texts[self._id] = self.texts.get(self._id, "") + data


def read(page: Path) -> Reader:
    return Reader(page.read_text("utf-8"))


def test_the_counts_are_right(tmp_path: Path) -> None:
    tables = read(made(tmp_path, ordinary())).tables
    head, *models = tables["verdict-counts"]
    assert head == ["model", "consistent", "violation", "error", "unknown", "histories", "share"]
    assert [row[:6] for row in models] == [["SC", "24", "2", "1", "1", "28"], ["TSO", "24", "1", "0", "0", "25"],
                                           ["PSO", "0", "1", "0", "0", "1"]]
    assert [row[2:4] for row in tables["findings"][1:]] == [
        ["SC", "violation"], ["SC", "violation"], ["TSO", "violation"], ["PSO", "violation"],
        ["SC", "error"], ["SC", "unknown"]]
    assert ["violation", "CCM", "1", "1", "1", "3"] in tables["decided"]
    assert tables["slow"][1][0] == "traces/axe/11.csv" or tables["slow"][1][8] == "0.012"


def test_the_folders_have_their_figures(tmp_path: Path) -> None:
    rows = ordinary()
    tables = read(made(tmp_path, rows)).tables
    percent = [row["unordered_percent"] for row in rows if "/axe/" in row["source"] and row["model"] == "SC"]
    figures = [f"{value:.1f}" for value in (np.mean(percent), np.median(percent), np.max(percent))]
    assert tables["folders"][1] == ["./", "SC", "1", "0", "0", "1", "0", "–", "–", "–"]
    assert tables["folders"][2] == ["traces/axe/", "SC", "14", "12", "1", "0", "1", *figures]
    assert [row[0] for row in tables["folders"][1:]] == ["./", *["traces/axe/"] * 2, *["traces/gem5/"] * 3]


def test_folders_are_in_order_with_those_in_them_after(tmp_path: Path) -> None:
    sources = ["b/a/x.csv", "b/x.csv", "b/z/x.csv", "/x.csv", "a.csv"]
    tables = read(made(tmp_path, [one_row(source=source) for source in sources])).tables
    assert [row[0] for row in tables["folders"][1:]] == ["./", "/", "b/", "b/a/", "b/z/"]


def test_the_header_says_what_this_is(tmp_path: Path) -> None:
    text = made(tmp_path, ordinary()).read_text("utf-8")
    assert "28 histories from 28 files, checked against SC, TSO, PSO: 4 violations, 1 error, 1 unknown." in text
    assert "2024-05-06 07:08 UTC" in text
    assert "gradual 0.1.0" in text


def test_every_violation_leads_to_its_explanation(tmp_path: Path) -> None:
    seen = read(made(tmp_path, ordinary()))
    targets = {values["id"] for _, values in seen.elements if values.get("id")}
    links = [values["href"] or "" for tag, values in seen.elements if tag == "a"]
    assert all(link[0] == "#" and link[1:] in targets for link in links)
    assert Counter(link for link in links if link.startswith("#explanation-")) == {
        f"#explanation-{at}": 2 for at in range(4)}, "from its row and from its group"
    assert seen.texts["explanation-0"].strip("\n") == EXPLANATION


def test_a_page_of_its_own_is_linked_where_there_is_one(tmp_path: Path) -> None:
    def link(row: Finding) -> str | None:
        return f"results.pages/{row.history}.html?a&b" if row.model == "TSO" else None

    seen = read(made(tmp_path, ordinary(), link=link))
    pages = [values["href"] for tag, values in seen.elements if tag == "a" and "pages/" in (values["href"] or "")]
    assert pages == ["results.pages/bad.html?a&b"] * 3, "from its group, its row and its explanation"


def test_nothing_in_the_data_becomes_markup(tmp_path: Path) -> None:
    plain, odd = made(tmp_path, ordinary()), tmp_path / "hostile.html"
    report(write(tmp_path / "hostile", hostile()), odd)
    seen = read(odd)
    tags = Counter(tag for tag, _ in seen.elements)
    assert set(tags) <= {tag for tag, _ in read(plain).elements}
    assert tags["script"] == tags["style"] == 1
    names = {name for _, values in seen.elements for name in values}
    assert not [name for name in names if name.startswith("on")]
    assert names <= {name for _, values in read(plain).elements for name in values}
    assert len(seen.tables["findings"]) == 1 + 2 * len(HOSTILE)
    shown = {row[1] for row in seen.tables["findings"]}
    spelled = {"a\\x00b\\x1b[31m\\x7f\\x85", "first\\nsecond\\r\\nthird", "gpj.\\u202egnp"}
    assert {*spelled, SCRIPT, "$dataset ${style}"} <= shown


@pytest.mark.parametrize("rows", [ordinary, hostile])
def test_the_page_needs_nothing_else(tmp_path: Path, rows: Any) -> None:
    page = made(tmp_path, rows())
    assert not re.search(r"https?://|@import|url\((?!#)", page.read_text("utf-8"))
    for tag, values in read(page).elements:
        assert tag not in ("link", "img", "iframe", "object", "base")
        assert "src" not in values
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", page.read_text("utf-8"))


def test_ids_are_unique_and_tables_and_charts_named(tmp_path: Path) -> None:
    seen = read(made(tmp_path, ordinary()))
    ids = [values["id"] for _, values in seen.elements if "id" in values]
    assert len(ids) == len(set(ids))
    tags = Counter(tag for tag, _ in seen.elements)
    assert tags["caption"] == tags["table"]
    charts = [values for tag, values in seen.elements if tag == "svg" and "aria-hidden" not in values]
    assert len(charts) == 4 + 3 + 3 + 3, "the pictures of the groups, and three charts for each model"
    assert all(values["role"] == "img" and values["aria-label"] for values in charts)
    assert tags["label"] == tags["input"] + tags["select"] == 6


def test_equal_rows_give_equal_pages_however_they_are_cut(tmp_path: Path) -> None:
    pages = []
    for at, (rows, parts) in enumerate([(ordinary(), 1), (ordinary(), 1), (ordinary()[::-1], 3)]):
        (tmp_path / str(at)).mkdir()
        out = tmp_path / str(at) / "page.html"
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(tmp_path / str(at))
            report(write(Path("results"), rows, parts), out)
        pages.append(out.read_bytes())
    assert pages[0] == pages[1] == pages[2]


def test_a_single_file_is_a_dataset_too(tmp_path: Path) -> None:
    pq.write_table(pa.Table.from_pylist(ordinary(), SCHEMA), tmp_path / "one.parquet", row_group_size=7)
    report(tmp_path / "one.parquet", tmp_path / "one.html")
    seen = read(tmp_path / "one.html")
    assert len(seen.tables["findings"]) == 1 + 6
    assert seen.texts["explanation-0"].strip("\n") == EXPLANATION


def test_a_dataset_without_rows(tmp_path: Path) -> None:
    text = made(tmp_path, []).read_text("utf-8")
    assert "no rows" in text
    Reader(text)


def test_a_batch_that_found_no_trace(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "_gradual.json").write_text("{}")
    report(tmp_path / "data", tmp_path / "page.html")
    assert "no rows" in (tmp_path / "page.html").read_text("utf-8")


def test_parts_that_another_replaces_are_not_counted_twice(tmp_path: Path) -> None:
    data = write(tmp_path / "data", ordinary(), 2)
    whole = pa.Table.from_pylist(ordinary(), SCHEMA.with_metadata(
        {"gradual.replaces": '["part-0.parquet", "part-1.parquet"]'}))
    pq.write_table(whole, data / "part-2.parquet")
    assert len(Results.read(data)) == len(ordinary())


def test_when_all_is_consistent_the_page_says_so(tmp_path: Path) -> None:
    text = made(tmp_path, [one_row(seconds=0.0, operations=0, unordered_percent=None)]).read_text("utf-8")
    assert "no violation." in text
    assert "every history is consistent" in text
    assert 'id="filter"' not in text


def test_many_rows(tmp_path: Path) -> None:
    """A hundred thousand, of which the page lists and draws a bearable part."""
    count = 100_000
    rows = pa.Table.from_pylist([one_row(), violation()], SCHEMA).take(pa.array(np.arange(count) % 50 == 7).cast(
        pa.int64()))
    random = np.random.default_rng(1)
    columns = {"number": np.arange(count), "seconds": random.lognormal(-5, 2, count),
               "operations": random.integers(1, 10**6, count), "unordered_percent": random.uniform(0, 100, count),
               "source": [f"traces/{at // 100}/{at}.csv" for at in range(count)]}
    for name, values in columns.items():
        rows = rows.set_column(SCHEMA.get_field_index(name), SCHEMA.field(name), pa.array(values))
    pq.write_table(rows, tmp_path / "many.parquet")
    report(tmp_path / "many.parquet", tmp_path / "many.html")
    seen = read(tmp_path / "many.html")
    assert len(seen.tables["findings"]) == 1 + findings.SHOWN
    assert len(seen.tables["folders"]) == 1 + 200
    assert "Only the first 1 000 of 2 000 rows".replace(" 000", "\u202f000") in (tmp_path / "many.html").read_text()
    assert (tmp_path / "many.html").stat().st_size < 3_000_000


def test_long_texts_are_cut_and_say_so(tmp_path: Path) -> None:
    seen = read(made(tmp_path, [violation(explanation="x" * 50_000, message="m" * 500)]))
    assert len(seen.tables["findings"][1][6]) == listing.LINE
    assert "[cut after 20\u202f000 of 50\u202f000 characters" in seen.texts["explanation-0"]


def test_the_witness_is_never_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, list[str]] = {"read": [], "iter_batches": []}
    for method, columns in asked.items():
        original = getattr(pq.ParquetFile, method)

        def noted(self: Any, *args: Any, original: Any = original, seen: Any = columns, **options: Any) -> Any:
            seen.extend(options["columns"])
            return original(self, *args, **options)

        monkeypatch.setattr(pq.ParquetFile, method, noted)
    made(tmp_path, ordinary())
    assert {"explanation", "cycle"} <= set(asked["iter_batches"])
    assert "witness" not in asked["iter_batches"]
    assert not {"witness", "cycle", "steps", "explanation"} & set(asked["read"]), "what is long is not read at once"


def test_bytes_that_are_no_text_stay_readable(tmp_path: Path) -> None:
    rows = pa.Table.from_pylist([violation()], SCHEMA)
    for name in ("source", "history", "explanation"):
        bad = pa.array([b"dir/\xff\xfe.csv"]).view(pa.string())
        rows = rows.set_column(SCHEMA.get_field_index(name), SCHEMA.field(name), bad)
    pq.write_table(rows, tmp_path / "bytes.parquet")
    report(tmp_path / "bytes.parquet", tmp_path / "bytes.html")
    assert read(tmp_path / "bytes.html").tables["findings"][1][:2] == ["dir/\\xff\\xfe.csv"] * 2


def test_fetching_keeps_the_order_that_was_asked_for(tmp_path: Path) -> None:
    results = Results.read(write(tmp_path / "d", [one_row(number=at, history=f"h{at}") for at in range(50)], 4))
    chosen = np.array([49, 0, 17, 3])
    assert [row["history"] for row in results.fetch(chosen, ["history"])] == ["h49", "h0", "h17", "h3"]


def test_a_message_does_not_repeat_the_file(tmp_path: Path) -> None:
    rows = [failure(source="a/b.csv", message="a/b.csv:3: what is this?"),
            failure(source="a/c.csv", message="a/c.csv: there is nothing in it")]
    messages = [row[6] for row in read(made(tmp_path, rows)).tables["findings"][1:]]
    assert messages == ["line 3: what is this?", "there is nothing in it"]


# --- groups


def grouped(tmp_path: Path, rows: list[dict[str, Any]]) -> list[groups.Group]:
    return groups.groups(Results.read(write(tmp_path / "grouped", rows, 2)))


def test_violations_that_look_alike_are_a_group(tmp_path: Path) -> None:
    alike = [violation(source=f"{at}.csv", **evidence(**options)) for at, options in enumerate([
        {}, {"turned": 1}, {"turned": 3}, {"names": ("y", "x")}, {"names": ("0x10", "tb.dut")}, {"between": 2},
        {"threads": ("b", "a"), "turned": 2}, {"between": 4, "turned": 2}])]
    others = [violation(source="model.csv", model="TSO"), violation(source="criterion.csv", decided_by="CC"),
              violation(source="no cycle.csv", cycle="[]", decided_by="thin-air"),
              violation(source="nor here.csv", cycle=None, steps=None, decided_by="thin-air"),
              one_row(source="consistent.csv"), failure(source="error.csv")]
    found = grouped(tmp_path, [*others, *alike])
    assert [len(group.rows) for group in found] == [8, 2, 1, 1]
    assert found[0].text == "W a po → R b rw → W b po → R a rw → back"
    assert found[1].text == "" and found[1].criterion == "thin-air"


def test_cycles_that_differ_are_not_one_group() -> None:
    def turned(cycle: str, **changes: Any) -> str:
        edges = json.loads(cycle)
        edges[0]["from"] |= changes
        return json.dumps(edges)

    cycle = evidence()["cycle"]
    one = groups.shape(cycle)
    assert len(one) == 4 and groups.shape(turned(cycle, tick=5, line=7)) == one
    assert len({one, groups.shape(turned(cycle, op="rmw")), groups.shape(turned(cycle, address="z"))}) == 3


@pytest.mark.parametrize("cycle", ["", "[]", "{}", "null", "7", "[7]", "[[]]", '[{"edge": "po"}]', "]", '"text"',
                                   '[{"edge": "<b>", "from": {"op": "read", "address": "x"}}]',
                                   '[{"edge": "po", "from": {"op": ["read"], "address": {}}}]', "[" * 100_000])
def test_what_is_no_cycle_has_no_shape_and_no_picture(cycle: str) -> None:
    assert groups.shape(cycle) == ()
    one = Finding(0, "a.csv", "./", "h", 0, "SC", "violation", "CCM", 4, "", "")
    assert example(one, cycle, "[]") is None
    assert example(one, evidence()["cycle"], cycle) is None or cycle in ("", "[]", "{}")
    assert example(one, evidence()["cycle"], "[]") is not None


def test_the_example_is_drawn_as_the_trace_has_it(tmp_path: Path) -> None:
    rows = [violation(source="long.csv", **evidence(between=3)), violation(source="short.csv", **evidence(("x", "y"))),
            violation(source="other.csv", **evidence(between=2))]
    (group,) = grouped(tmp_path, rows)
    results = Results.read(tmp_path / "grouped")
    [one] = findings.fetched(results, np.array([group.example]))
    assert one.source == "short.csv"
    drawn = example(one, **evidence())
    assert drawn is not None
    assert [node.text for node in drawn.nodes] == ["W x=1", "R y=0", "W y=1", "R x=0"]
    assert [node.place for node in drawn.nodes] == ["line 1", "line 9", "line 11", "line 19"]
    assert drawn.nodes[3].title == "R x=0 by cpu1, line 19, operation 4"
    assert drawn.note == "4 of 100 operations shown"
    one_line = {name: text.replace('"line": 9', '"line": 1') for name, text in evidence().items()}
    drawn = example(one, **one_line)
    assert drawn is not None and [node.place for node in drawn.nodes][1] == "operation 2"


def test_violations_come_first_then_findings_then_statistics(tmp_path: Path) -> None:
    seen = read(made(tmp_path, ordinary()))
    order = [values["id"] for tag, values in seen.elements if tag == "section"]
    assert order == ["violations", "found", "verdicts", "criteria", "unordered", "time", "slowest", "glossary",
                     "explanations"]
    text = (tmp_path / "report.html").read_text("utf-8")
    assert "4 violations in 4 groups" in text
    assert sum(tag == "article" for tag, _ in seen.elements) == 4


def test_many_groups_are_a_table(tmp_path: Path) -> None:
    rows = [violation(source=f"{at}.csv", decided_by=f"C{at}", number=n) for at in range(230)
            for n in range(3 - at // 100)]
    seen = read(made(tmp_path, rows))
    assert sum(tag == "article" for tag, _ in seen.elements) == gallery.PICTURES
    assert len(seen.tables["groups"]) == 1 + gallery.GROUPS - gallery.PICTURES
    assert seen.tables["groups"][1][:3] == ["25", "3", "SC"]
    assert f"The 176 that follow, of {230 - gallery.PICTURES}" in (tmp_path / "report.html").read_text("utf-8")


def test_every_word_is_explained(tmp_path: Path) -> None:
    criteria = {name for rungs in LADDERS.values() for rung in rungs for name in rung.criteria}
    engines = {"cycle", "search", "schedule", "enumerate", "sat", "direct", "general"}
    against = {STORE_ORDER, REAL_TIME, f"{STORE_ORDER}+{REAL_TIME}"}
    assert criteria | set(IMPOSSIBLE) | engines | against == set(glossary.DECIDED)
    assert set(VERDICTS) <= set(glossary.WORDS)
    text = made(tmp_path, ordinary()).read_text("utf-8")
    assert text.count('href="#word-ccm"') == 3 + 1 and 'id="word-ccm"' in text


def test_groups_in_a_browser(browser: Any, tmp_path: Path) -> None:
    rows = [violation(source=f"{at}.csv") for at in range(30)] + [violation(source="z.csv", model="TSO")]
    resize(browser, 1280)
    browser.get(made(tmp_path, rows).as_uri())
    card = browser.find_element("id", "group-1")
    assert "30 histories SC by CCM" in card.text and "W x=1" in card.text
    box = card.find_element("css selector", ".box")
    assert box.is_displayed() and box.rect["y"] < 900, "a picture on the first screen"
    assert len(visible_rows(browser)) == 31
    card.find_element("css selector", "summary").click()
    assert "and 10 more" in card.text
    card.find_element("css selector", "a[data-group]").click()
    assert len(visible_rows(browser)) == 30
    assert browser.find_element("id", "findings").rect["y"] > 0
    assert browser.get_log("browser") == []


@pytest.mark.parametrize("module", [charts, markup])
def test_the_examples_in_the_code(module: ModuleType) -> None:
    tried = doctest.testmod(module)
    assert tried.attempted
    assert not tried.failed


def _lacking(path: Path) -> None:
    path.mkdir()
    pq.write_table(pa.Table.from_pylist([one_row()], SCHEMA).drop_columns(["verdict", "seconds"]), path / "a.parquet")


def _mistyped(path: Path) -> None:
    rows = pa.Table.from_pylist([one_row()], SCHEMA)
    pq.write_table(rows.set_column(SCHEMA.get_field_index("seconds"), "seconds", pa.array(["long"])), path)


@pytest.mark.parametrize(("make", "says"), [
    (lambda path: None, "no such dataset; `gradual batch` makes one"),
    (lambda path: path.mkdir(), "no .parquet file in this folder"),
    (lambda path: path.write_text("thread,op,address,value\n"), "not a Parquet file"),
    (lambda path: path.write_bytes(b"PAR1" + b"\0" * 50 + b"PAR1"), "not a Parquet file"),
    (_lacking, "no column verdict, seconds; `gradual batch` makes"),
    (_mistyped, "the column seconds holds string, not double"),
])
def test_what_is_no_dataset(tmp_path: Path, make: Any, says: str) -> None:
    make(tmp_path / "data.parquet")
    with pytest.raises(InputError, match="data.parquet.*" + re.escape(says)):
        report(tmp_path / "data.parquet", tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize(("out", "says"), [("nowhere/page.html", "no folder"), (".", "this is a folder"),
                                           ("data/page.html", "in the dataset"), ("data", "this is a folder")])
def test_where_no_page_can_be(tmp_path: Path, out: str, says: str) -> None:
    data = write(tmp_path / "data", ordinary())
    with pytest.raises(InputError, match=says):
        report(data, tmp_path / out)
    assert len(Results.read(data)) == len(ordinary())


def visible_rows(browser: Any) -> list[str]:
    found: list[str] = browser.execute_script(
        "return [...document.querySelectorAll('#findings tbody tr')].filter(r => r.offsetParent).map(r => "
        "r.cells[0].textContent)")
    return found


def resize(browser: Any, width: int) -> None:
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                            {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False})


def test_filters_in_a_browser(browser: Any, tmp_path: Path) -> None:
    from selenium.webdriver.support.ui import Select, WebDriverWait

    browser.get(made(tmp_path, ordinary()).as_uri())
    count = browser.find_element("id", "matching")
    text = browser.find_element("name", "text")
    assert len(visible_rows(browser)) == 6
    assert count.text == "6 of 6 rows match"
    text.send_keys("GEM5 bad")
    assert visible_rows(browser) == ["traces/gem5/bad.log.gz"] * 3
    Select(browser.find_element("name", "model")).select_by_visible_text("TSO")
    assert count.text == "1 of 6 rows match"
    assert len(browser.find_elements("css selector", "details:not([hidden])")) == 1
    browser.find_element("css selector", "button[type=reset]").click()
    WebDriverWait(browser, 20).until(lambda _: count.text == "6 of 6 rows match")  # a moment later
    for name, choice, rows in (("verdict", "unknown", ["traces/axe/hard.axe"]), ("folder", "./", ["odd.csv"]),
                               ("criterion", "CC", ["traces/axe/worse.axe"])):
        select = Select(browser.find_element("name", name))
        select.select_by_visible_text(choice)
        assert visible_rows(browser) == rows
        select.select_by_visible_text("all")
    assert browser.get_log("browser") == []


def test_links_open_explanations_in_a_browser(browser: Any, tmp_path: Path) -> None:
    browser.get(made(tmp_path, ordinary()).as_uri())
    links = browser.find_elements("css selector", "#findings a")
    assert [link.text for link in links] == ["why"] * 4
    for at, link in enumerate(links):
        target = browser.find_element("id", f"explanation-{at}")
        assert not target.is_displayed()
        link.click()
        assert target.is_displayed()
        assert "rw → W x=1" in target.text
        top = browser.execute_script("return arguments[0].getBoundingClientRect().top", target)
        assert 0 <= top < browser.execute_script("return innerHeight")
    assert browser.get_log("browser") == []


def test_hostile_names_do_nothing_in_a_browser(browser: Any, tmp_path: Path) -> None:
    browser.get(made(tmp_path, hostile()).as_uri())
    assert browser.execute_script("return window.owned") is None
    assert browser.title.startswith("gradual: ")
    tried, fruitless = browser.execute_script("""
        let tried = 0, fruitless = [];
        for (const select of document.querySelectorAll("#filter select")) {
          for (const option of select.options) {
            option.selected = true;
            select.dispatchEvent(new Event("change", {bubbles: true}));
            tried += 1;
            if (!document.querySelector("#findings tbody tr:not([hidden])")) fruitless.push(option.value);
          }
          select.selectedIndex = 0;
        }
        return [tried, fruitless]""")
    assert tried > 3 * len(HOSTILE)
    assert fruitless == []
    assert browser.execute_script("return window.owned") is None
    assert browser.get_log("browser") == []


@pytest.mark.parametrize("width", [400, 1000, 1280, 1600])
@pytest.mark.parametrize("rows", [ordinary, hostile])
def test_the_page_fits_in_a_browser(browser: Any, tmp_path: Path, width: int, rows: Any) -> None:
    resize(browser, width)
    browser.get(made(tmp_path, rows()).as_uri())
    browser.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert browser.execute_script("return innerWidth") == width
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    wide = browser.execute_script("return [...document.querySelectorAll('.scroll')].filter(d => d.scrollWidth > "
                                  "d.clientWidth).map(d => d.querySelector('table').id)")
    if width > 400:  # where tables scroll in their boxes, rather than squeeze their words
        assert set(wide) <= ({"verdict-counts", "folders", "decided"} if rows is hostile else set())
    narrow = browser.execute_script("return [...document.querySelectorAll('#findings td .word, #findings .file')]"
                                    ".filter(d => d.offsetParent && d.clientWidth < 2 * 12).length")
    assert narrow == 0


def test_dark_and_light_in_a_browser(browser: Any, tmp_path: Path) -> None:
    page = made(tmp_path, ordinary()).as_uri()
    papers = []
    for scheme in ("light", "dark"):
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia",
                                {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
        browser.get(page)
        papers.append(browser.execute_script("return getComputedStyle(document.body).backgroundColor"))
    assert papers == ["rgb(255, 255, 255)", "rgb(22, 25, 29)"]
