"""Text in, model out: every format Loopwright reads, or `BadInput` at the place it cannot.

`c.reader.read_c` and `schedules.read_schedule` are the entries.  Nothing is imported here, since
`import loopwright` loads this module.
"""
