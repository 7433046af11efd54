"""Loopwright: loop transformation that is proved, not hoped."""

__version__ = "0.1.0"
