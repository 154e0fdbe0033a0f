"""The rooms of the house: imports go one way, the root stays small, and few files know a model by its name."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "gradual"

ROOMS = ["history", "deadline", "compiler", "adapters", "files", "progress", "parent", "interrupts", "cores",
         "models", "evidence", "deciding", "telling", "machines", "judge", "programs", "events", "fuzz", "contrast",
         "batch", "report", "testing", "cli"]
"""Who may import whom: only what stands before. docs/architecture.md draws it."""
LEAVES = {"progress", "deadline", "parent", "interrupts"}
"""These import nothing of ours."""
NAMES = re.compile(r"\b(SC|TSO|PSO)\b|\b(sc|tso|pso)\b", re.ASCII)
OTHER_MEANINGS = {
    "history/annotations.py": "tso", "programs/pseudo.py": "tso",  # a kind
    "models/syntax.py": "tso",  # of fences
    "programs/instructions.py": "tso sc", "programs/lisa.py": "tso sc", "datalog/structure_cpp.lp": "sc",  # and a mode
    "history/columns.py": "SC", "adapters/_rows.py": "SC sc", "adapters/json.py": "SC",  # store-conditional
    "cli/axe.py": "SC TSO PSO",  # another program's usage text
    "adapters/gem5.py": "sc", "adapters/_riscv.py": "sc", "adapters/_words.py": "sc",
    "adapters/_commits.py": "sc", "deciding/pipeline.py": "SC",
    "programs/executions.py": "sc", "programs/riscv.py": "sc tso",  # and a kind of fences
}
KNOW_MODELS = 5
AT_THE_ROOT = 8


def sources(room: str) -> list[Path]:
    folder = ROOT / "adapters" if room == "adapters" else PACKAGE / room
    return sorted(folder.rglob("*.py")) if folder.is_dir() else [PACKAGE / f"{room}.py"]


def imported(file: Path) -> Iterator[str]:
    """The rooms that a file takes something from, at its top or inside its functions."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        modules: list[str] = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module == "gradual":
            modules = [f"gradual.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = [] if node.level else [node.module or ""]  # a relative import stays in its room
        yield from (module.split(".")[1] for module in modules if module.startswith("gradual.")
                    and not module.startswith("gradual.__"))
        yield from ("gradual" for module in modules if module == "gradual")


def test_every_room_has_its_place() -> None:
    there = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}
    assert there | {"adapters"} == {*ROOMS, "__init__"}


def test_imports_go_one_way() -> None:
    for place, room in enumerate(ROOMS):
        allowed = {room} if room in LEAVES else {*ROOMS[:place + 1], "datalog"}
        for file in sources(room):
            above = set(imported(file)) - allowed
            assert not above, f"{file.relative_to(ROOT)} imports {', '.join(sorted(above))}, which come after {room}"


def test_the_root_stays_small() -> None:
    assert len(list(PACKAGE.glob("*.py"))) <= AT_THE_ROOT


def test_the_drawing_is_this_list() -> None:
    drawn = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    assert " ← ".join(ROOMS) in re.sub(r"\s+", " ", drawn)


def said(file: Path) -> Iterator[str]:
    """The names and strings of a program, without comments, docstrings and examples of commands."""
    text = file.read_text("utf-8")
    if file.suffix == ".lp":
        yield from (line.split("%")[0] for line in text.splitlines())
        return
    tree = ast.parse(text)
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            if not re.search(r"^ *gradual ", node.value, re.MULTILINE):
                yield node.value
        elif isinstance(node, ast.Name):
            yield node.id


def test_few_files_know_a_model_by_its_name() -> None:
    """Those that ship, besides the texts, the certificate's second opinion, the ladder's criteria, and the sentences
    and axioms of models on event structures."""
    shipped = [*PACKAGE.rglob("*.py"), *(ROOT / "adapters").rglob("*.py"), *(ROOT / "datalog").rglob("*.lp")]
    knowing = []
    for file in shipped:
        if {"evidence", "events"} & set(file.relative_to(ROOT).parts) or file.name == "ladder.py":
            continue
        else_meant = next((words for name, words in OTHER_MEANINGS.items() if file.match(name)), "").split()
        names = {match[0] for text in said(file) for match in NAMES.finditer(text)} - {*else_meant}
        if names:
            knowing.append(f"{file.relative_to(ROOT)}: {', '.join(sorted(names))}")
    assert len(knowing) <= KNOW_MODELS, "\n".join(knowing)


def test_a_line_waits_for_no_picture() -> None:
    code = ("import sys, gradual.telling.words\n"
            "print(*(name in sys.modules for name in ('gradual.telling.picture', 'llvmlite')))")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
