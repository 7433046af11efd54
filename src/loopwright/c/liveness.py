"""Liveness: whether the value of an iterator or a local variable is read after a region.

The regenerated loops have their own iterators, so a later read of an old one would find another
value.  An automatic variable lives in one call of its function; if no code after the region names
it, nor code that a loop around the region runs again, its value is dead after the region.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from loopwright.c.declarations import declared_name, type_text
from loopwright.c.file import CFile
from loopwright.c.loops import LOOPS
from loopwright.c.macros import Macro, integer_text, mentions
from loopwright.c.syntax import Node, refuse, walk
from loopwright.c.tokens import names_in, packed
from loopwright.c.types import is_arithmetic, named_type
from loopwright.source import Span

_OBSERVED = ("static", "extern", "_Thread_local", "thread_local", "volatile", "_Atomic")
"""Specifiers that make a variable outlive its function, or visible to other code."""


def refuse_live_iterators(root: Node, region: Span, iterators: frozenset[str]) -> None:
    """Raise at the first read, after the region, of an iterator that it assigns."""
    for function in functions_around(root, region):
        for name in sorted(iterators):
            later = _later(function, region, name)
            if later and not replaces(later[0]):
                raise refuse(
                    later[0],
                    f"'{name}' is read after the region, which uses it as an iterator",
                    f"assign '{name}' again before reading it, or declare the iterator in the loop: "
                    f"for (int {name} = ...)",
                )


def functions_around(root: Node, region: Span) -> list[Node]:
    """The functions of a file around a region: at most one, where its text is plain C."""
    functions = [node for node in root.named_children if node.type == "function_definition"]
    return [function for function in functions if function.span.contains(region)]


def function_around(file: CFile, region: Span) -> Node | None:
    """The function around a region; None in a fragment."""
    found = functions_around(file.tree, region)
    return found[0] if len(found) == 1 else None


def _later(function: Node, region: Span, name: str) -> list[Node]:
    """The uses of a name that may run after the region: after it, then before it in a loop around it."""
    uses = function.named(name, besides=region)
    loops = _loops_around(function, region)
    again = [use for loop in loops for use in uses if loop.start <= use.start < region.start]
    return [use for use in uses if use.start >= region.end] + again


def _loops_around(function: Node, region: Span) -> list[Node]:
    """The loops of a function around a region, the outermost first."""
    found: list[Node] = []
    inside = [function]
    while inside:
        found += [one for one in inside if one.type in LOOPS]
        inside = [one for node in inside for one in node.children if one.span.contains(region)]
    return found


def replaces(use: Node) -> bool:
    """Whether this occurrence overwrites the variable, or is another variable."""
    parent = use.parent
    if parent is None:
        return False
    if parent.type in ("init_declarator", "declaration", "parameter_declaration"):
        return parent.child_by_field_name("declarator") == use
    is_target = parent.type == "assignment_expression" and parent.child_by_field_name("left") == use
    operator = parent.child_by_field_name("operator")
    return is_target and operator is not None and operator.type == "="


def is_automatic(file: CFile, region: Span, name: str, rank: int) -> bool:
    """Whether a name of the region is a local variable of the function, and not a pointer.

    It has one declaration in the function; a parameter that looks like an array is a pointer.
    """
    functions = functions_around(file.tree, region)
    found = list(_declarations(functions[0], name)) if len(functions) == 1 else []
    if len(found) != 1:
        return False
    declaration, declarator = found[0]
    named = declared_name(declarator)
    stars = any(part.type == "pointer_declarator" for part in walk(declarator))
    words = {part.text for part in declaration.children}
    is_plain = named is not None and named[1] == rank and not stars
    is_pointer = declaration.type == "parameter_declaration" and rank > 0
    return is_plain and not is_pointer and not words & set(_OBSERVED)


def is_hidden(file: CFile, region: Span, name: str) -> bool:
    """Whether a local number is only accessed by its name: no pointer and no macro refers to it."""
    if not is_automatic(file, region, name, 0):
        return False
    (function,) = functions_around(file.tree, region)
    ((declaration, _),) = _declarations(function, name)
    if not is_arithmetic(named_type(file.declarations.resolved(type_text(declaration, qualifiers=False)))):
        return False
    macros = [macro for macro in file.macros if mentions(macro, name) or _takes_address(macro, name)]
    in_macro = any(macro.name in names_in(function.text) for macro in macros)
    has_addresses = "&" in function.text.replace("&&", "")
    return not in_macro and not (has_addresses and any(map(_is_in_address, function.named(name))))


_PLAIN_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,8})(?:\.\d{1,8})?")


def first_value(file: CFile, region: Span, name: str) -> float | None:
    """The constant initial value of a local number at the start of the region, if not named since."""
    declarator = _declared_before(file, region, name)
    value = None if declarator is None else declarator.child_by_field_name("value")
    is_number = value is not None and _PLAIN_NUMBER.fullmatch(value.text) is not None
    return (float if "." in value.text else int)(value.text) if value is not None and is_number else None


def has_no_value(file: CFile, region: Span, name: str) -> bool:
    """Whether a local number is still uninitialised at the start of the region."""
    declarator = _declared_before(file, region, name)
    is_alone = declarator is not None and declarator.child_by_field_name("value") is None
    (function,) = functions_around(file.tree, region) if is_alone else (None,)
    return function is not None and next(_declarations(function, name))[0].type == "declaration"


def _declared_before(file: CFile, region: Span, name: str) -> Node | None:
    """The declarator of a local number that nothing names between there and the region."""
    if not is_hidden(file, region, name):
        return None
    (function,) = functions_around(file.tree, region)
    ((_, declarator),) = _declarations(function, name)
    again = bool(_loops_around(function, region))
    since = [use for use in function.named(name) if declarator.end <= use.start < region.start]
    is_known = not (again or since or "goto" in names_in(function.text)) and declarator.end <= region.start
    return declarator if is_known else None


def _takes_address(macro: Macro, name: str) -> bool:
    """Whether a macro's body takes an address: of `name`, or of an argument."""
    has_address = re.search(r"(^|[(,=?:|+*/!<>;{)-]|return)\s*&(?!&)(?!\s*[0-9~])", macro.body) is not None
    return has_address and (bool(macro.parameters) or mentions(macro, name))


def _is_in_address(use: Node) -> bool:
    """Whether the use is an operand of `&x`, `&x.f` or the like."""
    node = use
    while node.parent is not None:
        outer = node.parent
        if outer.type == "pointer_expression" and outer.children[0].type == "&":
            return True
        is_part = outer.type in ("field_expression", "subscript_expression")
        inside = outer.child_by_field_name("argument") if is_part else node
        if inside != node or not (is_part or outer.type == "parenthesized_expression"):
            return False
        node = outer
    return False


def is_dead_after(file: CFile, region: Span, name: str, rank: int) -> bool:
    """Whether the value that the region leaves in an automatic variable is dead."""
    if not is_automatic(file, region, name, rank):
        return False
    (function,) = functions_around(file.tree, region)
    jumps = "goto" in names_in(function.text)
    hidden = any(mentions(macro, name) for macro in file.macros)
    escapes = any(_escapes(use, rank) for use in function.named(name))
    return not (_later(function, region, name) or jumps or hidden or escapes)


def may_be_replaced(file: CFile, region: Span, name: str, cell: tuple[int, ...]) -> bool:
    """Whether the first use of a cell after the region may overwrite it, or its value is dead."""
    if is_dead_after(file, region, name, len(cell)):
        return True
    for function in functions_around(file.tree, region):
        for use in _later(function, region, name):
            access, subscripts = _subscripted(use)
            if len(subscripts) < len(cell):
                return _is_passed(access)
            if not replaces(access) or (access.parent is not None and access.parent.text.count(name) > 1):
                return False
            numbers = [integer_text(one.text) for one in subscripts]
            if None in numbers or tuple(numbers) == cell:
                return True
    return False


def _subscripted(use: Node) -> tuple[Node, list[Node]]:
    """The access `a[i][j]` that contains a name, with its subscripts."""
    node, subscripts = use, []
    while (outer := node.parent) is not None:
        if outer.type == "subscript_expression" and outer.child_by_field_name("argument") == node:
            index = outer.child_by_field_name("index")
            subscripts += [] if index is None else [index]
        elif outer.type != "parenthesized_expression":
            break
        node = outer
    return node, subscripts


def _is_passed(access: Node) -> bool:
    """Whether a pointer is passed to a function, which may write through it."""
    return access.parent is not None and access.parent.type in ("argument_list", "pointer_expression")


def _declarations(function: Node, name: str) -> Iterator[tuple[Node, Node]]:
    """Every declaration of the name, with its declarator."""
    for node in function.of_type("declaration", "parameter_declaration"):
        for declarator in node.children_by_field_name("declarator"):
            named = declared_name(declarator)
            if named is not None and named[0] == name:
                yield node, declarator


def _escapes(use: Node, rank: int) -> bool:
    """Whether the address may escape: `&x`, or an array without all its subscripts."""
    access, subscripts = _subscripted(use)
    parent = access.parent
    if parent is None or _is_declared(use):
        return False
    is_address = parent.type == "pointer_expression" and parent.children[0].type == "&"
    return is_address or (len(subscripts) < rank and not _is_left(parent))


def _is_left(node: Node) -> bool:
    """Whether a value is unused: `(void)x`, or only measured by `sizeof`."""
    if node.type == "sizeof_expression":
        return True
    kind = node.child_by_field_name("type") if node.type == "cast_expression" else None
    return kind is not None and packed(kind.text) == "void"


def _is_declared(use: Node) -> bool:
    """Whether this is the name in its own declaration."""
    node = use
    while node.parent is not None and node.parent.child_by_field_name("declarator") == node:
        node = node.parent
    return node.type == "declaration" or (node is not use and node.type.endswith("declarator"))
