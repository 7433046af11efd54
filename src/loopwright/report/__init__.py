"""Formats values for people: program texts, HTML reports and notebooks.

The command line prints it, `loopwright.report` and `loopwright.describe` give it to Python.  Nothing is
imported here, since `import loopwright` loads this module.
"""
