"""Rewrites a plan to a new C file and proves every step; used by `transform` and `lw.to_c(plan)`."""
