"""The text against its model: what was read, and what was written, from the syntax tree alone."""
