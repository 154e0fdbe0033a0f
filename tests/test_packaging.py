"""gradual without its repository: a wheel in a fresh environment, run from an empty folder; the container's recipe."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

pytestmark = pytest.mark.xdist_group("packaging")  # what takes long to make is made in one process

ROOT = Path(__file__).parents[1]
SHIPPED = ("gradual", "adapters", "datalog", "pyproject.toml", "setup.py", "README.md", "LICENSE")
SB = "thread,op,address,value\n0,W,x,1\n0,R,y,0\n1,W,y,1\n1,R,x,0\n"


def run(*command: str | Path, cwd: Path, status: int = 0) -> str:
    done = subprocess.run([*map(str, command)], cwd=cwd, capture_output=True, text=True, timeout=300, env={
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "GIT_"))})
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what is shipped, committed: building leaves traces."""
    folder = tmp_path_factory.mktemp("checkout")
    for name in SHIPPED:
        copied = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copied(ROOT / name, folder / name)
    for step in ("init -q", "add -A", "-c user.name=a -c user.email=a@b commit -q -m all"):
        run("git", *step.split(), cwd=folder)
    return folder


@pytest.fixture(scope="module")
def installed(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bin folder of a fresh environment with the wheel in it, and the libraries of this one."""
    version = importlib.util.find_spec("setuptools.command.bdist_wheel")
    if version is None:
        pytest.skip("setuptools 70.1 or later is not installed (pip install -e .[test])")
    wheels, fresh = (tmp_path_factory.mktemp(name) for name in ("wheels", "fresh"))
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "-q")
    run(*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", wheels, checkout, cwd=wheels)
    run(sys.executable, "-m", "venv", "--without-pip", fresh, cwd=wheels)
    python = fresh / "bin" / "python"
    run(*pip, "--python", python, "install", "--no-deps", "--no-index", *wheels.glob("*.whl"), cwd=wheels)
    libraries = run(python, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])", cwd=wheels).strip()
    Path(libraries, "libraries.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    return fresh / "bin"


def test_the_wheel_works_in_an_empty_folder(installed: Path, checkout: Path, tmp_path: Path) -> None:
    gradual = installed / "gradual"
    (tmp_path / "sb.csv").write_text(SB)
    commit = run("git", "rev-parse", "HEAD", cwd=checkout)
    assert run(gradual, "--version", cwd=tmp_path).startswith(f"gradual 0.1.0, commit {commit[:12]}\n")
    where = run(installed / "python", "-c", "import gradual; print(gradual.__file__)", cwd=tmp_path)
    assert where.startswith(str(installed.parent))
    assert "SC violation" in run(gradual, "explain", "sb.csv", "--html", "why.html", cwd=tmp_path, status=1)
    assert "<svg" in (tmp_path / "why.html").read_text()
    small = (tmp_path / "test_it.py")
    small.write_text("from gradual.testing import assert_consistent\n"
                     "def test_it():\n    assert_consistent('sb.csv', 'sc')\n")
    told = run(installed / "python", "-m", "pytest", "-q", "-p", "no:cacheprovider", small, cwd=tmp_path, status=1)
    assert "gradual-failures" in told


def test_nothing_that_runs_is_left_out(installed: Path) -> None:
    package = next(installed.parent.glob("lib/python*/site-packages/gradual"))
    there = {str(file.relative_to(package)) for file in package.rglob("*") if file.is_file()}
    for folder, inside in ((ROOT / "gradual", ""), (ROOT / "adapters", "adapters/"), (ROOT / "datalog", "datalog/")):
        for file in folder.rglob("*"):
            if file.is_file() and "__pycache__" not in file.parts and not re.search(r"\.(part|o)$", file.name):
                assert f"{inside}{file.relative_to(folder)}" in there


def test_the_recipe_of_the_container() -> None:
    """What can be seen without running it: whatever it copies and calls is there."""
    lines = (ROOT / "Containerfile").read_text().replace("\\\n", " ").splitlines()
    steps = [line.split(maxsplit=1) for line in lines if line and not line.startswith("#")]
    assert {step for step, _ in steps} <= {"FROM", "RUN", "COPY", "USER", "WORKDIR", "ENTRYPOINT", "CMD"}
    stages = [rest.split(" AS ")[1] for step, rest in steps if step == "FROM" and " AS " in rest]
    for step, rest in steps:
        if step == "COPY" and rest.startswith("--from="):
            assert rest.split()[0].removeprefix("--from=") in stages
        if step == "RUN":
            subprocess.run(["bash", "-n", "-c", rest], check=True)
            assert "gradual" not in shlex.split(rest) or {"warm-up", "useradd"} & {*shlex.split(rest)}
