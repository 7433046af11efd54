"""Two programs compared along the loops of the second: what each part of it runs, from the inside out."""
