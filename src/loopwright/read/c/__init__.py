"""Regions of C, read as their author wrote them [Namjoshi2016, sections 3.1 and 3.2]."""
