"""A program of LOOP runs exactly its schedule: the four scanning obligations, decided by isl."""
