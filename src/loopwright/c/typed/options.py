"""The compiler options that decide the meaning of a file.

`-I -D -U -include -std=` are passed to the compiler unchanged and in order.  `-p BUILD` takes from the
entry of a file in `BUILD/compile_commands.json` all options that may change its meaning, followed by those
of the command line: `-fopenmp` defines a macro, `-m32` changes types.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from loopwright.errors import BadInput, Code
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Source, Span

FOLDERS = ("-I", "-isystem", "-iquote", "-idirafter")
_PATHS = (*FOLDERS, "-include", "-imacros", "-isysroot")
_WITH_VALUE = (*_PATHS, "-D", "-U")
_SEPARATE = ("-Xclang", "-arch", "-target", "--param", "--sysroot", "-B", "-iprefix", "-iwithprefix")
"""Options that are kept unchanged, with the word after them."""
_WITHOUT_MEANING = {
    *("-c", "-S", "-E", "-P", "-C", "-CC", "-H", "-v", "-pipe", "-time", "-fpreprocessed"),
    *("-fsyntax-only", "-fstack-usage", "-fcolor-diagnostics", "-fansi-escape-codes", "-fdirectives-only"),
    *("-Xpreprocessor", "-"),
}
_OF_OUTPUT = (
    *("-W", "-g", "-M", "-l", "-L", "-d", "-save-temps", "-fdiagnostics", "-fno-diagnostics", "-fdump"),
    *("-fno-color", "-fmessage-length", "-fprofile", "-fplugin", "-fuse-ld", "-ftime", "-flto"),
    *("-fmax-errors", "-ferror-limit", "-fopt-info", "-fsave-optimization", "-fcallgraph-info"),
)
"""Prefixes of options that only decide what a compiler prints and writes, and where."""
_OF_OUTPUT_WITH_VALUE = {
    *("-o", "-MF", "-MT", "-MQ", "-MJ", "-x", "-Xlinker", "-Xassembler", "-T", "-z", "-u", "-L", "-l"),
    *("-aux-info", "-dumpbase", "-dumpdir"),
}
_LONG = {
    "--define-macro": "-D",
    "--undefine-macro": "-U",
    "--include-directory": "-I",
    "--include": "-include",
    "--imacros": "-imacros",
    "--std": "-std=",
}
_LOOSE = {
    *("-ffast-math", "-Ofast", "-funsafe-math-optimizations", "-fassociative-math", "-freciprocal-math"),
    *("-ffinite-math-only", "-fno-signed-zeros", "-fexcess-precision=fast", "-fcx-limited-range"),
    *("-fcx-fortran-rules", "-mfpmath=387", "-mfpmath=both", "-mfpmath=sse,387", "-mfpmath=sse+387"),
    *("-mrecip", "-ffp-model=fast", "-ffp-model=aggressive", "-fapprox-func", "-mdaz-ftz"),
}
_FINITE = {
    *("-ffinite-math-only", "-ffast-math", "-Ofast", "-ffp-model=fast", "-ffp-model=aggressive"),
    *("-fno-honor-nans", "-fno-honor-infinities"),
}
_LOOSENED = re.compile(
    r"""(?x)\boptimize\s*\([^)]*(?:fast|unsafe-math|associative-math|reciprocal-math|finite-math
        |no-signed-zeros)[^)]*\)
    |\bfloat_control\s*\(\s*precise\s*,\s*off\b[^)]*\)|\bclang\s+fp\s+(?:reassociate|reciprocal)[^\n]*"""
)
_WRAPPING = ("-fwrapv", "-ftrapv", "-fno-strict-overflow")
OF_TYPES = ("-fshort-enums", "-fpack-struct", "-fshort-wchar", "-fms-extensions", "-mlong-double-")
"""Prefixes of options that change types, and that front ends share."""
_REFUSED = {
    "-fsingle-precision-constant": ("0.1 is a float", "write 0.1f"),
    "-funsigned-bitfields": ("'int' bit-fields are unsigned", "write 'unsigned'"),
    "-fno-signed-bitfields": ("'int' bit-fields are unsigned", "write 'unsigned'"),
}
"""Unsupported options that change the meaning of a file: what they do, and what to write instead."""
_CPLUSPLUS = (".cc", ".cpp", ".cxx", ".c++", ".C", ".hh", ".hpp", ".hxx", ".H")


@dataclass(frozen=True, slots=True)
class CompilerOptions:
    """`arguments` are passed to the compiler unchanged; `build` is the folder of a compile_commands.json."""

    arguments: tuple[str, ...] = ()
    compiler: str = ""
    """The program; if empty, CC of the environment, or gcc."""
    build: str = ""

    def program(self) -> tuple[str, ...]:
        """The compiler as the words of a command."""
        return tuple(shlex.split(self.compiler or os.environ.get("CC", ""))) or ("gcc",)

    def standard(self) -> str:
        """The last `-std=...` or `-ansi`; "" if there is none."""
        given = [word for word in self.arguments if word.startswith("-std=") or word == "-ansi"]
        return given[-1] if given else ""

    def loose(self, source: Source) -> str:
        """What allows the compiler to round differently from the source: an option for this file, or a pragma
        or attribute in it; "" if there is none."""
        options = (word for word in self.for_file(source.path).arguments if word in _LOOSE)
        return next(options, "") or " ".join("".join(_LOOSENED.findall(source.text)[:1]).split())

    def finite(self, source: Source) -> bool:
        """Whether an option for this file, or a pragma or attribute in it, may say that no number is infinite
        or a NaN."""
        is_said = not _FINITE.isdisjoint(self.for_file(source.path).arguments)
        return is_said or _LOOSENED.search(source.text) is not None

    def wraps(self) -> str:
        """An option that defines the overflow of signed integers; "" if there is none."""
        return next((word for word in self.arguments if word in _WRAPPING), "")

    def for_file(self, path: str) -> CompilerOptions:
        """The options preceded by those of the build for this file."""
        if not self.build:
            return self
        entry = _entry(Path(self.build), Path(path))
        words = _words(entry)
        _refuse_cplusplus(path, words)
        directory = Path(str(entry.get("directory", self.build)))
        kept = tuple(_kept(words[1:], directory))
        for option, (meaning, hint) in _REFUSED.items():
            if option in kept:
                message = f"with '{option}' {meaning}, which is not supported"
                raise BadInput(Code.OPTION, message, span=Span.start_of(path), hint=hint)
        return replace(self, arguments=(*kept, *self.arguments), compiler=self.compiler or words[0], build="")


PLAIN = CompilerOptions()
"""The default options."""


def absolute_paths(arguments: Sequence[str], directory: Path) -> tuple[str, ...]:
    """The arguments with relative paths resolved against `directory`."""
    return tuple(_kept(arguments, directory))


def refuse_cplusplus_ending(path: str) -> None:
    """Raise an error for a file name with a C++ ending."""
    if Path(path).suffix in _CPLUSPLUS:
        raise cplusplus(path)


def cplusplus(path: str) -> BadInput:
    """The error for a C++ file."""
    hint = "give a C file: operators of C++ may be overloaded"
    return BadInput(Code.FILE, "C++ is not supported", span=Span.start_of(path), hint=hint)


def _refuse_cplusplus(path: str, words: Sequence[str]) -> None:
    compiler = Path(words[0]).name if words else ""
    if "++" in compiler or "c++" in words or any(word.startswith("-xc++") for word in words):
        raise cplusplus(path)


def _kept(words: Sequence[str], directory: Path) -> Iterator[str]:
    """The words that may decide the meaning of a file, with absolute paths."""
    pending = [*reversed(words)]
    while pending:
        word = pending.pop()
        long, _, rest = word.partition("=")
        if long in _LONG:
            word = _LONG[long] + (rest or (pending.pop() if pending else ""))
        name = next((one for one in sorted(_WITH_VALUE, key=len, reverse=True) if word.startswith(one)), None)
        if name is not None:
            value = word[len(name) :] or (pending.pop() if pending else "")
            yield from (name, _absolute(name, value, directory))
        elif word.startswith("-Wp,"):
            pending += reversed(word.split(",")[1:])
        elif word.startswith("@") and (directory / word[1:]).is_file():
            pending += reversed(shlex.split((directory / word[1:]).read_text()))
        elif word in _OF_OUTPUT_WITH_VALUE:
            pending = pending[:-1]
        elif word in _SEPARATE:
            yield from (word, *pending[-1:])
            pending = pending[:-1]
        elif word.startswith("-") and word not in _WITHOUT_MEANING and not word.startswith(_OF_OUTPUT):
            yield "-ansi" if word == "--ansi" else word


def _absolute(name: str, value: str, directory: Path) -> str:
    """The value of an option as an absolute path; a forced include not in the folder is searched for."""
    place = directory / value
    is_searched = name in ("-include", "-imacros") and not place.exists()
    return str(place.absolute()) if name in _PATHS and not is_searched else value


def _entry(build: Path, file: Path) -> dict[str, object]:
    """The entry of a file in `compile_commands.json`."""
    database = build / "compile_commands.json" if build.is_dir() else build
    try:
        entries = json.loads(database.read_text())
    except (OSError, ValueError) as failure:
        raise _refusal(database, f"cannot read this file: {failure}") from None
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and "file" in entry:
            place = Path(str(entry.get("directory", "."))) / str(entry["file"])
            if place.resolve() == file.resolve():
                return entry
    raise _refusal(database, f"it has no entry for {file}")


def _words(entry: dict[str, object]) -> list[str]:
    arguments = entry.get("arguments")
    if isinstance(arguments, list) and arguments:
        return [str(word) for word in arguments]
    return shlex.split(str(entry.get("command", ""))) or ["gcc"]


def _refusal(database: Path, message: str) -> BadInput:
    hint = "-p takes the folder of a compile_commands.json that has an entry for the file"
    return BadInput(Code.OPTION, message, span=Span.start_of(str(database)), hint=hint)
