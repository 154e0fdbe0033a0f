"""Accesses of different sizes to common bytes, held against brute force over bytes."""
