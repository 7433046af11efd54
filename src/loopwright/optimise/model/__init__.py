"""The cost model: estimates the cycles of a generated program on a machine, without running it."""
