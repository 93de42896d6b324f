"""Proves or refutes an answer from the text of its problem, if a program can be certain."""

from touchstone.checks.proofs.recognition import prove_answer

__all__ = ["prove_answer"]
