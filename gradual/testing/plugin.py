"""The pytest plugin: what a failing `assert_consistent` found is told in the test's report, and left as files.

It is there as soon as gradual is installed (entry point `pytest11`), and does nothing until such a test fails.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from gradual.testing.failure import NotConsistent

FOLDER = "gradual-failures"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("gradual").addoption(
        "--gradual-failures", metavar="DIR", default=FOLDER, help="Where the explanation, the picture and the smallest "
        f"trace of each violated memory model go, a folder per test. [default: {FOLDER}, in the root folder]")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    report = yield
    failure = call.excinfo.value if call.excinfo else None
    if isinstance(failure, NotConsistent) and failure.explanation:
        report.sections.append(("gradual explain", _section(item, failure)))
    return report


def _section(item: pytest.Item, failure: NotConsistent) -> str:
    from gradual.files import safe_name

    folder = item.config.rootpath / item.config.getoption("--gradual-failures") / safe_name(item.nodeid[-100:])
    try:
        files = "\n".join(map(_shown, failure.save(folder)))
    except OSError as error:
        files = f"no files in {folder}: {error.strerror}"
    return f"{failure.explanation}\n\n{files}"


def _shown(file: Path) -> str:
    near = os.path.relpath(file)
    return str(file) if near.startswith("..") else near
