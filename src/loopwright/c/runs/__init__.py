"""Runs of a program that are followed as far as its file shows: what they compute before a region."""
