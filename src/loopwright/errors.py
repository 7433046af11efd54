"""Every way Loopwright says no, in one place; a `Diagnostic` is what each says, as a value.

`BadInput`       the user's text is wrong: exit code 2;
`Illegal`        the answer is no, with a witness: exit code 1;
`GaveUp`         a budget of time or size ran out: exit code 3; or an interrupt: 130;
`Crashed`        the user's program crashed or did not end before anything was known: exit code 4;
`InternalError`  Loopwright or isl failed; never to be read as an answer: exit code 4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from enum import Enum
from typing import Any, ClassVar, Self

from loopwright.lazy_dataclass import dataclass
from loopwright.source import Span


class Severity(Enum):
    """The word printed before the message."""

    ERROR = "error"
    INTERNAL = "internal error"


class Code(Enum):
    """The kind of an error; `loopwright explain CODE` explains it.

    The hundreds digit is the class of the error and, except for an interrupt, the exit status.
    """

    READ_TOO_EARLY = "LW101"
    OVERWRITTEN_TOO_EARLY = "LW102"
    WRITES_SWAPPED = "LW103"
    NOT_PARALLEL = "LW104"
    NOT_ONE_TO_ONE = "LW105"
    NOT_EQUIVALENT = "LW106"
    RESULTS_DIFFER = "LW107"
    WRONG_LOOPS = "LW108"
    ANOTHER_THEOREM = "LW109"
    WRONG_VALUE = "LW110"

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
    PROOF_FILE = "LW221"
    NO_VARIABLE = "LW222"
    STORAGE = "LW223"
    DIRECTIVE = "LW224"

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

    @property
    def exit_code(self) -> int:
        """The exit status of a command that ends with this error; shells expect 130 for an interrupt."""
        return 130 if self is Code.INTERRUPTED else self.hundred

    @property
    def hundred(self) -> int:
        """The class of the error: 1 is a no, 2 bad input, 3 no answer, 4 a failure of Loopwright."""
        return int(self.value[2])

    @property
    def severity(self) -> Severity:
        """Whether the input or Loopwright is to blame."""
        internal = self.exit_code == 4 and self is not Code.CRASHED
        return Severity.INTERNAL if internal else Severity.ERROR

    @property
    def verdict(self) -> str:
        """The outcome in one or two words, for machines."""
        if self is Code.CRASHED:
            return "crashed"
        return {1: "wrong", 2: "bad input", 3: "gave up", 4: "internal error"}[self.hundred]


REPORT = "please report it, with the input and the command line, at the project's issue tracker"
"""The hint of an `InternalError`."""


@dataclass(frozen=True, slots=True)
class Note:
    """A sentence that explains an error; `span` is what it is about, `label` what it begins with."""

    text: str
    label: str = ""
    span: Span | None = None
    excerpt: str | None = None
    """Where the line of `span` is to be shown: what stands for it where its text is not at hand."""
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """An error as a value; `report.diagnostics` renders it as text, in colour, as JSON and as HTML."""

    code: Code
    message: str
    span: Span | None = None
    hint: str | None = None
    witness: str | None = None
    """The smallest example on one line; where there are notes, they give it at length."""
    notes: tuple[Note, ...] = ()
    more: int = 0
    """How many other failures there are, each a part of `others`."""
    others: tuple[Note, ...] = ()
    """Remarks printed after the hint."""
    excerpt: str = ""
    """What stands for the line of `span` where its text is not at hand."""
    details: Mapping[str, Any] | None = None
    """The witness as data."""

    @property
    def summary(self) -> str:
        """The message and the number of further failures."""
        return f"{self.message} (and {self.more} more)" if self.more else self.message


class LoopwrightError(Exception):
    """The base of all errors: a message with its place, and a hint that says what to do next."""

    render: ClassVar[Callable[[Diagnostic], str]]
    """A diagnostic as the command line prints it, given from above as `Displayed.render` is."""
    is_shown = False
    """Whether a caller from Python gets it: then its text has the place, the hint and the witness too."""

    def __init__(
        self, code: Code, message: str, *, span: Span | None = None, hint: str | None = None
    ) -> None:
        super().__init__(message)
        self.diagnostic = Diagnostic(code, message, span, hint)

    def __str__(self) -> str:
        return LoopwrightError.render(self.diagnostic).rstrip() if self.is_shown else super().__str__()

    def __reduce__(self) -> tuple[Callable[..., LoopwrightError], tuple[object, ...]]:
        return _again, (type(self), vars(self))

    @classmethod
    def of(cls, diagnostic: Diagnostic) -> Self:
        """The error for an existing diagnostic."""
        made = cls.__new__(cls, diagnostic.summary)
        made.diagnostic = diagnostic
        return made

    def at(self, span: Span) -> Self:
        """The same error with this place, unless it already has one."""
        if self.span is None:
            self.diagnostic = replace(self.diagnostic, span=span)
        return self

    def advised(self, hint: str) -> Self:
        """The same error with this hint, unless it already has one."""
        if self.hint is None:
            self.diagnostic = replace(self.diagnostic, hint=hint)
        return self

    @property
    def code(self) -> Code:
        """The code of the error; `loopwright explain CODE` says more."""
        return self.diagnostic.code

    @property
    def message(self) -> str:
        """The message, in one sentence."""
        return self.diagnostic.summary

    @property
    def span(self) -> Span | None:
        """The place of the error, if there is one."""
        return self.diagnostic.span

    @property
    def hint(self) -> str | None:
        """What to do about the error, if that is known."""
        return self.diagnostic.hint


def _again(kind: type[LoopwrightError], state: dict[str, Any]) -> LoopwrightError:
    """An error from a pickle: constructors want more than pickle would give them."""
    error = kind.__new__(kind, state["diagnostic"].summary)
    vars(error).update(state)
    return error


class BadInput(LoopwrightError):
    """The input is invalid."""


class BadArgument(BadInput, TypeError):
    """An argument of a Python function has the wrong type."""


class Illegal(LoopwrightError):
    """The answer is no; `witness` is the smallest counterexample."""

    def __init__(
        self, code: Code, message: str, *, witness: str, span: Span | None = None, hint: str | None = None
    ) -> None:
        super().__init__(code, message, span=span, hint=hint)
        self.diagnostic = replace(self.diagnostic, witness=witness)

    @property
    def witness(self) -> str:
        """The counterexample; empty if there is none."""
        return self.diagnostic.witness or ""


class GaveUp(LoopwrightError):
    """A limit of time or size was reached before there was an answer."""


class NotModelled(GaveUp):
    """An operation of MLIR of which it is not known what it does."""

    def __init__(self, what: str, place: Span) -> None:
        super().__init__(Code.UNDECIDED, f"not modelled: {what} at line {place.line}", span=place)


class Crashed(LoopwrightError):
    """The user's program crashed or did not terminate in time."""


class InternalError(LoopwrightError):
    """A failure of Loopwright or of isl: neither "proved" nor "wrong"."""


@contextmanager
def about(span: Callable[[], Span]) -> Iterator[None]:
    """Bad input that has no place of its own is about `span()`."""
    try:
        yield
    except BadInput as error:
        if error.span is None:
            error.at(span())
        raise
