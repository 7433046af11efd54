"""From a schedule to loops: one file per idea of the papers.

`program.generate` is the entry.  Nothing is imported here, since `import loopwright` loads this module.
"""
