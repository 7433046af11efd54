"""Times programs on the workers of a Dask scheduler."""
