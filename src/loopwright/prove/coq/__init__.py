"""Proofs for Coq: a file about one program, over the library in `proofs/`, and how to check it."""
