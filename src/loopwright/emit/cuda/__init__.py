"""CUDA: kernels and a function that launches them, in place of the loops of a region."""
