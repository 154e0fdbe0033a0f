"""What numba compiled is kept, found again, made anew when damaged; and nothing of this can spoil a verdict."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NOWHERE = "/proc/nowhere"

COMPILES = """
import os
from gradual import compiling
from numba import njit

def double(x):
    return 2 * x

def triple(x):
    return 3 * x

compiled = []
for function in (double, triple):
    dispatcher = njit(function)
    dispatcher._cache = compiling.Kept(function, os.environ["STAMP"], lambda: compiled.append(function.__name__))
    print(dispatcher(7))
print("compiled:", *compiled)
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """With a folder of its own for each place where something may be kept, but for the one beside the code."""
    for name in ("chosen", "home", "temporary"):
        (tmp_path / name).mkdir()
    return {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "chosen"), "XDG_CACHE_HOME": str(tmp_path / "home"),
            "TMPDIR": str(tmp_path / "temporary"), "STAMP": uuid.uuid4().hex}


@pytest.fixture
def without_privileges() -> list[str]:
    """What to put before a command so that it may not write where the mode of a folder forbids it."""
    if os.getuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("setpriv is not here, and root may write everywhere")
    return ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[Path]:
    """A copy of the package with what this one has compiled, which nobody may write to."""
    folder = tmp_path / "site"
    shutil.copytree(ROOT / "gradual", folder / "gradual")
    for name in ("adapters", "datalog"):
        shutil.copytree(ROOT / name, folder / "gradual" / name)
    every = [folder, *folder.rglob("*")]
    for file in every:
        file.chmod(0o555)
    yield folder
    for file in every:
        file.chmod(0o755)


def compile_two(environment: dict[str, str], **more: object) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([sys.executable, "-c", COMPILES], env=environment, capture_output=True, text=True, timeout=60,
                          **more)  # type: ignore[call-overload]
    assert done.stdout.startswith("14\n21\n"), done.stderr
    return done


def compiled(done: subprocess.CompletedProcess[str]) -> list[str]:
    return done.stdout.rpartition("compiled:")[2].split()


def test_it_is_kept_and_found_again(environment: dict[str, str], tmp_path: Path) -> None:
    assert compiled(compile_two(environment)) == ["double", "triple"]
    assert len(list((tmp_path / "chosen").glob("*.nbc"))) == 2
    again = compile_two(environment)
    assert (compiled(again), again.stderr) == ([], "")


@pytest.mark.parametrize(("ending", "length"), [("nbc", 0), ("nbc", 200), ("nbi", 10)])
def test_a_damaged_file_is_made_anew(environment: dict[str, str], tmp_path: Path, ending: str, length: int) -> None:
    compile_two(environment)
    damaged = next((tmp_path / "chosen").glob(f"*double*.{ending}"))
    size = damaged.stat().st_size
    os.truncate(damaged, length)
    assert compiled(compile_two(environment)) == ["double"]
    assert damaged.stat().st_size == size


def test_a_full_disk_is_said_once(environment: dict[str, str]) -> None:
    """No file may be longer than a few bytes, as when the disk is full."""
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    done = compile_two({**environment, "PYTHONDONTWRITEBYTECODE": "1"}, preexec_fn=limit)
    assert compiled(done) == ["double", "triple"]
    assert done.stderr.count("cannot be kept") == done.stderr.count("\n") == 1
    assert "NUMBA_CACHE_DIR" in done.stderr


def test_another_folder_is_taken(environment: dict[str, str], tmp_path: Path, installation: Path,
                                 without_privileges: list[str]) -> None:
    there = {**environment, "PYTHONPATH": str(installation), "NUMBA_CACHE_DIR": NOWHERE, "XDG_CACHE_HOME": NOWHERE}
    command = [*without_privileges, sys.executable, "-c", COMPILES]
    done = subprocess.run(command, cwd=tmp_path, env=there, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(list((tmp_path / f"temporary/gradual-{os.getuid()}").glob("*.nbc"))) == 2


def test_a_temporary_folder_of_others_is_not_trusted(tmp_path: Path) -> None:
    mine = tmp_path / f"gradual-{os.getuid()}"
    code = "from gradual.compiling import folders; print(*folders(), sep='\\n')"
    ask = [sys.executable, "-c", code]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    assert str(mine) in subprocess.run(ask, env=environment, capture_output=True, text=True).stdout.splitlines()
    mine.chmod(0o777)
    assert str(mine) not in subprocess.run(ask, env=environment, capture_output=True, text=True).stdout.splitlines()


def test_a_read_only_installation_uses_what_it_brings(tmp_path: Path, without_privileges: list[str],
                                                      installation: Path) -> None:
    """Nothing else can be written, and nothing needs to be: it is fast, and nothing is said."""
    gradual = [sys.executable, "-m", "gradual.cli"]
    trace = tmp_path / "large.csv"
    subprocess.run([*gradual, "generate", "--operations", "3100", "-o", str(trace)], check=True)
    environment = {**os.environ, "PYTHONPATH": str(installation), "HOME": NOWHERE, "XDG_CACHE_HOME": NOWHERE,
                   "TMPDIR": NOWHERE, "NUMBA_DEBUG_CACHE": "1"}
    environment.pop("NUMBA_CACHE_DIR", None)
    done = subprocess.run([*without_privileges, *gradual, "check", str(trace)], cwd=tmp_path, env=environment,
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "SC consistent" in done.stdout
    shipped = [line for line in done.stdout.splitlines() if "data loaded from" in line]
    assert len(shipped) == 3, "run `gradual warm-up` first"
    assert all(str(installation) in line for line in shipped)
    assert done.stderr == ""


def test_without_numba_it_is_plain(tmp_path: Path) -> None:
    (tmp_path / "numba.py").write_text("raise ImportError('libLLVM is missing')\n")
    trace = tmp_path / "large.csv"
    code = "import gradual; gradual.write([gradual.generate('tso', operations=3100)], __import__('sys').argv[1])"
    subprocess.run([sys.executable, "-c", code, str(trace)], check=True)
    done = subprocess.run([sys.executable, "-m", "gradual.cli", "check", str(trace), "--model", "tso"], text=True,
                          env={**os.environ, "PYTHONPATH": str(tmp_path)}, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("numba cannot be used (ImportError: libLLVM is missing)") == 1
