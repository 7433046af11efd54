"""Rewrites jumps out of loops: into `break` if equivalent, or into blocks that hold a jump with its label.

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
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise

from loopwright.c.loops import LOOPS, only_inside
from loopwright.c.reworded.passages import Passage, edited_while, passages, tops_around
from loopwright.c.syntax import Node, field, named_children, walk
from loopwright.c.tokens import names_in, on_one_line, without_comments
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
