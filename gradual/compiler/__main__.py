"""`python -m gradual.compiler NAME STAMP`: LLVM's language in, machine code out, and kept."""

import sys
from contextlib import suppress

from gradual.compiler.kept import kept
from gradual.compiler.native import compile_text

name, stamp = sys.argv[1:]
text = sys.stdin.read()
code = kept(name, stamp, lambda: compile_text(text))
with suppress(BrokenPipeError):  # nobody waits any more
    sys.stdout.buffer.write(code)
    sys.stdout.flush()
