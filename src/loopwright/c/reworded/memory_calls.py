"""Rewrites `memset` and `memcpy` of array elements as loops over them.

    memset(a, 0, n * sizeof(double));         for (long k = 0; k < N; k++) a[k] = 0;
    memcpy(a, b + 2, n * sizeof(*a));         for (long k = 0; k < N; k++) a[k] = (b + 2)[k];
    memset(t, 0, sizeof t);                   the same, for an array `double t[8]` that is no parameter

if the size is that of the elements, which are numbers, and zero bytes represent a zero.  N is n; for a
negative n, which becomes a very large size for the function, N is a large number too: such a loop writes
elements that a loop without iterations does not.  Line numbers do not change.

`without_prefetches` removes calls that only prefetch memory, which do not affect values:

    __builtin_prefetch(&a[i + 16], 0, 3);     ;

if the arguments are addresses and numbers without side effects.

`with_products` rewrites fused multiply-adds of the library as products and sums that round twice.

    fma(x, y, z)        ((double)(x) * (double)(y) + (double)(z))
    fmaf(x, y, z)       ((float)(x) * (float)(y) + (float)(z))

The values differ from those of the call only by the rounding of the product.  The arguments are converted to
the type of the function, as in a call.  Line numbers do not change.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from loopwright.c.declarations import INTEGER_TYPES, Declarations, Variable
from loopwright.c.file import CFile, c_file, includes
from loopwright.c.reworded.flat_loops import factors_of
from loopwright.c.reworded.passages import passages
from loopwright.c.syntax import Node, field, identifiers, named_children, operator, walk, without_parentheses
from loopwright.c.tokens import decimal, has_effect, names_in, on_one_line, without_comments
from loopwright.errors import BadInput
from loopwright.source import Source, Span

_MANY = 1 << 30
_NUMBER = "memory_element"
_CALLED = ("memset", "memcpy")
_PREFETCH = "__builtin_prefetch"
FETCHED = "addresses that are only prefetched are ignored"
_PLAIN = re.compile(r"[\w\s+\-*/%()]+")
_SIZES = ("size_t", "unsigned long")
_OTHERWISE = frozenset(("sizeof", "size_t", "unsigned", "int", "long", "short", "char", "ptrdiff_t"))
"""Words of sizes and casts in a number of elements."""


def with_memory_loops(source: Source) -> Source:
    """The source with loops in place of such calls in its regions, if they are the library's."""
    if not any(name in source.text for name in _CALLED) or _NUMBER in source.text:
        return source
    try:
        file = c_file(source)
        is_own = not {*_CALLED, "sizeof"}.isdisjoint(file.macro_names | file.declarations.functions)
        calls = [] if is_own or "<string.h>" not in source.text else [*_calls(source, _CALLED)]
    except BadInput:
        return source
    loops = ((node, _loop(call, file.declarations)) for node, call in calls)
    return source.edited([node.span.reworded(loop) for node, loop in loops if loop is not None])


def without_prefetches(source: Source) -> Source:
    """The source without calls in its regions that only prefetch memory."""
    if _PREFETCH not in source.text:
        return source
    try:
        file = c_file(source)
        calls = [] if _PREFETCH in file.macro_names else [*_calls(source, (_PREFETCH,))]
    except BadInput:
        return source
    edits = [node.span.reworded(";") for node, call in calls if _is_bare(field(call, "arguments"), file)]
    return source.edited(edits)


def _calls(source: Source, names: Sequence[str]) -> Iterator[tuple[Node, Node]]:
    """The statements in regions that are calls of these functions, and the calls."""
    for passage in passages(source):
        for node in passage.block.of_type("expression_statement"):
            call = node.only_expression
            if call is not None and call.type == "call_expression" and field(call, "function").text in names:
                yield node, call


def _is_bare(arguments: Node, file: CFile) -> bool:
    """Whether computing an address has no side effect, even in macros."""
    words = {*names_in(arguments.text)}
    hidden = any(has_effect(macro.body) for macro in file.macros if macro.name in words)
    return not hidden and not has_effect(arguments.text) and _is_address(arguments)


def _is_address(arguments: Node) -> bool:
    """Whether an address is computed without reading memory, except for rows of its array, and without
    dividing by names: `&y[p[i + 8]]` reads an element."""
    addressed: set[Span] = set()
    for node in walk(arguments):
        match node.type:
            case "pointer_expression" if operator(node) == "&":
                inner: Node | None = without_parentheses(field(node, "argument"))
                while inner is not None:
                    addressed.add(inner.span)
                    inner = inner.child_by_field_name("argument")
            case "subscript_expression" | "field_expression" | "pointer_expression":
                if node.span not in addressed:
                    return False
            case "binary_expression" if operator(node) in ("/", "%") and not decimal(
                field(node, "right").text
            ):
                return False
    return True


def _loop(call: Node, declared: Declarations) -> str | None:
    arguments = named_children(field(call, "arguments"))
    if len(arguments) != 3:
        return None
    target = _array(arguments[0], declared)
    if target is None:
        return None
    if field(call, "function").text == "memset":
        value = "0" if arguments[1].text == "0" else None
    else:
        source = _array(arguments[1], declared)
        is_known = source is not None and _is_copied(source, target, declared)
        value = f"({on_one_line(arguments[1].text)})[{_NUMBER}]" if is_known else None
    count = _count(arguments[2], target, declared)
    if value is None or count is None:
        return None
    bound = count if count.isdecimal() else f"(({count}) < 0 ? {_MANY} : ({count}))"
    element = f"({on_one_line(arguments[0].text)})[{_NUMBER}]"
    return f"for (long {_NUMBER} = 0; {_NUMBER} < {bound}; {_NUMBER}++) {element} = {value};"


def _is_copied(source: Variable, target: Variable, declared: Declarations) -> bool:
    """Whether `memcpy` copies elements of another array, as overlapping is undefined behaviour.  A pointer
    that is declared in a block may point into either of them."""
    is_led = any(one.scope.text.startswith("{") and not one.extents for one in (source, target))
    same = source.name == target.name
    return not (same or is_led) and _element(source, declared) == _element(target, declared)


def _array(node: Node, declared: Declarations) -> Variable | None:
    """The array of numbers that contains an address: `a`, `a + e`, `&a[e]`."""
    node = without_parentheses(node)
    if node.type == "pointer_expression" and operator(node) == "&":
        inner = without_parentheses(field(node, "argument"))
        node = field(inner, "argument") if inner.type == "subscript_expression" else inner
    elif node.type == "binary_expression" and operator(node) == "+":
        node = without_parentheses(field(node, "left"))
    variable = declared.visible(node.text, node.span) if node.type == "identifier" else None
    is_known = variable is not None and variable.rank == 1 and bool(_element(variable, declared))
    return variable if is_known else None


def _element(variable: Variable, declared: Declarations) -> str:
    words = declared.resolved(variable.type).split()
    text = " ".join(word for word in words if word not in ("const", "restrict", "static", "register"))
    return text if text in ("float", "double") or text in INTEGER_TYPES else ""


def _count(node: Node, target: Variable, declared: Declarations) -> str | None:
    """The number of elements for a size in bytes."""
    node = without_parentheses(node)
    if node.type == "sizeof_expression":
        own = re.fullmatch(rf"sizeof\s*\(?\s*{target.name}\s*\)?", node.text)
        is_array = target.extents and target.extents[0].isdecimal() and not target.may_alias
        is_local = target.scope.text.startswith("{")
        return target.extents[0] if own and is_array and is_local else None
    if node.type != "binary_expression" or operator(node) != "*":
        return None
    sides = [without_parentheses(field(node, side)) for side in ("left", "right")]
    sizes = [one for one in sides if one.type == "sizeof_expression"]
    counts = [one for one in sides if one.type != "sizeof_expression"]
    if len(sizes) != 1 or not _is_element(sizes[0].text, target, declared):
        return None
    count = counts[0]
    if count.type == "cast_expression" and field(count, "type").text in _SIZES:
        count = without_parentheses(field(count, "value"))
    text = on_one_line(count.text)
    factors = factors_of(count)
    text = " * ".join(factors) if len(factors) > 1 else text
    return text if _PLAIN.fullmatch(text) and _OTHERWISE.isdisjoint(names_in(text)) else None


def _is_element(size: str, target: Variable, declared: Declarations) -> bool:
    name = re.escape(target.name)
    if re.fullmatch(rf"sizeof\s*\(?\s*(?:\*\s*{name}|{name}\s*\[\s*0\s*\])\s*\)?", size):
        return True
    named = re.fullmatch(r"sizeof\s*\(\s*([A-Za-z_][\w\s]*?)\s*\)", size)
    return named is not None and declared.resolved(named[1]) == _element(target, declared)


_FUSED = re.compile(r"\b(?:__builtin_)?fma[fl]?\s*\(")
_TYPES = {"fma": "double", "fmaf": "float", "fmal": "long double"}
_BUILTIN = "__builtin_"


def fused_calls(source: Source) -> list[Node]:
    """The calls of fused multiply-adds of the library, inner calls after outer ones.

    The source may not include `<tgmath.h>`, where the types of the arguments select the function.
    """
    if "fma" not in source.text or _FUSED.search(without_comments(source.text, literals=False)) is None:
        return []
    file = c_file(replace(source, chosen=()))
    defined = (field(one, "declarator") for one in file.possible.of_type("function_definition"))
    own = {*file.macro_names, *(name for one in defined for name in identifiers(one)[:1])}
    if includes(source, "#include <tgmath.h>") or any(name.removeprefix(_BUILTIN) in _TYPES for name in own):
        return []
    is_known = includes(source, "#include <math.h>")
    calls = [one for one in file.possible.of_type("call_expression") if _type_of(one) is not None]
    return [one for one in calls if is_known or field(one, "function").text.startswith(_BUILTIN)]


def with_products(source: Source, calls: Sequence[Node]) -> Source:
    """The source with a product and a sum in place of each of these calls."""
    edits = [
        edit
        for call in calls
        for edit in (
            (field(call, "function").start, field(call, "function").end, ""),
            *_operand(call, 0, " * "),
            *_operand(call, 1, " + "),
            *_operand(call, 2, ""),
        )
    ]
    return source.edited(sorted(edits))


def _operand(call: Node, place: int, after: str) -> list[tuple[int, int, str]]:
    """Edits that put an argument in parentheses, with its conversion, and replace the comma after it."""
    argument = named_children(field(call, "arguments"))[place]
    start, end = argument.spelled.start, argument.end
    found = [(start, start, f"({_type_of(call)})("), (end, end, ")")]
    if after:
        marks = [one for one in field(call, "arguments").children if one.type == ","]
        found.append((marks[place].start, marks[place].end, after))
    return found


def _type_of(call: Node) -> str | None:
    """The type that a fused multiply-add is computed in; None for other calls."""
    name = field(call, "function").text.removeprefix(_BUILTIN)
    arguments = named_children(field(call, "arguments"))
    return _TYPES.get(name) if len(arguments) == 3 else None
