"""From LLVM's language to functions that can be called."""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Callable
from functools import cache
from typing import Any

import llvmlite
from llvmlite import binding

from gradual.compiler.kept import kept
from gradual.compiler.waiting import make_in_time

INLINED = 225
"""How much LLVM may copy into a caller: its own measure, and its own default for speed."""

_running: list[Any] = []
"""What holds machine code that may still be called."""


def function(name: str, sources: bytes, text: Callable[[], str], contexts: int) -> Callable[..., int]:
    """A kernel as a function of its contexts: kept under a digest of its sources and this computer, or compiled."""
    stamp = hashlib.sha256(sources + "\n".join((llvmlite.__version__, *_computer())).encode()).hexdigest()[:24]
    code = kept(name, stamp, lambda: make_in_time(name, stamp, text(), compile_text))
    running = binding.create_mcjit_compiler(binding.parse_assembly(""), _target())
    running.add_object_file(binding.ObjectFileRef.from_data(code))
    running.finalize_object()
    _running.append(running)
    native = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * contexts)(running.get_function_address(name))

    def call(*tables: Any) -> int:
        contexts = [each.context if isinstance(each, Prepared) else _context(each) for each in tables]
        return int(native(*map(ctypes.byref, contexts)))

    return call


class Prepared:
    """Tables for many calls."""

    def __init__(self, tables: Any) -> None:
        self.tables, self.context = tables, _context(tables)


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
