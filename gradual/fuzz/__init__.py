"""Randomized testing: random client → machine → trace → verdict → minimal reproduction, again and again."""
