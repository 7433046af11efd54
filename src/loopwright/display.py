"""Values that display themselves in a notebook.

What they look like is known to `report`, which stands on the rooms the values live in.  So the
function that renders them is given from above: `loopwright/__init__.py` sets `Displayed.render`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar


class Displayed:
    """A value with a representation in HTML, which a notebook asks for."""

    __slots__ = ()

    render: ClassVar[Callable[[object], str]]
    """From a value to HTML that needs nothing around it."""

    def _repr_html_(self) -> str:
        return Displayed.render(self)
