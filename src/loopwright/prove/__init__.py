"""Proofs about loops and schedules; knows nothing of how the loops were made."""
