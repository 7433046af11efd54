"""Proofs about loops and schedules; independent of how the loops were generated."""
