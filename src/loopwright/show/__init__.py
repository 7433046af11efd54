"""Pictures of what a region runs and in which order."""
