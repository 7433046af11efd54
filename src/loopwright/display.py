"""Values that display themselves in a notebook, and errors that callers from Python get.

What they look like is known to `report`, which stands on the rooms the values live in.  So the
functions that render them are given from above: `loopwright/__init__.py` sets `Displayed.render`
and `LoopwrightError.render`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ClassVar, ParamSpec, TypeVar

from loopwright.errors import InternalError, LoopwrightError

P = ParamSpec("P")
T = TypeVar("T")


class Displayed:
    """A value with a representation in HTML, which a notebook asks for."""

    __slots__ = ()

    render: ClassVar[Callable[[object], str]]
    """From a value to HTML that needs nothing around it."""

    def _repr_html_(self) -> str:
        return Displayed.render(self)


def public(function: Callable[P, T]) -> Callable[P, T]:
    """For what users call from Python: its errors say all they know, and show no frames of its insides."""

    @wraps(function)
    def called(*arguments: P.args, **named: P.kwargs) -> T:
        try:
            return function(*arguments, **named)
        except InternalError:
            raise
        except LoopwrightError as error:
            error.is_shown = True
            raise error.with_traceback(None) from None

    return called
