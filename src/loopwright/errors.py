"""Every way Loopwright says no, in one place.

`BadInput`       the user's text is wrong: exit code 2;
`Illegal`        the answer is no, with a witness: exit code 1;
`GaveUp`         a budget of time or size ran out: exit code 3;
`InternalError`  Loopwright or isl failed; never to be read as an answer.
"""

from __future__ import annotations

from dataclasses import dataclass

REPORT = "please report it, with the input and the command line, at the project's issue tracker"
"""What to do about an `InternalError`."""


@dataclass(frozen=True, slots=True)
class Span:
    """A place in a text the user wrote; lines and columns count from 1."""

    file: str
    line: int
    column: int
    excerpt: str = ""
    """The source line the place is on, without its line end."""
    length: int = 1
    """How many characters the caret underlines."""


class LoopwrightError(Exception):
    """What the user sees: a message, where it belongs, and what to do next."""

    code: str = ""
    """The diagnostic code, where it is not to be told from the message."""

    def __init__(self, message: str, *, span: Span | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.span = span
        self.hint = hint


class BadInput(LoopwrightError):
    """The text given cannot be read or has no meaning."""


class Illegal(LoopwrightError):
    """The answer is no. `witness` is the smallest example that shows it."""

    def __init__(
        self, message: str, *, witness: str, span: Span | None = None, hint: str | None = None
    ) -> None:
        super().__init__(message, span=span, hint=hint)
        self.witness = witness


class GaveUp(LoopwrightError):
    """A budget ran out before there was an answer."""


class InternalError(LoopwrightError):
    """A failure of Loopwright or of isl: neither "proved" nor "wrong"."""
