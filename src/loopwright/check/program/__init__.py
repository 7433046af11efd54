"""Analyses the source of the program under test [Bao2016, sections 4 and 4.1.2].

It finds the segment, all code reachable from it, the operations to check, and the places to insert checks.
"""
