"""Reads MLIR as operations of xdsl, with their places."""
