"""The named transformations, one family a file, each made of the four operators and directives."""
