"""OpenMP's loop directives as operations of scripts [OpenMP2024, chapter 11]."""
