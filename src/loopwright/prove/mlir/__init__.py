"""What functions of the affine dialect of MLIR do, and whether two do the same."""
