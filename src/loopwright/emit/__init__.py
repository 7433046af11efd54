"""Prints loops as source code."""
