"""Rewrites jumps out of loops, results of functions, and `switch` statements, in equivalent C.

    for (..) { if (c) goto L; B }                     for (..) { if (c) break; B }
    L: S                                              L: S

    for (..) for (..) { if (c) goto L; B }            { for (..) for (..) { if (c) goto L; B }
    L: S                                              L: ; } S

The first is an identity if nothing is between the loop and the label, and the loop contains no `switch` or
other loop around the jump.  The second holds if all jumps to the label are in the loop: a label with an
empty statement ends the block.  A label of an empty statement that the function no longer names is removed.
Line numbers do not change.

`with_returned_values` makes the result of a function the value of a variable, so that only the statements
before it matter:

    double f(..) { B; return e; }           double f(..) { double r; B; r = (e); return r; }
    void f(..) { if (c) return; B }         void f(..) { if (c) ; else { B } }

It is equivalent if the function has no other `return`: the returned value is converted to the type of the
function as in an assignment, and nothing after B uses what B declares.  r is a name that the source does not
contain.  Line numbers do not change.

`without_switch` makes the cases of a `switch` tests:

    switch (e) {                              {
    case 2: A;                                if (e == 2) { A; }
    case 1: B; break;                         if (e == 2 || e == 1) { B; }
    default: C;                               if (!(e == 2 || e == 1)) { C; }
    }                                         }

Statements run for the labels before them, up to the last `break`.  It is an identity if e consists of names
and numbers, no statement modifies these or calls a function, and every `break` ends a label's statements:
C converts the int of a label as for `==`, and a `switch` with labels other than plain numbers is kept.
Line numbers do not change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise

from loopwright.c.loops import LOOPS, only_inside
from loopwright.c.reworded.passages import Passage, edited_while, passages, tops_around
from loopwright.c.syntax import (
    Node,
    assigned_target,
    field,
    identifiers,
    named_children,
    walk,
    without_parentheses,
)
from loopwright.c.tokens import decimal, names_in, on_one_line, packed, without_comments
from loopwright.source import Edit, Source


def with_structured_jumps(source: Source) -> Source:
    """The source with the jumps out of the loops of its regions in these forms."""
    return edited_while(source, _edits) if "goto" in source.text else source


def _edits(source: Source) -> Iterator[list[Edit]]:
    for passage in passages(source):
        block, mentioned = passage.block, _mentioned(passage)
        for node in walk(block):
            if node is not block and node.type != "compound_statement":
                continue
            statements = named_children(node)
            for loop, labelled in pairwise(statements):
                is_left = loop.type in LOOPS and labelled.type == "labeled_statement"
                if is_left and not passage.is_directed(loop):
                    is_held = node is not block and statements == [loop, labelled]
                    edits = _left_for(loop, labelled, block, mentioned, is_held=is_held)
                    if edits:
                        yield edits


def _mentioned(passage: Passage) -> Counter[str]:
    """How often each word occurs in the function around a region: `goto L`, `L:`, `&&L`."""
    around = [without_comments(one.text, literals=False) for one in tops_around(passage)]
    return Counter(word for text in around for word in names_in(text))


def _left_for(
    loop: Node, labelled: Node, block: Node, mentioned: Counter[str], *, is_held: bool
) -> list[Edit]:
    """Edits for the jumps of a loop to the label right after it."""
    label = field(labelled, "label")
    jumps = [one for one in walk(block) if one.type == "goto_statement" and _target(one) == label.text]
    inside = [one for one in jumps if loop.span.contains(one.span)]
    direct = [one for one in inside if one.enclosing(*LOOPS, "switch_statement") is loop]
    are_all = mentioned[label.text] == len(jumps) + 1
    if direct:
        edits = [(one.start, one.end, "break;") for one in direct]
        is_unused = are_all and len(direct) == len(jumps) and named_children(labelled)[-1].text == ";"
        return [*edits, (labelled.start, labelled.end, ";")] if is_unused else edits
    colon = next((one for one in labelled.children if one.type == ":"), None)
    if is_held or not are_all or not inside or len(inside) != len(jumps) or colon is None:
        return []
    return [(loop.start, loop.start, "{ "), (colon.end, colon.end, " ; }")]


def _target(jump: Node) -> str:
    return jump.named_children[0].text if jump.named_children else ""


RETURNED = "returned_value"
_TYPES = ("primitive_type", "sized_type_specifier", "type_identifier")


def with_returned_values(source: Source, functions: Iterable[Node]) -> Source:
    """The source in which these functions return the value of a variable, if they end with `return`."""
    if RETURNED in source.text:
        return source
    edits = [edit for one in functions for edit in _return_edits(one)]
    return source.edited(sorted(edits)) if edits else source


def _return_edits(function: Node) -> tuple[Edit, ...]:
    kind, declarator, body = (function.child_by_field_name(name) for name in ("type", "declarator", "body"))
    if kind is None or body is None or declarator is None or declarator.type != "function_declarator":
        return ()
    statements = named_children(body)
    if kind.type not in _TYPES or not statements or "\\\n" in body.text or any(body.of_type(*_LABELS)):
        return ()
    early = [(one, found) for one in statements if (found := _early(one)) is not None]
    last = statements[-1] if statements[-1].type == "return_statement" else None
    returns = [found for _, found in early] + ([] if last is None else [last])
    is_void = kind.text == "void"
    if len(body.of_type("return_statement")) != len(returns) or statements[-1] in [one for one, _ in early]:
        return ()
    if any((_value(one) is None) != is_void for one in returns) or (last is None and not is_void):
        return ()
    edits = [edit for one in returns for edit in _assigned(one)]
    edits += [(one.end, one.end, " else {") for one, _ in early]
    end = statements[-1].end
    closing = " }" * len(early)
    if is_void:
        return (*edits, (end, end, closing)) if returns else ()
    edits.append((end, end, f"{closing} return {RETURNED};"))
    return ((body.start + 1, body.start + 1, f" {on_one_line(kind.text)} {RETURNED};"), *edits)


_LABELS = ("labeled_statement", "goto_statement", "preproc_if", "preproc_ifdef")


def _early(statement: Node) -> Node | None:
    """The `return` in `if (c) return e;`."""
    if statement.type != "if_statement" or statement.child_by_field_name("alternative") is not None:
        return None
    inner = only_inside(field(statement, "consequence"))
    return inner if inner.type == "return_statement" else None


def _value(statement: Node) -> Node | None:
    values = named_children(statement)
    return values[0] if len(values) == 1 else None


def _assigned(statement: Node) -> tuple[Edit, ...]:
    """Edits that make `return e;` an assignment."""
    value, word = _value(statement), statement.start
    if value is None:
        return ((word, word + len("return"), ""),)
    return ((word, word + len("return"), f"{RETURNED} = ("), (value.end, value.end, ")"))


_PLAIN = ("identifier", "number_literal", "unary_expression", "binary_expression", "parenthesized_expression")
_REFUSED = (
    *("call_expression", "pointer_expression", "gnu_asm_expression"),
    *("goto_statement", "labeled_statement"),
)


def without_switch(node: Node) -> list[Edit] | None:
    """Edits that replace a `switch` by tests, if equivalent."""
    value, body = field(node, "condition"), field(node, "body")
    if not all(one.type in _PLAIN for one in walk(value) if one.is_named) or "#" in node.text:
        return None
    labels = [one for one in body.named_children if one.type != "comment"]
    if body.type != "compound_statement" or not labels or any(one.type != "case_statement" for one in labels):
        return None
    if any(one.type in _REFUSED or _changed(one) in identifiers(value) for one in walk(body)):
        return None
    if len([one for one in walk(body) if one.type == "case_statement"]) != len(labels):
        return None
    groups = [_statements(label) for label in labels]
    ends = [bool(group) and group[-1].type == "break_statement" for group in groups]
    inside = [group[: len(group) - is_left] for group, is_left in zip(groups, ends, strict=True)]
    if any(one.type == "declaration" or _leaves(one) for group in inside for one in group):
        return None
    return _tests(node, labels, groups, ends)


def _changed(node: Node) -> str | None:
    """The name that an expression assigns to."""
    target = assigned_target(node)
    core = None if target is None else without_parentheses(target)
    return None if core is None or core.type != "identifier" else core.text


def _statements(label: Node) -> list[Node]:
    """The statements from a label to the next one."""
    value = label.child_by_field_name("value")
    return [one for one in named_children(label) if one is not value]


def _leaves(node: Node) -> bool:
    """Whether a statement of a `switch` contains a `break` that exits the `switch`."""
    if node.type == "break_statement":
        return True
    if node.type in (*LOOPS, "switch_statement"):
        return False
    return any(_leaves(one) for one in node.named_children)


def _tests(node: Node, labels: list[Node], groups: list[list[Node]], ends: list[bool]) -> list[Edit] | None:
    text, value = node.source.text, on_one_line(field(node, "condition").text)
    numbers = [one.child_by_field_name("value") for one in labels]
    if any(one is not None and decimal(packed(one.text).removeprefix("-")) is None for one in numbers):
        return None
    equal = [None if one is None else f"{value} == ({on_one_line(one.text)})" for one in numbers]
    others = " || ".join(one for one in equal if one is not None)
    otherwise = f"!({others})" if others else "1"
    first = field(node, "body").start
    edits: list[Edit] = [(node.start, first + 1, "{" + "\n" * text.count("\n", node.start, first + 1))]
    reached: list[str] = []
    for label, test, group, is_left in zip(labels, equal, groups, ends, strict=True):
        reached.append(otherwise if test is None else test)
        colon = next(one for one in label.children if one.type == ":")
        lines = "\n" * text.count("\n", label.start, colon.end)
        edits.append((label.start, colon.end, f"if ({' || '.join(reached)}) {{{lines}"))
        end = group[-1].end if group else colon.end
        if is_left:
            edits.append((group[-1].start, group[-1].end, "}"))
            reached.clear()
        else:
            edits.append((end, end, " }"))
    return edits
