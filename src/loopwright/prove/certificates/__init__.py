"""The verified checker: problems in its input language, proposals that guide it, and its answers."""
