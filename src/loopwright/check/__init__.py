"""Checks at run time whether a program is a valid reordering of an affine one [Bao2016].

The sub-rooms `original`, `program`, `algorithms` and `run` each use only those before them.
`verify.py` puts them together.
"""
