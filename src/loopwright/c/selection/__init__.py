"""Selects the parts of a file to read: requested functions and loops, and the loops of directives."""
