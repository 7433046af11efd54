"""MLIR text as the operations of xdsl, with their places."""
