"""Provers that have one interface: each decides obligations, or says why it cannot."""
