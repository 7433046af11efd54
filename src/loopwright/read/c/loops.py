"""The values that a `for` loop gives its iterator.

    { i : i = start + k * step, k >= 0, and the test holds of start, start + step, ..., i }

For a test that only bounds the iterator from above (from below, counting down) the last part is
"the test holds of i".  Any other test, such as `i != n`, is evaluated by the definition, and the
loop must be proved to end.
"""

from __future__ import annotations

from dataclasses import replace

import islpy as isl

from loopwright.c.declarations import is_floating_type, is_unsigned_type, type_text
from loopwright.c.loops import countdown_of, first_value, loop_iterator, unit_step
from loopwright.c.syntax import Node, field, operator, refuse, walk, without_parentheses
from loopwright.errors import Code
from loopwright.presburger.named import (
    constant_value,
    everywhere,
    number,
    onwards,
    parameter_values,
    variable,
    whole,
    without_parameters,
)
from loopwright.read.c.affine import affine, condition, constant, with_constants
from loopwright.read.c.frames import Frame, Loop, NotAffine, not_affine
from loopwright.read.c.index_calls import alternatives
from loopwright.read.c.wraparound import depends_on_iterators, require_convertible

_ACCEPTED = "accepted: for (i = a; i < b; i++), also <=, >, >=, ++i, i--, i += 2, i = i + 2"


def enter_loop(node: Node, frame: Frame, position: int) -> Frame:
    """The frame in the body of the loop `node`."""
    iterator = _iterator(node, frame)
    countdown = countdown_of(node)
    if countdown is not None and countdown.name.text == iterator:
        return _counted_down(node, frame, position, iterator, countdown.limit)
    step = _step(node, frame, iterator)
    start = _first(node, frame, iterator)
    test = node.child_by_field_name("condition")
    if test is None:
        raise refuse(_head(node), "this loop does not end", _ACCEPTED)
    loop = Loop(iterator, 1 if step > 0 else -1, node.span, declared_type(node, frame, iterator))
    is_single = abs(step) == 1
    values = _onwards(node, frame, iterator, step) if is_single else _progression(iterator, start, step)
    steps = frame.domain.intersect(values)
    inside = frame.inside(loop, position, steps)
    try:
        passing = condition(test, replace(inside.where(_counted(loop)), in_head=True))
    except NotAffine as failure:
        raise not_affine(failure, "the test of a loop") from None
    if _bounds_only(test, iterator, step, frame):
        domain = steps.intersect(passing)
    else:
        domain = _until_first_failure(node, inside, passing, step)
    _refuse_wrap(node, frame, iterator, domain, step)
    return frame.inside(loop, position, domain.coalesce())


def _counted_down(node: Node, frame: Frame, position: int, iterator: str, limit: Node | None) -> Frame:
    """{ i : i < start and i + 1 > limit }, for `for (i = start; i-- > limit;)`."""
    start = _first(node, frame, iterator)
    below = frame.known().intersect(start.lt_set(number(0)))
    if limit is None and depends_on_iterators(start, frame) and not below.is_empty():
        raise refuse(_head(node), "this loop may start below 0, and then does not end", _ACCEPTED)
    end = number(0) if limit is None else _given(limit, "the test of a loop", node, frame, iterator)
    value = variable(iterator)
    domain = frame.domain.intersect(value.lt_set(start)).intersect(value.add(number(1)).gt_set(end))
    loop = Loop(iterator, -1, node.span, declared_type(node, frame, iterator))
    return frame.inside(loop, position, domain.coalesce())


def _first(node: Node, frame: Frame, iterator: str) -> isl.PwAff:
    """The initial value of a loop's iterator."""
    return _given(first_value(node), "the initial value of a loop", node, frame, iterator)


def _given(value: Node, what: str, node: Node, frame: Frame, iterator: str) -> isl.PwAff:
    """A value assigned to the iterator, or compared with it, in the head of a loop."""
    try:
        found = affine(value, replace(frame, in_head=True))
        require_convertible(value, found, declared_type(node, frame, iterator), frame)
    except NotAffine as failure:
        raise not_affine(failure, what) from None
    return found


def _counted(loop: Loop) -> isl.Set:
    """The range of the iterator in a loop's test: nonnegative if it is unsigned (`_refuse_wrap`)."""
    return variable(loop.iterator).ge_set(number(0)) if is_unsigned_type(loop.type) else everywhere()


def _head(node: Node) -> Node:
    """The `for` keyword, where a message about the whole loop points."""
    return node.children[0]


def _iterator(node: Node, frame: Frame) -> str:
    name = loop_iterator(node)
    start = node.child_by_field_name("initializer")
    if name is None or start is None:
        where = _head(node) if start is None else start
        hint = _ACCEPTED if start is None else f"{_ACCEPTED}; write a second counter as an expression of it"
        raise refuse(where, "a loop must initialise exactly one integer", hint)
    if start.type == "assignment_expression" and operator(start) != "=":
        raise refuse(start, "a loop must initialise its iterator", _ACCEPTED)
    if name in frame.iterators:
        raise refuse(start, f"'{name}' is already the iterator of a loop around this one", "use another name")
    declared = declared_type(node, frame, name)
    if is_floating_type(declared):
        raise refuse(start, f"the iterator '{name}' is a '{declared}', not an integer", "declare it as int")
    return name


def declared_type(node: Node, frame: Frame, iterator: str) -> str:
    """The type of a loop's iterator, `int` if undeclared."""
    setting = frame.setting
    start = field(node, "initializer")
    if start.type == "declaration":
        return setting.declarations.resolved(type_text(start, qualifiers=False))
    declared = setting.declarations.visible(iterator, node.span)
    return "int" if declared is None else setting.declarations.resolved(declared.type)


def _step(node: Node, frame: Frame, iterator: str) -> int:
    """The constant added after each iteration; not 0."""
    update = node.child_by_field_name("update")
    if update is None:
        raise refuse(_head(node), "this loop does not change its iterator", _ACCEPTED)
    update = without_parentheses(update)
    try:
        step = _increment(update, frame, iterator)
    except NotAffine as failure:
        raise refuse(
            failure.node,
            f"the step of a loop must be a constant; {failure.reason}",
            _ACCEPTED,
            code=Code.NOT_AFFINE,
        ) from None
    if step is None:
        raise refuse(update, f"this does not add a constant to '{iterator}'", _ACCEPTED)
    if step == 0:
        raise refuse(update, "this loop does not change its iterator", _ACCEPTED)
    return step


def _increment(update: Node, frame: Frame, iterator: str) -> int | None:
    """The step of i++, ++i, i--, --i, i += c, i -= c, and of i = e where e - i is a constant."""
    if update.type == "update_expression":
        return unit_step(update, iterator)
    if update.type != "assignment_expression":
        return None
    if without_parentheses(field(update, "left")).text != iterator:
        return None
    right = without_parentheses(field(update, "right"))
    match operator(update):
        case "+=":
            return constant(right, frame)
        case "-=":
            return -constant(right, frame)
        case "=":
            inside = frame.inside(Loop(iterator, 1, update.span), 0, frame.domain)
            value = affine(right, with_constants(right, inside))
            return constant_value(value.sub(variable(iterator)))
    return None


def _progression(iterator: str, start: isl.PwAff, step: int) -> isl.Set:
    """{ i : i = start + k * step, k >= 0 }."""
    distance = variable(iterator).sub(start)
    if step < 0:
        distance = distance.neg()
    values = distance.ge_set(number(0))
    return values.intersect(distance.mod_val(whole(abs(step))).eq_set(number(0)))


def _onwards(node: Node, frame: Frame, iterator: str, step: int) -> isl.Set:
    """{ i : i >= first }, or i <= first counting down; for `max(a, b)`, both bounds as a single set."""
    value, head = variable(iterator), replace(frame, in_head=True)
    found = everywhere()
    for part in alternatives(first_value(node), head, "max" if step > 0 else "min"):
        first = affine(part, head)
        found = found.intersect(value.ge_set(first) if step > 0 else value.le_set(first))
    return found


def _bounds_only(test: Node, iterator: str, step: int, frame: Frame) -> bool:
    """Whether `test` is a conjunction of bounds `i < e` (`i > e` counting down), with e free of i."""
    core = without_parentheses(test)
    if core.type != "binary_expression":
        return False
    left, right = field(core, "left"), field(core, "right")
    name = operator(core)
    if name == "&&":
        return _bounds_only(left, iterator, step, frame) and _bounds_only(right, iterator, step, frame)
    upper = ("<", "<=") if step > 0 else (">", ">=")
    lower = (">", ">=") if step > 0 else ("<", "<=")
    if without_parentheses(left).text == iterator and not _mentions(right, iterator):
        return name in upper
    if without_parentheses(right).text == iterator and not _mentions(left, iterator):
        return name in lower
    return False


def _mentions(node: Node, name: str) -> bool:
    return any(part.type == "identifier" and part.text == name for part in walk(node))


def _until_first_failure(node: Node, inside: Frame, passing: isl.Set, step: int) -> isl.Set:
    """The steps before the first that fails the test; raises unless there is one for every size."""
    iterator = inside.loops[-1].iterator
    steps = inside.domain
    failing = steps.subtract(passing)
    later = onwards(failing, iterator, up=step > 0)
    endless = without_parameters(steps.intersect(inside.setting.context), [iterator]).subtract(
        without_parameters(failing, [iterator])
    )
    if not endless.is_empty():
        test = field(node, "condition")
        raise refuse(
            test,
            "this loop is not known to end: " + _example(endless),
            "use < or >, or state what holds for the sizes: #pragma loopwright assume n >= 0, or --assume",
        )
    known = inside.setting.context
    return steps.subtract(later).intersect(known).coalesce().gist(known)


def _example(endless: isl.Set) -> str:
    point = endless.sample_point()
    names = [f"{name} = {value}" for name, value in parameter_values(point).items()]
    return "it does not for " + ", ".join(names) if names else "its test never fails"


def _refuse_wrap(node: Node, frame: Frame, iterator: str, domain: isl.Set, step: int) -> None:
    """Raise if an unsigned iterator that counts down may become negative, and thus huge."""
    if step > 0 or not is_unsigned_type(declared_type(node, frame, iterator)):
        return
    below = variable(iterator).add(number(step)).lt_set(number(0))
    if not domain.intersect(below).intersect(frame.setting.context).is_empty():
        raise refuse(
            field(node, "condition"),
            f"'{iterator}' is unsigned and would be counted down below 0",
            "declare it as a signed integer",
        )


def loop_comments(node: Node) -> list[Node]:
    """The comments between the head of a loop and its body."""
    body = field(node, "body")
    comments = [part for part in node.named_children if part.type == "comment"]
    return [comment for comment in comments if comment.end <= body.start]


def is_counted_otherwise(node: Node, frame: Frame) -> bool:
    """Whether a loop counts, and tests its counter, but not in a way that a set of values describes.

    Examples: a step `i += k` or `i = i + k` that is not a constant, `i *= 2`; two counters; a counter that is
    already initialised.
    """
    update, test = node.child_by_field_name("update"), node.child_by_field_name("condition")
    if update is None or test is None:
        return False
    update = without_parentheses(update)
    if update.type == "comma_expression":
        names = [name for part in walk(update) if (name := _counted_name(part)) is not None]
        return any(_mentions(test, name) for name in names)
    if node.child_by_field_name("initializer") is None:
        counted = _counted_name(update)
        return counted is not None and _mentions(test, counted)
    name = loop_iterator(node)
    return name is not None and _has_changing_step(update, name, frame)


def _counted_name(node: Node) -> str | None:
    """The i of `i++`, `--i`, `i += k`."""
    match node.type:
        case "update_expression":
            target = without_parentheses(field(node, "argument"))
        case "assignment_expression" if operator(node) in ("+=", "-="):
            target = without_parentheses(field(node, "left"))
        case _:
            return None
    return target.text if target.type == "identifier" else None


def _has_changing_step(update: Node, name: str, frame: Frame) -> bool:
    if update.type != "assignment_expression" or without_parentheses(field(update, "left")).text != name:
        return False
    right, sign = without_parentheses(field(update, "right")), operator(update)
    if sign == "=" and right.type == "binary_expression":
        if without_parentheses(field(right, "left")).text != name:
            return False
        right, sign = field(right, "right"), operator(right) + "="
    if _mentions(right, name):
        return False
    if sign in ("*=", "/=", "<<=", ">>="):
        return True
    if sign not in ("+=", "-="):
        return False
    try:
        constant(right, frame)
    except NotAffine:
        return True
    return False
