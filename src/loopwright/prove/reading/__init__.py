"""The prover's own reading of C: expressions, loops and operations, from the syntax tree alone."""
