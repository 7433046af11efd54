"""Whether the names two files share mean the same: macros, functions, types and variables.

Statements are compared by their text, and a text means what the names in it mean.  Headers are
not read: a name that neither file defines is taken to be the same in both.
"""

from __future__ import annotations

import re

from loopwright.model.program import Program
from loopwright.model.source import Source
from loopwright.read.c.macros import Macro, definitions, macros_of, reachable_macros
from loopwright.read.c.region_syntax import declared_in
from loopwright.read.c.regions import without_directives
from loopwright.read.c.syntax import field, parse, walk

_WORD = re.compile(r"[A-Za-z_]\w*")


def differing_names(old: Program, new: Program) -> list[str]:
    """The names in OLD's statements that the files define differently."""
    words = dict.fromkeys(
        word for statement in old.statements for word in _WORD.findall(old.source.slice(statement.body.place))
    )
    macros = macros_of(old.source), macros_of(new.source)
    functions = _functions(old.source), _functions(new.source)
    kinds = _declared(old), _declared(new)
    types = declared_in(old.source), declared_in(new.source)
    return [
        word
        for word in words
        if _expansion(macros[0], word) != _expansion(macros[1], word)
        or any(one[word] != other[word] for one, other in (functions, kinds) if word in one and word in other)
        or types[0].resolved(word) != types[1].resolved(word)
    ]


def _expansion(macros: tuple[Macro, ...], word: str) -> list[tuple[str, tuple[str, ...] | None, str]]:
    if not definitions(macros, word):
        return []
    found = reachable_macros(macros, word)
    return [(macro.name, macro.parameters, " ".join(macro.body.split())) for macro in found]


def _functions(source: Source) -> dict[str, str]:
    """The text of each function with a body, as one line."""
    found: dict[str, str] = {}
    for node in walk(parse(without_directives(source.text))):
        if node.type == "function_definition":
            head = source.text[field(node, "declarator").start_byte : field(node, "declarator").end_byte]
            name = _WORD.search(head)
            if name is not None:
                found[name[0]] = " ".join(source.text[node.start_byte : node.end_byte].split())
    return found


def _declared(program: Program) -> dict[str, tuple[int, str | None]]:
    return {array.name: (array.rank, array.element_type) for array in program.arrays}

