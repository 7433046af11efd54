"""Compiles and times programs, one after the other, on one machine."""
