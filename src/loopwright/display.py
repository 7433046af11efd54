"""Values that show themselves in a notebook.

How they look is known in `show`, below the rooms the values live in, so it is found by name when a
notebook asks.
"""

from __future__ import annotations

import importlib


class Displayed:
    """A value with a face: pieces of HTML that need nothing around them."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(importlib.import_module("loopwright.show.notebook").html(self))
