"""What pyproject.toml cannot say: wheel and sdist carry the commit they were built from, for `gradual --version`."""

from __future__ import annotations

import subprocess
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

HERE = Path(__file__).resolve().parent
NAME = Path("gradual", "commit.txt")


def commit() -> str:
    """Of the checkout, or what an sdist brought along; empty where nobody knows."""
    if (HERE / ".git").exists():
        git = ["git", "-C", str(HERE), "rev-parse", "HEAD"]
        return subprocess.run(git, capture_output=True, text=True, check=False).stdout.strip()
    return (HERE / NAME).read_text().strip() if (HERE / NAME).exists() else ""


def leave(folder: str) -> None:
    target = Path(folder) / NAME
    if (known := commit()) and target.parent.is_dir():
        target.write_text(f"{known}\n")


class Build(build_py):
    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            leave(self.build_lib)


class Source(sdist):
    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        super().make_release_tree(base_dir, files)
        leave(base_dir)


setup(cmdclass={"build_py": Build, "sdist": Source})
