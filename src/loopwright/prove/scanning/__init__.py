"""Proves that a program of LOOP executes exactly its schedule: four scanning obligations, decided by isl."""
