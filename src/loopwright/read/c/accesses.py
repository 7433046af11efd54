"""The accesses of an expression.

Accesses are in source order; the value of an assignment is read before its target is written.  An access is
a `may` access if it might not happen (an operand of `?:`, `&&`, `||` or of a macro with these, anything
under a condition on data), if its subscript is not affine, and if only a field of the element is written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import islpy as isl

from loopwright.c.macros import always_evaluated, definitions
from loopwright.c.references import (
    Element,
    Reference,
    Subscript,
    element_of,
    inside,
    is_subtracted,
    pointer_sum,
    reference_of,
)
from loopwright.c.syntax import (
    Node,
    field,
    is_address,
    named_children,
    operator,
    refuse,
    walk,
    without_parentheses,
)
from loopwright.c.types import LONG
from loopwright.errors import BadInput
from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import ELSEWHERE, Access, Hole, Inlined
from loopwright.presburger.named import number, tuple_function
from loopwright.read.c.affine import affine
from loopwright.read.c.frames import Frame, NotAffine
from loopwright.read.c.names import Setting, Unfollowed, is_counted_inside
from loopwright.read.c.purity import is_unknown_call
from loopwright.read.c.row_elements import through_row
from loopwright.read.c.wraparound import is_widened, require_from_zero, type_in
from loopwright.source import Span


@dataclass(frozen=True, slots=True)
class Touch:
    """An access before its subscripts are evaluated."""

    base: str
    subscripts: tuple[Subscript, ...]
    is_write: bool
    must: bool
    place: Span
    setting: Setting | None = None
    """The setting to read the subscripts in, if it is that of a macro expansion."""

    def within(self, frame: Frame) -> Frame:
        """The frame of the statement, for its subscripts."""
        return frame if self.setting is None else replace(frame, setting=self.setting)


_SILENT = (
    "number_literal", "char_literal", "string_literal", "concatenated_string", "true", "false", "null",
    "comment",
)


def touches(node: Node, frame: Frame, *, must: bool = True) -> tuple[Touch, ...]:
    """The accesses of evaluating `node`."""
    match node.type:
        case kind if kind in _SILENT:
            return ()
        case "sizeof_expression" | "alignof_expression":
            return _unevaluated(node)
        case "parenthesized_expression" | "comma_expression" | "expression_statement":
            return _all(named_children(node), frame, must=must)
        case "identifier" | "subscript_expression" | "field_expression":
            return _read(node, frame, must=must)
        case "pointer_expression" if operator(node) == "*":
            return _read(node, frame, must=must)
        case "unary_expression":
            return touches(field(node, "argument"), frame, must=must)
        case "cast_expression":
            return touches(field(node, "value"), frame, must=must)
        case "binary_expression":
            return _binary(node, frame, must=must)
        case "conditional_expression":
            branches = [part for part in named_children(node) if part != field(node, "condition")]
            return touches(field(node, "condition"), frame, must=must) + _all(branches, frame, must=False)
        case "assignment_expression":
            return _assignment(node, frame, must=must)
        case "update_expression":
            return _compound(field(node, "argument"), (), frame, must=must)
        case "call_expression":
            return _call(node, frame, must=must)
        case "compound_literal_expression" if _is_value_literal(node):
            return _listed(field(node, "value"), frame, must=must)
        case _:
            raise refuse(
                node,
                f"this expression cannot be read ({node.type.replace('_', ' ')})",
                "accepted: arithmetic, comparisons, ?:, casts, array elements, and calls of pure functions",
            )


def _is_value_literal(node: Node) -> bool:
    """Whether `(T){..}` is assigned, passed or returned as a whole, so that no pointer points to it."""
    around = node.beyond("parenthesized_expression", "conditional_expression")
    is_value = around is not None and around.type in ("assignment_expression", "init_declarator")
    kinds = {part.type for part in walk(field(node, "type"))}
    return is_value and not any("abstract" in kind for kind in kinds)


def _listed(node: Node, frame: Frame, *, must: bool) -> tuple[Touch, ...]:
    """The reads of the values in `{a, .x = b, {c}}`."""
    found: list[Touch] = []
    for part in named_children(node):
        value = field(part, "value") if part.type == "initializer_pair" else part
        if value.type == "initializer_list":
            found += _listed(value, frame, must=must)
        else:
            found += touches(value, frame, must=must)
    return tuple(found)


def _all(nodes: list[Node], frame: Frame, *, must: bool) -> tuple[Touch, ...]:
    return tuple(touch for node in nodes for touch in touches(node, frame, must=must))


def _unevaluated(node: Node) -> tuple[Touch, ...]:
    """The accesses of `sizeof`: none, as it needs only the type, except for `sizeof(int[k++])`."""
    for part in walk(node):
        if part.type in ("assignment_expression", "update_expression"):
            message = "whether this happens depends on the type around it"
            raise refuse(part, message, "do this in a statement of its own")
    return ()


def _binary(node: Node, frame: Frame, *, must: bool) -> tuple[Touch, ...]:
    left, right = field(node, "left"), field(node, "right")
    if operator(node) in ("&&", "||"):
        return touches(left, frame, must=must) + touches(right, frame, must=False)
    return touches(left, frame, must=must) + touches(right, frame, must=must)


def _read(node: Node, frame: Frame, *, must: bool) -> tuple[Touch, ...]:
    reference = _followed(node, frame)
    if reference is None:
        return (*_parts_read(node, frame), *anywhere(node))
    return _reference_read(reference, frame, must=must)


def _followed(node: Node, frame: Frame) -> Reference | None:
    """The storage of an lvalue, through pointers to rows; None if it is not tracked."""
    untracked = frame.setting.names.untracked
    reference = reference_of(node)
    if reference is None or {reference.base, reference.root.text} & untracked:
        return None
    found = through_row(reference, frame)
    return None if found.base in untracked else found


def anywhere(node: Node) -> list[Touch]:
    """The accesses of code that may read and write all storage."""
    return [Touch(ELSEWHERE, (), is_write, must=False, place=node.span) for is_write in (False, True)]


def _parts_read(node: Node, frame: Frame) -> tuple[Touch, ...]:
    """The accesses of the parts of an untracked lvalue; names in it are not tracked either."""
    inner = [part for part in named_children(node) if part.type not in ("identifier", "field_identifier")]
    return _all(inner, frame, must=False)


def _reference_read(reference: Reference, frame: Frame, *, must: bool) -> tuple[Touch, ...]:
    name = reference.base
    if not reference.subscripts and (name in frame.iterators or _is_fixed(name, frame)):
        return ()
    is_own = is_counted_inside(reference.node, name, frame.setting.whole)
    if name in frame.setting.names.iterators and not is_own:
        raise refuse(
            reference.node,
            f"'{name}' is the iterator of another loop, and is read outside it",
            "write the value itself: the value of an iterator after its loop is not tracked",
        )
    own = _touch(reference, is_write=False, must=must)
    return (*_subscript_reads(reference, frame, must=must), own)


def _touch(reference: Reference, *, is_write: bool, must: bool) -> Touch:
    """The access itself; a pointer inside an array may point anywhere, so it is to the whole array."""
    subscripts = () if reference.elsewhere else reference.subscripts
    certain = must and not reference.elsewhere and not (is_write and reference.partial)
    return Touch(reference.base, subscripts, is_write, certain, reference.node.span)


def _is_fixed(name: str, frame: Frame) -> bool:
    """Whether a name is a type, a substituted local, or a macro, which was checked to be invariant."""
    macro = definitions(frame.setting.macros, name) != () and name not in frame.setting.names.assigned
    return macro or frame.setting.kinds.is_type(name) or frame.local(name) is not None


def _subscript_reads(reference: Reference, frame: Frame, *, must: bool) -> tuple[Touch, ...]:
    terms = [term for subscript in reference.subscripts for term in subscript]
    return _all([*terms, *reference.inside], frame, must=must)


def _assignment(node: Node, frame: Frame, *, must: bool) -> tuple[Touch, ...]:
    value = touches(field(node, "right"), frame, must=must)
    if operator(node) == "=":
        target = reference_of(field(node, "left"))
        if target is not None and target.root.text not in frame.setting.names.untracked:
            refuse_pointer_value(field(node, "right"), frame)
        return value + write_to(field(node, "left"), frame, must=must)
    return _compound(field(node, "left"), value, frame, must=must)


def refuse_pointer_value(node: Node, frame: Frame) -> None:
    """Raise if a variable is assigned a pointer: it is an alias of the array that the model does not know."""
    core = without_parentheses(node)
    if core.type == "cast_expression":
        refuse_pointer_value(field(core, "value"), frame)
    elif core.type == "conditional_expression":
        for part in named_children(core)[1:]:
            refuse_pointer_value(part, frame)
    else:
        target, _ = pointer_sum(core)
        reference = reference_of(target)
        rank = 0 if reference is None else frame.setting.names.ranks.get(reference.base, 0)
        untracked = frame.setting.names.untracked
        if reference is None or reference.root.text in untracked:
            return
        if not reference.partial and len(reference.subscripts) < rank:
            message = f"'{node.text}' is a pointer, which cannot be followed"
            failure = refuse(node, message, "use the array itself, with all its subscripts")
            raise Unfollowed(failure, names=frozenset((reference.base,)))


def _compound(target: Node, value: tuple[Touch, ...], frame: Frame, *, must: bool) -> tuple[Touch, ...]:
    """The accesses of `x op= value`: reads of x and the value, a write of x."""
    return (*_own_read(target, frame, must=must), *value, *write_to(target, frame, must=must))


def _own_read(target: Node, frame: Frame, *, must: bool) -> tuple[Touch, ...]:
    element = element_of(frame.setting.kinds, target)
    if element is not None:
        return _through(element, target, frame, lambda node, inner: _own_read(node, inner, must=must))
    reference = _followed(target, frame)
    if reference is None:
        return ()
    return (_touch(reference, is_write=False, must=must),)


def write_to(target: Node, frame: Frame, *, must: bool) -> tuple[Touch, ...]:
    """The write of an assignment, with the reads of its subscripts."""
    element = element_of(frame.setting.kinds, target)
    if element is not None:
        return _through(element, target, frame, lambda node, inner: write_to(node, inner, must=must))
    reference = _followed(target, frame)
    if reference is None:
        return _read(target, frame, must=must)
    if reference.base in frame.iterators and not reference.subscripts:
        loop = frame.loops[frame.iterators.index(reference.base)]
        message = f"the loop iterator '{reference.base}' is assigned outside the head of its loop"
        raise Unfollowed(refuse(target, message, "use another variable"), loop.place)
    own = _touch(reference, is_write=True, must=must)
    return (*_subscript_reads(reference, frame, must=must), own)


def _call(node: Node, frame: Frame, *, must: bool) -> tuple[Touch, ...]:
    element = element_of(frame.setting.kinds, node)
    if element is not None:
        return _through(element, node, frame, lambda inner, around: touches(inner, around, must=must))
    function = field(node, "function")
    arguments = named_children(field(node, "arguments"))
    called = without_parentheses(function)
    if function.type == "parenthesized_expression" and called.type == "identifier":
        name = called.text
        raise refuse(
            function,
            f"'({name})(...)' may be a cast or a call",
            f"declare '{name}' in this file if it is a type; leave out the parentheses if it is a function",
        )
    found: list[Touch] = []
    is_given = any(without_parentheses(one).text in frame.setting.names.given for one in arguments)
    is_unknown = is_given or is_unknown_call(frame.setting, node)
    if is_unknown and function.type != "identifier":
        found += touches(function, frame, must=must)
    for index, argument in enumerate(arguments):
        core = without_parentheses(argument)
        if is_address(core):
            found += _address(field(core, "argument"), frame)
        else:
            evaluated = must and always_evaluated(frame.setting.macros, function.text, index)
            found += touches(argument, frame, must=evaluated and not is_unknown and not _may_be_array(core))
    if is_unknown:
        found += anywhere(node)
    return tuple(found)


def _may_be_array(argument: Node) -> bool:
    """Whether an argument is a member of an element: an array there is not read but pointed to."""
    reference = reference_of(argument)
    return reference is not None and reference.partial


def _through(
    element: Element, call: Node, frame: Frame, read: Callable[[Node, Frame], tuple[Touch, ...]]
) -> tuple[Touch, ...]:
    """The accesses of a macro expansion; their place is that of the call."""
    macros = inside(element, frame.setting.kinds).macros
    setting = replace(frame.setting, macros=macros)
    try:
        found = read(element.node, replace(frame, setting=setting))
    except BadInput as failure:
        message = f"in this macro: {failure.message}"
        raise refuse(call, message, failure.hint or "") from None
    return tuple(replace(t, place=call.span, setting=t.setting or setting) for t in found)


def _address(target: Node, frame: Frame) -> tuple[Touch, ...]:
    """The accesses of `&A[i]` as an argument: a pure function may read all of A; A must be storage."""
    found = _read(target, frame, must=False)
    if found and found[-1].base == ELSEWHERE:
        return found
    if found:
        found = (*found[:-1], replace(found[-1], subscripts=()))
    else:
        raise refuse(
            target,
            "the address of this is taken, but it is not storage that stays",
            "copy the value into a variable of its own first",
        )
    return found


def access_of(touch: Touch, frame: Frame, domain: isl.Set) -> Access:
    """`touch` as a relation from the instances of a statement, its `domain`, to cells.

    A subscript that is not affine does not constrain its dimension: the relation contains every
    cell that the statement may access.  Fewer subscripts than dimensions pass on a row: a function
    may go beyond its end, so they access all of the array.
    """
    frame = touch.within(frame)
    rank = frame.setting.names.ranks[touch.base]
    must = touch.must and len(touch.subscripts) == rank
    found: list[isl.PwAff | None] = [None] * rank
    for k, subscript in enumerate(touch.subscripts[:rank] if len(touch.subscripts) >= rank else ()):
        try:
            found[k] = affine_subscript(subscript, frame)
        except NotAffine:
            must = False
    cells = tuple_function(domain, frame.iterators, touch.base, found)
    return Access(touch.base, cells, touch.is_write, must, touch.place)


def shaped_access(
    touch: Touch, frame: Frame, domain: isl.Set, rank: int, found: Sequence[isl.PwAff] | None
) -> Access:
    """An access of a base read in `rank` dimensions, to the cell of the indices `found`, or to any."""
    indices = [*(found or ()), *[None] * rank][:rank]
    cells = tuple_function(domain, frame.iterators, touch.base, indices)
    return Access(touch.base, cells, touch.is_write, touch.must and found is not None, touch.place)


def affine_subscript(subscript: Subscript, frame: Frame) -> isl.PwAff:
    """The sum of the terms of a subscript; raises NotAffine if it is not affine."""
    value = number(0)
    for term in subscript:
        signed = affine(term, frame)
        if is_widened(type_in(term, frame), LONG):
            require_from_zero(term, signed, frame)
        value = value.sub(signed) if is_subtracted(term) else value.add(signed)
    return value


def holes(node: Node, frame: Frame) -> tuple[Hole | Inlined, ...]:
    """The occurrences in `node` of iterators, and of locals that have a definition."""
    found: list[Hole | Inlined] = []
    for part in walk(node):
        if part.type != "identifier":
            continue
        name = part.text
        local = frame.local(name)
        if local is not None and local.definition is not None:
            inner = holes(local.definition, frame)
            text = local.definition.spelled
            found.append(Inlined(part.span, text, inner, local.type, is_row=local.row is not None))
        elif name in frame.iterators:
            found.append(Hole(part.span, name, frame.loops[frame.iterators.index(name)].type))
    return tuple(found)
