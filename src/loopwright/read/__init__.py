"""Readers: text in, model out, or BadInput with its place."""
