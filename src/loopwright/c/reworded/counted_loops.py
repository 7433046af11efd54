"""Rewrites loops that count in other ways than a plain `for`, with the same iterations in all defined runs.

    i = a; #pragma scop  while (c) { B; i++; }       for (i = a; c; i++) { B; }       i is known there
    for (i = a; i != b; i++) B                       for (i = a; i < b; i++) B
    while (--i >= 0) B                               while (i-- > 0) B
    i = a; do { B; i++; } while (i < b);             i = a; while (i == a || i < b) { B; i++; }

If `i != b` lets a signed iterator pass b, it overflows, which is undefined behaviour: until then, nothing in
B may exit the loop.  For the second and fourth form, only its step modifies i, and a and b are sums
of names and numbers that B does not modify; the caller must check that no pointer points to them, and what
macros hide.  Line numbers do not change.

`with_continued_loops` rewrites loops that start where the previous loop ended, and tests of that value.

    for (i = a; i < b; i += s) B                      for (i = a; i < b; i += s) B
    for (; c; i++) C                                  for (i = e; c; i++) C
    if (i < n) D                                      if (e < n) D'

where e is the value of i after the first loop (`c.final_values` has the conditions), and D does not modify i.
After a loop that continues, nothing is known of i any more.  Line numbers do not change.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loopwright.c.declarations import declared_name
from loopwright.c.file import CFile
from loopwright.c.loops import LOOPS, binary, first_value, loop_iterator
from loopwright.c.reworded.final_values import count_of, is_assigned
from loopwright.c.reworded.passages import (
    Passage,
    changed_in,
    changed_names,
    counting_declaration,
    declares,
    edited_while,
    passages,
    rewritten,
)
from loopwright.c.reworded.plain_loops import counter_of, first_given, is_simple, last_step, stepped
from loopwright.c.syntax import Node, field, identifiers, named_children, operator, walk, without_parentheses
from loopwright.c.tokens import decimal, names_in, on_one_line, operand, with_names_replaced
from loopwright.c.types import Integer
from loopwright.source import Edit, Source, Span

_SMALL = 1 << 20
_LEAVING = ("goto_statement", "return_statement", "labeled_statement", "break_statement", "asm_statement")


def with_counted_loops(source: Source, returning: frozenset[str]) -> Source:
    """The source with such loops; functions in `returning` that are not defined here are known to return."""

    def rule(loop: Node, passage: Passage) -> list[Edit] | None:
        if passage.is_directed(loop):
            return None
        edits = _unequal(loop, passage, returning) or _done_once(loop, passage, returning)
        return edits or _tested_after(loop, passage) or _from_before(loop, passage)

    return rewritten(source, rule, *LOOPS)


def with_first_iterations(source: Source, returning: frozenset[str]) -> Source:
    """The source with `while` in place of `do` loops only: their iterations are the same for all numbers."""

    def rule(loop: Node, passage: Passage) -> list[Edit] | None:
        return None if passage.is_directed(loop) else _done_once(loop, passage, returning)

    return rewritten(source, rule, "do_statement") if "do" in names_in(source.text) else source


def _unequal(loop: Node, passage: Passage, returning: frozenset[str]) -> list[Edit] | None:
    """Edits that make `i != b` `i < b`, or `i > b` if the loop counts down by one."""
    test, update = binary(loop.child_by_field_name("condition")), loop.child_by_field_name("update")
    name = loop_iterator(loop) if loop.type == "for_statement" else None
    if name is None or test is None or test.sign != "!=":
        return None
    sides = [test.left, test.right]
    if update is None or without_parentheses(update).type != "update_expression" or stepped(update) != name:
        return None
    limits = [one for one in sides if one.text != name]
    if len(limits) != 1 or not is_simple(limits[0]) or not is_simple(first_value(loop)):
        return None
    body, names = field(loop, "body"), {name, *identifiers(limits[0]), *identifiers(first_value(loop))}
    is_known = all(_is_signed(word, loop, passage) for word in sorted(names))
    if not is_known or not _stays(body, names) or not _returns(body, passage.file, returning):
        return None
    relation = "<" if operator(without_parentheses(update)) == "++" else ">"
    if limits[0] is sides[0]:
        relation = "<>".replace(relation, "")
    core = without_parentheses(field(loop, "condition"))
    mark = next(one for one in core.children if one.type == "!=")
    return [(mark.start, mark.end, relation)]


def _is_signed(name: str, loop: Node, passage: Passage) -> bool:
    """Whether a name is a variable of a signed type at least as wide as int."""
    kinds = passage.file.kinds(passage.region.place)
    start = counting_declaration(name, loop)
    if start is not None:
        return _is_wide_signed(kinds.written_type(field(start, "type").text, certain=True))
    declared = passage.file.declarations.visible(name, loop.span)
    if declared is None or declared.rank:
        return False
    return _is_wide_signed(kinds.written_type(declared.type, certain=True))


def _is_wide_signed(kind: object) -> bool:
    return isinstance(kind, Integer) and kind.signed and kind.bits >= 32


def _stays(body: Node, names: set[str]) -> bool:
    """Whether a body does not modify these names, which mean the same in it, and has no early exit."""
    for node in walk(body):
        if node.type in _LEAVING or not names.isdisjoint(changed_names(node)):
            return False
        if node.type == "declaration" and not names.isdisjoint(names_in(node.text)):
            declared = [one.declared for one in node.children_by_field_name("declarator")]
            if not names.isdisjoint(word for one in declared for word in identifiers(one)):
                return False
    return True


def _returns(body: Node, file: CFile, returning: frozenset[str]) -> bool:
    """Whether all calls in a body return, so that nothing ends the program before the iterator overflows."""
    called = {field(node, "function").text for node in walk(body) if node.type == "call_expression"}
    return called <= returning and called.isdisjoint(one.name for one in file.functions)


def _done_once(loop: Node, passage: Passage, returning: frozenset[str]) -> list[Edit] | None:
    """Edits that make `do { B; i++; } while (i < b);` `while (i == a || i < b) { B; i++; }` after i = a."""
    if loop.type != "do_statement" or field(loop, "body").type != "compound_statement":
        return None
    body, test = field(loop, "body"), binary(field(loop, "condition"))
    inside = named_children(body)
    step = last_step(loop, body, inside)
    name = None if step is None else stepped(step)
    given = None if name is None else first_given(loop, name)
    if step is None or name is None or test is None:
        return None
    first = _outside(loop, name, passage) if given is None else given.text
    if first is None:
        return None
    wanted = {"++": ("<", "<="), "--": (">", ">=")}.get(operator(step), ())
    if test.left.text != name or test.sign not in wanted or not is_simple(test.right):
        return None
    value = first.partition("=")[2].strip()
    names = {name, *names_in(value), *identifiers(test.right)}
    counted = [one for one in inside if not one.span.contains(step.span)]
    is_known = all(_is_signed(word, loop, passage) for word in sorted(names))
    is_kept = all(_stays(one, names) and _returns(one, passage.file, returning) for one in counted)
    if not is_known or not is_kept:
        return None
    again = on_one_line(without_parentheses(field(loop, "condition")).text)
    head = f"while ({name} == {operand(value)} || {again}) "
    front = Span(loop.source, loop.start, body.spelled.start).reworded(head)
    return [front, Span(loop.source, body.end, loop.end).reworded()]


def _tested_after(loop: Node, passage: Passage) -> list[Edit] | None:
    """Edits that make `--i >= 2` `i-- > 2` in the test of a loop over a signed i, which does not overflow."""
    test = None if loop.type == "do_statement" else binary(loop.child_by_field_name("condition"))
    if test is None or test.sign not in (">=", ">"):
        return None
    left, least = test.left, decimal(test.right.text)
    is_first = left.type == "update_expression" and left.text.startswith("--")
    name = field(left, "argument") if is_first else None
    if name is None or name.type != "identifier" or least is None or least > _SMALL:
        return None
    if not _is_signed(name.text, loop, passage):
        return None
    core = without_parentheses(field(loop, "condition"))
    return [(core.start, core.end, f"{name.text}-- > {least + (test.sign == '>')}")]


def _from_before(loop: Node, passage: Passage) -> list[Edit] | None:
    """An initialiser for the first loop of a region, if a statement right before the region assigns it."""
    if loop.type == "do_statement" or loop.child_by_field_name("initializer") is not None:
        return None
    name = counter_of(loop)[1]
    first = None if name is None else _outside(loop, name, passage)
    return None if first is None else [(loop.start, loop.start, f"{first}; ")]


def _outside(loop: Node, name: str, passage: Passage) -> str | None:
    """`name = e` for a local variable, from a statement before a region that starts with this loop."""
    inside = named_children(passage.block)
    if not inside or inside[0] != loop:
        return None
    nodes = passage.function
    around = [one for one in nodes if one.start < loop.start and one.end >= loop.end]
    if not around or around[-1].type != "compound_statement" or not any(declares(one, name) for one in nodes):
        return None
    before = [one for one in named_children(around[-1]) if one.end <= passage.region.place.start]
    first = first_given(loop, name, before)
    return None if first is None else first.text


def with_continued_loops(source: Source) -> Source:
    """The source with initialisers for loops that lack one, if these are final values of another loop."""
    return edited_while(source, _continued_edits)


def _continued_edits(source: Source) -> Iterator[list[Edit]]:
    for passage in passages(source):
        for node in walk(passage.block):
            is_sequence = node is passage.block or node.type == "compound_statement"
            statements = named_children(node) if is_sequence else []
            for k, loop in enumerate(statements):
                name = loop_iterator(loop) if loop.type == "for_statement" else None
                if name is not None and is_assigned(loop):
                    edit = _after(loop, name, statements[k + 1 :], passage)
                    if edit is not None:
                        yield [*_plain_test(loop, name, passage), edit]


def _plain_test(loop: Node, name: str, passage: Passage) -> list[Edit]:
    """Edits that make `i < (n & ~3)` `i < n - n % 4`."""
    test, count = without_parentheses(field(loop, "condition")), count_of(loop, name, passage)
    is_masked = "&" in test.text and "\n" not in test.text
    return [(test.start, test.end, count.holds(name))] if count is not None and is_masked else []


def _after(loop: Node, name: str, later: Sequence[Node], passage: Passage) -> Edit | None:
    """An edit of the first statement after a loop that uses the iterator: the final value is inserted."""
    if not any(name in identifiers(one) for one in later):
        return None
    count = count_of(loop, name, passage)
    if count is None or (count.kind != "int" and not count.wide):
        return None
    for one in later:
        if one.of_type(*_JUMPS) or _redeclares(one, count.names | {name}):
            return None
        changed = {*changed_in(one)}
        if name not in identifiers(one) and not changed & count.names:
            continue
        if one.type == "if_statement" and not changed & {name, *count.names}:
            is_variable = len(one.named(name)) == names_in(one.text).count(name)
            text = with_names_replaced(one.text, {name: operand(count.final)})
            return (one.start, one.end, text) if is_variable else None
        start = _open_head(one, name)
        return None if start is None else (start, start, f"{name} = {count.final}")
    return None


_JUMPS = ("goto_statement", "labeled_statement", "switch_statement")


def _redeclares(node: Node, names: frozenset[str]) -> bool:
    """Whether one of the names is another variable somewhere in a statement."""
    declarations = (one for one in walk(node) if one.type == "declaration")
    declarators = (each for one in declarations for each in one.children_by_field_name("declarator"))
    return any(named is None or named[0] in names for named in map(declared_name, declarators))


def _open_head(node: Node, name: str) -> int | None:
    """The offset where `for (; c; i++)` lacks its initialiser."""
    if node.type != "for_statement" or node.child_by_field_name("initializer") is not None:
        return None
    update = node.child_by_field_name("update")
    steps = () if update is None else changed_names(update)
    first = next((part for part in node.children if part.type == ";"), None)
    return first.start if first is not None and name in steps else None
