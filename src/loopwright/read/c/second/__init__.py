"""A second opinion on a region: its statements, loops and accesses, from the typed tree, by separate code."""
