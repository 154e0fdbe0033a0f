"""From LLVM's language to machine code, kept on disk.

What is kept begins with a digest of the rest, so that a file cut short is not taken for whole. A folder that cannot be
written to costs a second at every start, and nothing else.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
from llvmlite import binding

DIGEST = 32
INLINED = 225
"""How much LLVM may copy into a caller: its own measure, and its own default for speed."""

kept_in: dict[str, Path] = {}
"""Where the machine code of each kernel in use is kept; those that are not here are compiled at every start."""
_running: list[Any] = []
"""What holds machine code that may still be called."""


def function(name: str, sources: bytes, text: Callable[[], str], contexts: int) -> Callable[..., int]:
    """A kernel as a function of its contexts: kept under a digest of its sources and this computer, or compiled."""
    stamp = hashlib.sha256(sources + "\n".join((llvmlite.__version__, *_computer())).encode()).hexdigest()[:24]
    code = _kept(name, stamp) or _keep(name, stamp, compile_text(text()))
    running = binding.create_mcjit_compiler(binding.parse_assembly(""), _target())
    running.add_object_file(binding.ObjectFileRef.from_data(code))
    running.finalize_object()
    _running.append(running)
    native = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * contexts)(running.get_function_address(name))

    def call(*tables: Any) -> int:
        return int(native(*(ctypes.byref(_context(each)) for each in tables)))

    return call


def _context(tables: Any) -> Any:
    """A named tuple of tables as kernels see it: the address and the length of each."""
    numbers = [number for table in tables for number in (table.ctypes.data, len(table))]
    return (ctypes.c_int64 * len(numbers))(*numbers)


def compile_text(text: str) -> bytes:
    """Machine code, as an object file."""
    target = _target()
    module = binding.parse_assembly(text)
    module.verify()
    options = binding.create_pipeline_tuning_options(speed_level=3)
    options.inlining_threshold = INLINED
    builder = binding.create_pass_builder(target, options)
    builder.getModulePassManager().run(module, builder)
    return bytes(target.emit_object(module))


@cache
def _target() -> Any:
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    cpu, features = _computer()
    return binding.Target.from_default_triple().create_target_machine(
        cpu=cpu, features=features, opt=3, reloc="pic", codemodel="jitdefault")


@cache
def _computer() -> tuple[str, str]:
    return binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten()


# --- on disk


def folders() -> Iterator[Path]:
    """Where machine code may be kept: the user's choice, or else beside this file, or the user's cache."""
    if chosen := os.environ.get("GRADUAL_CACHE_DIR"):
        yield Path(chosen)
        return
    yield Path(__file__).parent / "__pycache__"
    yield Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "gradual"


def _kept(name: str, stamp: str) -> bytes | None:
    for folder in folders():
        with suppress(OSError):
            content = (folder / f"{name}-{stamp}.o").read_bytes()
            if hashlib.sha256(content[DIGEST:]).digest() == content[:DIGEST]:
                kept_in[name] = folder
                return content[DIGEST:]
    return None


def _keep(name: str, stamp: str, code: bytes) -> bytes:
    for folder in folders():
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            _write(folder / f"{name}-{stamp}.o", hashlib.sha256(code).digest() + code)
            kept_in[name] = folder
            break
    return code


def _write(path: Path, content: bytes) -> None:
    """All of it or nothing: others may be reading."""
    new = path.with_suffix(f".{os.getpid()}")
    try:
        new.write_bytes(content)
        new.replace(path)
    except OSError:
        with suppress(OSError):
            new.unlink()
        raise
