"""Compiles and runs the checked program, and interprets its report [Bao2016, section 5].

Problem sizes found from a run, localised findings, data races, and the report.
"""
