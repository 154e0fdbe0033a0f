"""What was compiled is kept, found again, made anew when damaged; and nothing of this can spoil a verdict."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gradual.compiler import kept

ROOT = Path(__file__).parents[1]
NOWHERE = "/proc/nowhere"
CODE = b"machine code, as far as this is concerned"
CHECK = """
import gradual
print(gradual.check(gradual.generate("tso", threads=4, operations=600, locations=8), "tso").decided_by)
"""


@pytest.fixture
def chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GRADUAL_CACHE_DIR", str(tmp_path / "chosen"))
    return tmp_path / "chosen"


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
    """A copy of the package which nobody may write to."""
    folder = tmp_path / "site"
    shutil.copytree(ROOT / "gradual", folder / "gradual", ignore=shutil.ignore_patterns("*.o"))
    for name in ("adapters", "datalog"):
        shutil.copytree(ROOT / name, folder / "gradual" / name)
    (folder / "gradual/compiler/__pycache__").mkdir(exist_ok=True)
    yield folder
    _mode(folder, 0o755)


def _mode(folder: Path, mode: int) -> None:
    for file in (folder, *folder.rglob("*")):
        file.chmod(mode)


def run(code: str, environment: dict[str, str], *before: str,
        cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*before, sys.executable, "-c", code], env={**os.environ, **environment}, cwd=cwd,
                          capture_output=True, text=True, timeout=120)


def no_reason() -> bytes:
    pytest.fail("made again")


def test_it_is_kept_and_found_again(chosen: Path) -> None:
    assert kept.kept("double", "1", lambda: CODE) == CODE
    assert kept.kept_in["double"] == chosen
    assert kept.kept("double", "1", no_reason) == CODE
    assert kept.kept("double", "2", lambda: b"of other sources") == b"of other sources"
    assert kept.kept("double", "1", no_reason) == CODE


def test_a_damaged_file_is_made_anew(chosen: Path) -> None:
    kept.kept("double", "1", lambda: CODE)
    (file,) = chosen.iterdir()
    whole = file.read_bytes()
    for damaged in (b"", whole[:20], whole[:40], whole[:-1], whole[:-1] + bytes([whole[-1] ^ 1])):
        file.write_bytes(damaged)
        assert kept.kept("double", "1", lambda: CODE) == CODE
        assert file.read_bytes() == whole


def test_a_full_disk_is_said_once(tmp_path: Path) -> None:
    """A real limit: no file of the process may grow beyond a hundred bytes, as when the disk is full."""
    code = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n{CHECK}"
    done = run(code, {"GRADUAL_CACHE_DIR": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"})
    assert done.stdout == "schedule\n", done.stderr
    assert done.stderr.count("cannot be kept") == done.stderr.count("\n") == 1
    assert "GRADUAL_CACHE_DIR" in done.stderr
    assert not list(tmp_path.iterdir())


def test_another_folder_is_taken(tmp_path: Path) -> None:
    (tmp_path / "temporary").mkdir()
    done = run(CHECK, {"GRADUAL_CACHE_DIR": NOWHERE, "TMPDIR": str(tmp_path / "temporary")})
    assert (done.stdout, done.stderr) == ("schedule\n", "")
    assert list((tmp_path / f"temporary/gradual-{os.getuid()}").glob("decide-*.o"))


def test_a_temporary_folder_of_others_is_not_trusted(tmp_path: Path) -> None:
    mine = tmp_path / f"gradual-{os.getuid()}"
    code = "from gradual.compiler.kept import folders; print(*folders(), sep=chr(10))"
    assert str(mine) in run(code, {"TMPDIR": str(tmp_path)}).stdout.splitlines()
    mine.chmod(0o777)
    assert str(mine) not in run(code, {"TMPDIR": str(tmp_path)}).stdout.splitlines()


def test_a_read_only_installation_uses_what_it_brings(tmp_path: Path, without_privileges: list[str],
                                                      installation: Path) -> None:
    """Nothing else can be written, and nothing needs to be: nothing is compiled, nothing is said."""
    there = {"PYTHONPATH": str(installation), "HOME": NOWHERE, "XDG_CACHE_HOME": NOWHERE, "GRADUAL_CACHE_DIR": ""}
    assert run(CHECK, there, cwd=tmp_path).stdout == "schedule\n"
    _mode(installation, 0o555)
    never = "from gradual.compiler import native; native.compile_text = None"
    done = run(f"{never}\n{CHECK}", {**there, "TMPDIR": NOWHERE}, *without_privileges, cwd=tmp_path)
    assert (done.stdout, done.stderr) == ("schedule\n", "")


def test_without_llvm_it_is_plain(tmp_path: Path) -> None:
    (tmp_path / "llvmlite.py").write_text("raise ImportError('libLLVM is missing')\n")
    done = run(CHECK, {"PYTHONPATH": str(tmp_path)})
    assert done.stdout == "schedule\n", done.stderr
    assert done.stderr.count("llvmlite cannot be used (ImportError: libLLVM is missing)") == 1
