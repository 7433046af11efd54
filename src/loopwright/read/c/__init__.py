"""Regions of C, read as their author wrote them (paper 001, sections 3.1 and 3.2)."""
