"""Measurements and comparisons with other tools; not part of the package."""
