"""The verified checker: problems as it reads them, proposals that show it the way, and its answers."""
