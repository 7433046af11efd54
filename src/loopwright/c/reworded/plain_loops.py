"""Rewrites counting loops as plain `for` loops, in equivalent C.

    i = a; while (c) { B; i++; }                      for (i = a; c; i++) { B; }       no `continue` in B
    for (i = a; c; i++) { if (b) break; B; }          for (i = a; c && !(b); i++) { B; }
    if (c) do { B; } while (c);                       while (c) { B; }
    i = 0; if (n > 0) do { B; } while (i < n);        i = 0; while (i < n) { B; }     of an int
    i = 0; do { B; } while (i < 10);                  i = 0; while (i < 10) { B; }     the first test holds
    do { B; } while (0);                              { B; }                           no jump out of B
    do { B; } while (++i < n);                        do { B; ++i; } while (i < n);    no `continue` in B
    switch (e) { case 2: A; case 1: B; }              see `jumps`

Each is an identity of C, for all types: the same expressions are evaluated in the same order.  An
initialiser moves to its loop only across assignments of names and numbers to other names.  Macros are not
expanded: the caller must check whether they hide a jump or an assignment.  Line numbers do not change.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from loopwright.c.declarations import declared_name
from loopwright.c.file import c_file
from loopwright.c.loops import LOOPS, binary, countdown_of, only_inside
from loopwright.c.reworded.jumps import without_switch
from loopwright.c.reworded.passages import edited_while, passages
from loopwright.c.syntax import Node, field, identifiers, named_children, operator, walk, without_parentheses
from loopwright.c.tokens import blank, decimal, names_in, on_one_line, spelled, without_comments
from loopwright.errors import BadInput
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Edit, Source, Span

_MOST = 200
"""The maximum number of loops of a file that are rewritten."""
_SIMPLE = (
    *("identifier", "number_literal"),
    *("unary_expression", "binary_expression", "parenthesized_expression"),
)
_DIRECTED = re.compile(r"\bomp\b(?!\s+(parallel|for|simd)\b)|\b(collapse|ordered)\b|\\\n")
"""Pragmas that affect loops further inside."""
_OTHER = re.compile(r"(?:while|do|break|switch)\b|for\s*\(\s*;|;\s*\)")
"""Matches every source that can be rewritten: such a keyword, or a loop head that lacks a part."""
_SWAPPED = {">": "<", ">=": "<="}


def with_plain_loops(source: Source) -> Source:
    """The source with the loops of its regions as plain `for` loops, if they have one of these forms."""
    text = without_comments(source.text, literals=False)
    try:
        places = [region.place for region in c_file(source).regions]
    except BadInput:
        return source
    if not any(_OTHER.search(text, place.start, place.end) for place in places):
        return source
    return edited_while(source, _edits, _MOST)


def _edits(source: Source) -> Iterator[list[Edit]]:
    """Edits that make one loop plain, for each loop that qualifies, inner loops first."""
    for passage in passages(source):
        if any(_DIRECTED.search(pragma.place.text) for pragma in passage.region.pragmas):
            continue
        for node in reversed([*walk(passage.block)]):
            edits = without_switch(node) if node.type == "switch_statement" else None
            if node.type in LOOPS:
                edits = _tested_first(node) if node.type == "do_statement" else _counted(node)
            if edits and not passage.is_directed(node):
                yield edits


@dataclass(frozen=True)
class _Part:
    """A statement's expression that moves into the head of a loop, and the edits of the statement."""

    text: str
    statement: Node
    edits: tuple[Edit, ...] = ()


def _counted(loop: Node) -> list[Edit] | None:
    """Edits that give a loop a complete head, including the tests that its body starts with."""
    is_while = loop.type == "while_statement"
    body = field(loop, "body")
    inside = named_children(body) if body.type == "compound_statement" else [body]
    condition, start, update = _head(loop)
    tests = [] if condition is None or _is_true(condition) else [on_one_line(condition.text)]
    left = [_left_out(one) for one in _breaks(inside)]
    tests += [f"!{field(one, 'condition').text}" for one in _breaks(inside)]
    moved, name = counter_of(loop)
    if moved is None and update is None and (name is None or left):
        return None
    first = None if start is not None or name is None else first_given(loop, name)
    if not (left or moved or first or is_while) or (start is None and first is None) or not tests:
        return None
    given = on_one_line(start.text).rstrip(";") if start is not None else "" if first is None else first.text
    moves = moved if update is None else update
    step = "" if moves is None else on_one_line(moves.text)
    test = tests[0] if len(tests) == 1 else " && ".join(f"({one})" for one in tests)
    head = f"for ({given}; {test}; {step}) "
    edits: list[Edit] = [Span(loop.source, loop.start, body.spelled.start).reworded(head), *left]
    if moved is not None and moved.parent is not None:
        edits.append(_left_out(moved.parent))
    return [*edits, *(() if first is None else first.edits)]


def begins(loop: Node) -> Node:
    """The statement that initialises the counter of a loop, if its head does not; otherwise the loop."""
    if loop.type == "do_statement" or loop.child_by_field_name("initializer") is not None:
        return loop
    name = counter_of(loop)[1]
    first = None if name is None else first_given(loop, name)
    return loop if first is None else first.statement


def counter_of(loop: Node) -> tuple[Node | None, str | None]:
    """The step at the end of a loop's body, if its head has none, and the counter."""
    update = loop.child_by_field_name("update")
    if update is not None:
        return None, stepped(update)
    body = field(loop, "body")
    moved = last_step(loop, body, named_children(body) if body.type == "compound_statement" else [body])
    countdown = countdown_of(loop) if moved is None else None
    if moved is not None:
        return moved, stepped(moved)
    return None, None if countdown is None else countdown.name.text


def _head(loop: Node) -> tuple[Node | None, Node | None, Node | None]:
    """The test of a loop, its initialiser and its step."""
    condition = loop.child_by_field_name("condition")
    if loop.type == "while_statement":
        return (None if condition is None else without_parentheses(condition)), None, None
    return condition, loop.child_by_field_name("initializer"), loop.child_by_field_name("update")


def _left_out(statement: Node) -> Edit:
    """An empty statement that takes as many lines."""
    place = statement.spelled
    return place.start, place.end, ";" + blank(place.text)[1:]


def _is_true(condition: Node) -> bool:
    return condition.type == "number_literal" and re.fullmatch("[1-9][0-9]*", condition.text) is not None


def _breaks(statements: list[Node]) -> list[Node]:
    """The tests `if (b) break;` at the start of a body."""
    found: list[Node] = []
    for one in statements:
        if one.type != "if_statement" or one.child_by_field_name("alternative") is not None:
            break
        if only_inside(field(one, "consequence")).type != "break_statement":
            break
        found.append(one)
    return found


def stepped(node: Node) -> str | None:
    """The i of `i++`, `--i`, `i += k`, `i = i + k`, where k consists of numbers and other names."""
    core = without_parentheses(node)
    if core.type == "update_expression":
        target = without_parentheses(field(core, "argument"))
        return target.text if target.type == "identifier" else None
    if core.type != "assignment_expression" or operator(core) not in ("+=", "-=", "="):
        return None
    target, value = without_parentheses(field(core, "left")), field(core, "right")
    if target.type != "identifier" or not is_simple(value):
        return None
    return target.text if (operator(core) == "=") == (target.text in identifiers(value)) else None


def is_simple(value: Node) -> bool:
    return all(part.type in _SIMPLE for part in walk(value) if part.is_named and part.type != "comment")


def last_step(loop: Node, body: Node, inside: list[Node]) -> Node | None:
    """The step at the end of a body, if nothing jumps over it and its names mean the same outside."""
    last = inside[-1] if inside and body.type == "compound_statement" else None
    step = None if last is None else last.only_expression
    if step is None or stepped(step) is None or any(_continues(one, loop) for one in walk(body)):
        return None
    declared = {
        word
        for one in inside
        if one.type in ("declaration", "type_definition", "function_definition")
        for word in names_in(one.text)
    }
    return None if declared & set(identifiers(step)) else step


def _continues(node: Node, loop: Node) -> bool:
    """Whether `node` is a `continue` of this very loop."""
    return node.type == "continue_statement" and _jumps(node, loop)


def _jumps(node: Node, loop: Node) -> bool:
    """Whether `node` is a `continue` or a `break` of this very loop."""
    if node.type not in ("continue_statement", "break_statement"):
        return False
    inner = (*LOOPS, "switch_statement") if node.type == "break_statement" else LOOPS
    return node.enclosing(*inner) is loop


def first_given(loop: Node, name: str, before: Sequence[Node] | None = None) -> _Part | None:
    """`name = e`, from a statement before the loop with only harmless statements in between."""
    block = loop.parent
    if before is None:
        if block is None or block.type != "compound_statement":
            return None
        before = [one for one in named_children(block) if one.end <= loop.start]
    assigned: set[str] = set()
    for one in reversed(before):
        found = _given(one, name)
        if found is not None:
            return None if assigned & set(names_in(found.text)) else found
        if name in names_in(one.text):
            return None
        changed = _harmless(one)
        if changed is None:
            return None
        assigned |= changed
    return None


def _given(statement: Node, name: str) -> _Part | None:
    """The `name = e` of `name = e;`, or of `int name = e;` if it is the last declarator."""
    if statement.only_expression is not None:
        core = statement.only_assignment
        if core is None or without_parentheses(field(core, "left")).text != name:
            return None
        if not is_simple(field(core, "right")):
            return None
        return _Part(on_one_line(core.text), statement, (_left_out(statement),))
    declarators = statement.children_by_field_name("declarator")
    kinds = {one.type for one in statement.named_children}
    if statement.type != "declaration" or kinds & {"storage_class_specifier", "type_qualifier"}:
        return None
    last = declarators[-1] if declarators else None
    if last is None or last.type != "init_declarator" or declared_name(last) is None:
        return None
    target, value = field(last, "declarator"), field(last, "value")
    if target.type != "identifier" or target.text != name or not is_simple(value):
        return None
    left = Span(statement.source, target.end, last.end).reworded()
    return _Part(f"{name} = {on_one_line(value.text)}", statement, (left,))


def _harmless(statement: Node) -> set[str] | None:
    """The names that a statement assigns simple values to; None if it has any other effect."""
    core = statement.only_assignment
    if core is not None:
        target = without_parentheses(field(core, "left"))
        return {target.text} if target.type == "identifier" and is_simple(field(core, "right")) else None
    if statement.type != "declaration":
        return None
    found: set[str] = set()
    for one in statement.children_by_field_name("declarator"):
        target, value = one.declared, one.child_by_field_name("value")
        if target.type != "identifier" or (value is not None and not is_simple(value)):
            return None
        found.add(target.text)
    return found


def _step_before_test(loop: Node, condition: Node, body: Node) -> list[Edit] | None:
    """Edits that make `do { B } while (++i < n)` `do { B ++i; } while (i < n)`.

    The other operand of the test consists of names and numbers, without i; B declares no i, and nothing
    jumps to the test.
    """
    test = binary(condition)
    if test is None or test.sign not in ("<", "<=", ">", ">=", "!="):
        return None
    step, other = test.left, test.right
    is_before = step.type == "update_expression" and step.text[:2] in ("++", "--")
    name = field(step, "argument") if is_before else None
    if name is None or name.type != "identifier" or body.type != "compound_statement":
        return None
    plain = ("identifier", "number_literal", "binary_expression", "parenthesized_expression")
    is_plain = all(part.type in plain for part in walk(other) if part.is_named)
    is_own = any(name.text in identifiers(one) for one in body.of_type("declaration"))
    if not is_plain or is_own or name.text in identifiers(other):
        return None
    if any(_continues(one, loop) or one.type == "goto_statement" for one in walk(body)):
        return None
    return [(body.end - 1, body.end, f" {step.text}; }}"), (step.start, step.end, name.text)]


def _tested_first(loop: Node) -> list[Edit] | None:
    """Edits that make a `do` a `while` if its test holds before it, or a block if it runs once."""
    condition = field(loop, "condition")
    body = field(loop, "body")
    if without_parentheses(condition).text == "0" and body.type == "compound_statement":
        cut = ((loop.start, body.spelled.start), (body.end, loop.end))
        is_left = any(_jumps(one, loop) for one in walk(body))
        return None if is_left else [Span(loop.source, start, end).reworded() for start, end in cut]
    moved = _step_before_test(loop, condition, body)
    if moved is not None:
        return moved
    block = loop.parent
    alone = block is not None and block.type == "compound_statement" and named_children(block)[-1] is loop
    statements = named_children(block) if alone and block is not None else [loop]
    around = block.parent if len(statements) <= 2 and alone and block is not None else block
    first = _number_before(loop, condition)
    wanted = _tokens(condition, {})
    if around is not None and around.type == "if_statement" and _is_only_branch(around, loop):
        tested = _tokens(field(around, "condition"), {})
        if len(statements) == 1 and tested in (wanted, _tokens(condition, _int_before(around, condition))):
            return _as_while(loop, around)
        if len(statements) == 2 and first is not None and tested == _tokens(condition, dict([first])):
            return _as_while(loop, loop)
    if first is not None and _holds(_tokens(condition, dict([first]))):
        return _as_while(loop, loop)
    return None


def _is_only_branch(test: Node, loop: Node) -> bool:
    """Whether the loop is in the `then` branch of a test without `else`."""
    is_single = test.child_by_field_name("alternative") is None
    return is_single and field(test, "consequence").span.contains(loop.span)


def _as_while(loop: Node, whole: Node) -> list[Edit]:
    body, condition, source = field(loop, "body"), field(loop, "condition"), loop.source
    front = f"while {on_one_line(condition.text)} "
    head = Span(source, whole.start, body.spelled.start).reworded(front)
    return [head, Span(source, body.end, whole.end).reworded()]


def _number_before(statement: Node, condition: Node) -> tuple[str, str] | None:
    """The name in a test and the number of `i = 0;` or `int i = 0;` right before a statement."""
    block = statement.parent
    if block is None or block.type != "compound_statement":
        return None
    before = [one for one in named_children(block) if one.end <= statement.start]
    for word in names_in(condition.text) if before else ():
        found = _given(before[-1], word)
        value = "" if found is None else found.text.partition("=")[2].strip()
        if decimal(value) is not None and len(value) <= 2:
            return word, value
    return None


def _int_before(statement: Node, condition: Node) -> dict[str, str]:
    """The constant value of an int right before a statement, which can replace the variable in tests."""
    found = _number_before(statement, condition)
    declarations = c_file(statement.source).declarations
    declared = None if found is None else declarations.visible(found[0], condition.span)
    is_int = declared is not None and not declared.rank and declarations.resolved(declared.type) == "int"
    return dict([found]) if found is not None and is_int else {}


def _tokens(condition: Node, values: dict[str, str]) -> tuple[str, ...]:
    """The tokens of a test, with values in place of names; `a > b` becomes `b < a`."""
    test = binary(condition)
    if test is None or test.sign not in _SWAPPED:
        return tuple(values.get(one, one) for one in spelled(without_parentheses(condition).text))
    return (*_tokens(test.right, values), _SWAPPED[test.sign], *_tokens(test.left, values))


def _holds(words: tuple[str, ...]) -> bool:
    """Whether a comparison of two decimal numbers holds; `010` is not decimal."""
    if len(words) != 3 or words[1] not in ("<", "<="):
        return False
    one, other = decimal(words[0]), decimal(words[2])
    return one is not None and other is not None and one < other + (words[1] == "<=")
