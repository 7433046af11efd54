"""Computes what functions of MLIR's affine dialect do, and compares them."""
