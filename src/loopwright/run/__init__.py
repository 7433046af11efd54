"""Compiles, executes, compares and times programs on this machine."""
