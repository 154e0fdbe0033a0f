"""Explanations: what they say is proved by the certificate, what they draw can be read."""

from __future__ import annotations

import doctest
import json
import re
import subprocess
import time
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from itertools import combinations, pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from command import gradual as command
from gradual.adapters import csv
from random_histories import random_history
from told import Told

import gradual
from gradual import telling
from gradual.evidence import certificate
from gradual.evidence.verdict import Cycle, Overwritten, Refutation, ThinAir, Verdict, Witness
from gradual.files import safe_name
from gradual.history import Builder, History
from gradual.models import Model, load
from gradual.telling import elision, passage, teller
from gradual.telling.budget import Budget
from gradual.telling.cheapest import cost
from gradual.telling.elision import distinct
from gradual.telling.layout import SMALL_LETTER, Layout, layout
from gradual.telling.picture import MEANING, Picture, lettered
from gradual.telling.picture import picture as drawn

ROOT = Path(__file__).parents[1]
GOLDEN = Path(__file__).parent / "golden"
FIGURES = [("fig-1a", "sc"), ("fig-1b", "sc"), ("fig-1c", "sc"), ("fig-1d", "sc"), ("fig-3", "sc"), ("fig-3", "tso")]
MODELS = ("sc", "tso", "pso")


def figure(name: str, file: str = "traces/figures.csv") -> History:
    return next(h for h in gradual.read(ROOT / file) if isinstance(h, History) and h.name == name)


def model_of(verdict: Verdict) -> Model:
    return load(verdict.model)


def shortened(verdict: Verdict, history: History) -> Verdict:
    return telling.shortened(verdict, history, model_of(verdict))


def prose(verdict: Verdict, history: History) -> str:
    return telling.prose(verdict, history, model_of(verdict))


def witness(verdict: Verdict, history: History) -> str:
    return telling.witness(verdict, history, model_of(verdict))


def svg(verdict: Verdict, history: History) -> str:
    return telling.svg(verdict, history, model_of(verdict))


def dot(verdict: Verdict, history: History) -> str:
    return telling.dot(verdict, history, model_of(verdict))


def page(verdict: Verdict, history: History) -> str:
    return telling.page(verdict, history, model_of(verdict))


def picture(verdict: Verdict, history: History) -> Picture:
    return drawn(verdict, history, model_of(verdict))


def explained(history: History, model: str) -> Verdict:
    return shortened(gradual.check(history, model, engine="schedule"), history)


def certify_prose(verdict: Verdict, history: History) -> None:
    """Read the text back and have it checked, by nothing but the history."""
    text = prose(verdict, history)
    assert text
    if isinstance(verdict.evidence, Cycle):
        [cycle] = Told(history, text).cycles()
        certificate.check(history, verdict.model, cycle)
        assert len(cycle.steps) == len(verdict.evidence.steps)
    elif isinstance(verdict.evidence, Refutation):
        cases = tuple(Told(history, text).cycles())
        if len(cases) == len(verdict.evidence.cases):
            certificate.check(history, verdict.model, Refutation(cases, verdict.evidence.lemmas))
    elif isinstance(verdict.evidence, ThinAir):
        assert "thin air" in text
    else:
        assert isinstance(verdict.evidence, Overwritten) and "was lost" in text


def violations(seed: int, count: int, **shape: int) -> list[tuple[History, Verdict]]:
    rng, found = Random(seed), []
    while len(found) < count:
        history = random_history(rng, **shape)
        model = rng.choice(MODELS)
        verdict = gradual.check(history, model, engine="schedule")
        if verdict.verdict == "violation":
            found.append((history, shortened(verdict, history)))
    return found


# --- the figures


@pytest.mark.parametrize(("name", "model"), FIGURES)
def test_the_figures_are_told_and_drawn_as_before(name: str, model: str) -> None:
    history = figure(name)
    verdict = explained(history, model)
    certify_prose(verdict, history)
    for ending, text in (("txt", prose(verdict, history) + "\n"), ("svg", _plain(svg(verdict, history)))):
        golden = GOLDEN / f"{name}-{model}.{ending}"
        assert text == golden.read_text("utf-8"), f"if the change is wanted, write it to {golden}"


def _plain(text: str) -> str:
    """Without the folder the tests run in."""
    return text.replace(f"{ROOT}/", "")


def test_the_figures_need_few_steps() -> None:
    steps = {name: len(explained(figure(name), "sc").evidence.steps) for name, model in FIGURES if model == "sc"}
    assert steps == {"fig-1a": 1, "fig-1b": 1, "fig-1c": 2, "fig-1d": 1, "fig-3": 0}


def test_every_rule_is_named_once() -> None:
    for history, verdict in violations(1, 60, max_operations=14, max_threads=4):
        rules = re.findall(r"   \[([^]:]+):", prose(verdict, history))
        assert len(rules) == len(set(rules))


# --- certified


@pytest.mark.parametrize("seed", range(6))
def test_random_violations_are_told_as_they_are(seed: int) -> None:
    for history, verdict in violations(seed, 60, max_operations=18, max_threads=5):
        certificate.check(history, verdict.model, verdict.evidence)
        certify_prose(verdict, history)
        assert prose(verdict, history) == prose(explained(history, verdict.model), history)
        ET.fromstring(svg(verdict, history))


@pytest.mark.parametrize("machine", ["broken-drop", "broken-reorder", "broken-duplicate", "broken-forward",
                                     "broken-rmw"])
def test_broken_machines_are_told_as_they_are(machine: str) -> None:
    told = 0
    for seed in range(12):
        history = gradual.generate(machine, threads=2 + seed % 6, operations=120 + 60 * (seed % 3), locations=4,
                                   seed=seed)
        for model in MODELS:
            verdict = gradual.check(history, model, engine="schedule")
            if verdict.verdict == "violation":
                short = shortened(verdict, history)
                certify_prose(short, history)
                _readable(layout(picture(short, history)))
                if isinstance(verdict.evidence, Cycle) and isinstance(short.evidence, Cycle):
                    assert cost(short.evidence) <= cost(verdict.evidence)
                told += 1
    assert told >= 3


@pytest.mark.parametrize("model", MODELS)
def test_what_only_search_refutes_is_told_case_by_case(model: str) -> None:
    history = figure("search-fenced", "traces/search.csv")
    verdict = explained(history, model)
    assert isinstance(verdict.evidence, Refutation)
    cases = tuple(Told(history, prose(verdict, history)).cycles())
    certificate.check(history, verdict.model, Refutation(cases, ((),)))
    assert "as supposed" in prose(verdict, history)
    ET.fromstring(svg(verdict, history))


def test_a_hundred_thousand_operations_take_seconds() -> None:
    history = gradual.generate("broken-reorder", threads=4, operations=100_000, locations=16, seed=3)
    verdict = gradual.check(history, "sc")
    started = time.process_time()
    short = shortened(verdict, history)
    certify_prose(short, history)
    assert time.process_time() - started < 10
    assert isinstance(short.evidence, Cycle) and len(short.evidence.steps) == 1


def test_impossible_observations_are_told() -> None:
    thin = Builder("thin", "t.csv")
    thin.write("a", "x", 1, line=1)
    thin.read("b", "x", 7, line=2)
    text = prose(explained(thin.build(), "sc"), thin.build())
    assert "b read x=7 at line 2" in text and "Nobody ever wrote 7 to x: the trace has 1 store" in text

    lost = Builder("lost", "t.csv")
    lost.write("a", "x", 1, line=1)
    lost.final("x", 0, line=9)
    text = prose(explained(lost.build(), "pso"), lost.build())
    assert "x is left with 0 (line 9)" in text and "a wrote x=1 at line 1" in text

    never = Builder("never", "t.csv")
    never.write("a", "x", 1, line=1)
    never.final("x", 5, line=9)
    verdict = explained(never.build(), "tso")
    assert "x is left with 5 (line 9)" in prose(verdict, never.build())
    ET.fromstring(svg(verdict, never.build()))  # without a single operation

    own = Builder("own", "t.csv")
    own.rmw("a", "x", 1, 1, line=1)
    verdict = explained(own.build(), "pso")
    certify_prose(verdict, own.build())
    _readable(layout(picture(verdict, own.build())))

    future = figure("future")
    certify_prose(explained(future, "tso"), future)


def test_final_values_are_premises() -> None:
    builder = Builder("final", "f.csv")
    builder.write("a", "x", 1, line=1)
    builder.read("a", "x", 2, line=2)
    builder.write("b", "x", 2, line=3)
    builder.final("x", 1, line=4)
    history = builder.build()
    verdict = explained(history, "sc")
    certify_prose(verdict, history)
    assert "as memory is left with x=1 (line 4)" in prose(verdict, history)


# --- consistent histories


@pytest.mark.parametrize("model", MODELS)
def test_a_witness_is_a_run(model: str) -> None:
    rng, seen = Random(3), 0
    while seen < 60:
        history = random_history(rng, max_operations=12)
        verdict = gradual.check(history, model, engine="schedule")
        if isinstance(verdict.evidence, Witness):
            _replay(history, model, witness(verdict, history).splitlines())
            seen += 1


def _replay(history: History, model: str, lines: list[str]) -> None:
    """The printed steps, on a machine of the test's own."""
    memory = {at: int(value) for at, value in enumerate(history.initial)}
    buffers: dict[int, list[int]] = {thread: [] for thread in range(len(history.threads))}
    done: list[int] = []
    for line in lines:
        place = re.search(r"\((?:line|operation) (\d+)\) leaves| at (?:line|operation) (\d+)", line)
        assert place
        operation = int(place[1] or place[2]) - 1
        kind, at = int(history.kind[operation]), int(history.location[operation])
        buffer = buffers[int(history.thread[operation])]
        if "leaves" not in line:
            assert all(o not in done for o in range(operation, len(history))
                       if history.thread[o] == history.thread[operation]), "out of program order"
            done.append(operation)
        if kind == 1 and model != "sc" and "leaves" not in line:
            buffer.append(operation)
        elif kind == 1:
            if model == "tso":
                assert buffer[0] == operation
            if model != "sc":
                buffer.remove(operation)
            memory[at] = int(history.written[operation])
        elif kind in (0, 2):
            own = [w for w in buffer if history.location[w] == at]
            value = int(history.written[own[-1]]) if own else memory[at]
            assert value == history.read[operation]
            assert ("from its store buffer" in line) == bool(own and kind == 0)
            if kind == 2:
                assert not own and (model == "pso" or not buffer)
                memory[at] = int(history.written[operation])
        else:
            assert not buffer
        if "[" in line:
            held = [f"{history.address(w)}={history.written[w]}" for w in buffer]
            assert line.endswith(f"[{', '.join(held)}]")
    assert len(done) == len(history) and not any(buffers.values())


# --- pictures


def _readable(plan: Layout) -> None:
    """Edges run through no box and no label, none coincide, and labels are clear of each other."""
    boxes = [(b.x, b.y, b.x + b.width, b.y + b.height) for b in plan.boxes]
    labels = []
    for line in plan.lines:
        if line.label:
            x, y = line.label_at
            width = SMALL_LETTER * len(line.label)
            left = x if line.anchor == "start" else x - width
            labels.append((left, y - 8, left + width, y + 1))
    labels += [(n.at[0], n.at[1] - 8, n.at[0] + SMALL_LETTER * len(n.item.text), n.at[1] + 1) for n in plan.notes]
    for a, b in combinations([*boxes, *labels], 2):
        assert not _overlap(a, b), (a, b)
    segments = [(line, a, b) for line in plan.lines for a, b in pairwise(line.points) if a != b]
    for _, a, b in segments:
        flat = (min(a[0], b[0]), min(a[1], b[1]), max(a[0], b[0]), max(a[1], b[1]))
        assert not any(_overlap(flat, other, 0.1) for other in [*boxes, *labels]), (flat,)
        assert min(flat) >= 0 and flat[2] <= plan.width and flat[3] <= plan.height
    for (one, a, b), (other, c, d) in combinations(segments, 2):
        if one is not other:
            for along, across in ((0, 1), (1, 0)):
                if a[across] == b[across] and c[across] == d[across] and abs(a[across] - c[across]) < 4:
                    low, high = max(min(a[along], b[along]), min(c[along], d[along])), min(
                        max(a[along], b[along]), max(c[along], d[along]))
                    assert low >= high, ("edges coincide", one, other)


def _overlap(a: tuple[float, ...], b: tuple[float, ...], by: float = 0.5) -> bool:
    return a[0] < b[2] - by and b[0] < a[2] - by and a[1] < b[3] - by and b[1] < a[3] - by


@pytest.mark.parametrize("seed", range(4))
def test_pictures_can_be_read(seed: int) -> None:
    for history, verdict in violations(100 + seed, 50, max_operations=30, min_operations=10, max_threads=8,
                                       max_locations=6):
        drawn = picture(verdict, history)
        _readable(layout(drawn))
        told = list(passage.edges(teller.told(verdict.evidence, history, model_of(verdict))))
        with_letters, letters = lettered(drawn, told)
        assert isinstance(verdict.evidence, Refutation) or set(letters) == set(told)
        assert len(set(letters.values())) == len(letters)
        _readable(layout(with_letters))


def ring(threads: int, apart: int = 0) -> History:
    """Each thread writes its location and misses the write of the next one: a cycle of twice as many operations."""
    builder = Builder(f"ring-{threads}", "ring.csv")
    line = 0
    for thread in range(threads):
        for step in range(apart + 2):
            line += 1
            if step == 0:
                builder.write(f"cpu{thread}", f"x{thread}", 1, line=line, tick=1000 * line)
            elif step <= apart:
                builder.write(f"cpu{thread}", f"own{thread}", line, line=line)
            else:
                builder.read(f"cpu{thread}", f"x{(thread + 1) % threads}", 0, line=line, tick=1000 * line)
    return builder.build()


@pytest.mark.parametrize("threads", range(2, 9))
def test_rings_of_two_to_eight_threads_can_be_read(threads: int) -> None:
    history = ring(threads, apart=threads % 3)
    verdict = explained(history, "sc")
    _readable(layout(picture(verdict, history)))
    text = svg(verdict, history)
    left_out = threads % 3
    assert text.count(f"⋮ {left_out} more") == (threads if left_out else 0)
    titles = [element.text for element in ET.fromstring(text).iter("{http://www.w3.org/2000/svg}title")]
    assert f"W x0=1 by cpu0, ring.csv, line 1, tick 1000, operation 1 of {len(history)}" in titles


def test_pictures_tell_kinds_apart_without_colours() -> None:
    text = svg(explained(figure("fig-1b"), "sc"), figure("fig-1b"))
    dashes = [re.search(rf"\.{kind} {{[^}}]*stroke-dasharray: ([^;]+);", text) for kind in ("wr", "ww", "rw")]
    assert len({match[1] for match in dashes if match}) == 3
    assert text.count('class="edge ') > 5 and "thick: on the cycle" in text


# --- hostile names


def hostile() -> History:
    nasty = '"><script>alert(1)</script>\x1b[31m\u202e]]>&amp;\\"'
    builder = Builder(nasty, f"{nasty}.csv")
    for thread, mine, other in ((f"{nasty}0", "x", "y"), (f"{nasty}1", "y", "x")):
        builder.write(thread, f"{mine}{nasty}", 1, line=1)
        builder.read(thread, f"{other}{nasty}", 0, line=1)
    return builder.build()


def deep() -> History:
    """Store buffering in a hierarchy, where the beginnings of all names are the same; an object per history."""
    builder = Builder("nightly-" * 20 + "17", "deep.jsonl")
    bank = "tb.dut.core{}.l1d.data_array_bank{}.word3"
    for core, mine, other in ((0, bank.format(0, 0), bank.format(1, 0)), (1, bank.format(1, 0), bank.format(0, 0))):
        builder.write(f"tb.dut.cluster0.core{core}.lsu.port", mine, 0xDEADBEEFCAFE, line=3)
        builder.read(f"tb.dut.cluster0.core{core}.lsu.port", other, 0, line=3)
    builder.rmw("tb.dut.cluster0.core0.lsu.port", bank.format(1, 0), 0xDEADBEEFCAFE, 5, line=3)
    return builder.build()


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)
        if tag != "meta" and tag != "wbr":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_hostile_names_do_no_harm() -> None:
    history = hostile()
    verdict = explained(history, "sc")
    for text in (prose(verdict, history), svg(verdict, history), dot(verdict, history), page(verdict, history)):
        assert "\x1b" not in text and "\u202e" not in text
    ET.fromstring(svg(verdict, history))
    tags = _Tags()
    tags.feed(page(verdict, history))
    assert "script" not in tags.tags and not tags.open
    strings = re.sub(r'"(?:[^"\\]|\\.)*"', "", dot(verdict, history))
    assert "script" not in strings and '"' not in strings
    _readable(layout(picture(verdict, history)))


# --- pages in a browser


def dense() -> History:
    """Twelve operations of which four steps and the contradiction speak, under TSO."""
    rows = """1 W x 3; 1 W y 7; 0 RMW y 7 5; 2 W z 6; 0 W z 8; 0 RMW x 3 12; 2 W x 10; 2 F; 0 RMW y 5 13; 0 R x 12
              0 R z 6; 2 R y 5""".replace("\n", ";")
    builder = Builder("dense", "dense.csv")
    for line, row in enumerate(rows.split(";"), 1):
        thread, kind, *rest = row.split()
        add = {"W": builder.write, "R": builder.read, "RMW": builder.rmw, "F": builder.fence}[kind]
        add(f"T{thread}", *rest[:1], *map(int, rest[1:]), line=line)
    return builder.build()


PAGES = {"fig-1d": (figure("fig-1d"), "sc"), "hostile": (hostile(), "sc"), "ring": (ring(8, 2), "sc"),
         "dense": (dense(), "tso"), "deep": (deep(), "sc"), "search": (figure("search", "traces/search.csv"), "sc")}


@pytest.fixture(params=PAGES)
def opened(request: pytest.FixtureRequest, browser: Any, tmp_path: Path) -> tuple[Any, Picture]:
    """A page, open in the browser, and its picture."""
    history, model = PAGES[request.param]
    verdict = explained(history, model)
    file = tmp_path / "why.html"
    file.write_text(page(verdict, history), "utf-8")
    browser.get(file.as_uri())
    return browser, picture(verdict, history)


def resize(browser: Any, width: int) -> None:
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                            {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False})


def test_pages_open_in_a_browser(opened: tuple[Any, Picture]) -> None:
    browser, drawn = opened
    assert browser.get_log("browser") == []
    boxes = browser.execute_script("return [...document.querySelectorAll('svg.why .box')].map(b => "
                                   "b.parentNode.querySelector('.op').textContent)")
    assert sorted(boxes) == sorted(node.text for node in drawn.nodes)
    assert browser.execute_script("return document.querySelectorAll('script').length") == 0
    assert "would have to come before itself" in browser.execute_script("return document.body.innerText")
    assert browser.execute_script("const ids = [...document.querySelectorAll('[id]')].map(e => e.id);"
                                  "return ids.length - new Set(ids).size") == 0


@pytest.mark.parametrize("width", [400, 1280])
def test_pages_fit(opened: tuple[Any, Picture], width: int) -> None:
    browser, _ = opened
    resize(browser, width)
    assert browser.execute_script("return innerWidth") == width
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    outside = browser.execute_script("""
        const area = document.querySelector('svg.why[viewBox]').getBoundingClientRect();
        return [...document.querySelectorAll('svg.why text')].filter(t => {
            const b = t.getBoundingClientRect();
            return b.left < area.left - 1 || b.right > area.right + 1 || b.bottom > area.bottom + 1;
        }).map(t => t.textContent)""")
    assert outside == []


def test_arrows_run_through_no_words(opened: tuple[Any, Picture]) -> None:
    """As the browser draws them, in the fonts it has."""
    browser, drawn = opened
    assert drawn.title != "dense: not TSO" or len(drawn.nodes) == 12
    tried, struck = browser.execute_script("""
        const words = [...document.querySelectorAll('svg.why text')].map(t => [t, t.getBBox()]);
        const struck = [];
        for (const path of document.querySelectorAll('svg.why .edge')) {
          for (let at = 0, end = path.getTotalLength(); at <= end; at += 2) {
            const p = path.getPointAtLength(at);
            for (const [text, b] of words)
              if (p.x > b.x + 1 && p.x < b.x + b.width - 1 && p.y > b.y + 1 && p.y < b.y + b.height - 1)
                struck.push([text.textContent, path.getAttribute('d')]);
          }
        }
        for (const [one, a] of words)
          for (const [other, b] of words)
            if (one !== other && a.x < b.x + b.width - 1 && b.x < a.x + a.width - 1 && a.y < b.y + b.height - 4
                && b.y < a.y + a.height - 4) struck.push([one.textContent, other.textContent]);
        return [words.length, struck]""")
    assert tried > 8
    assert struck == []


def _background(browser: Any, selector: str, name: str) -> str:
    found: str = browser.execute_script("return getComputedStyle(document.querySelector(arguments[0]))[arguments[1]]",
                                        selector, name)
    return found


def test_a_sentence_and_its_arrow_light_up_together(opened: tuple[Any, Picture]) -> None:
    from selenium.webdriver import ActionChains

    browser, drawn = opened
    resize(browser, 1280)
    told = browser.find_elements("css selector", "li[id^=told-]")
    assert len(told) >= sum(link.strong for link in drawn.links) - 1 > 0
    lit = "rgb(255, 224, 138)"
    for sentence in told[::len(told) // 4 or 1]:
        letter = sentence.get_attribute("id").removeprefix("told-")
        halo = f".lit-{letter} .halo"
        browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", sentence)
        ActionChains(browser).move_to_element(sentence).perform()
        assert _background(browser, halo, "stroke") == _background(browser, f"#told-{letter}", "backgroundColor") == lit
        others = browser.execute_script("return [...document.querySelectorAll('li[id^=told-]')].filter(e => "
                                        "getComputedStyle(e).backgroundColor === arguments[0]).length", lit)
        assert others == 1
        browser.execute_script("document.querySelector(arguments[0]).closest('a').focus()", halo)
        ActionChains(browser).move_to_element(browser.find_element("tag name", "h1")).perform()
        assert _background(browser, f"#told-{letter}", "backgroundColor") == lit
        browser.execute_script("document.activeElement.blur()")
        assert _background(browser, halo, "stroke") != lit
    arrow = browser.find_element("css selector", "#told-a a")
    arrow.click()  # without :has, the link still shows where
    assert browser.execute_script("return location.hash") == "#arrow-a"
    assert browser.execute_script("return document.querySelector('#arrow-a').matches(':target')")


def test_what_supports_is_faint_and_the_legend_has_what_is_used(opened: tuple[Any, Picture]) -> None:
    browser, drawn = opened
    for link in ("strong", "faint"):
        found = browser.execute_script("return [...document.querySelectorAll(`svg.why g .edge.${arguments[0]}`)].map("
                                       "e => getComputedStyle(e).opacity)", link)
        assert set(found) <= {"1" if link == "strong" else "0.5"}
    text = browser.find_element("css selector", "svg.why[viewBox]").text
    for kind, meaning in MEANING.items():
        assert (meaning in text) == any(link.kind == kind for link in drawn.links)
    assert ("(n): by step n" in text) == any("(" in link.reason for link in drawn.links)
    assert ("?: supposed" in text) == any(link.reason == "?" for link in drawn.links)


# --- the command


def gradual_command(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return command(*arguments, cwd=ROOT)


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return gradual_command("explain", *arguments)


def test_the_command_tells_and_draws(tmp_path: Path) -> None:
    outs = {kind: tmp_path / f"why.{kind}" for kind in ("svg", "html", "dot")}
    done = run("traces/figures.csv", "--history", "fig-1d", *(x for k, o in outs.items() for x in (f"--{k}", o)))
    assert done.returncode == 1 and (GOLDEN / "fig-1d-sc.txt").read_text("utf-8") in done.stdout
    assert done.stdout.startswith("traces/figures.csv [fig-1d]: SC violation")
    ET.parse(outs["svg"])
    assert outs["html"].read_text("utf-8").startswith("<!DOCTYPE html>")
    assert outs["dot"].read_text("utf-8").startswith("digraph")


def test_check_shows_the_proof_that_explain_tells(tmp_path: Path) -> None:
    history = gradual.generate("broken-reorder", threads=4, operations=300, locations=16, seed=4)
    verdict = gradual.check(history, "sc")
    short = shortened(verdict, history)
    assert cost(short.evidence) < cost(verdict.evidence)
    trace = tmp_path / "t.csv"
    with trace.open("wb") as stream:
        csv.write([history], stream)
    [again] = gradual.read(trace)
    printed = gradual_command("check", trace).stdout.splitlines()[1:]
    assert [line[4:] for line in printed] == telling.brief(explained(again, "sc"), again, load("sc")).splitlines()
    read = json.loads(gradual_command("check", trace, "--json").stdout)
    assert len(read["steps"]) >= len(short.evidence.steps) and read["cycle"], "JSON has what the engine found"


def test_a_budget_is_spent_and_no_more() -> None:
    history = gradual.generate("broken-reorder", threads=4, operations=300, locations=16, seed=4)
    verdict, model = gradual.check(history, "sc"), load("sc")
    plenty = Budget(each=5, together=10)
    assert cost(plenty.shortened(verdict, history, model).evidence) < cost(verdict.evidence)
    assert plenty.shortened(verdict, history, model, at_most=0) is verdict
    assert plenty.shortened(verdict, history, model, at_most=-1) is verdict
    little = Budget(each=5, together=1e-6)
    little.shortened(verdict, history, model)
    assert little.shortened(verdict, history, model) is verdict


def test_further_violations_get_names_of_their_own(tmp_path: Path) -> None:
    done = run("traces/figures.csv", "--model", "sc", "--model", "tso", "--svg", tmp_path / "w.svg")
    assert done.returncode == 1
    assert {"w.svg", "w-fig-1b-SC.svg", "w-fig-3-TSO.svg"} <= {file.name for file in tmp_path.iterdir()}
    assert len(list(tmp_path.iterdir())) == 10


def test_names_become_parts_of_file_names() -> None:
    assert safe_name("../runs/7: ü-x86_64.log") == ".._runs_7__ü-x86_64.log"
    assert len(safe_name("x" * 300)) == 100


def test_a_consistent_history_shows_its_run(tmp_path: Path) -> None:
    done = run("traces/figures.csv", "--history", "SB", "--model", "tso", "--witness", "--svg", tmp_path / "w.svg")
    assert done.returncode == 0 and "into its store buffer   [x=1]" in done.stdout
    assert "nothing to draw" in done.stderr and not list(tmp_path.iterdir())
    assert "buffer" not in run("traces/figures.csv", "--history", "SB", "--model", "tso").stdout


def test_mistakes_are_said(tmp_path: Path) -> None:
    assert run("traces/figures.csv", "--history", "nobody").returncode == 2
    assert run(tmp_path / "none.csv").returncode == 2
    assert run("traces/figures.csv", "--svg", "traces/figures.csv").returncode == 2
    assert run("traces/figures.csv", "--svg", tmp_path / "no" / "where.svg").returncode == 2
    assert run("traces/figures.csv", "--html", "-").returncode == 2
    assert "Examples:" in run("--help").stdout


def test_lines_that_tell_nothing_give_way_to_numbers() -> None:
    builder = Builder("one-line", "h.jsonl")
    for thread, mine, other in (("0", "x", "y"), ("1", "y", "x")):
        builder.write(thread, mine, 1, line=1)
        builder.read(thread, other, 0, line=1)
    history = builder.build()
    verdict = explained(history, "sc")
    certify_prose(verdict, history)
    assert "thread 1 read x=0 at operation 4" in prose(verdict, history).lower()
    assert np.unique(history.line).tolist() == [1]


def test_labels_keep_the_value_and_the_end_of_a_name() -> None:
    history = deep()
    drawn = picture(explained(history, "sc"), history)
    assert len({node.text for node in drawn.nodes}) == len(drawn.nodes) == 4
    for node in drawn.nodes:
        value = "=0" if node.text.startswith("R ") else "=244837814094590"
        assert re.fullmatch(rf"[RW] tb\.dut.*….*word3{value}", node.text)
        assert history.address(node.operation) in node.title and "…" not in node.title
    assert all("…" in head and head.endswith("lsu.port") for head in drawn.threads) and len(set(drawn.threads)) == 2
    assert drawn.title.endswith("ly-17: not SC") and history.name in drawn.whole_title
    assert history.name in ET.fromstring(svg(explained(history, "sc"), history))[0].text
    assert dot(explained(history, "sc"), history).count("tb.dut.core0.l1d.data_array_bank0.word3") >= 2


def test_names_that_are_elided_stay_apart() -> None:
    names = [f"tb.core{core}.{'way.' * 9}{bank}.data" for core in range(12) for bank in range(3)] + ["x", "tb…data"]
    short = distinct(names, 12)
    assert list(short) == names and len(set(short.values())) == len(names)
    assert distinct(["a" * 50], 12) == {"a" * 50: "aaa…aaaaaaaa"} and distinct([], 5) == {}
    assert doctest.testmod(elision).attempted and not doctest.testmod(elision).failed


def test_a_history_on_one_line_is_told_by_operations() -> None:
    """`line 3` for all of them would tell nothing."""
    history = deep()
    verdict = explained(history, "sc")
    for text in (svg(verdict, history), dot(verdict, history), prose(verdict, history)):
        assert "line 3" not in text
    assert f"operation 4 of 5 of history {history.name}" in svg(verdict, history)
    assert page(verdict, history).count(">3, all of its operations<") == 1
    assert "line</th>" not in page(verdict, history)


@pytest.mark.parametrize("file", ["traces/litmus.axe", "traces/figures.csv", "traces/search.csv"])
def test_the_corpus_is_told_as_it_is(file: str) -> None:
    for history in gradual.read(ROOT / file):
        assert isinstance(history, History)
        for model in MODELS:
            verdict = explained(history, model)
            if verdict.verdict == "violation":
                certify_prose(verdict, history)
                _readable(layout(picture(verdict, history)))


@pytest.mark.parametrize("completion", ["direct", "sat"])
def test_needless_cases_are_left_out(completion: str) -> None:
    history = figure("search", "traces/search.csv")
    verdict = shortened(gradual.check(history, "sc", completion=completion), history)
    assert isinstance(verdict.evidence, Refutation) and len(verdict.evidence.cases) == 2
    certify_prose(verdict, history)


def test_a_search_of_many_cases_is_told_by_one() -> None:
    history = figure("search", "traces/search.csv")
    verdict = gradual.check(history, "sc")
    assert isinstance(verdict.evidence, Refutation)
    many = Verdict("SC", "violation", "enumerate", Refutation(verdict.evidence.cases * 11, verdict.evidence.lemmas))
    text = prose(many, history)
    assert "The shortest of the cases" in text and len(Told(history, text).cases) == 1
