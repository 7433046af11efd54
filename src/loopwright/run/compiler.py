"""The C compiler of this machine."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from loopwright.errors import BadInput, Code, GaveUp
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Source, Span

LONGEST = 120.0
"""The time limit of a compiler in seconds for one file."""
FAST = ("-O3", "-march=native")
"""Typical flags of a user."""
EXACT = (*FAST, "-ffp-contract=off")
"""The same, but with every product and sum rounded: contraction to fused multiply-add depends on the
surrounding loop, so only without it are two orders of the same operations bit-identical."""

_DIAGNOSTIC = re.compile(
    r"^(?P<file>[^:\n]+):(?P<line>\d+):(?P<column>\d+): (?:fatal )?error: (?P<what>.*)$", re.MULTILINE
)
_MISSING = re.compile(r"undefined (?:reference to|symbol:?) [`'\"]?([\w.]+)")
MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class Compiler:
    """A compiler that was found, by the path of its program."""

    path: str

    @property
    def name(self) -> str:
        """The name to search for on any machine: its path only if the name would find another compiler."""
        name = Path(self.path).name
        return name if shutil.which(name) == self.path else self.path


def find_compiler(name: str = "gcc") -> Compiler:
    """Return the compiler with this name; the error says what to install."""
    path = shutil.which(name)
    if path is None:
        raise GaveUp(
            Code.NO_COMPILER,
            f"there is no {name} on this machine, so nothing can be compiled and run",
            hint="install it, with 'apt install gcc' for example, or name another with --cc",
        )
    return Compiler(path)


def compile_c(
    compiler: Compiler, source: Path, program: Path, flags: Sequence[str] = FAST, seconds: float = LONGEST
) -> Path:
    """Compile a C file to `program`; its errors are shown at their places."""
    command = [compiler.path, *flags, "-o", str(program), str(source), "-lm"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        raise GaveUp(Code.TIME, f"{compiler.path} took more than {seconds:g} s for {source}") from None
    if done.returncode != 0:
        raise _refusal(source, done.stderr)
    return program


def _refusal(source: Path, messages: str) -> BadInput:
    """The compiler's first error, at its place."""
    found, missing = _DIAGNOSTIC.search(messages), list(dict.fromkeys(_MISSING.findall(messages)))
    if found is None and missing:
        names = ", ".join(f"'{name}'" for name in missing[:MOST_NAMED])
        more = f" and {len(missing) - MOST_NAMED} more" if len(missing) > MOST_NAMED else ""
        return BadInput(
            Code.DOES_NOT_COMPILE,
            f"does not link: {names}{more} {'is' if len(missing) == 1 else 'are'} declared only",
            span=Span.start_of(str(source)),
            hint="name a file that defines what is missing: --cc-option FILE.c",
        )
    if found is None:
        first = messages.strip().splitlines()[0] if messages.strip() else "no message"
        return BadInput(Code.DOES_NOT_COMPILE, f"does not compile: {first}", span=Span.start_of(str(source)))
    file = Path(found["file"])
    text = Source.decode(found["file"], file.read_bytes() if file.is_file() else b"")
    return BadInput(
        Code.DOES_NOT_COMPILE,
        f"does not compile: {found['what']}",
        span=text.at(text.offset(int(found["line"]), int(found["column"]))),
    )
