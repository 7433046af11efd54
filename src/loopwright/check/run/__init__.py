"""Compiling and running the checked program, and what it reports [Bao2016, section 5].

Problem sizes found from a run, localised findings, data races, and the report.
"""
