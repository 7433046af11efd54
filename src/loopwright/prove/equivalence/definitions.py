"""Checks whether the names that two files share mean the same: macros, functions, types and variables.

Statements are compared by their text, whose meaning depends on the names in it.  Headers are not read: a name
that neither file defines is assumed to mean the same in both.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from loopwright.c.declarations import known_constant
from loopwright.c.file import c_file
from loopwright.c.macros import Macro, definitions, reachable_macros
from loopwright.c.syntax import field
from loopwright.c.tokens import packed
from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import Array, Program
from loopwright.source import Source

_WORD = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
"""Matches a name, but not the f of `1.5f`."""


@dataclass(frozen=True)
class Differences:
    """`textual` names make equal texts mean different things; `fatal` ones prevent any comparison.

    A macro is textual: once it is replaced by its definition, its name does not matter.
    """

    textual: tuple[str, ...]
    fatal: tuple[str, ...]


def differences(old: Program, new: Program) -> Differences:
    """The names in the statements of both programs that the files define differently."""
    words = dict.fromkeys([*_words(old), *_words(new)])
    macros = old.file.macros, new.file.macros
    functions = _functions(old.source), _functions(new.source)
    types = old.file.declarations, new.file.declarations
    inside = _region_words(old), _region_words(new)
    storage = _storage(old, new)
    called = _reached(words, functions)
    textual = [word for word in words if _expansion(macros[0], word) != _expansion(macros[1], word)]
    fatal = [
        word
        for word in (*words, *called)
        if functions[0].get(word, functions[1].get(word)) != functions[1].get(word, functions[0].get(word))
        or types[0].resolved(word) != types[1].resolved(word)
    ]
    named = (name for name in old.params if name in inside[1])
    sizes = [name for name in named if name in inside[0] or _is_defined(old, name)]
    fatal += [name for name in sizes if _declared_type(old, name) != _declared_type(new, name)]
    fatal += [name for name in sizes if _expansion(macros[0], name) != _expansion(macros[1], name)]
    fatal += _other_fixed(old, new, (*inside[0], *inside[1], *words))
    textual += [name for name in storage.private if name not in textual]
    return Differences(tuple(textual), tuple(dict.fromkeys([*fatal, *storage.shared])))


def _is_defined(program: Program, name: str) -> bool:
    """Whether a file has a macro or a variable of this name; a size of NEW alone is none of OLD's."""
    declared = program.file.declarations.visible(name, program.region)
    return declared is not None or definitions(program.file.macros, name) != ()


def _words(program: Program) -> list[str]:
    """The names in the statements, and in the types of what they use."""
    found = [word for statement in program.statements for word in _WORD.findall(statement.body.place.text)]
    return found + [word for array in program.arrays for word in _WORD.findall(array.element_type or "")]


def _other_fixed(old: Program, new: Program, words: Iterable[str]) -> list[str]:
    """Constants, enumerators and structure types that the files define differently."""
    fixed = _fixed(old.source), _fixed(new.source)
    both = (word for word in dict.fromkeys(words) if word in fixed[0] and word in fixed[1])
    return [word for word in both if fixed[0][word] != fixed[1][word]]


def _region_words(program: Program) -> dict[str, None]:
    return dict.fromkeys(_WORD.findall(program.region.text))


def constants(source: Source) -> frozenset[str]:
    """Constants and enumerators whose value is not known: not a number, or not unique."""
    named = {name for name, text in _fixed(source).items() if text.startswith(("const", "enum"))}
    return frozenset(name for name in named if known_constant(c_file(source).declarations, name) is None)


def several_meanings(program: Program) -> tuple[str, ...]:
    """The names in the statements that the file defines in several ways, in branches of an `#if`."""
    texts: dict[str, set[str]] = {}
    for name, text in _definitions(program.source):
        texts.setdefault(name, set()).add(text)
    return tuple(
        word
        for word in dict.fromkeys(_words(program))
        if len(texts.get(word, ())) > 1 or len(_declared_as(program, word)) > 1
    )


def _declared_as(program: Program, name: str) -> tuple[tuple[str, int, tuple[str, ...]], ...]:
    """The types, ranks and rows of the variables of this name in the innermost scope that has one."""
    declared = program.file.declarations
    found = declared.visible(name, program.region)
    same = [one for one in declared.variables if found and one.name == name and one.scope == found.scope]
    kinds = [(declared.resolved(one.type.removeprefix("const ")), one.rank, one.extents[1:]) for one in same]
    return tuple(dict.fromkeys(kinds))


def _fixed(source: Source) -> dict[str, str]:
    """Definitions that do not change: values of constants and enumerators, fields of types.

    If there are several, in the branches of an `#if`, all of them.
    """
    found: dict[str, str] = {}
    for name, text in _definitions(source):
        found[name] = f"{found[name]}; {text}" if found.get(name, text) != text else text
    return found


_DEFINING = ("declaration", "enumerator_list", "struct_specifier", "union_specifier", "type_definition")


def _definitions(source: Source) -> Iterator[tuple[str, str]]:
    for node in c_file(source).possible.of_type(*_DEFINING):
        text = " ".join(source.text[node.start : node.end].split())
        match node.type:
            case "declaration" if any(part.type == "type_qualifier" for part in node.children):
                for one in node.children_by_field_name("declarator"):
                    name = _WORD.search(source.text[one.start : one.end])
                    if one.type == "init_declarator" and name is not None and "const" in text.split():
                        value = field(one, "value")
                        yield name[0], f"const {source.text[value.start : value.end]}"
            case "enumerator_list":
                yield from ((word, f"enum {text}") for word in dict.fromkeys(_WORD.findall(text)))
            case "struct_specifier" | "union_specifier" if node.child_by_field_name("body") is not None:
                tag = node.child_by_field_name("name")
                if tag is not None:
                    yield source.text[tag.start : tag.end], text
            case "type_definition":
                for one in node.children_by_field_name("declarator"):
                    yield source.text[one.start : one.end], text


def disguised(old: Program, new: Program) -> str | None:
    """Returns a macro that expands to another variable: `n` of `#define n m`, if a program uses m."""
    known = {name for one in (old, new) for name in (*one.params, *(array.name for array in one.arrays))}
    for program in (old, new):
        for name in sorted(known):
            found = [macro for macro in reachable_macros(program.file.macros, name) if macro.name != name]
            bodies = (*found, *definitions(program.file.macros, name))
            if any(word in known - {name} for one in bodies for word in _WORD.findall(one.body)):
                return name
    return None


def _reached(words: dict[str, None], functions: tuple[dict[str, str], dict[str, str]]) -> list[str]:
    """The functions that those in `words` call, transitively."""
    found = dict.fromkeys(word for word in words if any(word in one for one in functions))
    pending = list(found)
    while pending:
        name = pending.pop()
        for one in functions:
            for word in _WORD.findall(one.get(name, "")):
                if word not in found and any(word in other for other in functions):
                    found[word] = None
                    pending.append(word)
    return list(found)


def _expansion(macros: tuple[Macro, ...], word: str) -> list[tuple[str, tuple[str, ...] | None, str]]:
    if not definitions(macros, word):
        return []
    found = reachable_macros(macros, word)
    return [(macro.name, macro.parameters, " ".join(macro.body.split())) for macro in found]


def functions_with_body(source: Source) -> frozenset[str]:
    """The functions that a file defines."""
    return frozenset(_functions(source))


def _functions(source: Source) -> dict[str, str]:
    """The text of each function with a body, as one line."""
    found: dict[str, str] = {}
    for node in c_file(source).possible.of_type("function_definition"):
        head = source.text[field(node, "declarator").start : field(node, "declarator").end]
        name = _WORD.search(head)
        if name is not None:
            text = " ".join(source.text[node.start : node.end].split())
            found[name[0]] = f"{found[name[0]]} {text}" if name[0] in found else text
    return found


@dataclass(frozen=True)
class _Storage:
    """Variables declared differently: `private` ones are compared by the programs' own values."""

    private: tuple[str, ...]
    shared: tuple[str, ...]


def _storage(old: Program, new: Program) -> _Storage:
    private: list[str] = []
    shared: list[str] = []
    others = {array.name: array for array in new.arrays}
    for array in old.arrays:
        other = others.get(array.name)
        if other is None:
            continue
        hidden = [program.is_dead_after(one) for one, program in ((array, old), (other, new))]
        several = [_declared_as(program, array.name) for program in (old, new)]
        many = any(len(kinds) > 1 for kinds in several) and several[0] != several[1]
        if _declared(array) != _declared(other) or many:
            (private if all(hidden) else shared).append(array.name)
        elif hidden[0] != hidden[1]:
            private.append(array.name)
    return _Storage(tuple(private), tuple(shared))


def _declared_type(program: Program, name: str) -> str | None:
    """The type of a parameter; None if the file does not declare it at the region."""
    declared = program.file.declarations
    found = declared.visible(name, program.region)
    return None if found is None else declared.resolved(found.type.removeprefix("const "))


def _declared(array: Array) -> tuple[int, str | None, bool, tuple[str, ...]]:
    """Rank, type, whether it is local to the region, and the extents that determine the address of a cell."""
    inner = tuple(map(packed, array.extents[1:]))
    return array.rank, array.element_type, array.local, inner
