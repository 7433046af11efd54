"""Preprocesses macro-free source without a compiler: the result is the source, after the predefined macros.

Starting a compiler costs more than most answers.  So it is asked about one text in `ASKED`, and about all
that have definitions, headers, comments or names of its own; `test_texts_without_macros_stay` compares both.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from subprocess import CompletedProcess
from unittest.mock import patch

from loopwright.c.typed import preprocess
from loopwright.c.typed.preprocess import run_compiler

ASKED = 16
_PLAIN = re.compile(rb"(?m)^[ \t]*#(?!pragma (?:scop|endscop|omp )|line \d)|//|/\*|\\|\?\?|_Pragma|__\w+__")
_LINE = re.compile(rb"(?m)^#line (\d+)$")
_NAME = re.compile(rb"[A-Za-z_]\w*")


@contextmanager
def without_compiler() -> Iterator[None]:
    """Texts without macros are not given to a compiler inside of this."""
    with patch.object(preprocess, "run_compiler", _made):
        yield


def _made(command: Sequence[str], data: bytes, folder: Path) -> CompletedProcess[bytes]:
    is_usual = command[1:3] == ("-E", "-dD") and command[3] == "-idirafter" and len(command) == 5
    if not is_usual or zlib.crc32(data) % ASKED == 0:
        return run_compiler(command, data, folder)
    found = as_it_is(data, command[0])
    return run_compiler(command, data, folder) if found is None else CompletedProcess(command, 0, found, b"")


def as_it_is(data: bytes, program: str) -> bytes | None:
    """What a compiler makes of a text without macros; None where it may have some."""
    if _PLAIN.search(data):
        return None
    head, names = _head(program)
    if not names.isdisjoint(_NAME.findall(data)):
        return None
    return head + b'# 1 "<stdin>"\n' + _LINE.sub(rb'# \1 "<stdin>"', data)


@lru_cache(maxsize=2)
def _head(program: str) -> tuple[bytes, frozenset[bytes]]:
    """What a compiler says before a text, and the names that it defines."""
    done = run_compiler((program, "-E", "-dD"), b"", Path())
    made = done.stdout
    end = made.rfind(b'# 1 "<stdin>"\n')
    return made[:end], frozenset(re.findall(rb"(?m)^#define (\w+)", made))
