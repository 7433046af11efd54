"""Whether a program is a valid reordering of an affine one, found out while it runs [Bao2016].

Four sub-rooms, each standing on those before it: `original`, `program`, `algorithms` and `run`.
`verify.py` puts them together.
"""
