"""The continuation to a million operations alone: python -m experiments.paper.large [--quick] [--histories N]"""

from experiments.paper.__main__ import main

if __name__ == "__main__":
    main(["large"])
