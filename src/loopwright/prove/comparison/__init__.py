"""Compares two files: pairs their regions, compares their programs, and the code around them."""
