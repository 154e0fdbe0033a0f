"""The published evaluation (CAV 2019), reproduced and extended: `python -m experiments.paper` runs all of it."""
