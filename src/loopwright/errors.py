"""Every way Loopwright says no, in one place.

`BadInput`       the user's text is wrong: exit code 2;
`Illegal`        the answer is no, with a witness: exit code 1;
`GaveUp`         a budget of time or size ran out: exit code 3;
`Crashed`        the user's program crashed or did not end before anything was known: exit code 4;
`InternalError`  Loopwright or isl failed; never to be read as an answer: exit code 4.
"""

from __future__ import annotations

from enum import Enum

from loopwright.source import Span


class Code(Enum):
    """What kind of error it is: given where it is raised, explained by `loopwright explain CODE`.

    The hundreds are the exit statuses of the classes below.
    """

    READ_TOO_EARLY = "LW101"
    OVERWRITTEN_TOO_EARLY = "LW102"
    WRITES_SWAPPED = "LW103"
    NOT_PARALLEL = "LW104"
    NOT_ONE_TO_ONE = "LW105"
    NOT_EQUIVALENT = "LW106"
    RESULTS_DIFFER = "LW107"
    WRONG_LOOPS = "LW108"

    FILE = "LW201"
    REGION = "LW202"
    NOT_AFFINE = "LW203"
    NO_OPERATION = "LW204"
    NO_COMPONENT = "LW205"
    NO_ITERATOR = "LW206"
    NOT_NEIGHBOURS = "LW207"
    LOOPS_DO_NOT_FIT = "LW208"
    ARGUMENTS = "LW209"
    GRAMMAR = "LW210"
    REGION_TEXT = "LW211"
    DOES_NOT_COMPILE = "LW212"
    MISSING_PART = "LW213"
    OPTION = "LW214"
    MAP = "LW215"
    UNBOUNDED = "LW216"
    TOO_LARGE = "LW217"
    RUN = "LW218"
    SEGMENT = "LW219"
    ORDERS = "LW220"

    TIME = "LW301"
    UNDECIDED = "LW302"
    NO_COMPILER = "LW303"
    SIZE = "LW304"
    MISSING_PROGRAM = "LW305"
    NO_PROOF = "LW306"
    ALGORITHM = "LW307"
    SIZES_UNKNOWN = "LW308"
    INTERRUPTED = "LW310"
    OUTPUT = "LW311"

    OWN_MISTAKE = "LW401"
    ISL = "LW402"
    CRASHED = "LW403"
    INTERNAL = "LW499"


REPORT = "please report it, with the input and the command line, at the project's issue tracker"
"""What to do about an `InternalError`."""


class LoopwrightError(Exception):
    """What the user sees: a message, where it belongs, and what to do next."""

    def __init__(
        self, code: Code, message: str, *, span: Span | None = None, hint: str | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.span = span
        self.hint = hint


class BadInput(LoopwrightError):
    """The text given cannot be read or has no meaning."""


class Illegal(LoopwrightError):
    """The answer is no. `witness` is the smallest example that shows it."""

    def __init__(
        self, code: Code, message: str, *, witness: str, span: Span | None = None, hint: str | None = None
    ) -> None:
        super().__init__(code, message, span=span, hint=hint)
        self.witness = witness


class GaveUp(LoopwrightError):
    """A budget ran out before there was an answer."""


class Crashed(LoopwrightError):
    """The user's program, which had to run, crashed or did not end in time."""


class InternalError(LoopwrightError):
    """A failure of Loopwright or of isl: neither "proved" nor "wrong"."""
