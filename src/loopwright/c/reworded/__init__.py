"""Other words for the same C, which the readers understand: plain loops, values in place of names."""
