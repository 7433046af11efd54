"""A new schedule computes the same: one-to-one, every dependence kept, parallel loops carry none."""
