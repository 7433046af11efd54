"""Programs timed on the workers of a Dask scheduler."""
