"""From a plan to a new C file, every step proved: what `transform` and `lw.to_c(plan)` both do."""
