"""Compiling and running the checked program, and what it reports (paper 004, section 5).

Problem sizes found from a run, localised findings, data races, and the report.
"""
