"""Finds unspecified and undefined behaviour that runs of the segment do not reveal.

In C, behaviour is undefined if one operand modifies what another one uses (`a[i] = i++`), if a modified local
variable is read after `longjmp`, if a value is used that a function did not return, and if memory is read
with another type than it was written.  Compilers differ, and no sanitizer reports it.

A loop that counts away from its bound, `for (i = 0; i < n; i--)`, ends by an overflow, if it ends.  A signed
iterator that overflows has no value, and what one run does then says nothing about others; a compiler may
remove the iterations in which nothing is done.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from loopwright.c.declarations import Variable
from loopwright.c.loops import LOOPS, added_to, binary
from loopwright.c.syntax import Node, field, named_children, operator, stands_as, walk, without_parentheses
from loopwright.c.tokens import RETURNING_TWICE
from loopwright.check.program.control import NEVER_RETURN, decided_by_arguments
from loopwright.check.program.reachable import Function, ReachedCode
from loopwright.check.program.sites import Sites

_LEAVES = ("return_statement", "goto_statement")
_ANY_TYPE = frozenset(("void", "char", "uint8_t", "int8_t"))
_DROPPED = frozenset(
    ("const", "volatile", "restrict", "static", "extern", "register", "unsigned", "signed", "int")
)
"""Keywords that do not change the type of an access: signed and unsigned types of one size count as one."""


def unseen(sites: Sites) -> str | None:
    """Return why a correct run does not imply that the program is correct."""
    found = unseen_in(sites.known)
    if found is not None:
        return found
    decided = decided_by_arguments(sites)
    if decided is not None:
        return f"the command line decides which operations run, at {decided.span.place}"
    return None


def unseen_in(known: ReachedCode) -> str | None:
    """The undefined or unspecified behaviour in the code of the segment."""
    changed = next(_unordered(known), None)
    if changed is not None:
        where = changed.span.place
        return f"'{changed.text}' is changed and used in one expression in no defined order, at {where}"
    lost = next(_lost(known), None)
    if lost is not None:
        return f"'{lost.text}' may have an undefined value at {lost.span.place}, where setjmp returns again"
    call = next(_without_value(known), None)
    if call is not None:
        return f"'{call.text}' may be used at {call.span.place}, and the function may end without a value"
    cast = next(of_other_type(known), None)
    if cast is not None:
        return f"'{cast.text}' at {cast.span.place} may access memory by another type than it was written"
    return None


def _calls(known: ReachedCode) -> Iterator[Node]:
    return (node for body in known.bodies for node in body.of_type("call_expression"))


def _lost(known: ReachedCode) -> Iterator[Node]:
    """Uses of variables after `setjmp`, before a new value, if they are modified after it."""
    for jump in _calls(known):
        if field(jump, "function").text not in RETURNING_TWICE:
            continue
        statement = jump
        while statement.parent is not None and not statement.type.endswith("_statement"):
            statement = statement.parent
        functions = [*known.functions, *([known.around] if known.around is not None else [])]
        for function in (one.node for one in functions if one.node.span.contains(jump.span)):
            changed = {one.text for one in _changed(function) if one.start > jump.start}
            first = statement.child_by_field_name("consequence") or statement
            for name in sorted(changed):
                later = [one for one in function.named(name) if one.start >= first.end]
                yield from (one for one in later[:1] if not _is_replaced(one))


def _is_replaced(use: Node) -> bool:
    outer = use.parent
    return outer is not None and stands_as(use, "left", "assignment_expression") and operator(outer) == "="


def _unordered(known: ReachedCode) -> Iterator[Node]:
    """Variables modified in one operand and used in another, or modified twice, without a sequence point."""
    kinds = ("binary_expression", "assignment_expression", "argument_list", "subscript_expression")
    for node in (node for body in known.bodies for node in body.of_type(*kinds)):
        parts = named_children(node)
        if node.type == "binary_expression" and operator(node) in ("&&", "||", ","):
            continue
        changes = [list(_changed(part)) for part in parts]
        if not any(changes):
            continue
        for k, own in enumerate(changes):
            like = {one.type for one in own}
            others = [one.text for j, part in enumerate(parts) if j != k for one in _named(part, like)]
            yield from (one for one in own if one.text in others)
        if node.type == "assignment_expression":
            target = without_parentheses(field(node, "left")).text
            yield from (one for own in changes for one in own if one.text == target)


def _changed(node: Node) -> Iterator[Node]:
    """The variables that an expression assigns."""
    for part in walk(node):
        if part.type == "update_expression":
            target = without_parentheses(field(part, "argument"))
        elif part.type == "assignment_expression":
            target = without_parentheses(field(part, "left"))
        else:
            continue
        yield target


def _named(node: Node, kinds: Collection[str] = ("identifier",)) -> Iterator[Node]:
    return (part for part in walk(node) if part.type in kinds and not _is_size(part))


def _is_size(node: Node) -> bool:
    return node.parent is not None and node.parent.type == "sizeof_expression"


def _without_value(known: ReachedCode) -> Iterator[Node]:
    """Calls whose value is used, of functions that may reach their end without `return`."""
    open_ended = {one.name for one in known.functions if _has_value(one) and _goes_on(one.body)}
    for call in _calls(known):
        used = call.parent is not None and call.parent.type != "expression_statement"
        if used and field(call, "function").text in open_ended:
            yield call


def _has_value(function: Function) -> bool:
    kind = function.node.child_by_field_name("type")
    declarator = function.node.child_by_field_name("declarator")
    is_pointer = declarator is not None and declarator.type == "pointer_declarator"
    return is_pointer or (kind is not None and kind.text != "void")


def _goes_on(node: Node) -> bool:
    """Whether control may reach the end of a statement."""
    match node.type:
        case "compound_statement":
            return all(_goes_on(one) for one in named_children(node))
        case "if_statement":
            other = node.child_by_field_name("alternative")
            branches = [] if other is None else [named_children(other)[-1]]
            return not branches or any(_goes_on(one) for one in (field(node, "consequence"), *branches))
        case "labeled_statement":
            return _goes_on(named_children(node)[-1])
        case "expression_statement":
            inside = named_children(node)
            called = inside[0] if inside and inside[0].type == "call_expression" else None
            return called is None or field(called, "function").text not in NEVER_RETURN
        case "for_statement" | "while_statement" | "do_statement":
            return not _is_endless(node)
        case "switch_statement":
            return _switch_goes_on(node)
        case kind:
            return kind not in _LEAVES


def _is_endless(loop: Node) -> bool:
    condition = loop.child_by_field_name("condition")
    text = "1" if condition is None else without_parentheses(condition).text
    return text == "1" and not loop.of_type("break_statement")


def _switch_goes_on(node: Node) -> bool:
    """With a default, no `break`, and a last statement that leaves, control does not reach the end."""
    cases = [one for one in named_children(field(node, "body")) if one.type == "case_statement"]
    has_default = any(one.children[0].type == "default" for one in cases)
    last = named_children(cases[-1])[-1] if cases and named_children(cases[-1]) else None
    return not has_default or last is None or _goes_on(last) or bool(node.of_type("break_statement"))


def of_other_type(known: ReachedCode) -> Iterator[Node]:
    """Pointers to numbers of one type that are converted to pointers to another, also through `void *`."""
    for node, kind, value in (*_casts(known), *_given_on(known)):
        for origin in _origins(known, value, frozenset()):
            types = [_plain(known, one) for one in (kind, origin.type)]
            if types[0] != types[1] and not _ANY_TYPE & set(types):
                yield node


def _casts(known: ReachedCode) -> Iterator[tuple[Node, str, Node]]:
    """Casts to pointers: the type and the operand."""
    for cast in (node for body in known.bodies for node in body.of_type("cast_expression")):
        kind, star, _ = field(cast, "type").text.partition("*")
        if star:
            yield cast, kind.split("(")[0], field(cast, "value")


def _given_on(known: ReachedCode) -> Iterator[tuple[Node, str, Node]]:
    """Pointers to `void` that are assigned without a cast: the new type and the pointer."""
    for target, value in _assigned(known):
        given = known.declarations.visible(value.text, value.span)
        if value.type == "identifier" and given is not None and _plain(known, given.type) == "void":
            yield value, target.type, value


def _assigned(known: ReachedCode) -> Iterator[tuple[Variable, Node]]:
    """The variables of the code with the values assigned to them; parameters get arguments."""
    for node in (node for body in known.bodies for node in walk(body)):
        if node.type in ("init_declarator", "assignment_expression"):
            is_new = node.type == "init_declarator"
            target = field(node, "declarator" if is_new else "left")
            name = next((one for one in walk(target) if one.type == "identifier"), target)
            value = without_parentheses(field(node, "value" if is_new else "right"))
            found = known.declarations.visible(name.text, value.span)
            if found is not None and (is_new or name == target):
                yield found, value
    functions = {one.name: one for one in known.functions}
    for call in _calls(known):
        function = functions.get(field(call, "function").text)
        if function is None:
            continue
        arguments = named_children(field(call, "arguments"))
        for parameter, value in zip(function.parameters, arguments, strict=False):
            found = None if parameter is None else known.declarations.visible(parameter, function.body.span)
            if found is not None:
                yield found, value


def _origins(known: ReachedCode, value: Node, passed: frozenset[str]) -> Iterator[Variable]:
    """The variables that a pointer may point to: for a `void *`, those whose addresses it is assigned."""
    root = _root(value)
    found = None if root is None else known.declarations.visible(root.text, value.span)
    if found is None or found.name in passed:
        return
    if _plain(known, found.type) != "void":
        yield found
        return
    for target, given in _assigned(known):
        if target == found:
            yield from _origins(known, given, passed | {found.name})


def _root(node: Node) -> Node | None:
    """The variable that a pointer is derived from: the first name, unless a function or member yields it."""
    if any(part.type in ("call_expression", "field_expression") for part in walk(node)):
        return None
    return next((part for part in walk(node) if part.type == "identifier"), None)


def _plain(known: ReachedCode, text: str) -> str:
    words = known.declarations.resolved(text).split()
    return " ".join(word for word in words if word not in _DROPPED) or "int"


_GROWING = {"<": 1, "<=": 1, ">": -1, ">=": -1}
"""The sign of the steps of the left side that end a loop, by the comparison in its test."""


def counts_away(loop: Node) -> bool:
    """Whether a variable in the test of a loop is changed so that the test holds for longer."""
    test = loop.child_by_field_name("condition") if loop.type in LOOPS else None
    changes = loop.of_type("update_expression", "assignment_expression")
    return any((added_to(one, name) or 0) * sign < 0 for name, sign in _compared(test) for one in changes)


def _compared(test: Node | None) -> Iterator[tuple[str, int]]:
    """Yields the variables of a test, each with the sign of the steps that make it fail."""
    parts = binary(test)
    if parts is None:
        return
    if parts.sign in ("&&", "||"):
        yield from _compared(parts.left)
        yield from _compared(parts.right)
    sign = _GROWING.get(parts.sign, 0)
    yield parts.left.text, sign
    yield parts.right.text, -sign
