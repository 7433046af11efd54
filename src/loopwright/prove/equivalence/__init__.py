"""Two programs do the same."""
