"""Random histories against brute force over the axioms."""
