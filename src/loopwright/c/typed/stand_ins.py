"""Declarations for names that a file uses and nothing declares: a header is missing, or it is a snippet.

The front end drops a statement with a name it does not know.  A stand-in of a type that fits its uses
makes it keep the statement; nothing is concluded from that type, since what a stand-in declares is
`Unknown` (it is declared before `Types.known_from`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from loopwright.c.typed.front_end import Diagnostic

_UNDECLARED = re.compile(r"(use of undeclared identifier|unknown type name) '([\w$]+)'")
_NO_RECORD = re.compile(r"member reference base type '(?:const )?([\w$]+)(?: \*)*'.* is not a structure")
_INCOMPLETE = re.compile(r"incomplete definition of type '(struct|union) ([\w$]+)'")
_RECORD = "struct _loopwright"


@dataclass(frozen=True)
class StandIns:
    """What is known of undeclared names from the errors about them; rounds add to it."""

    values: frozenset[str] = frozenset()
    types: frozenset[str] = frozenset()
    records: frozenset[str] = frozenset()
    """Types of them that have members."""
    tags: tuple[tuple[str, str], ...] = field(default=())
    """Records that are only named: `struct` or `union`, and the tag."""

    def after(self, diagnostics: Sequence[Diagnostic], text: str) -> StandIns:
        """With what these errors say; `text` is the file's own."""
        values, types, records, tags = set(self.values), set(self.types), set(self.records), set(self.tags)
        for one in diagnostics:
            if (match := _UNDECLARED.match(one.text)) is not None:
                is_expected = match[1].startswith("unknown")
                is_type = _is_type(match[2], text, is_expected=is_expected)
                if is_type or not is_expected:
                    (types if is_type else values).add(match[2])
            elif (match := _NO_RECORD.match(one.text)) is not None and match[1] in types:
                records.add(match[1])
            elif (match := _INCOMPLETE.match(one.text)) is not None:
                tags.add((match[1], match[2]))
        return StandIns(frozenset(values - types), frozenset(types), frozenset(records), tuple(sorted(tags)))

    def declarations(self, text: str) -> str:
        """One line that declares all of them."""
        if self == StandIns():
            return ""
        values, members = _uses(text, self.values)
        inside = " ".join(
            f"{_RECORD if use.is_record and use.rank else 'int'} {'*' * use.rank}{name};"
            for name, use in sorted(members.items())
        )
        lines = [f"{_RECORD} {{ int _; {inside} }};"]
        lines += [f"{kind} {tag} {{ int _; {inside} }};" for kind, tag in self.tags]
        for name in sorted(self.types):
            lines.append(f"typedef {_RECORD if name in self.records else 'int'} {name};")
        for name in sorted(self.values):
            use = values.get(name, _Use())
            kind = _RECORD if use.is_record else "int"
            lines.append(f"int {name}();" if use.is_called else f"extern {kind} {'*' * use.rank}{name};")
        return " ".join(lines)


_TYPE_USES = (
    r"(?<![\w$])\(\s*(?:const\s+)?{}\s*\**\s*\)\s*[\w.\"']",
    r"{}\s+(?:const\s+)?[A-Za-z_]\w*\s*[;,=)\[(]",
    r"[;{{}}]\s*(?:const\s+)?{}\s*\*+\s*[A-Za-z_]\w*\s*[;,=\[(]",
)
"""`(X) y`, `X y` and the statement `X *y;`."""
_BEFORE_NAME = r"{}\s*\**\s*(?:const\s+|restrict\s+)*[A-Za-z_]"


def _is_type(name: str, text: str, *, is_expected: bool) -> bool:
    """Whether the uses of a name are those of a type; fewer are needed where one was expected."""
    word = rf"(?<![\w$.>]){re.escape(name)}(?![\w$])"
    patterns = (*_TYPE_USES, _BEFORE_NAME) if is_expected else _TYPE_USES
    return any(re.search(pattern.format(word), text) for pattern in patterns)


@dataclass
class _Use:
    """How a name is used: the most subscripts after it, and whether members or calls follow."""

    rank: int = 0
    is_record: bool = False
    is_called: bool = False


_NAME = re.compile(r"(?:(\.|->)\s*|(?<![\w$]))([A-Za-z_]\w*)")
_OPENING = re.compile(r"\s*\[")
_FOLLOWS = re.compile(r"\s*(\.|->|\()")


def _uses(text: str, names: frozenset[str]) -> tuple[dict[str, _Use], dict[str, _Use]]:
    """Of `names` as variables, and of everything that is used as a member."""
    values: dict[str, _Use] = {}
    members: dict[str, _Use] = {}
    for match in _NAME.finditer(text):
        is_member = match[1] is not None
        if not is_member and match[2] not in names:
            continue
        use = (members if is_member else values).setdefault(match[2], _Use())
        rank, position = _subscripts(text, match.end())
        follows = _FOLLOWS.match(text, position)
        access = "" if follows is None else follows[1]
        use.rank = max(use.rank, rank + (access == "->"))
        use.is_record = use.is_record or access in (".", "->")
        use.is_called = use.is_called or (access == "(" and rank == 0)
    return values, members


def _subscripts(text: str, position: int) -> tuple[int, int]:
    """How many pairs of brackets follow, and where the last one ends."""
    count = 0
    while (match := _OPENING.match(text, position)) is not None:
        depth, position = 1, match.end()
        while depth and position < len(text):
            depth += (text[position] == "[") - (text[position] == "]")
            position += 1
        count += 1
    return count, position
