"""Print a random client as C, for a simulated machine.

    python experiments/gem5/client.py [--threads 4] [--operations 200] [--locations 8] [--seed 1] > client.c

The shared locations are the array `memory`; everything else that the program touches is its own business and is left
out by --addresses. The client also prints its trace when it ends; a simulator's log makes that unnecessary.
"""

from __future__ import annotations

import argparse

from gradual.fuzz.client import MIXED, PATTERNS, random_client


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("threads", 4), ("operations", 200), ("locations", 8), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--pattern", choices=[*PATTERNS, MIXED], default=MIXED)
    arguments = parser.parse_args()
    print(random_client(arguments.threads, arguments.operations, arguments.locations, arguments.seed,
                        arguments.pattern).as_c(), end="")


if __name__ == "__main__":
    main()
