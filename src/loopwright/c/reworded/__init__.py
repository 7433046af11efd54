"""Rewrites of a source into equivalent C that the readers support: plain loops, values in place of names."""
