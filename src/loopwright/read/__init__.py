"""Readers of all formats: text in, model out, or `BadInput` with the place of the error.

The entry points are `c.reader.read_c` and `schedules.read_schedule`.  Nothing is imported here, since
`import loopwright` loads this module.
"""
