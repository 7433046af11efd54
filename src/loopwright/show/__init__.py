"""Pictures of what a region runs and in which order, and a report that explains a transformation."""
