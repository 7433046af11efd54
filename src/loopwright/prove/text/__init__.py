"""Proves that a source agrees with its model, for sources read and written, from the syntax tree alone."""
