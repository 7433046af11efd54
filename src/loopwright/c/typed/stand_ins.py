"""Declarations for names that a file uses without declaring them: a header is missing, or it is a fragment.

The front end drops a statement with an unknown name.  A stand-in of a type that fits the uses of the name
makes it keep the statement; nothing is concluded from that type, since the type of a stand-in is `Unknown`
(it is declared before `Types.known_from`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import field

from loopwright.c.typed.front_end import FrontEndError
from loopwright.lazy_dataclass import dataclass

_UNDECLARED = re.compile(r"(use of undeclared identifier|unknown type name) '([\w$]+)'")
_NO_RECORD = re.compile(r"member reference base type '(?:const )?([\w$]+)(?: \*)*'.* is not a structure")
_INCOMPLETE = re.compile(r"incomplete definition of type '(struct|union) ([\w$]+)'")
_DECLARED = re.compile(r"(?:redefinition of|conflicting types for) '([\w$]+)'")
_SUBSCRIPTED = "subscript of pointer to function type"
_RECORD = "struct _loopwright"
_INNER = "struct _loopwright_inner"
"""A record that others contain, since a record cannot contain itself."""
_UNLIKE = re.compile(rf"(?:assigning to|initializing|passing|returning) '.*'{_RECORD}(?:_inner)?'")
"""The error for a record assigned to something that is not one, or the other way round."""
_ALSO = re.compile(rf"'([\w$]+)' \(aka '{_RECORD}'\)")
NO_LENGTH = "variable length array declaration not allowed"
_LENGTH = 64
"""An arbitrary length; nothing is concluded from it."""


@dataclass(frozen=True)
class StandIns:
    """What errors show about undeclared names; each round adds to it."""

    values: frozenset[str] = frozenset()
    types: frozenset[str] = frozenset()
    records: frozenset[str] = frozenset()
    """Those of the types that have members."""
    constants: frozenset[str] = frozenset()
    """Values that are the length of an array where it must be constant."""
    tags: tuple[tuple[str, str], ...] = field(default=())
    """Incomplete records: `struct` or `union`, and the tag."""
    declared: frozenset[str] = frozenset()
    """Names that the file declares after all: the front end first drops what follows an error there."""
    hidden: frozenset[str] = frozenset()
    """Functions of headers whose names the file uses for arrays, which a missing header declares."""
    inner: frozenset[str] = frozenset()
    """Types, values and members that are records inside others: they are assigned as a whole."""

    def after(self, diagnostics: Sequence[FrontEndError], whole: str, text: str) -> StandIns:
        """Extended by these errors about the `whole` text; `text` is the file's own part of it."""
        values, types, records, tags = set(self.values), set(self.types), set(self.records), set(self.tags)
        declared = set(self.declared)
        matches = [match for one in diagnostics if (match := _UNDECLARED.match(one.text)) is not None]
        places = _places(text, {match[2] for match in matches})
        for error in dict.fromkeys(one.text for one in diagnostics):
            if (match := _UNDECLARED.match(error)) is not None:
                is_expected = match[1].startswith("unknown")
                is_type = _is_type(match[2], text, places[match[2]], is_expected=is_expected)
                if is_type or not is_expected:
                    (types if is_type else values).add(match[2])
            elif (match := _NO_RECORD.match(error)) is not None and match[1] in types:
                records.add(match[1])
            elif (match := _INCOMPLETE.match(error)) is not None:
                tags.add((match[1], match[2]))
            elif (match := _DECLARED.match(error)) is not None:
                declared.add(match[1])
        if types != self.types:
            values = set(self.values)
        inner = self.inner.union(*(_inner(whole, one) for one in diagnostics if _UNLIKE.match(one.text)))
        values |= {name for name in inner if re.search(rf"(?<![\w$.>]){re.escape(name)}\s*\(", text)}
        values -= declared
        wrong = [one.offset for one in diagnostics if NO_LENGTH in one.text]
        sizes = {name for offset in wrong for name in _declared_with(whole, offset)}
        constants = (self.constants | sizes) & values
        return StandIns(
            frozenset(values - types),
            frozenset(types),
            frozenset(records),
            constants,
            tuple(sorted(tags)),
            frozenset(declared),
            self.hidden | {_word_at(whole, one.offset) for one in diagnostics if _SUBSCRIPTED in one.text},
            inner,
        )

    def declarations(self, text: str) -> str:
        """One line that declares all of them."""
        if self == StandIns():
            return ""
        values, members = _uses(text, self.values)
        plain = " ".join(
            f"{_RECORD if use.is_record and use.rank else 'int'} {'*' * use.rank}{name};"
            for name, use in sorted(members.items())
        )
        inside = " ".join(
            f"{_INNER if name in self.inner else _RECORD if use.is_record and use.rank else 'int'} "
            f"{'*' * use.rank}{name};"
            for name, use in sorted(members.items())
        )
        lines = [f"{_INNER} {{ int _; {plain} }};"] if self.inner else []
        lines += [f"{_RECORD} {{ int _; {inside} }};"]
        lines += [f"{kind} {tag} {{ int _; {inside} }};" for kind, tag in self.tags]
        for name in sorted(self.types):
            lines.append(f"typedef {self._record(name) if name in self.records else 'int'} {name};")
        for name in sorted(self.values):
            if name in self.constants:
                lines.append(f"enum {{ {name} = {_LENGTH} }};")
                continue
            use = values.get(name, _NameUse())
            is_record = use.is_record and not use.is_called
            kind = self._record(name) if is_record or name in self.inner else "int"
            lines.append(f"{kind} {name}();" if use.is_called else f"extern {kind} {'*' * use.rank}{name};")
        return " ".join(lines)

    def _record(self, name: str) -> str:
        return _INNER if name in self.inner else _RECORD


_WORD = re.compile(r"(?<![\w$.>])[A-Za-z_$][\w$]*")
_OPENS_CAST = re.compile(r"(?<![\w$])\(\s*(?:const\s+)?$")
_CLOSES_CAST = re.compile(r"\s*\**\s*\)\s*[\w.\"']")
_DECLARES = re.compile(r"\s+(?:const\s+)?[A-Za-z_]\w*\s*[;,=)\[(]")
_STARTS = re.compile(r"[;{}]\s*(?:const\s+)?$")
_DECLARES_POINTER = re.compile(r"\s*\*+\s*[A-Za-z_]\w*\s*[;,=\[(]")
_BEFORE_NAME = re.compile(r"\s*\**\s*(?:const\s+|restrict\s+)*[A-Za-z_]")


def _word_at(text: str, offset: int) -> str:
    """The word that starts at an offset."""
    found = _WORD.match(text, offset)
    return "" if found is None else found[0]


_LAST_NAME = re.compile(r"([A-Za-z_$][\w$]*)\s*(?:\[[^\[\]]*\]\s*|\([^()]*\)\s*)*$")


def _inner(text: str, error: FrontEndError) -> set[str]:
    """The names on both sides of an assignment, or of a returned value, and the type that an error names."""
    start = 1 + max(text.rfind(mark, 0, error.offset) for mark in ";{}")
    end = text.find(";", error.offset)
    sides = text[start : end if end >= 0 else len(text)].split("=", 1)
    names = (_LAST_NAME.search(side.removeprefix("return")) for side in sides)
    return {match[1] for match in names if match is not None} | set(_ALSO.findall(error.text))


def _declared_with(text: str, offset: int) -> list[str]:
    """The names in the declaration that contains an offset."""
    end = text.find(";", offset)
    return re.findall(r"[A-Za-z_]\w*", text[max(0, offset - 200) : end if end >= 0 else len(text)])


def _places(text: str, names: Collection[str]) -> dict[str, list[int]]:
    """The offsets of some names in a text, except as members."""
    found: dict[str, list[int]] = {name: [] for name in names}
    for word in _WORD.finditer(text):
        if word[0] in found:
            found[word[0]].append(word.start())
    return found


def _is_type(name: str, text: str, places: Sequence[int], *, is_expected: bool) -> bool:
    """Whether a name is used as a type: `(X) y`, `X y`, `X *y;`, or less evidence if one is expected."""
    for start in places:
        end = start + len(name)
        before = text[max(0, start - 40) : start]
        if _DECLARES.match(text, end) is not None or (is_expected and _BEFORE_NAME.match(text, end)):
            return True
        if _OPENS_CAST.search(before) is not None and _CLOSES_CAST.match(text, end) is not None:
            return True
        if _STARTS.search(before) is not None and _DECLARES_POINTER.match(text, end) is not None:
            return True
    return False


@dataclass
class _NameUse:
    """The uses of a name: the most subscripts after it, and whether members or calls follow."""

    rank: int = 0
    is_record: bool = False
    is_called: bool = False


_NAME = re.compile(r"(?:(\.|->)\s*|(?<![\w$]))([A-Za-z_]\w*)")
_OPENING = re.compile(r"\s*\[")
_FOLLOWS = re.compile(r"\s*(\.|->|\()")


def _uses(text: str, names: frozenset[str]) -> tuple[dict[str, _NameUse], dict[str, _NameUse]]:
    """The uses of `names` as variables, and of all names used as members."""
    values: dict[str, _NameUse] = {}
    members: dict[str, _NameUse] = {}
    for match in _NAME.finditer(text):
        is_member = match[1] is not None
        if not is_member and match[2] not in names:
            continue
        use = (members if is_member else values).setdefault(match[2], _NameUse())
        rank, position = _subscripts(text, match.end())
        follows = _FOLLOWS.match(text, position)
        access = "" if follows is None else follows[1]
        use.rank = max(use.rank, rank + (access == "->"))
        use.is_record = use.is_record or access in (".", "->")
        use.is_called = use.is_called or (access == "(" and rank == 0)
    return values, members


def _subscripts(text: str, position: int) -> tuple[int, int]:
    """The number of subscripts that follow, and where the last one ends."""
    count = 0
    while (match := _OPENING.match(text, position)) is not None:
        depth, position = 1, match.end()
        while depth and position < len(text):
            depth += (text[position] == "[") - (text[position] == "]")
            position += 1
        count += 1
    return count, position
