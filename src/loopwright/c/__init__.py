"""C source: syntax, regions, macros, declarations, types, lvalues.  Nothing here uses isl."""
