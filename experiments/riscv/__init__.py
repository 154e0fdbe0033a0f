"""RISC-V litmus tests: our answers beside herd's."""
