"""Small machines that run random programs: histories to try the checker on, good ones and bad ones.

Time is linear in the number of operations, whatever the number of threads and locations.
"""

from gradual.machines.broken import FAULTS
from gradual.machines.named import MACHINES, machine_named
from gradual.machines.program import Program
from gradual.machines.running import generate, run_program

__all__ = ["FAULTS", "MACHINES", "Program", "generate", "machine_named", "run_program"]
