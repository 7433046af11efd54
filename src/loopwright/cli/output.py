"""Where results go: standard output, standard error and files.

What cannot be written to standard output or to a file ends the verb, with an error.  Standard error has
remarks only: where it is closed they are lost, and the exit status stays what it is.
"""

from __future__ import annotations

import contextlib
import io
import os
import stat
import sys
import tempfile
from pathlib import Path
from typing import TextIO

from loopwright.errors import BadInput, Code, GaveUp, LoopwrightError
from loopwright.source import STANDARD, Span


def open_missing_streams() -> None:
    """Descriptors 0, 1 and 2 that are closed become the null device, lest a file gets their number."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def write_out(data: str | bytes) -> None:
    """All of it to standard output; what the encoding lacks is written as escapes."""
    stream = sys.stdout
    if stream is None:
        raise GaveUp(Code.OUTPUT, "standard output is closed")
    try:
        if isinstance(stream, io.TextIOWrapper):
            if isinstance(data, str):
                data = data.encode(stream.encoding, "backslashreplace")
            stream.flush()
            stream.buffer.write(data)
        else:
            stream.write(data if isinstance(data, str) else data.decode("utf-8", "replace"))
        stream.flush()
    except OSError as error:
        _discard(stream)
        raise GaveUp(Code.OUTPUT, f"standard output cannot be written: {error.strerror}") from None


def write_err(text: str) -> None:
    """Remarks to standard error, as far as it is open."""
    stream = sys.stderr
    if stream is None or not text:
        return
    try:
        stream.write(text)
        stream.flush()
    except OSError:
        _discard(stream)


def write_error(error: LoopwrightError, file: str | None) -> None:
    """The diagnostic to standard error, in colour on a terminal; `file` is what the verb was about."""
    if error.code is Code.INTERRUPTED:
        write_err("loopwright: interrupted\n")  # who pressed Ctrl-C knows why
        return
    from loopwright.report.diagnostics import as_rich, as_text

    stream = sys.stderr
    file = file or "loopwright"
    if stream is None or not stream.isatty():
        write_err(as_text(error.diagnostic, file, more=True))
        return
    from rich.console import Console

    try:
        text = as_rich(error.diagnostic, file, more=True)
        Console(file=stream, soft_wrap=True).print(text, end="")
    except OSError:
        _discard(stream)


def _discard(stream: TextIO) -> None:
    """What is left in the stream goes nowhere, also when Python ends."""
    with contextlib.suppress(OSError, ValueError), open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), stream.fileno())


def write_file(path: str, data: bytes) -> None:
    """All of the file or none of it; `-` is standard output, and a device or a pipe is written through."""
    if path == STANDARD:
        write_out(data)
        return
    try:
        if _is_plain(path):
            _replace(os.path.realpath(path), data)
        else:
            with open(path, "wb", buffering=0) as file:
                file.write(data)
    except OSError as error:
        message, folder = f"cannot be written: {error.strerror}", os.path.dirname(path)
        hint = "choose another place for it"
        if isinstance(error, IsADirectoryError):
            hint = "name a file inside it"
        elif folder and not os.path.exists(folder):
            hint = f"there is no folder {folder}: make it first"
        raise BadInput(Code.FILE, message, span=Span.start_of(path), hint=hint) from None


def _is_plain(path: str) -> bool:
    """Whether it is a file, or not there yet; what is in /dev stands for something else."""
    try:
        kind = os.stat(path).st_mode
    except OSError:
        return True
    return stat.S_ISREG(kind) and not os.path.abspath(path).startswith("/dev/")


def _replace(path: str, data: bytes) -> None:
    """The data take the place of the file when they are on the disk."""
    mode = os.stat(path).st_mode & 0o7777 if os.path.exists(path) else 0o666 & ~_mask()
    temporary = None
    try:
        with tempfile.NamedTemporaryFile(
            dir=os.path.dirname(path), prefix=".loopwright-", delete=False
        ) as made:
            temporary = made.name
            made.write(data)
            made.flush()
            os.fsync(made.fileno())
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except OSError:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        raise


def _mask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
