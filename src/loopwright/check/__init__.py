"""Whether a program is a valid reordering of an affine one, found out while it runs (paper 004)."""
