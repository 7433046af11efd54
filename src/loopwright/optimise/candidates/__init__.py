"""Scripts that may make a region faster: found, proved legal, and ranked by the cost model."""
