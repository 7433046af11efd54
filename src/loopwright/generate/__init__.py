"""Generates loops from a schedule; one file per idea of [Grosser2015] and [Quillere2000].

`program.generate` is the entry.  Nothing is imported here, since `import loopwright` loads this module.
"""
