"""The named transformations, one family per file, each composed of the four operators and directives."""
