"""C text and what it says: syntax, regions, macros, declarations, types, lvalues.  Nothing here knows isl."""
