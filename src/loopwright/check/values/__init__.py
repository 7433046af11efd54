"""Compares programs by the terms they compute, if their operations differ from the original's.

It imports the rest of `check` except `verify`.
"""
