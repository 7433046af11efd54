"""Decides whether two programs do the same: by instances, by values, or by a run that distinguishes them."""
