"""A file as the user's own compiler preprocesses it: with its headers, predefined macros and branches.

The compiler prints the text and the definitions (`-E -dD`).  A header that does not exist is assumed to be
empty, and named in `missing`: its declarations are unknown.

`different_header` finds headers that two files include under the same names, but with different texts.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from pathlib import Path

from loopwright.c.regions import with_markers
from loopwright.c.tokens import matches_with, names_in
from loopwright.c.typed.expansion import Definition, definition
from loopwright.c.typed.options import FOLDERS, CompilerOptions, absolute_paths, cplusplus
from loopwright.errors import BadInput, Code, GaveUp
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Source, Span, line_ends, with_edits

_MAIN = "<stdin>"
_LINE_MARK = re.compile(r"(?m)^([ \t]*)#([ \t]*(?:line\b|\d)[^\n]*)$")
_HASH = re.compile(r"(?m)^[ \t]*#[^\n]*$")
_ELSEWHERE = re.compile(r"[ \t]*#[ \t]*(?:pragma|line)\b")
"""Directives that do not decide what is included."""
_MARKER = re.compile(r'# (\d+) "((?:\\.|[^"\\])*)"([ 1-4]*)')
_CHANGE = re.compile(r"#(?:define|undef) ([A-Za-z_$][\w$]*)")
_MISSING = re.compile(r"fatal error: (?:'(.+?)' file not found|(.+?): No such file or directory)")
_MOST_MISSING = 200
_LONGEST = 60.0
"""The time limit in seconds for preprocessing a file."""


@dataclass(frozen=True)
class Preprocessed:
    """A text of one character per byte; definitions and line markers in it are blanked, pragmas are not."""

    text: str
    starts: tuple[int, ...]
    """Where the pieces of the text start; each is from consecutive lines of one file."""
    lines: tuple[int, ...]
    """The line of the file where each piece starts; 0 for a header."""
    changes: dict[str, tuple[tuple[int, str], ...]]
    """For each macro, where it was defined or undefined, and the line that did it."""
    pragmas: tuple[tuple[int, int], ...]
    """The places of the pragmas, including those of `_Pragma`."""
    directives: tuple[str, ...]
    """The texts of the pragmas."""
    missing: tuple[str, ...]
    errors: tuple[str, ...]
    files: tuple[str, ...] = ()
    """For each piece, the user's header that it is from; empty for the file itself and system headers."""
    shift: int = 0
    """How many characters precede the compiler's output; `changes` do not count them."""

    def line_of(self, offset: int) -> int:
        """The line of the file that the text at `offset` comes from; 0 for a header."""
        piece = bisect_right(self.starts, offset) - 1
        if piece < 0 or not self.lines[piece]:
            return 0
        ends = line_ends(self.text)
        return self.lines[piece] + bisect_left(ends, offset) - bisect_left(ends, self.starts[piece])

    def lines_of(self, offsets: Sequence[int]) -> Iterator[int]:
        """The lines of ascending offsets."""
        line, end, ends = 0, -1, line_ends(self.text)
        for offset in offsets:
            if offset > end:
                line = self.line_of(offset)
                own, piece = bisect_left(ends, offset), bisect_right(self.starts, offset)
                end = ends[own] if own < len(ends) else len(self.text)
                end = min(end, self.starts[piece] - 1) if piece < len(self.starts) else end
            yield line

    def is_of_system(self, offset: int) -> bool:
        """Whether the text at `offset` comes from a system header."""
        piece = bisect_right(self.starts, offset) - 1
        return piece >= 0 and not self.lines[piece] and not self.files[piece] and offset >= self.shift

    @cached_property
    def renamed(self) -> frozenset[str]:
        """The words of pragmas and assembly that may make two names one symbol, `.set bb, aa`, and the names
        of the program that they apply to, `double f(int) __asm__("aa");`."""
        return self._named_in(_LABEL, _LABELLING)

    @cached_property
    def renamed_or_aliases(self) -> frozenset[str]:
        """The same, and the names in attributes: `alias("aa")`."""
        return self.renamed | self._named_in(_ALIAS, _ALIASING)

    @cached_property
    def weak(self) -> frozenset[str]:
        """The words of pragmas and declarations that let the linker choose another definition: before
        the function, after it, or in its definition."""
        found = [words for words in self.directives if _RENAMING.search(words)]
        for one in matches_with(_WEAK, self.text, _WEAKENING):
            if not self.is_of_system(one.start()):
                found += [re.split("[;{}]", self.text[: one.start()][-_NEAR:])[-1], one.group()]
        return frozenset(word for text in found for word in names_in(text))

    def _named_in(self, label: re.Pattern[str], words: Sequence[str]) -> frozenset[str]:
        found = [words for words in self.directives if _RENAMING.search(words)]
        for one in matches_with(label, self.text, words):
            found += _STRING.findall(one.group())
            if not self.is_of_system(one.start()):
                found.append(re.split("[;{}]", self.text[: one.start()][-_NEAR:])[-1])
        return frozenset(word for text in found for word in names_in(text))

    def definition(self, name: str, at: int) -> Definition | None:
        """The definition of `name` that is in effect at an offset."""
        found = [line for offset, line in self.changes.get(name, ()) if offset + self.shift < at]
        return definition(found[-1]) if found else None

    def definitions(self, name: str, first: int, last: int) -> list[Definition | None]:
        """The definition of `name` in effect at an offset, then by each line up to another offset."""
        within = [line for at, line in self.changes.get(name, ()) if first <= at + self.shift < last]
        return [self.definition(name, first), *map(definition, within)]

    def number(self, name: str) -> int | None:
        """The number that a predefined macro expands to."""
        words = self.changes[name][0][1].split() if name in self.changes else []
        return int(words[-1]) if words and words[-1].isdigit() else None

    def headers(self) -> dict[str, list[str]]:
        """The words of each of the user's headers."""
        found: dict[str, list[str]] = {}
        for start, end, name in zip(self.starts, (*self.starts[1:], len(self.text)), self.files, strict=True):
            if name:
                found.setdefault(name, []).extend(self.text[start:end].split())
        return found

    def after(self, head: str) -> Preprocessed:
        """The text preceded by a line that belongs to no file."""
        ahead = len(head) + 1
        return replace(
            self,
            text=f"{head}\n{self.text}",
            starts=(0, *(start + ahead for start in self.starts)),
            lines=(0, *self.lines),
            files=("", *self.files),
            pragmas=tuple((start + ahead, end + ahead) for start, end in self.pragmas),
            shift=self.shift + ahead,
        )


@lru_cache(maxsize=4)
def preprocess(source: Source, options: CompilerOptions) -> Preprocessed:
    """Preprocess a source with the headers next to it and the options of its build."""
    options = options.for_file(source.path)
    folder = Path(source.path).parent if source.path else Path()
    folder = folder if folder.is_dir() else Path()
    arguments = absolute_paths(options.arguments, Path())
    plain = _LINE_MARK.sub(lambda mark: " " * len(mark.group()), source.text)
    text = with_markers(replace(source, text=plain))
    command = (*options.program(), "-E", "-dD", *arguments)
    found = _with_empty_headers(text, command, folder, lambda: _absent(_directives(text), command, folder))
    if not found.has_opened_all:
        found = _with_empty_headers(text, command, folder, lambda: ())
    return _divided(found.output, found.missing, found.errors, source)


@dataclass(frozen=True)
class _WithEmptyHeaders:
    """What the compiler prints if empty headers are put where some are missing."""

    output: str
    missing: tuple[str, ...]
    errors: tuple[str, ...]
    has_opened_all: bool
    """Whether it included all of the empty headers."""


def _with_empty_headers(
    text: str, command: tuple[str, ...], folder: Path, expected: Callable[[], tuple[str, ...]]
) -> _WithEmptyHeaders:
    """Run the compiler until no header is missing; once one is, all `expected` ones are assumed to be."""
    data = text.encode("utf-8", "surrogateescape")
    missing: list[str] = []
    with tempfile.TemporaryDirectory(prefix="loopwright-") as scratch:
        empty = Path(scratch, "a", "b", "c", "d", "e", "f")
        while True:
            done = run_compiler((*command, "-idirafter", str(empty)), data, folder)
            messages = done.stderr.decode("utf-8", "replace")
            found = _MISSING.search(messages)
            name = "" if found is None else found[1] or found[2]
            if not name or len(missing) >= _MOST_MISSING or not _provide(empty, scratch, name):
                break
            others = () if missing else expected()
            missing += [name, *(one for one in others if one != name and _provide(empty, scratch, one))]
        output = done.stdout.decode("latin-1")
        has_opened_all = all(f'{empty / name}"' in output for name in missing)
    return _WithEmptyHeaders(output, tuple(missing), _errors(done.returncode, messages), has_opened_all)


@lru_cache(maxsize=16)
def _absent(directives: str, command: tuple[str, ...], folder: Path) -> tuple[str, ...]:
    """The headers that are missing in a text with these directives."""
    return _with_empty_headers(directives, command, folder, lambda: ()).missing


def _directives(text: str) -> str:
    """The directives of a text that decide what is included."""
    lines = (one.group() for one in _HASH.finditer(text))
    return "".join(f"{line}\n" for line in lines if _ELSEWHERE.match(line) is None)


def run_compiler(command: Sequence[str], data: bytes, folder: Path) -> subprocess.CompletedProcess[bytes]:
    """Run a compiler in a folder, with C source as its standard input."""
    words = [*command, "-x", "c", "-"]
    environment = {**os.environ, "LC_ALL": "C"}
    try:
        return subprocess.run(
            words, input=data, capture_output=True, cwd=folder, env=environment, timeout=_LONGEST, check=False
        )
    except OSError as failure:
        raise GaveUp(
            Code.NO_COMPILER,
            f"the compiler '{words[0]}', which has to preprocess the file, cannot be run: {failure.strerror}",
            hint="install gcc, with 'apt install gcc' for example, or name another compiler by CC",
        ) from None
    except subprocess.TimeoutExpired:
        raise GaveUp(Code.TIME, f"{words[0]} took more than {_LONGEST:g} s") from None


def _provide(empty: Path, scratch: str, name: str) -> bool:
    """Create an empty header with this name, unless it exists or would be outside the scratch folder."""
    place = Path(os.path.normpath(empty / name))
    if not place.is_relative_to(scratch) or place.exists():
        return False
    empty.mkdir(parents=True, exist_ok=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.touch()
    return True


def _errors(status: int, messages: str) -> tuple[str, ...]:
    found = [line for line in messages.splitlines() if "error:" in line]
    return tuple(found) or ((messages.strip(),) if status else ())


@dataclass(frozen=True)
class _Marked:
    """The lines of a part of the output that start with `#`, and the part with spaces in place of them."""

    text: str
    places: tuple[tuple[int, int, str], ...]
    """Where the text of a line of a file starts: the offset; the line, or 0 in headers; and the header."""
    changes: Mapping[str, tuple[tuple[int, str], ...]]
    pragmas: tuple[tuple[int, int], ...]


def _marked(text: str, at: int) -> _Marked:
    """The marked part of the output that begins at an offset."""
    places: list[tuple[int, int, str]] = []
    changes: dict[str, tuple[tuple[int, str], ...]] = {}
    pragmas: list[tuple[int, int]] = []
    blanked: list[tuple[int, int]] = []
    for line in _HASH.finditer(text):
        words = line.group().lstrip()
        if (marker := _MARKER.match(words)) is not None:
            number = int(marker[1]) if marker[2] == _MAIN else 0
            is_header = marker[2] != _MAIN and "3" not in marker[3] and not marker[2].startswith("<")
            places.append((at + line.end() + 1, number, marker[2] if is_header else ""))
            blanked.append(line.span())
        elif (change := _CHANGE.match(words)) is not None:
            changes[change[1]] = (*changes.get(change[1], ()), (at + line.start(), words))
            blanked.append(line.span())
        else:
            pragmas.append((at + line.start(), at + line.end()))
    return _Marked(without(text, blanked), tuple(places), changes, tuple(pragmas))


@lru_cache(maxsize=4)
def _marked_head(text: str) -> _Marked:
    """The compiler's definitions before a file: the same for all files with the same options."""
    return _marked(text, 0)


def _divided(text: str, missing: tuple[str, ...], errors: tuple[str, ...], source: Source) -> Preprocessed:
    """The output divided by the lines that start with `#`: places, definitions, pragmas."""
    start = text.find(f'\n# 1 "{_MAIN}"\n') + 1
    head, body = _marked_head(text[:start]), _marked(text[start:], start)
    places, pragmas = (*head.places, *body.places), (*head.pragmas, *body.pragmas)
    if not places and errors:
        message = f"the compiler cannot preprocess this file: {errors[0]}"
        raise BadInput(Code.DOES_NOT_COMPILE, message, span=Span.start_of(source.path))
    later = {name: (*head.changes.get(name, ()), *found) for name, found in body.changes.items()}
    changes = {**head.changes, **later}
    if "__cplusplus" in changes:
        raise cplusplus(source.path)
    said = tuple(text[start:end] for start, end in pragmas)
    starts, lines, files = zip(*places, strict=True) if places else ((), (), ())
    return Preprocessed(head.text + body.text, starts, lines, changes, pragmas, said, missing, errors, files)


def may_take_address(text: str, name: str) -> bool:
    """Whether a text contains something like `&name`, or an attribute that exposes addresses."""
    is_taken = name in _after_ampersands(text) or ("$" in name and name in text)
    return is_taken or "cleanup" in text


@lru_cache(maxsize=8)
def _after_ampersands(text: str) -> frozenset[str]:
    """The words of a text that follow `&`, also in parentheses."""
    return frozenset(re.findall(r"&[\s(]*(\w+)", text))


def without(text: str, places: Sequence[tuple[int, int]]) -> str:
    """The text with spaces at these places."""
    return with_edits(text, ((start, end, " " * (end - start)) for start, end in places))


_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE)
_NAMED = re.compile(r"^[ \t]*#[ \t]*include[ \t]+[A-Za-z_]", re.MULTILINE)
"""An `#include` of a header that a macro names."""
_LARGEST = 1 << 22


def different_header(
    old: Source, new: Source, old_options: CompilerOptions, options: CompilerOptions
) -> str | None:
    """The first header, next to the files or in folders of -I, with two different texts; the compiler's own
    headers are the same for both.
    """
    old_options, options = old_options.for_file(old.path), options.for_file(new.path)
    is_named = _NAMED.search(old.text) or _NAMED.search(new.text)
    if is_named and _whole(old, old_options) != _whole(new, options):
        return "that a macro names"
    pending = [(name, Path(old.path).parent, Path(new.path).parent) for name in _names(old.text, new.text)]
    forced = (_after(one.arguments, "-include") for one in (old_options, options))
    pending += [(Path(a).name, Path(a).parent, Path(b).parent) for a, b in zip(*forced, strict=False)]
    folders = [
        [Path(one) for name in FOLDERS for one in _after(each.arguments, name)]
        for each in (old_options, options)
    ]
    seen: set[tuple[Path | None, Path | None]] = set()
    while pending:
        name, here, there = pending.pop(0)
        before, after = _found(name, [here, *folders[0]]), _found(name, [there, *folders[1]])
        if (before, after) in seen:
            continue
        seen.add((before, after))
        texts = [None if path is None else _text(path) for path in (before, after)]
        if texts[0] != texts[1]:
            return name
        if before is not None and after is not None and texts[0] is not None and before != after:
            pending += [(one, before.parent, after.parent) for one in _names(texts[0])]
    return None


def _whole(source: Source, options: CompilerOptions) -> tuple[list[list[str]], list[str]]:
    """The words of the headers of a file, and the macros that it does not define itself."""
    found = preprocess(source, options)
    lines = sorted(one for several in found.changes.values() for one in several if not found.line_of(one[0]))
    return [*found.headers().values()], [text for _, text in lines]


def _names(*texts: str) -> list[str]:
    return list(dict.fromkeys(match[1] or match[2] for text in texts for match in _INCLUDE.finditer(text)))


def _after(words: Sequence[str], name: str) -> Iterator[str]:
    """The values of an option: `-I folder` or `-Ifolder`."""
    for k, word in enumerate(words):
        if word == name and k + 1 < len(words):
            yield words[k + 1]
        elif word.startswith(name) and word != name:
            yield word.removeprefix(name)


def _found(name: str, folders: Sequence[Path]) -> Path | None:
    return next((path.resolve() for path in (folder / name for folder in folders) if path.is_file()), None)


def _text(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(_LARGEST).decode("utf-8", "surrogateescape")


_RENAMING = re.compile(r"\bpragma\s+(redefine_extname|weak)\b")
_LABELLING, _ALIASING, _WEAKENING = ("asm",), ("alias", "weakref"), ("weak", "ifunc")
_LABEL = re.compile(rf"(?<!\w)_*(?:{'|'.join(_LABELLING)})_*(?!\w)[^;]*")
_ALIAS = re.compile(rf"(?<!\w)_*(?:{'|'.join(_ALIASING)})_*\s*\([^;]*")
_WEAK = re.compile(rf"(?<!\w)_*(?:{'|'.join(_WEAKENING)})_*(?!\w)[^;{{]*")
_STRING = re.compile(r'"([^"]*)"')
_NEAR = 400
"""The number of bytes before a label that contain the name it applies to."""
