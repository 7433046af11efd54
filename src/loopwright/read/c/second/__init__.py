"""A second extraction of a region's statements, loops and accesses, from the typed tree, by separate code."""
