"""Figure 5 alone: python -m experiments.paper.fig5 [--quick] [--histories N] [--source machine gem5 rtl]"""

from experiments.paper.__main__ import main

if __name__ == "__main__":
    main(["5"])
