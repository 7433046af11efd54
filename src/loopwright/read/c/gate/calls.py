"""Calls: which functions they call, and whether these are pure.

A function that the program defines is analysed, whatever its name: one with the name of a library
function is not that function, and the attribute `pure` does not tell what it reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import reduce

from loopwright.c.index_helpers import INDEX_HELPERS
from loopwright.c.macros import looks_like_macro
from loopwright.c.syntax import refuse
from loopwright.c.tokens import names_in, packed, whole_word
from loopwright.c.typed import tree
from loopwright.c.typed.effects import Purity, Reach, may_be_written, purity, reach_of
from loopwright.c.typed.escapes import is_led_to
from loopwright.c.typed.file import TypedFile, TypedRegion
from loopwright.c.typed.liveness import is_address_taken
from loopwright.c.typed.preprocess import Preprocessed
from loopwright.c.types import Qualified, common, innermost, is_arithmetic, unqualified
from loopwright.errors import BadInput, Code
from loopwright.model.program import ELSEWHERE, Program
from loopwright.read.c.purity import CHARACTERS, CLASSES, LIBRARY, SETTING_ERRNO, is_library
from loopwright.source import Span


def reaching(program: Program) -> tuple[Span, ...]:
    """The statements that may access all storage, according to the reader."""
    return tuple(
        statement.body.place
        for statement in program.statements
        if any(access.array == ELSEWHERE for access in statement.writes)
    )


def refuse_reach(program: Program, region: TypedRegion, file: TypedFile, pure: frozenset[str]) -> None:
    """Raise if a statement that may access all storage was read as accessing less, or may modify what decides
    which statements run, and if a statement returns that was not read as a `return`.

    Bounds and conditions are counted or fixed: no such statement may modify them, by name or by pointer.
    """
    places = reaching(program)
    nodes = [*tree.walk_all(region.statements)]
    for node in nodes:
        if isinstance(node, tree.Return) and not is_inside(node, places):
            hint = "write 'return' in the region itself"
            raise refuse(node.place.span, "this may return, which the text does not show", hint)
    if not places:
        return
    _refuse_missing(program, region, file, nodes)
    nodes = [node for statement in region.statements for node in _evaluated(statement)]
    inside = [node for node in nodes if is_inside(node, places)]
    reach = reach_of(file, inside, frozenset((*LIBRARY, *INDEX_HELPERS, *pure)))
    deciding = _deciding(program, nodes)
    texts = [packed(one.text) for one in program.parameters]
    for node in nodes:
        match node:
            case tree.Name() if _words(node) & deciding:
                _refuse_change(node, reach, region, file)
            case tree.Subscript() | tree.MemberAccess() | tree.Unary() if _is_part(node, texts):
                _refuse_change(node, reach, region, file)


def _refuse_missing(
    program: Program, region: TypedRegion, file: TypedFile, nodes: Sequence[tree.Node]
) -> None:
    """Raise if a statement that may access anything was not read as accessing what a pointer may point to,
    or what it names."""
    names = {array.name for array in program.arrays}
    hidden = names & _hidden(region, file, nodes)
    for statement in program.statements:
        if not any(access.array == ELSEWHERE for access in statement.writes):
            continue
        place = statement.body.place
        inside = [node for node in nodes if is_inside(node, (place,))]
        named = {word for node in inside if isinstance(node, tree.Name) for word in _words(node)}
        changed = {root.name for node in inside if (root := tree.changed_root(node)) is not None}
        for accesses, own in ((statement.reads, named), (statement.writes, changed)):
            touched = {access.array for access in accesses}
            missing = names - touched - (hidden - own)
            if ELSEWHERE in touched and missing:
                message = f"this may access anything, but was not read as accessing '{min(missing)}'"
                raise BadInput(Code.REGION_TEXT, message, span=place)


def _hidden(region: TypedRegion, file: TypedFile, nodes: Sequence[tree.Node]) -> set[str]:
    """Local numbers without pointers to them, whose names each denote one variable of the region."""
    declared: dict[str, dict[int, tree.Declaration]] = {}
    for node in nodes:
        match node:
            case tree.Name(declaration=one) | tree.Declarator(declaration=one):
                declared.setdefault(one.name, {})[one.offset] = one
    return {
        name
        for name, found in declared.items()
        if all(
            one.is_own
            and is_arithmetic(unqualified(one.type))
            and not is_led_to(file, region, one)
            and not any(name in problem.words for problem in region.function.problems)
            for one in found.values()
        )
    }


def _deciding(program: Program, nodes: Sequence[tree.Node]) -> set[str]:
    """The names in bounds and conditions, and in the values of variables that are substituted; not of those
    declared in a statement that is kept whole."""
    iterators = {name for statement in program.statements for name in statement.iterators}
    kept = {statement.body.place.start for statement in program.statements if statement.body.terminator}
    whole = [statement.body.place for statement in program.statements]
    values = {
        part.declaration.name
        for node in nodes
        if isinstance(node, tree.Declarator) and node.initial is not None and node.name.start not in kept
        if not any(place.start < node.name.start < place.end for place in whole)
        for part in _evaluated(node.initial)
        if isinstance(part, tree.Name)
    }
    return iterators.union(values, *(names_in(one.text) for one in program.parameters))


def _evaluated(node: tree.Node) -> Iterator[tree.Node]:
    """A node and the nodes evaluated with it; the operand of `sizeof` is not, if the size is constant."""
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        if not (isinstance(current, tree.SizeOf) and current.value is not None):
            pending.extend(reversed(tuple(tree.children(current))))


def _words(node: tree.Name) -> set[str]:
    """A variable's name, and the words that the source uses for it, such as a macro's name."""
    return {node.declaration.name, *names_in(node.place.span.text)}


def _is_part(node: tree.Subscript | tree.MemberAccess | tree.Unary, texts: Sequence[str]) -> bool:
    """Whether a parameter is, or is computed from, what is read through a pointer here."""
    if (isinstance(node, tree.Unary) and node.operator != "*") or tree.owner(node) is not None:
        return False
    own = packed(node.place.span.text)
    return any(own in text for text in texts)


def _refuse_change(
    node: tree.Name | tree.Subscript | tree.MemberAccess | tree.Unary,
    reach: Reach,
    region: TypedRegion,
    file: TypedFile,
) -> None:
    who = reach.unknown or "a pointer"
    if isinstance(node, tree.Name) and not _may_change(region, node, reach, file):
        return
    if not isinstance(node, tree.Name) and not (reach.unknown or may_be_written(node.type, reach.written)):
        return
    what = node.declaration.name if isinstance(node, tree.Name) and "(" in node.place.span.text else ""
    what = what or node.place.span.text
    message = f"{who} may change '{what}', which decides what the region runs"
    raise refuse(node.place.span, message, f"copy '{what}' into a variable of its own before the region")


def _may_change(region: TypedRegion, node: tree.Name, reach: Reach, file: TypedFile) -> bool:
    declared = node.declaration
    if declared.storage in (tree.Storage.FUNCTION, tree.Storage.ENUMERATOR, tree.Storage.UNDECLARED):
        return False
    if isinstance(declared.type, Qualified) and declared.type.is_const:
        return False
    if declared.is_own and not is_led_to(file, region, declared):
        return False
    if reach.unknown or declared.offset in reach.changed:
        return True
    is_hidden = declared.storage is tree.Storage.STATIC and not is_address_taken(
        file, region.function, declared
    )
    return not is_hidden and may_be_written(innermost(declared.type), reach.written)


def is_inside(node: tree.Node, places: Sequence[Span]) -> bool:
    return any(place.contains(node.place.span) for place in places)


def refuse_calls(program: Program, region: TypedRegion, file: TypedFile, pure: frozenset[str]) -> None:
    """Raise if a call is not known to be pure, unless its statement was read as accessing anything."""
    places = reaching(program)
    nodes = [*tree.walk_all(region.statements)]
    changed = {root.offset for node in nodes if (root := tree.changed_root(node)) is not None}
    for node in nodes:
        if isinstance(node, tree.CallExpression) and not is_inside(node, places):
            _refuse_used_errno(node, file, pure)
            found = _refuse_call(node, file, pure, changed)
            seen = _visible(nodes, region, file) if found.sees_memory else None
            if seen is not None and node.callee is not None:
                name = node.callee.name
                message = f"'{name}' may read '{seen}', which the region changes"
                why = "it is declared pure, or follows pointers that it finds in memory"
                raise refuse(node.place.span, message, f"{why}: if it does not, say --pure {name}")


def _refuse_used_errno(node: tree.CallExpression, file: TypedFile, pure: frozenset[str]) -> None:
    """Raise if a call may set `errno`, and the file looks at it: the last of several calls decides."""
    name = "" if node.callee is None else node.callee.name.removeprefix("__builtin_")
    if name not in SETTING_ERRNO - pure or "errno" not in file.source.text:
        return
    functions = (function for word in _ERRNO for function in file.functions_with(word))
    if any(token.text in _ERRNO for function in functions for token in function.tokens):
        message = f"'{name}' may set errno, which the file uses"
        raise refuse(node.place.span, message, f"if its value there does not matter, say --pure {name}")


_ERRNO = ("errno", "__errno_location", "__error", "_errno")
"""The names that `errno` stands for in the C libraries."""


def _visible(nodes: Sequence[tree.Node], region: TypedRegion, file: TypedFile) -> str | None:
    """A variable that the region modifies, and that functions elsewhere can name or may have a pointer to."""
    for node in nodes:
        target = node.target if isinstance(node, tree.Assign | tree.Update) else None
        declared = None if target is None else tree.root_of(target)
        if target is None or declared is None:
            continue
        is_own = tree.owner(target) is not None and declared.is_own
        if not is_own or is_led_to(file, region, declared):
            return declared.name
    return None


def _refuse_call(
    node: tree.CallExpression, file: TypedFile, pure: frozenset[str], changed: set[int]
) -> Purity:
    callee = node.callee
    if callee is None or callee.storage not in (tree.Storage.FUNCTION, tree.Storage.UNDECLARED):
        raise refuse(
            node.place.span, "this calls a function through a pointer", "call functions by their names"
        )
    name = callee.name
    if name in INDEX_HELPERS and callee.storage is tree.Storage.FUNCTION and file.definition(callee) is None:
        _refuse_converted(node, name)
    if name in pure:
        return Purity("")
    if callee.storage is tree.Storage.UNDECLARED and file.definition(callee) is None:
        if is_library(name) or name in INDEX_HELPERS or looks_like_macro(name):
            return Purity("")
        raise refuse(node.place.span, f"'{name}' is not declared, and what it does is not known", _say(name))
    believed = frozenset((*LIBRARY, *INDEX_HELPERS, *pure))
    if name.startswith("__") and is_library(name) and file.definition(callee) is None:
        return Purity("")
    found = purity(file, callee, believed)
    if found.reason:
        raise refuse(node.place.span, f"{found.reason}", _say(name))
    seen = next((one for one in found.reads if one.offset in changed), None)
    if seen is not None:
        message = f"'{name}' reads '{seen.name}', which the region changes"
        raise refuse(node.place.span, message, f"make '{seen.name}' an argument of '{name}'")
    return found


def _refuse_converted(node: tree.CallExpression, name: str) -> None:
    """Raise if a function that is known by its name, such as `double min(double, double)`, returns another
    type than that of the sum of its arguments: `min(i, 3) / 2` is 0.5 for i = 1."""
    kinds = [unqualified(tree.without_casts(one).type) for one in node.arguments]
    if kinds and reduce(common, kinds) != unqualified(node.type):
        message = f"'{name}' is declared with types that convert its arguments or its value"
        raise refuse(node.place.span, message, "call a function of the types of the arguments, or cast them")


def renamed_functions(region: TypedRegion) -> frozenset[str]:
    """The macros in a region with the names of library functions, except those that libraries define."""
    made = frozenset().union(*(token.hidden for token in region.tokens))
    return (made & LIBRARY) - CHARACTERS - CLASSES


def foreign_names(text: Preprocessed, names: Sequence[str]) -> frozenset[str]:
    """Those of these names that headers or options use: as macros, in macros, or in declarations."""
    word = whole_word(*names)
    lines = [one for changes in text.changes.values() for one in changes if word.search(one[1])]
    theirs = [line for at, line in lines if not text.line_of(at + text.shift)]
    found = {name for line in theirs for name in word.findall(line) if name not in _parameters(line)}
    return frozenset(found.union(one[0] for one in word.finditer(text.text) if not text.line_of(one.start())))


def _parameters(line: str) -> list[str]:
    """The parameters of a macro: in its body, these names denote arguments only."""
    found = re.match(r"#\s*define\s+[\w$]+\(([^)]*)\)", line)
    return re.findall(r"[\w$]+", found[1]) if found else []


def _say(name: str) -> str:
    return f"if it has no effect but its value, say --pure {name}"
