"""Thin, typed helpers over islpy; they know nothing about programs."""
