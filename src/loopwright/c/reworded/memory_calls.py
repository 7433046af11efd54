"""Rewrites `memset` and `memcpy` of array elements as loops over them.

    memset(a, 0, n * sizeof(double));         for (long k = 0; k < N; k++) a[k] = 0;
    memcpy(a, b + 2, n * sizeof(*a));         for (long k = 0; k < N; k++) a[k] = b[(2) + k];
    memset(t, 0, sizeof t);                   the same, for an array `double t[8]` that is no parameter
    memcpy(A[i], &B[i][2], n * sizeof **A);   for (long k = 0; k < N; k++) A[i][k] = B[i][(2) + k];

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

from loopwright.c.declarations import INTEGER_TYPES, Declarations, Variable
from loopwright.c.file import CFile, c_file, includes, whole_file
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
_NUMBERS = frozenset(
    (
        *(
            "identifier",
            "number_literal",
            "unary_expression",
            "binary_expression",
            "parenthesized_expression",
        ),
        *("cast_expression", "type_descriptor", "primitive_type", "sized_type_specifier", "type_identifier"),
    )
)
"""What subscripts of an address consist of, which the loop evaluates again for each element."""
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
    loops = ((node, _loop(call, file.declarations)) for node, call in calls if not _hidden(call, file))
    return source.edited([node.span.reworded(loop) for node, loop in loops if loop is not None])


def _hidden(call: Node, file: CFile) -> bool:
    """Whether a macro of the file in a call may be more than names and numbers."""
    bodies = {macro.name: macro.body for macro in file.macros}
    pending = [one for one in names_in(call.text) if one in bodies]
    while pending:
        body = bodies.pop(pending.pop())
        if _PLAIN.fullmatch(body) is None:
            return True
        pending = [one for one in {*pending, *names_in(body)} if one in bodies]
    return False


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
    target = _elements(arguments[0], declared) if len(arguments) == 3 else None
    if target is None:
        return None
    array, element = target
    if field(call, "function").text == "memset":
        value = "0" if arguments[1].text == "0" else None
    else:
        source = _elements(arguments[1], declared)
        value = source[1] if source is not None and _is_copied(source[0], array, declared) else None
    count = _count(arguments[2], arguments[0], array, declared)
    if value is None or count is None:
        return None
    bound = count if count.isdecimal() else f"(({count}) < 0 ? {_MANY} : ({count}))"
    return f"for (long {_NUMBER} = 0; {_NUMBER} < {bound}; {_NUMBER}++) {element} = {value};"


def _is_copied(source: Variable, target: Variable, declared: Declarations) -> bool:
    """Whether `memcpy` copies elements of another array, as overlapping is undefined behaviour.  A pointer
    that is declared in a block, or an array of them, may point into either of them."""
    pointers = (one for one in (source, target) if len(one.extents) != one.rank)
    is_led = any(one.scope.text.startswith("{") for one in pointers)
    same = source.name == target.name
    return not (same or is_led) and _element(source, declared) == _element(target, declared)


def _elements(node: Node, declared: Declarations) -> tuple[Variable, str] | None:
    """The array of numbers of an address, and the element that a number of them follow: `a` and `a[k]`,
    `a + e` and `&a[e]` and `a[(e) + k]`; the same for a row, `A[i]` for `a`.

    Subscripts have names and numbers alone: `a[0]` in one may be written by the loop.
    """
    row, first = without_parentheses(node), None
    if row.type == "pointer_expression" and operator(row) == "&":
        inner = without_parentheses(field(row, "argument"))
        if inner.type != "subscript_expression":
            return None
        row, first = field(inner, "argument"), field(inner, "index")
    elif row.type == "binary_expression" and operator(row) == "+":
        row, first = field(row, "left"), field(row, "right")
    root, subscripts = _root(row)
    variable = declared.visible(root.text, root.span) if root.type == "identifier" else None
    if variable is None or variable.rank != len(subscripts) + 1 or not _element(variable, declared):
        return None
    parts = subscripts if first is None else (*subscripts, first)
    if any(one.type not in _NUMBERS for part in parts for one in walk(part) if one.is_named):
        return None
    at = _NUMBER if first is None else f"({on_one_line(first.text)}) + {_NUMBER}"
    return variable, f"{root.text}{''.join(f'[{on_one_line(one.text)}]' for one in subscripts)}[{at}]"


def _root(node: Node) -> tuple[Node, tuple[Node, ...]]:
    """What is subscripted, and the subscripts."""
    node = without_parentheses(node)
    if node.type != "subscript_expression":
        return node, ()
    root, subscripts = _root(field(node, "argument"))
    return root, (*subscripts, field(node, "index"))


def _element(variable: Variable, declared: Declarations) -> str:
    words = declared.resolved(variable.type).split()
    text = " ".join(word for word in words if word not in ("const", "restrict", "static", "register"))
    return text if text in ("float", "double") or text in INTEGER_TYPES else ""


def _count(node: Node, address: Node, target: Variable, declared: Declarations) -> str | None:
    """The number of elements for a size in bytes, at an address."""
    node = without_parentheses(node)
    if node.type == "sizeof_expression":
        measured = node.child_by_field_name("value")
        own = measured is not None and without_parentheses(measured).text == without_parentheses(address).text
        is_array = len(target.extents) == target.rank and target.extents[-1].isdecimal()
        is_local = target.scope.text.startswith("{") and not target.may_alias
        return target.extents[-1] if own and is_array and (is_local or target.rank > 1) else None
    if node.type != "binary_expression" or operator(node) != "*":
        return None
    sides = [without_parentheses(field(node, side)) for side in ("left", "right")]
    sizes = [one for one in sides if one.type == "sizeof_expression"]
    counts = [one for one in sides if one.type != "sizeof_expression"]
    if len(sizes) != 1 or not _is_element(sizes[0], target, declared):
        return None
    count = counts[0]
    if count.type == "cast_expression" and field(count, "type").text in _SIZES:
        count = without_parentheses(field(count, "value"))
    text = on_one_line(count.text)
    factors = factors_of(count)
    text = " * ".join(factors) if len(factors) > 1 else text
    return text if _PLAIN.fullmatch(text) and _OTHERWISE.isdisjoint(names_in(text)) else None


def _is_element(size: Node, target: Variable, declared: Declarations) -> bool:
    measured, named = (size.child_by_field_name(one) for one in ("value", "type"))
    if measured is not None:
        return _depth(measured, target.name) == target.rank
    return named is not None and declared.resolved(named.text) == _element(target, declared)


def _depth(node: Node, name: str) -> int | None:
    """How many subscripts and `*` an expression has around a name."""
    node = without_parentheses(node)
    if node.type == "identifier":
        return 0 if node.text == name else None
    is_star = node.type == "pointer_expression" and operator(node) == "*"
    inner = _depth(field(node, "argument"), name) if is_star or node.type == "subscript_expression" else None
    return None if inner is None else inner + 1


_FUSED = re.compile(r"\b(?:__builtin_)?fma[fl]?\s*\(")
_TYPES = {"fma": "double", "fmaf": "float", "fmal": "long double"}
_BUILTIN = "__builtin_"


def fused_calls(source: Source) -> list[Node]:
    """The calls of fused multiply-adds of the library, inner calls after outer ones.

    The source may not include `<tgmath.h>`, where the types of the arguments select the function.
    """
    if "fma" not in source.text or _FUSED.search(without_comments(source.text, literals=False)) is None:
        return []
    file = whole_file(source)
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
