"""Finds scripts that may speed up a region, proves them legal, and ranks them by the cost model."""
