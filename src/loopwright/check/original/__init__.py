"""Analyses the affine original, before anything runs [Bao2016, sections 3 and 4.1.1].

It provides the statements at one problem size, the writer functions as relations, and both as C expressions.
"""
