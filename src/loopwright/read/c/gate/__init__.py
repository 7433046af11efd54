"""What the typed reading of a file says against the program that was read from its text."""
