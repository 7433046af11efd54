"""Programs compiled and timed: one after the other, on one machine."""
