"""How loops count: the number of iterations that came before, as a text.

    for (i = 0; i < n; i++)              i
    while (n--), while (n-- > 0)         k of for (k = 0; k < n; k++)
    for (p = a; p < a + n; p++)          k of for (k = 0; k < n; k++), p being a + k

Where a signed number is counted down from below 0, or a pointer passes the end that it is compared with, the
old loop is not defined: what calls may do until then is for the caller to find out.
"""

from __future__ import annotations

from collections.abc import Sequence

from loopwright.c.tokens import names_in, on_one_line, operand
from loopwright.c.typed import tree
from loopwright.c.typed.file import TypedRegion
from loopwright.c.types import ArrayType, Integer, Pointer, unqualified
from loopwright.lazy_dataclass import dataclass

OWN = (tree.Storage.AUTOMATIC, tree.Storage.PARAMETER)
_KINDS = {3: "int", 4: "long", 5: "long long"}
_LEAVING = ("BREAK_STMT", "CONTINUE_STMT", "GOTO_STMT", "SWITCH_STMT", "CASE_STMT", "DEFAULT_STMT")
_LOOPS = ("WHILE_STMT", "DO_STMT")


@dataclass(frozen=True)
class NumberedLoop:
    """How a loop counts: `number` is the text of how many iterations came before, from 0."""

    number: str
    body: tree.Statement
    head: tuple[tree.TokenRange, str] | None = None
    """The tokens of the head, and what stands for them where it changes."""
    gone: tuple[tree.Declaration, ...] = ()
    """What the new head no longer changes."""
    bound: tree.Expression | None = None
    """How many iterations there are, where that is known; below 0 there are none."""
    start: tuple[tree.Declaration, str] | None = None
    """The pointer that the old head gives its first value, and that value."""
    after: tuple[tree.Expression, ...] = ()
    """What the head does after each iteration besides counting, and does not where it changes."""
    ends_early: bool = True
    """Whether the new loop ends where the old one is not defined."""
    stride: int = 1
    """How far the old head moves the pointer that it gives its first value."""
    tested: tree.Declaration | None = None
    """The pointer that the old head compares, and the new one does not."""


def by_head(loop: tree.ForStatement, region: TypedRegion) -> NumberedLoop | None:
    """`for (i = a; i < b; i++)`, whatever the test is: iteration number i - a."""
    match loop.first, loop.step:
        case tree.Assign(operator="=", target=tree.Name(declaration=counter), value=value), step:
            first: tree.Expression | None = value
        case tree.Declare(variables=(tree.Declarator(declaration=counter, initial=first),)), step:
            pass
        case _:
            return None
    is_own = counter.storage in OWN and counter.offset not in region.function.addressed
    steps = [] if step is None else steps_of(step)
    counting = [one for one in steps if moved_variable(one) == counter]
    start = None if first is None else tree.without_casts(first)
    if not isinstance(unqualified(counter.type), Integer) or not is_own or len(counting) != 1:
        return None
    changed = [*tree.walk(loop.body), *(() if loop.test is None else tree.walk(loop.test))]
    if step_of(counting[0]) != 1 or any(moved_variable(one) == counter for one in changed):
        return None
    if not isinstance(start, tree.Number) or start.value is None or not start.text.isdigit():
        return None
    text = counter.name if start.value == 0 else f"({counter.name} - {start.value})"
    bound = _bound(loop.test, counter) if start.value == 0 else None
    after = tuple(one for one in steps if one is not counting[0])
    head = (step.place, on_one_line(counting[0].place.span.text)) if after and step is not None else None
    return NumberedLoop(text, loop.body, head, bound=bound, after=after, ends_early=False)


def steps_of(step: tree.Node) -> list[tree.Expression]:
    """The parts of `i++, p++`."""
    if isinstance(step, tree.Binary) and step.operator == ",":
        return [*steps_of(step.left), *steps_of(step.right)]
    return [step] if isinstance(step, tree.Expression) else []


def _bound(test: tree.Expression | None, counter: tree.Declaration) -> tree.Expression | None:
    """b of `i < b`."""
    core = None if test is None else tree.without_casts(test)
    if not isinstance(core, tree.Binary) or core.operator != "<":
        return None
    left = tree.without_casts(core.left)
    kinds = unqualified(core.left.type), unqualified(counter.type)
    is_counter = isinstance(left, tree.Name) and left.declaration == counter and kinds[0] == kinds[1]
    return tree.without_casts(core.right) if is_counter and kinds[0] == unqualified(core.right.type) else None


def by_countdown(loop: tree.Node, region: TypedRegion) -> NumberedLoop | None:
    """`while (n--)`, `while (n-- > 0)`."""
    parts = parts_of(loop)
    if parts is None or parts[0] is not None or parts[2] is not None:
        return None
    test = tree.without_casts(parts[1])
    is_exact = False
    if isinstance(test, tree.Binary) and test.operator in (">", "!="):
        right = tree.without_casts(test.right)
        if not isinstance(right, tree.Number) or right.value != 0:
            return None
        is_exact, test = test.operator == ">", tree.without_casts(test.left)
    counter = moved_variable(test)
    if not isinstance(test, tree.Update) or test.is_prefix or test.operator != "--" or counter is None:
        return None
    kind = unqualified(counter.type)
    body = parts[3]
    names = {one.declaration.offset for one in tree.walk(body) if isinstance(one, tree.Name)}
    if not isinstance(kind, Integer) or kind.rank < 1 or counter.offset in names:
        return None
    if kind.signed and kind.rank < 3 and not is_exact:
        return None  # it may wrap around, and go on
    fresh = fresh_name(region)
    text = f"for ({counter_type(kind)} {fresh} = 0; {fresh} < {counter.name}; {fresh}++)"
    head = head_of(loop, body, region)
    ends_early = kind.signed and not is_exact
    return NumberedLoop(fresh, body, (head, text), (counter,), ends_early=ends_early)


def by_pointer(loop: tree.Node, region: TypedRegion) -> NumberedLoop | None:
    """`for (p = a; p < a + n; p++)`, also with !=."""
    parts = parts_of(loop)
    match parts:
        case (tree.Assign(operator="=", target=tree.Name(declaration=walker), value=first), test, step, body):
            pass
        case (
            tree.Declare(variables=(tree.Declarator(declaration=walker, initial=initial),)),
            test,
            step,
            body,
        ) if initial is not None:
            first = initial
        case _:
            return None
    if not isinstance(step, tree.Update) or step.operator != "++" or moved_variable(step) != walker:
        return None
    core, start = tree.without_casts(test), tree.without_casts(first)
    if not isinstance(core, tree.Binary) or core.operator not in ("<", "!="):
        return None
    left, end = tree.without_casts(core.left), tree.without_casts(core.right)
    is_walked = isinstance(left, tree.Name) and left.declaration == walker
    if not is_walked or not isinstance(end, tree.Binary) or end.operator != "+":
        return None
    base, count = tree.without_casts(end.left), tree.without_casts(end.right)
    if not (isinstance(base, tree.Name) and isinstance(start, tree.Name)):
        return None
    inside = [*tree.walk(body)]
    stable = {base.declaration, *_stable(count, inside, region)}
    if base.declaration != start.declaration or not _is_stable(base.declaration, inside, region):
        return None
    kind = unqualified(count.type)
    if len(stable) < 2 and not isinstance(count, tree.Number):
        return None
    if not isinstance(kind, Integer) or count.place.macro is not None or not same_target(walker, base):
        return None
    fresh = fresh_name(region)
    text = on_one_line(count.place.span.text)
    text = f"for ({counter_type(kind)} {fresh} = 0; {fresh} < {text}; {fresh}++)"
    head = (head_of(loop, body, region), text)
    return NumberedLoop(
        fresh, body, head, (walker,), start=(walker, base.declaration.name), ends_early=core.operator == "!="
    )


def parts_of(
    loop: tree.Node,
) -> tuple[tree.Node | None, tree.Expression, tree.Node | None, tree.Statement] | None:
    """First, test, step and body of a loop that tests first."""
    match loop:
        case tree.ForStatement(first=first, test=test, step=step, body=body) if test is not None:
            return first, test, step, body
        case tree.OtherStatement(kind="WHILE_STMT", parts=(test, body)) if isinstance(test, tree.Expression):
            if isinstance(body, tree.Expression):
                return None, test, None, tree.Evaluate(body.place, body)
            if isinstance(body, tree.Statement):
                return None, test, None, body
    return None


def same_target(walker: tree.Declaration, base: tree.Name) -> bool:
    """Whether a pointer has the elements of what it starts at, but for `const`."""
    mine, theirs = unqualified(walker.type), unqualified(base.declaration.type)
    element = theirs.target if isinstance(theirs, Pointer) else None
    element = theirs.element if isinstance(theirs, ArrayType) else element
    if not isinstance(mine, Pointer) or element is None:
        return False
    return unqualified(mine.target) == unqualified(element)


def count_text(bound: tree.Expression, inside: Sequence[tree.Node], region: TypedRegion) -> str | None:
    """The text of a number that a loop leaves alone."""
    core = tree.without_casts(bound)
    known = _stable(core, inside, region)
    if core.place.macro is not None or not (known or isinstance(core, tree.Number)):
        return None
    return operand(on_one_line(core.place.span.text))


def _stable(
    count: tree.Expression, inside: Sequence[tree.Node], region: TypedRegion
) -> set[tree.Declaration]:
    """The names of a sum or a product of own variables that the loop leaves alone; none of another."""
    found: set[tree.Declaration] = set()
    for part in tree.walk(count):
        match part:
            case tree.Name(declaration=declared) if _is_stable(declared, inside, region):
                found.add(declared)
            case tree.Number() | tree.Binary(operator="+" | "-" | "*") | tree.Cast(is_implicit=True):
                continue
            case _:
                return set()
    return found


def _is_stable(one: tree.Declaration, inside: Sequence[tree.Node], region: TypedRegion) -> bool:
    is_own = one.storage in OWN and one.offset not in region.function.addressed
    is_own = is_own or isinstance(unqualified(one.type), ArrayType)
    shadowed = any(isinstance(x, tree.Declarator) and x.declaration.name == one.name for x in inside)
    return is_own and not shadowed and not any(moved_variable(x) == one for x in inside)


def counter_type(kind: Integer) -> str:
    """A type that has all values of an integer type, and computes like it."""
    return ("" if kind.signed or kind.rank < 3 else "unsigned ") + _KINDS[max(3, kind.rank)]


def fresh_name(region: TypedRegion) -> str:
    used, number = set(names_in(region.place.source.text)), 1
    while f"k_{number}" in used:
        number += 1
    return f"k_{number}"


def head_of(loop: tree.Node, body: tree.Statement, region: TypedRegion) -> tree.TokenRange:
    """The tokens of a loop before its body."""
    tokens = region.function.tokens
    first, end = loop.place.first, body.place.first
    span = tokens[first].span
    return tree.TokenRange(first, end, span.source.at(span.start, tokens[end - 1].span.end - span.start))


def moved_variable(node: tree.Node) -> tree.Declaration | None:
    """The variable that an expression changes."""
    if not isinstance(node, tree.Update | tree.Assign):
        return None
    target = tree.without_casts(node.target)
    return target.declaration if isinstance(target, tree.Name) else None


def step_of(node: tree.Node) -> int | None:
    """How far an expression moves a pointer."""
    match node:
        case tree.Update(operator=operator):
            return 1 if operator == "++" else -1
        case tree.Assign(operator="+=" | "-=" as operator, value=value):
            core = tree.without_casts(value)
            if isinstance(core, tree.Number) and core.value is not None and core.text.isdigit():
                return core.value if operator == "+=" else -core.value
    return None


def runs_through(inside: Sequence[tree.Node]) -> bool:
    """Whether nothing leaves a body, or an iteration of it, before its end."""
    return not any(
        isinstance(one, tree.Return | tree.Labelled)
        or (isinstance(one, tree.OtherStatement) and one.kind in _LEAVING)
        for one in inside
    )


def is_shadowed(text: str, inside: Sequence[tree.Node]) -> bool:
    names = {*names_in(text)}
    return any(isinstance(one, tree.Declarator) and one.declaration.name in names for one in inside)


def loops_around(
    loop: tree.Node, nodes: Sequence[tree.Node]
) -> list[tree.ForStatement | tree.OtherStatement]:
    """From the inside out."""
    found = [
        node
        for node in nodes
        if (
            isinstance(node, tree.ForStatement)
            or (isinstance(node, tree.OtherStatement) and node.kind in _LOOPS)
        )
        and node.place.first < loop.place.first
        and node.place.end >= loop.place.end
    ]
    return sorted(found, key=lambda one: -one.place.first)
