"""Thin, typed helpers over islpy, independent of programs."""
