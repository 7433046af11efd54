"""Compares two programs along the loops of the second: what each part executes, from the inside out."""
