"""Measurements against other tools; nothing here is part of the product."""
