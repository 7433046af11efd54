"""Draws the instances of a region and their order."""
