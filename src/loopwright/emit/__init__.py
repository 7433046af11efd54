"""From loops to program text."""
