"""The assumptions made when a region is read, which the proof report lists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import islpy as isl

from loopwright.c.casts import expression_of
from loopwright.c.declarations import Variable, is_unsigned_type, type_text
from loopwright.c.expression_types import COMPARISONS
from loopwright.c.index_helpers import DIVISIONS
from loopwright.c.loops import countdown_of, first_value, loop_iterator, outer_iterators
from loopwright.c.macros import definitions
from loopwright.c.references import reference_of
from loopwright.c.regions import Region
from loopwright.c.syntax import Node, field, is_dereference, named_children, operator, stands_as, walk
from loopwright.c.tokens import with_names_replaced
from loopwright.c.types import Integer
from loopwright.model.parameters import Parameter
from loopwright.model.program import ELSEWHERE, Array, Assumption, AssumptionKind
from loopwright.presburger.named import everywhere, number
from loopwright.read.c.affine import affine, condition
from loopwright.read.c.assume import is_assume
from loopwright.read.c.frames import Frame, Loop, NotAffine
from loopwright.read.c.index_calls import mentions_iterator
from loopwright.read.c.loops import declared_type
from loopwright.read.c.names import Setting, loops_of
from loopwright.read.c.purity import purity_assumptions
from loopwright.read.c.wraparound import FrameTypes, cut_to, operands_from_zero, type_in


def constants_used(setting: Setting, block: Node) -> tuple[tuple[str, int], ...]:
    """The constants whose value the model depends on: factors, divisors and steps of index expressions."""
    found: dict[str, int] = {}
    for node in _index_expressions(block):
        for part in walk(node):
            for side in _constant_sides(part):
                for word in walk(side):
                    name = word.text if word.type == "identifier" else ""
                    value = setting.constant(name)
                    if value is not None:
                        found.setdefault(name, value)
    return tuple(found.items())


def _index_expressions(block: Node) -> list[Node]:
    found = []
    for node in walk(block):
        match node.type:
            case "subscript_expression":
                found.append(field(node, "index"))
            case "init_declarator" if field(node, "declarator").type == "pointer_declarator":
                found.append(field(node, "value"))
            case "for_statement":
                names = ("initializer", "condition", "update")
                found += [part for name in names if (part := node.child_by_field_name(name)) is not None]
            case "if_statement":
                found.append(field(node, "condition"))
    return found


def _constant_sides(node: Node) -> list[Node]:
    """The operands that must be constant, or may be for the operation to be affine."""
    if node.type == "assignment_expression":
        return [field(node, "right")] if operator(node) in ("+=", "-=") else []
    if node.type == "call_expression":
        divides = field(node, "function").text in DIVISIONS
        return list(field(node, "arguments").named_children[1:2]) if divides else []
    if node.type != "binary_expression":
        return []
    left, right = field(node, "left"), field(node, "right")
    match operator(node):
        case "/" | "%" | "<<":
            return [right]
        case "*":
            literal = [side for side in (left, right) if side.type == "number_literal"]
            return [] if literal else [left, right]
        case "+" | "-" if node.parent is not None and node.parent.type == "assignment_expression":
            return [left, right] if stands_as(node.parent, "update", "for_statement") else []
    return []


APART = "not aliased by anything else in the region"


def assumptions_of(
    setting: Setting,
    block: Node,
    region: Region,
    stated: Sequence[Assumption],
    arrays: Sequence[Array],
    parameters: Sequence[Parameter],
) -> tuple[Assumption, ...]:
    """All assumptions on this region, those stated by the user first."""
    written = _as_written(setting, block, parameters)
    found = [
        replace(one, text=with_names_replaced(one.text, written)) if one.kind is AssumptionKind.ROWS else one
        for one in stated
    ]
    shared = _possible_aliases(setting, arrays, parameters)
    if shared and len(arrays) + len(parameters) > 1:
        names = _apart(shared, setting.names.untracked, written)
        found.append(Assumption(AssumptionKind.ALIASING, f"{names}: {APART}", about=tuple(shared)))
    if any(array.rank > 0 for array in arrays):
        text = "every subscript stays inside its dimension of the array"
        found.append(Assumption(AssumptionKind.BOUNDS, text))
    found += _about_arithmetic(setting, block)
    unseen = [part for part in _parts(setting, parameters) if _declared(setting, part) is None]
    if unseen:
        text = f"{', '.join(unseen)}: integer, constant in the region"
        found.append(Assumption(AssumptionKind.CONSTANT, text, about=tuple(unseen)))
    outer = outer_iterators(loops_of(block, setting.whole))
    if outer:
        text = f"{', '.join(outer)}: the value after the last loop is not used"
        found.append(Assumption(AssumptionKind.ITERATOR, text, about=tuple(outer)))
    found += purity_assumptions(setting, block)
    for pragma in region.pragmas:
        if not is_assume(pragma):
            text = f"'#pragma{pragma.argument}' is removed together with its loop"
            found.append(Assumption(AssumptionKind.PRAGMA, text, pragma.place))
    return tuple(found)


def _about_arithmetic(setting: Setting, block: Node) -> Iterator[Assumption]:
    """The assumptions that arithmetic is that of mathematical integers."""
    yield Assumption(AssumptionKind.ARITHMETIC, "bounds and subscripts do not overflow or wrap around")
    yield from _sizes_from_zero(setting, block, _index_expressions(block))
    yield from _sizes_that_fit(setting, block)
    for node in _counted_to_zero(setting, block):
        yield _not_negative(setting, node, f"'{node.text}' is not below 0")


def _not_negative(setting: Setting, node: Node, text: str) -> Assumption:
    enough = affine(node, Frame(setting, everywhere())).ge_set(number(0))
    return Assumption(AssumptionKind.ARITHMETIC, text, node.span, holds_for=enough)


def _as_written(setting: Setting, block: Node, parameters: Sequence[Parameter]) -> dict[str, str]:
    """How the source spells what the model has another name for: `m->data` for m__data."""
    found = {one.name: one.text for one in parameters if one.text != one.name}
    for name, text in found.items():
        node = expression_of(text, setting.kinds)
        found[name] = text if node is not None and node.type in _PARTS[:3] else f"({text})"
    for node in walk(block):
        inner = reference_of(node) if node.type == "field_expression" else None
        if inner is not None and not inner.subscripts:
            found.setdefault(inner.base, node.text)
    return found


def _apart(names: Sequence[str], untracked: frozenset[str], written: Mapping[str, str]) -> str:
    """The names of storage assumed to be disjoint; untracked storage is treated as a whole."""
    together = [one for one in names if one in untracked]
    apart = list(dict.fromkeys(written.get(one, one) for one in names if one not in untracked))
    return ", ".join(apart + ([f"{{{', '.join(together)}}} as one"] if len(together) > 1 else together))


def _possible_aliases(
    setting: Setting, arrays: Sequence[Array], parameters: Sequence[Parameter]
) -> list[str]:
    """Storage that the file does not show to be disjoint: pointers, and undeclared names."""
    found = []
    for array in arrays:
        declared = setting.declarations.visible(array.name, setting.region)
        is_apart = array.local or array.name == ELSEWHERE
        if not is_apart and (declared is None or declared.may_alias):
            found.append(array.name)
    found += sorted(setting.names.untracked)
    for part in _parts(setting, parameters):
        declared = _declared(setting, part)
        if not part.isidentifier() and (declared is None or declared.may_alias):
            found.append(part)
    return found


_PARTS = ("identifier", "field_expression", "subscript_expression", "call_expression")


def _parts(setting: Setting, parameters: Sequence[Parameter]) -> tuple[str, ...]:
    """The storage that parameters are read from: h and w of `h * w`, `grid_points[0]`, `p->n`; or a macro.

    `*n` is n[0].
    """
    found: dict[str, None] = {}
    for parameter in parameters:
        node = expression_of(parameter.text, setting.kinds)
        found.update(dict.fromkeys([parameter.text] if node is None else _storage(node)))
    return tuple(found)


def _storage(node: Node) -> list[str]:
    inner = field(node, "argument") if is_dereference(node) else None
    if inner is not None and inner.type == "identifier":
        return [f"{inner.text}[0]"]
    if node.type in _PARTS:
        return [node.text]
    inside = [field(node, "value")] if node.type == "cast_expression" else named_children(node)
    return [text for one in inside for text in _storage(one)]


def _declared(setting: Setting, part: str) -> Variable | None:
    """The variable of a name or an element; the fields of a struct are not declared here."""
    name = part.partition("[")[0].strip()
    return setting.declarations.visible(name, setting.region)


def _sizes_from_zero(setting: Setting, block: Node, expressions: Iterable[Node]) -> Iterator[Assumption]:
    """The assumptions that unsigned expressions of sizes are nonnegative where they are evaluated, unless
    this is shown.

    `i < n - 1` with an unsigned n has another meaning for n = 0, and `i < n` with an unsigned i and a
    signed n for n = -1.  With iterators, and in an `if` on sizes, it is proved instead (`wraparound`).
    """
    found: dict[str, tuple[Node, isl.Set]] = {}
    start = Frame(setting, everywhere())
    for node in (*_converted(setting, block), *_operands(setting, expressions)):
        if mentions_iterator(node, start) or not _may_be_below(node, start):
            continue
        enough = affine(node, start).ge_set(number(0)).union(_reaching(node, start).complement())
        first, before = found.get(node.text, (node, everywhere()))
        found[node.text] = first, before.intersect(enough)
    for text, (node, enough) in found.items():
        if not start.known().is_subset(enough):
            told = f"'{text}' is an unsigned number, and is not below 0"
            yield Assumption(AssumptionKind.ARITHMETIC, told, node.span, holds_for=enough)


def _reaching(node: Node, frame: Frame) -> isl.Set:
    """The sizes for which an expression may be evaluated, given the conditions on signed numbers around it,
    and those of `if (n <= 0) return;` before it.
    """
    reached = everywhere()
    for inner, outer in pairwise((node, *node.around())):
        if outer.type == "if_statement":
            tested = _tested(outer, frame)
            if tested is not None and inner == outer.child_by_field_name("consequence"):
                reached = reached.intersect(tested)
            elif tested is not None and inner == outer.child_by_field_name("alternative"):
                reached = reached.intersect(tested.complement())
        elif outer.type == "compound_statement":
            for before in outer.named_children[: outer.named_children.index(inner)]:
                tested = _tested(before, frame) if _returns(before) else None
                reached = reached if tested is None else reached.intersect(tested.complement())
    return reached


def _returns(node: Node) -> bool:
    """Whether a node is `if (c) return e;`, without an `else`."""
    if node.type != "if_statement" or node.child_by_field_name("alternative") is not None:
        return False
    then = field(node, "consequence")
    inside = then.named_children if then.type == "compound_statement" else [then]
    return bool(inside) and inside[-1].type == "return_statement"


def _tested(node: Node, frame: Frame) -> isl.Set | None:
    """The set where an `if` on sizes holds, if all its arithmetic is signed, and no macro hides anything."""
    test = field(node, "condition")
    if mentions_iterator(test, frame) or any(one.type in _MAY_WRAP for one in walk(test)):
        return None
    for part in (one for one in walk(test) if one.type in ("identifier", "number_literal")):
        kind = type_in(part, frame)
        if definitions(frame.setting.macros, part.text) or not (isinstance(kind, Integer) and kind.signed):
            return None
    try:
        return condition(test, frame)
    except NotAffine:
        return None


_MAY_WRAP = ("cast_expression", "call_expression", "sizeof_expression")


def _sizes_that_fit(setting: Setting, block: Node) -> Iterator[Assumption]:
    """Expressions of sizes that their type may not hold: n of `(int)n`, `u + 1` of an unsigned u."""
    frame, seen = Frame(setting, everywhere()), set[str]()
    for value, kind in _fitted(block, frame):
        text = f"'{' '.join(value.text.split())}' is between {kind.least} and {kind.greatest}"
        if text in seen or mentions_iterator(value, frame):
            continue
        seen.add(text)
        try:
            whole = affine(value, frame)
        except NotAffine:
            continue
        enough = whole.ge_set(number(kind.least)).intersect(whole.le_set(number(kind.greatest)))
        if not frame.known().is_subset(enough):
            possible = enough.union(frame.known().complement())
            yield Assumption(AssumptionKind.ARITHMETIC, text, value.span, holds_for=possible)


def _fitted(block: Node, frame: Frame) -> Iterator[tuple[Node, Integer]]:
    """Values that are converted to a narrower type, and sums and products in an unsigned one."""
    types = FrameTypes(frame)
    given = [
        (value, type_text(node, qualifiers=False))
        for node in walk(block)
        if node.type == "declaration"
        for one in node.children_by_field_name("declarator")
        if (value := one.child_by_field_name("value")) is not None
    ]
    for node in (part for one in _index_expressions(block) for part in walk(one)):
        if node.type == "cast_expression":
            given.append((field(node, "value"), field(node, "type").text))
        elif node.type == "binary_expression" and operator(node) in ("+", "*"):
            kind = type_in(node, frame)
            if isinstance(kind, Integer) and not kind.signed and not _is_added_to(node):
                yield node, kind
    for value, text in given:
        narrow = cut_to(value, types.written_type(text), frame)
        if narrow is not None:
            yield value, narrow


def _is_added_to(node: Node) -> bool:
    """Whether it is an operand of a sum or product: then the whole is checked, modulo 2^w."""
    outer = node.beyond("parenthesized_expression")
    return outer is not None and outer.type == "binary_expression" and operator(outer) in ("+", "-", "*")


def _counted_to_zero(setting: Setting, block: Node) -> Iterator[Node]:
    """The initial values n of loops `for (i = n; i--;)`, which end for no negative n."""
    start = Frame(setting, everywhere())
    for node in walk(block):
        countdown = countdown_of(node) if node.type == "for_statement" else None
        if countdown is None or countdown.limit is not None or loop_iterator(node) is None:
            continue
        first = first_value(node)
        if not mentions_iterator(first, start) and _may_be_below(first, start):
            yield first


def _operands(setting: Setting, expressions: Iterable[Node]) -> Iterator[Node]:
    frames: dict[Node | None, Frame] = {}
    for expression in expressions:
        loop = _innermost(expression)
        frame = frames.setdefault(loop, frames.get(loop) or _around(setting, loop))
        in_if = expression.parent is not None and expression.parent.type == "if_statement"
        for node in walk(expression):
            if node.type != "binary_expression":
                continue
            if in_if and operator(node) in COMPARISONS and not mentions_iterator(node, frame):
                continue
            yield from operands_from_zero(node, frame)


def _converted(setting: Setting, block: Node) -> Iterator[Node]:
    """The initial values of unsigned variables of the region, and of unsigned iterators of its loops."""
    for node in walk(block):
        start = node.child_by_field_name("initializer") if node.type == "for_statement" else None
        if start is not None and start.type == "assignment_expression" and operator(start) == "=":
            counted = type_in(field(start, "left"), Frame(setting, everywhere()))
            if isinstance(counted, Integer) and not counted.signed:
                yield field(start, "right")
        if node.type == "declaration":
            kind = setting.declarations.resolved(type_text(node, qualifiers=False))
            values = [d.child_by_field_name("value") for d in node.children_by_field_name("declarator")]
            yield from (value for value in values if value is not None and is_unsigned_type(kind))


def _innermost(node: Node | None) -> Node | None:
    """The loop with an iterator that `node` is, or else the innermost one around it."""
    while node is not None and (node.type != "for_statement" or loop_iterator(node) is None):
        node = node.parent
    return node


def _around(setting: Setting, loop: Node | None) -> Frame:
    """The frame in this loop and those around it, for the types of their iterators."""
    loops: list[Loop] = []
    while loop is not None:
        name = loop_iterator(loop) or ""
        kind = declared_type(loop, Frame(setting, everywhere()), name)
        loops.insert(0, Loop(name, 1, loop.span, kind))
        loop = _innermost(loop.parent)
    return Frame(setting, everywhere(), tuple(loops))


def _may_be_below(node: Node, frame: Frame) -> bool:
    try:
        value = affine(node, frame)
    except NotAffine:
        return False
    return not frame.known().intersect(value.lt_set(number(0))).is_empty()
