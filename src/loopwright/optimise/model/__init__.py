"""The cost model: the cycles that a generated program takes on a machine, before anything runs."""
