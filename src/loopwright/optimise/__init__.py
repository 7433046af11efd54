"""The fastest script for a program, by trying."""
