"""Programs compared by the terms they compute: for those that have other operations than their original.

Imports everything else of `check` but `verify`.
"""
