"""Searches for the fastest script for a program."""
