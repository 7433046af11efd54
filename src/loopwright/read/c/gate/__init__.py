"""Checks of a program against the typed reading of its file."""
