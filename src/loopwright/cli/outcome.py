"""How a verb ends: every failure a diagnostic and an exit status, none a traceback."""

from __future__ import annotations

import os
import re
import sys
import traceback
from collections.abc import Callable
from typing import TypeVar

from loopwright.errors import REPORT, BadInput, Code, GaveUp, InternalError, LoopwrightError
from loopwright.source import Span

T = TypeVar("T")


def failures_named(work: Callable[[], T]) -> T:
    """What `work` returns; whatever it raises, raised as one of Loopwright's own errors."""
    try:
        return work()
    except LoopwrightError as error:
        if isinstance(error, InternalError) and error.hint is None:
            error.hint = REPORT
        raise
    except KeyboardInterrupt:
        raise GaveUp(Code.INTERRUPTED, "interrupted") from None
    except MemoryError:
        raise GaveUp(Code.SIZE, "memory ran out") from None
    except Exception as error:
        raise _unexpected(error) from error


def _unexpected(error: Exception) -> InternalError:
    """A failure nobody foresaw: isl's, or ours.  It is never an answer."""
    if os.environ.get("LOOPWRIGHT_TRACEBACK"):
        traceback.print_exception(error)
    last = traceback.extract_tb(error.__traceback__)[-1]
    what = str(error).splitlines()[0] if str(error) else "no message"
    where = f"{os.path.basename(last.filename)}:{last.lineno}"
    hint = f"{REPORT}; LOOPWRIGHT_TRACEBACK=1 shows where it happened"
    return InternalError(Code.INTERNAL, f"{type(error).__name__} in {where}: {what}", hint=hint)


def write_out(text: str) -> None:
    """Text to standard output, all of it; a reader that went away or a full disk is no silent end."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        with open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), sys.stdout.fileno())
        raise GaveUp(Code.OUTPUT, f"standard output cannot be written: {error.strerror}") from None


def placed(error: LoopwrightError, file: str) -> LoopwrightError:
    """Bad input that says no place gets one: the statement it names, the schedule, the file's start."""
    if not isinstance(error, BadInput) or error.span is not None:
        return error
    error.span = _place(error.message, file)
    return error


def _place(message: str, file: str) -> Span:
    from loopwright.read.text import load, without_comments

    try:
        source = load(file)
    except BadInput:
        return Span.start_of(file)
    text = without_comments(source).text
    for word in re.findall(r"[A-Za-z_]\w*", message):
        found = re.search(rf"\b{word}\s*[\[(]", text)
        if found:
            return source.at(found.start(), len(word))
    found = re.search(r"\bschedule\b", text) or re.search(r"\S", text)
    return source.at(found.start() if found else 0, len(found.group()) if found else 1)
