"""What shells offer when Tab is pressed. File names are its own affair: where nothing else fits."""

from __future__ import annotations

from collections.abc import Iterable


def model_names(incomplete: str) -> list[str]:
    from gradual.models import shipped

    return _fitting(["all", *(model.name.lower() for model in shipped())], incomplete)


def format_names(incomplete: str) -> list[str]:
    from gradual.adapters import names

    return _fitting(names(), incomplete)


def machine_names(incomplete: str) -> list[str]:
    from gradual.machines import MACHINES

    return _fitting(MACHINES, incomplete)


def _fitting(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete.lower())]
