"""What the user's compiler does not accept of a file.

A name that nothing declares gets a stand-in, and an error outside of a region hides nothing of it: so a file
can be read which is no program.  Where no header is missing, the compiler knows better.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from loopwright.c.typed.file import typed_file
from loopwright.c.typed.options import PLAIN, CompilerOptions, absolute_paths
from loopwright.c.typed.preprocess import run_compiler
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Source

_ERROR = re.compile(r"(?m)^<stdin>:(\d+):(?:\d+:)? (?:fatal )?error: (.*)$")

_CLASH = re.compile(
    r"(?m)^<stdin>:\d+:\d+: error: '\w+' redeclared as different kind of symbol\n"
    r"(?:(?!<stdin>:).*\n)*?(/.*):\d+:\d+: note: previous "
)


@dataclass(frozen=True)
class Refusal:
    """An error of a compiler in a line of a file."""

    compiler: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"line {self.line}: {Path(self.compiler).name} says: {self.text}"


def refused_by_compiler(source: Source, options: CompilerOptions = PLAIN) -> list[Refusal]:
    """The errors in a file all of whose headers are there.

    The compiler is asked whatever the front end found: it may be of another version, or another compiler.
    """
    file = typed_file(source, options)
    return [] if file.missing else compiler_errors(source, options, file.assumed)


def compiler_errors(
    source: Source, options: CompilerOptions = PLAIN, assumed: Sequence[str] = ()
) -> list[Refusal]:
    """The errors that the compiler finds in the text of a file, with the macros `assumed` defined.

    A variable that has the name of a library's function (`y1` of <math.h>) is no error, but its call is.
    """
    done, compiler = _compiled(source, options, tuple(f"-D{name}" for name in assumed))
    messages = done.stderr.decode("utf-8", "replace")
    arguments = absolute_paths(options.for_file(source.path).arguments, Path())
    own = tuple(one.removeprefix("-I") for one in arguments if one.startswith("-I"))
    clashes = {one.start() for one in _CLASH.finditer(messages) if not one[1].startswith(own)}
    errors = (one for one in _ERROR.finditer(messages) if one.start() not in clashes)
    return [Refusal(compiler, int(one[1]), one[2]) for one in errors]


def is_compiled(source: Source, options: CompilerOptions = PLAIN) -> bool:
    """Whether the compiler accepts a file as it is.  The front end, slower on long texts, is not asked."""
    return _compiled(source, options, ())[0].returncode == 0


def _compiled(
    source: Source, options: CompilerOptions, defined: tuple[str, ...]
) -> tuple[subprocess.CompletedProcess[bytes], str]:
    """What the compiler says of a file, and which compiler."""
    options = options.for_file(source.path)
    arguments = (*defined, *absolute_paths(options.arguments, Path()))
    folder = Path(source.path).parent if source.path else Path()
    data = source.text.encode("utf-8", "surrogateescape")
    command = (*options.program(), "-fsyntax-only", "-w", *arguments)
    return run_compiler(command, data, folder if folder.is_dir() else Path()), command[0]
