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
    """A value that a notebook can display as HTML."""

    __slots__ = ()

    render: ClassVar[Callable[[object], str]]
    """Converts a value to self-contained HTML."""

    def _repr_html_(self) -> str:
        return Displayed.render(self)


def public(function: Callable[P, T]) -> Callable[P, T]:
    """A decorator for public functions: their errors have full messages and no internal stack frames."""

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
