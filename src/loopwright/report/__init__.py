"""What people read: program texts, HTML reports and notebooks, made of values.

The command line prints it, `loopwright.report` and `loopwright.describe` give it to Python.  Nothing is
imported here, since `import loopwright` loads this module.
"""
