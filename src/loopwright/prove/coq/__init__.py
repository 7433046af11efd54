"""Proofs for Coq: files about one program, based on the library in `proofs/`, and how to check them."""
