"""LOOP: the language of generated programs, and its meaning."""
