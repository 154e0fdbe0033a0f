"""The tables of *Generating Litmus Tests for Contrasting Memory Consistency Models*, beside what is measured here.

    python experiments/contrast.py                      everything up to n = 5 (two minutes)
    python experiments/contrast.py --largest 6          as far as the tables go (half an hour on one core)
    python experiments/contrast.py --agree 6            axioms against machines on every reduced program, all models
    python experiments/contrast.py --pairs              seconds for each pair of models, whole command and search
    python experiments/contrast.py --equal TSO.cat      tso against a file that should say the same: programs per second
    python experiments/contrast.py --query              the single query beside the enumeration

Figures are seconds of CPU, unless another word stands beside them.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from experiments.views import Stage, Views
from gradual.contrast.counting import Count
from gradual.contrast.litmus import name
from gradual.contrast.query import Query
from gradual.contrast.search import Contrast
from gradual.contrast.sides import Side, side
from gradual.contrast.space import Space, connected
from gradual.contrast.subject import Subject
from gradual.contrast.table import Table
from gradual.machines.code import Outcome, Threads, notation, parsed
from gradual.progress import Progress

MODELS = ("sc", "ibm370", "tso", "pso", "pslo", "rmo", "ntso", "npso")
SPACE = Space()
COUNTS = {2: (108, 22, 22, 8, 8, 8), 3: (1512, 257, 254, 69, 69, 45), 4: (14256, 1814, 1668, 239, 232, 176),
          5: (147744, 17972, 17052, 2028, 1984, 1512), 6: (2006208, 186415, 155437, 24843, 20234, 13898)}
SUMS = {(4, "exact"): (622, 624, 624, 626, 653, 655, 624, 626), (4, "alg1"): (637, 640, 640, 642, 669, 672, 640, 642),
        (5, "exact"): (7746, 7827, 7828, 7938, 8463, 8558, 7829, 7939),
        (5, "alg1"): (7938, 8028, 8029, 8139, 8666, 8771, 8031, 8141),
        (6, "alg1"): (125900, 128460, 128531, 131182, 140857, 144097, 128609, 131262)}
DIFFERING = {"ibm370-sc": (2, 68), "tso-sc": (2, 69), "tso-ibm370": (0, 1), "pso-tso": (2, 94), "ntso-tso": (0, 1),
             "npso-pso": (0, 1), "npso-ntso": (2, 94), "pslo-npso": (18, 241), "rmo-pslo": (2, 77)}
FIRST = {"sc": ". - - - - - - -", "ibm370": "SB . - - - - - -", "tso": "SB L . - - - - -", "pso": "MP MP MP . - - MP -",
         "pslo": "CoRR CoRR CoRR CoRR . - CoRR CoRR", "rmo": "CoRR CoRR CoRR CoRR LB . CoRR CoRR",
         "ntso": "SB L WRC WRC - - . -", "npso": "MP MP MP WRC - - MP ."}
VECTORS = """\
CoWR,WX1 RX,0,--------,1
CoWR2,WX1 WX2 RX,1,--------,1
CoRR,RX RX|WX1,1 0,----YY--,3 3 3 3 4 4 3 3
A1=SB,WY1 RX|WX2 RY,0 0,-YYYYYYY,3 4 4 4 4 4 4 4
SB+F,WX1 RY|WY2 F RX,0 0,-YYYYYYY,3 4 4 4 4 4 4 4
I,WX1 F RY|WY2 F RX,0 0,--------,3
MP,WX1 WY2|RY RX,2 0,---YYY-Y,3 3 3 4 4 4 3 4
A2,WX1 WY2|RY F RX,2 0,---YYY-Y,3 3 3 4 4 4 3 4
A3,WX1 F WX2|RX RX,2 1,----YY--,6 6 6 6 9 9 6 6
A4=G=LB,RX WY1|RY WX2,2 1,-----Y--,3 3 3 3 3 4 3 3
H,RX WY1|RY WZ2|RZ WX3,3 1 2,-----Y--,7 7 7 7 7 8 7 7
WRC,WX1|RX WY2|RY RX,1 2 0,----YYYY,7 7 7 7 8 8 8 8
WRC+F,WX1|RX WY2|RY F RX,1 2 0,-----Y--,7 7 7 7 7 8 7 7
IRIW,WX1|WY2|RX RY|RY RX,1 0 2 0,----YYYY,15 15 15 15 16 16 16 16
A5,WX1|WY2|RX F RY|RY F RX,1 0 2 0,--------,15
A6,WX1|WX2|RX F RX|RX F RX,1 2 2 1,--------,47
A7,WX1 WY2|WY3 WX4|RX F RX RY F RY,4 1 2 3,---YYY-Y,33 33 33 49 49 49 33 49
J,WX1 F RY|RY RX|WY2,0 2 0,----YY--,7 7 7 7 8 8 7 7
K,WX1 WY2 RY|WY3 RY RX,3 3 0,--YYYYYY,4 4 5 6 6 6 5 6
L,WX1 F RY|WY2 RY RX,0 2 0,--YYYYYY,3 3 4 4 4 4 4 4
"""
"""name,program,outcome,who allows it,how many outcomes there are (one number stands for eight); models as in MODELS."""
PROTOTYPE = {("tso", "ntso"): 1.0, ("pso", "npso"): 1.0}
"""Seconds of CPU that a search took in the first try of this; of all other pairs, a quarter of one."""
OTHERS = 0.3

faults = 0


def compared(what: str, expected: object, found: object) -> None:
    """A line with both, and a word where they differ."""
    global faults
    faults += expected != found
    print(f"  {what:<44} {expected!s:<46} {found!s:<46} {'' if expected == found else 'DIFFERENT'}", flush=True)


def heading(text: str) -> None:
    print(f"\n{text}\n  {'':<44} {'expected':<46} measured")


def counts(largest: int) -> None:
    heading("Programs: naive, Algorithm 1, exact; connected by Algorithm 1, exact, none idle")
    for n in range(2, largest + 1):
        count = Count(SPACE, n)
        count.run()
        compared(f"n = {n} ({count.seconds:.1f} s)", COUNTS[n], (
            SPACE.naive(n), count.algorithm_1, count.programs, count.algorithm_1_connected, count.connected,
            count.idle_free))


def connected_programs(n: int, exact: bool) -> Iterator[Threads]:
    for lengths in SPACE.partitions(n):
        listed = (SPACE.classes(lengths) if exact
                  else (SPACE.threads_of(lengths, numbers) for numbers in SPACE.algorithm_1(lengths)))
        yield from filter(connected, listed)


def sums(largest: int) -> None:
    heading("Outcomes of all connected programs, added up, per model: " + " ".join(MODELS))
    sides = [side(model) for model in MODELS]
    for (n, kind), expected in SUMS.items():
        if n <= largest:
            totals, started, number = [0] * len(sides), time.process_time(), 0
            for threads in connected_programs(n, kind == "exact"):
                subject, number = Subject(threads), number + 1
                totals = [total + len(one.packed(subject)) for total, one in zip(totals, sides, strict=True)]
            rate = len(sides) * number / (time.process_time() - started)
            compared(f"n = {n}, {kind} ({rate:.0f} programs/s per model)", expected, tuple(totals))


def differing(largest: int) -> None:
    heading("Programs (exact list) whose outcomes differ, n = 4 and 5")
    subjects = {n: list(map(Subject, connected_programs(n, True))) for n in (4, 5) if n <= largest}
    for pair, expected in DIFFERING.items():
        a, b = map(side, pair.split("-"))
        found = tuple(sum(a.packed(subject) != b.packed(subject) for subject in subjects[n]) for n in subjects)
        compared(pair, expected[:len(found)], found)


def vectors() -> None:
    heading("Vectors, by axioms and by machines: " + " ".join(MODELS))
    for line in VECTORS.splitlines():
        test, text, outcome, allowed, sizes = line.split(",")
        subject = Subject(parsed(text))
        packed = subject.code.packed(tuple(map(int, outcome.split())))
        expected = f"{allowed} {sizes if ' ' in sizes else ' '.join([sizes] * 8)}"
        for kind in ("", "operational:"):
            outcomes = [side(kind + model).packed(subject) for model in MODELS]
            found = "".join("Y" if packed in one else "-" for one in outcomes)
            compared(f"{test} {text}" if not kind else "  on the machines", expected,
                     f"{found} {' '.join(str(len(one)) for one in outcomes)}")


def first_tests(largest: int) -> None:
    table = Table([side(model) for model in MODELS], SPACE, largest)
    table.run(Progress())
    heading(f"The first test that the row allows and the column forbids, up to n = {largest} ({table.seconds:.0f} s, "
            f"{table.programs} programs): " + " ".join(MODELS))
    for row, expected in FIRST.items():
        cells = ["." if row == column else name(table.first[row, column].threads)
                 if (row, column) in table.first else "-" for column in MODELS]
        compared(row, expected, " ".join(cells))
    print("  " + ", ".join(f"{a.name} ⊂ {b.name}" for a, b in table.covers()))


# --- case studies


Outcomes = Callable[[Subject], frozenset[Outcome]]


def outcomes_of(one: Side) -> Outcomes:
    return lambda subject: frozenset(map(subject.code.unpacked, one.packed(subject)))


def first_of(more: Outcomes, less: Outcomes, space: Space, bound: int) -> str:
    for n in range(2, bound + 1):
        for threads in space.programs(n):
            subject = Subject(threads)
            if own := more(subject) - less(subject):
                return f"{notation(threads)}, {' '.join(map(str, min(own)))}"
    return f"none to n = {bound}"


def study(what: str, expected: str, more: Outcomes, less: Outcomes, space: Space = SPACE, bound: int = 6) -> None:
    started = time.process_time()
    found = first_of(more, less, space, bound)
    compared(f"{what} ({time.process_time() - started:.2f} s)", expected, found)


def studies(largest: int) -> None:
    heading("Axioms of NPSO as they were found, against the machine")
    machine, fence_free = outcomes_of(side("operational:npso")), Space(fences=False)
    fenced = "WX1 F RY|WY2 F RX, 0 0"
    for what, stage, expected, space in (
            ("ppo, coherence, values: G", Stage("none", "none"), "RX WY1|RY WX2, 2 1", SPACE),
            ("with causality at one address: I", Stage("own", "none"), fenced, SPACE),
            ("  the same without fences: H", Stage("own", "none"), "RX WY1|RY WZ2|RZ WX3, 3 1 2", fence_free),
            ("with causality: I", Stage("all", "none"), fenced, SPACE),
            ("with fences among themselves: J", Stage("all", "fences"), "WX1 F RY|RY RX|WY2, 0 2 0", SPACE)):
        study(what, expected, Views("npso", stage).outcomes, machine, space)
    study("with fences against everything", f"none to n = {largest}", Views("npso").outcomes, machine, bound=largest)
    heading("SOBER, an axiomatic TSO that is too strong, and IBM 370")
    sober, ibm = outcomes_of(side(str(Path(__file__).parent / "sober.cat"))), outcomes_of(side("ibm370"))
    tso = outcomes_of(side("tso"))
    study("tso \\ sober: K", "WX1 WY2 RY|WY3 RY RX, 3 3 0", tso, sober)
    study("sober \\ ibm370: L", "WX1 RX RY|WY2 F RX, 1 0 0", sober, ibm)
    study("ibm370 \\ sober", f"none to n = {largest}", ibm, sober, bound=largest)
    study("sober \\ tso", f"none to n = {largest}", sober, tso, bound=largest)


# --- agreement and speed


def agreement(largest: int) -> None:
    print(f"\nAxioms against machines on every reduced program up to n = {largest}, and on every connected one")
    programs = [threads for n in range(1, largest + 1) for threads in connected_programs(n, True)]
    reduced = sum(1 for n in range(1, largest + 1) for _ in SPACE.programs(n))
    global faults
    for model in MODELS:
        axioms, machine = side(model), side(f"operational:{model}")
        seconds, unequal = [0.0, 0.0], []
        for threads in programs:
            subject, started = Subject(threads), time.process_time()
            by_axioms = axioms.packed(subject)
            between = time.process_time()
            if machine.packed(subject) != by_axioms:
                unequal.append(notation(threads))
            seconds[0] += between - started
            seconds[1] += time.process_time() - between
        rates = [len(programs) / max(spent, 1e-9) for spent in seconds]
        print(f"  {model:<8} {len(programs)} programs compared ({reduced} of them reduced), {len(unequal)} differ; "
              f"axioms {rates[0]:.0f}/s, machine {rates[1]:.0f}/s {' '.join(unequal[:3])}", flush=True)
        faults += bool(unequal)


def pairs() -> None:
    print("\nSeconds of CPU for each pair of models: search, the first try's, whole command")
    global faults
    for a, b in combinations(MODELS, 2):
        search, started = Contrast(side(a), side(b)), time.process_time()
        search.run(Progress())
        spent, allowed = time.process_time() - started, PROTOTYPE.get((a, b), OTHERS)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-m", "gradual.cli", "contrast", a, b, "--json"], check=True,
                       capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        whole = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        late = "" if spent <= 2 * allowed else "LATE"
        faults += bool(late)
        print(f"  {a + ' – ' + b:<20} {spent:6.2f} {allowed:6.2f} {whole:6.2f}   "
              f"{search.found[0].program} {late}", flush=True)


def equal(file: str) -> None:
    search, started = Contrast(side("tso"), side(file)), time.process_time()
    search.run(Progress())
    spent = time.process_time() - started
    print(f"\ntso and {file}: {'they differ' if search.differs else f'no difference up to n = {search.bound}'}; "
          f"{search.programs} programs in {spent:.2f} s, {search.programs / spent:.0f} programs/s (both models)")


def queries() -> None:
    print("\nOne query to clingo beside the enumeration: seconds (CPU) to the first difference")
    for a, b in (("sc", "tso"), ("tso", "pso"), ("pslo", "rmo"), ("ibm370", "tso")):
        spent = []
        for kind in (Contrast, Query):
            search, started = kind(side(a), side(b), bound=5), time.process_time()
            search.run(Progress())
            spent.append(time.process_time() - started)
        print(f"  {a + ' – ' + b:<20} enumeration {spent[0]:.2f}, query {spent[1]:.2f}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--largest", type=int, choices=range(2, 7), default=5, metavar="N")
    parser.add_argument("--agree", type=int, metavar="N")
    parser.add_argument("--pairs", action="store_true")
    parser.add_argument("--equal", metavar="FILE")
    parser.add_argument("--query", action="store_true")
    chosen = parser.parse_args()
    if chosen.agree is not None:
        agreement(chosen.agree)
    elif chosen.pairs:
        pairs()
    elif chosen.equal is not None:
        equal(chosen.equal)
    elif chosen.query:
        queries()
    else:
        counts(chosen.largest)
        vectors()
        sums(chosen.largest)
        differing(chosen.largest)
        first_tests(chosen.largest)
        studies(chosen.largest)
        agreement(chosen.largest)
        pairs()
    print(f"\n{faults} figures are not as expected" if faults else "\nall as expected")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
