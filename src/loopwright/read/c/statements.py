"""Reads statements from syntax: loops, conditions, blocks, declarations, labels.

Positions are counted as in [Namjoshi2016, section 3.2]: the children of a loop body are its
statements and loops in source order; `{ }` and `if` do not nest.
"""

from __future__ import annotations

import re
from dataclasses import replace

import islpy as isl

from loopwright.c.declarations import declared_name, is_integer_type, type_text
from loopwright.c.loops import LOOPS, skip_condition
from loopwright.c.syntax import Node, field, identifiers, named_children, refuse, walk
from loopwright.errors import BadInput
from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import Body
from loopwright.read.c.accesses import Touch, holes, refuse_pointer_value, touches
from loopwright.read.c.affine import affine, condition
from loopwright.read.c.frames import Frame, LocalValue, NotAffine
from loopwright.read.c.locals import refuse_changing_size, refuse_pointers, sizes_in
from loopwright.read.c.loops import enter_loop, is_counted_otherwise, loop_comments
from loopwright.read.c.names import Unfollowed
from loopwright.read.c.opaque import opaque_touches, refuse_shadowing, refused_jump, returned
from loopwright.read.c.row_elements import after_row, polynomial
from loopwright.read.c.wraparound import require_convertible
from loopwright.source import Span


@dataclass(frozen=True, slots=True)
class Label:
    """A label on the following statement, at a depth of `depth` loops."""

    name: str
    depth: int
    place: Span


@dataclass(frozen=True)
class ReadStatement:
    """A statement of the region; the last of `frame.positions` is its own."""

    frame: Frame
    body: Body
    touches: tuple[Touch, ...]
    labels: tuple[Label, ...] = ()


@dataclass(frozen=True)
class ReadPart:
    """The part of one level read so far: its statements, the next free position, the frame after it."""

    leaves: tuple[ReadStatement, ...]
    position: int
    frame: Frame


_REFUSED = {
    "while_statement": ("a 'while' loop", "write it as a 'for' loop: for (i = a; i < b; i++)"),
    "do_statement": ("a 'do' loop", "write it as a 'for' loop with affine bounds"),
    "switch_statement": ("a 'switch'", "write it with 'if' and 'else'"),
    "goto_statement": ("a 'goto'", "loops must run to their end"),
    "break_statement": ("a 'break'", "put what it tests into the bounds of the loop"),
    "continue_statement": ("a 'continue'", "put 'if (...) continue;' at the top of a loop's body"),
    "type_definition": ("a type definition", "move it out of the region"),
    "function_definition": ("a function definition", "move it out of the region"),
}


_INTO_LOOP = "a 'switch' into a loop", "write one loop over all elements in place of Duff's device"


def _has_cases_in_loops(switch: Node) -> bool:
    """Whether it enters a loop at a label inside: `case 0: do { .. case 3: .. } while (..);`."""
    labels = switch.of_type("case_statement")
    around = (one.enclosing(*LOOPS, "switch_statement") for one in labels)
    return any(one is not None and one.type in LOOPS for one in around)


def _ends_on_data(loop: Node) -> bool:
    """Whether the test of a loop reads storage, as in `while (s[n]) n++`."""
    data = field(loop, "condition").of_type("subscript_expression", "pointer_expression", "call_expression")
    return next(iter(data), None) is not None


def read_statement(node: Node, frame: Frame, position: int) -> ReadPart:
    """Read one C statement, as zero or more leaves."""
    if node.span in frame.setting.whole:
        return _leaf(node, opaque_touches(node, frame), frame, position)
    match node.type:
        case "compound_statement":
            inner = read_sequence(list(node.named_children), frame, position, is_block=True)
            return replace(inner, frame=frame)
        case "for_statement":
            return _loop(node, frame, position)
        case "if_statement":
            return _if(node, frame, position)
        case "labeled_statement":
            return _labelled(node, frame, position)
        case "expression_statement":
            return _expression(node, frame, position)
        case "declaration":
            return _declaration(node, frame, position)
        case "return_statement":
            return _leaf(node, returned(node, frame), frame, position)
        case kind:
            what, hint = _REFUSED.get(kind, (f"'{kind.replace('_', ' ')}'", "accepted: for, if, assignments"))
            first = node.children[0] if node.children else node
            if kind == "switch_statement" and _has_cases_in_loops(node):
                what, hint = _INTO_LOOP
            if kind in ("while_statement", "do_statement") and _ends_on_data(node):
                what, hint = f"{what} whose end depends on data", "leave it out of the region"
            failure = refuse(first, f"{what} cannot be read in a region", hint)
            if kind in ("while_statement", "do_statement", "switch_statement"):
                raise Unfollowed(failure, node.span)
            raise refused_jump(node, frame, failure)


def read_sequence(nodes: list[Node], frame: Frame, position: int, *, is_block: bool) -> ReadPart:
    """Read consecutive statements, with their comments."""
    piece = ReadPart((), position, frame)
    pending: tuple[Span, ...] = ()
    previous: Node | None = None
    for index, node in enumerate(nodes):
        if index:
            pending += _empty_line(nodes[index - 1], node)
        if node.type == "comment":
            if previous is not None and _is_trailing(node, previous, piece):
                last = piece.leaves[-1]
                body = replace(last.body, trailing=node.span)
                piece = replace(piece, leaves=(*piece.leaves[:-1], replace(last, body=body)))
            elif previous is None or not _same_line(previous, node):
                pending = (*pending, node.span)
            continue
        skipped = _skipped(node, piece.frame)
        if skipped is not None:
            piece = replace(piece, frame=piece.frame.where(skipped.complement()))
            continue
        read = read_statement(node, piece.frame, piece.position)
        leaves = _with_leading(read.leaves, pending)
        if is_block:
            leaves = _with_block_labels(nodes, index, leaves, frame)
        piece = ReadPart(piece.leaves + leaves, read.position, read.frame)
        pending = () if leaves else pending
        previous = node
    return piece


def _skipped(node: Node, frame: Frame) -> isl.Set | None:
    """The set where `if (c) continue;` skips the rest of a loop's body."""
    test = skip_condition(node)
    if test is None:
        return None
    try:
        return condition(test, replace(frame, in_test=True))
    except NotAffine as failure:
        reason = f"what a 'continue' leaves out must not depend on data, but {failure.reason}"
        hint = "put what follows into an 'if' with the opposite condition"
        refused = refuse(failure.node, reason, hint)
        raise Unfollowed(refused, frame.loops[-1].place, alone=True) from None


def _is_trailing(comment: Node, previous: Node, piece: ReadPart) -> bool:
    """Whether `comment` is on the line where the previous statement ends."""
    if not piece.leaves or not _same_line(previous, comment):
        return False
    last = piece.leaves[-1].body
    return last.place.end == previous.end or last.terminator != ""


def _empty_line(previous: Node, node: Node) -> tuple[Span, ...]:
    """The empty line between two nodes, which is kept like a comment without text."""
    start = previous.end
    found = re.search(r"\n[ \t\r]*\n", node.source.text[start : node.start])
    return () if found is None else (node.source.at(start + found.end() - 1, 0),)


def _same_line(previous: Node, node: Node) -> bool:
    return "\n" not in node.source.text[previous.end : node.start]


def _with_leading(leaves: tuple[ReadStatement, ...], comments: tuple[Span, ...]) -> tuple[ReadStatement, ...]:
    """Attach comments before a statement or loop to the first statement there."""
    if not leaves or not comments:
        return leaves
    first = leaves[0]
    body = replace(first.body, leading=comments + first.body.leading)
    return (replace(first, body=body), *leaves[1:])


def _with_block_labels(
    nodes: list[Node], index: int, leaves: tuple[ReadStatement, ...], frame: Frame
) -> tuple[ReadStatement, ...]:
    """Make a label on the first statement of a block a handle on the block [Namjoshi2016, section 3.1].

    It extends to the end of the block, or to the next statement that has or contains a label, so
    that a bare statement before a labelled loop can have a tag of its own.
    """
    first = next((k for k, node in enumerate(nodes) if node.type not in ("comment", "declaration")), index)
    between = nodes[first + 1 : index + 1]
    if nodes[first].type != "labeled_statement" or any(_has_label(node) for node in between):
        return leaves
    labels = tuple(_label(node, frame) for node in _labelled_chain(nodes[first]))
    return _add_labels(leaves, labels) if between else leaves


def _has_label(node: Node) -> bool:
    return any(part.type == "labeled_statement" for part in walk(node))


def _labelled_chain(node: Node) -> list[Node]:
    """The labelled statements at a place: `A: B: statement` has two labels."""
    chain = []
    while node.type == "labeled_statement":
        chain.append(node)
        node = named_children(node)[-1]
    return chain


def _label(node: Node, frame: Frame) -> Label:
    name = field(node, "label")
    return Label(name.text, len(frame.loops), name.span)


def _add_labels(leaves: tuple[ReadStatement, ...], labels: tuple[Label, ...]) -> tuple[ReadStatement, ...]:
    return tuple(replace(leaf, labels=leaf.labels + labels) for leaf in leaves)


def _labelled(node: Node, frame: Frame, position: int) -> ReadPart:
    inner = read_statement(named_children(node)[-1], frame, position)
    return replace(inner, leaves=_add_labels(inner.leaves, (_label(node, frame),)))


def _loop(node: Node, frame: Frame, position: int) -> ReadPart:
    try:
        inside = enter_loop(node, frame, position)
    except BadInput as failure:
        raise Unfollowed(failure, node.span, alone=is_counted_otherwise(node, frame)) from None
    body = [*loop_comments(node), field(node, "body")]
    leaves = read_sequence(body, inside, 0, is_block=False).leaves
    return ReadPart(leaves, position + 1, frame)


def _if(node: Node, frame: Frame, position: int) -> ReadPart:
    """Read an `if`: one on iterators and parameters splits the domain, one on data is a single statement."""
    try:
        is_whole, inside = node.span in frame.setting.whole, replace(frame, in_test=True)
        test = None if is_whole else condition(field(node, "condition"), inside)
    except NotAffine:
        test = None
    if test is None:
        return _leaf(node, opaque_touches(node, frame), frame, position)
    then = read_statement(field(node, "consequence"), frame.where(test), position)
    alternative = node.child_by_field_name("alternative")
    if alternative is None:
        return ReadPart(then.leaves, then.position, frame)
    branch = named_children(alternative)[-1]
    other = read_statement(branch, frame.where(test.complement()), then.position)
    return ReadPart(then.leaves + other.leaves, other.position, frame)


def _expression(node: Node, frame: Frame, position: int) -> ReadPart:
    if not named_children(node):
        return ReadPart((), position, frame)
    return _leaf(node, touches(node, frame), frame, position)


def _leaf(
    text: Node, found: tuple[Touch, ...], frame: Frame, position: int, terminator: str = ""
) -> ReadPart:
    own = replace(frame, positions=(*frame.positions, position))
    body = Body(text.span, holes(text, frame), terminator=terminator)
    return ReadPart((ReadStatement(own, body, found),), position + 1, frame)


def _declaration(node: Node, frame: Frame, position: int) -> ReadPart:
    """Read `double t = e, u;`: the variables are declared before the region, `t = e` is kept."""
    piece = ReadPart((), position, frame)
    for declarator in node.children_by_field_name("declarator"):
        if _is_iterator(declarator, frame):
            continue
        after = after_row(declarator, piece.frame)
        if after is not None:
            piece = replace(piece, frame=after)
            continue
        is_initialised = declarator.type == "init_declarator"
        target = declarator.declared
        _refuse_unfollowed(node, target, frame)
        for size in sizes_in(target):
            refuse_changing_size(size, frame.setting.names)
        if is_initialised:
            piece = _initialised(node, declarator, piece)
    return piece


def _refuse_unfollowed(declaration: Node, target: Node, frame: Frame) -> None:
    """Raise for a pointer or a struct used as a whole; the enclosing block can be kept whole instead."""
    block = declaration.parent
    named = declared_name(target)
    try:
        refuse_pointers(target)
        if named is not None and named[0] in frame.setting.names.untracked:
            raise refuse(target, f"'{named[0]}' is declared in the region, and cannot be followed", _BEFORE)
    except BadInput as failure:
        names = frozenset(identifiers(target))
        is_body = block is not None and block.parent is not None and block.type == "compound_statement"
        if block is None or not is_body:
            raise
        raise Unfollowed(failure, block.span, names) from None


_BEFORE = "declare it before the region"


def _is_iterator(declarator: Node, frame: Frame) -> bool:
    """Whether a declarator is `int i;` or `int i = 0;` of an iterator, whose value loops overwrite."""
    named = declared_name(declarator)
    if named is None or named[0] not in frame.setting.names.iterators:
        return False
    refuse_shadowing(declarator, named[0], frame)
    value = declarator.child_by_field_name("value")
    if value is not None and any(touch.is_write for touch in touches(value, frame)):
        message = "this changes something besides the iterator"
        raise refuse(value, message, "assign it before the region")
    return True


def _initialised(node: Node, declarator: Node, piece: ReadPart) -> ReadPart:
    frame = piece.frame
    target, value = field(declarator, "declarator"), field(declarator, "value")
    name = target.text
    if target.type == "array_declarator" or value.type == "initializer_list":
        raise refuse(
            declarator,
            "an initialised array cannot be read in a region",
            "declare it without a value, and fill it by a loop",
        )
    if target.type != "identifier":
        raise refuse(target, "this declares more than a name", "leave out the parentheses")
    refuse_pointer_value(value, frame)
    written = (*touches(value, frame), Touch(name, (), is_write=True, must=True, place=target.span))
    after = _bound(node, name, value, frame)
    if after is not None:
        return replace(piece, frame=after)
    read = _leaf(declarator, written, frame, piece.position, ";")
    return ReadPart(piece.leaves + read.leaves, read.position, frame)


def _bound(node: Node, name: str, value: Node, frame: Frame) -> Frame | None:
    """The frame after `int m = n - 1;`, where m is that value, unless the region assigns it elsewhere."""
    setting = frame.setting
    kind = type_text(node, qualifiers=False)
    if name in setting.names.assigned or not is_integer_type(setting.declarations.resolved(kind)):
        return None
    meaning = _affine_or_none(value, frame)
    if meaning is not None:
        try:
            require_convertible(value, meaning, kind, frame)
        except NotAffine:
            return None
        return frame.bind(LocalValue(name, meaning, value, kind))
    block = node.parent
    left_whole = [] if block is None else [one for one in block.named(name) if _is_in_whole(one, frame)]
    if left_whole or not all(_is_integer(word, frame) for word in identifiers(value)):
        return None
    try:
        return frame.bind(LocalValue(name, None, value, kind, polynomial(value, frame)))
    except NotAffine:
        return None


def _is_in_whole(node: Node, frame: Frame) -> bool:
    return any(place.contains(node.span) for place in frame.setting.whole)


def _affine_or_none(value: Node, frame: Frame) -> isl.PwAff | None:
    try:
        return affine(value, frame)
    except NotAffine:
        return None


def _is_integer(name: str, frame: Frame) -> bool:
    """Whether the source shows that `name` is an integer, so that a product with it is one too."""
    setting = frame.setting
    declared = setting.declarations.visible(name, setting.region)
    local = frame.local(name)
    if name in frame.iterators or local is not None:
        return local is None or local.row is None
    return declared is not None and is_integer_type(setting.declarations.resolved(declared.type))
