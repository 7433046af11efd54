"""Compile, execute, compare, time: what a program does on this machine."""
