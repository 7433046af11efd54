"""Proves that a new schedule is one-to-one, keeps every dependence, and parallel loops carry none."""
