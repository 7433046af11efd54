"""Parses C source into a syntax tree, with character offsets of the source.  Nothing is preprocessed."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from loopwright.c.tokens import packed, whole_word, without_comments
from loopwright.c.trees import KINDS, LONG, RawNode, captures, captures_of_long, parsed
from loopwright.errors import BadInput, Code
from loopwright.source import Source, Span

_STATEMENTS = tuple(dict.fromkeys(kind for kind in KINDS if re.fullmatch("[a-z].*_statement", kind)))
_RARE = (
    *("declaration", "parameter_declaration", "function_definition", "type_definition"),
    *("struct_specifier", "union_specifier", "enum_specifier", "enumerator_list"),
)
_TOGETHER = _RARE, (*_STATEMENTS, *_RARE, "assignment_expression", "update_expression", "call_expression")
_NO_YES = re.compile(r"\?\s*[:/\\]")
_CASTS = "(cast_expression) (parenthesized_expression (identifier))"
_DECLARING = """
(declaration) (parameter_declaration) (field_declaration) (function_definition) (type_definition)
(enumerator_list) (cast_expression) (call_expression function: (parenthesized_expression))
"""
_IN_LONG = (_CASTS, _DECLARING, " ".join(f"({one})" for one in _RARE))


class Node:
    """A node of the syntax tree of `source`: a type, a place, and child nodes.

    It wraps tree-sitter's node with its text, and is made once: the same node is the same object,
    and is compared by identity.
    """

    __slots__ = (
        *("_below", "_by_type", "_children", "_fields", "_raw", "_text"),
        *("end", "is_named", "parent", "source", "start", "type"),
    )

    def __init__(self, source: Source, raw: RawNode, parent: Node | None) -> None:
        self.source = source
        self.parent = parent
        self.type: str = raw.type
        self.start: int = raw.start_byte
        self.end: int = raw.end_byte
        self.is_named: bool = raw.is_named
        self._raw = raw
        self._children: list[Node] | None = None
        self._below: tuple[Node, ...] | None = None
        self._by_type: dict[tuple[str, ...], tuple[Node, ...]] | None = None
        self._fields: dict[str, Node | None] | None = None
        self._text: str | None = None

    @property
    def children(self) -> list[Node]:
        if self._children is None:
            self._children = [Node(self.source, raw, self) for raw in self._raw.children]
        return self._children

    @property
    def named_children(self) -> list[Node]:
        return [child for child in self.children if child.is_named]

    def child_by_field_name(self, name: str) -> Node | None:
        known = self._fields
        if known is None:
            known = self._fields = {}
        if name not in known:
            raw = self._raw.child_by_field_name(name)
            found = None if raw is None else next(one for one in self.children if one._raw.id == raw.id)
            known[name] = found
        return known[name]

    def extent_of(self, name: str) -> tuple[int, int] | None:
        """The start and end of a part, if it exists."""
        return (raw.start_byte, raw.end_byte) if (raw := self._raw.child_by_field_name(name)) else None

    def children_by_field_name(self, name: str) -> list[Node]:
        wanted = {raw.id for raw in self._raw.children_by_field_name(name)}
        return [child for child in self.children if child._raw.id in wanted] if wanted else []

    def around(self) -> Iterator[Node]:
        """The nodes around this one, the innermost first."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent

    def enclosing(self, *types: str) -> Node | None:
        """The innermost node of these types around this one."""
        return next((node for node in self.around() if node.type in types), None)

    def beyond(self, *types: str) -> Node | None:
        """The innermost node around this one that is of none of these types."""
        return next((node for node in self.around() if node.type not in types), None)

    @property
    def root(self) -> Node:
        """The outermost node around this one, or this one."""
        *_, last = self, *self.around()
        return last

    def all_nodes(self) -> tuple[Node, ...]:
        """This node and all nodes below it, in source order; cached."""
        if self._below is None:
            found: list[Node] = []
            pending = [self]
            while pending:
                current = pending.pop()
                if current._below is None:
                    found.append(current)
                    pending.extend(reversed(current.children))
                else:
                    found.extend(current._below)
            self._below = tuple(found)
        return self._below

    def of_type(self, *types: str) -> tuple[Node, ...]:
        """The nodes of these types at or below this one, in source order."""
        if self._by_type is None:
            self._by_type = {}
        if types not in self._by_type:
            self._by_type[types] = self._found(types)
        return self._by_type[types]

    def _found(self, types: tuple[str, ...]) -> tuple[Node, ...]:
        """The nodes of these types; in a long source, common types are searched for together, once."""
        if self.end - self.start > LONG and types not in _TOGETHER:
            together = next((some for some in _TOGETHER if {*types} <= {*some}), None)
            if together is not None:
                return tuple(node for node in self.of_type(*together) if node.type in types)
        around = self._around_with(types)
        if types in _TOGETHER and not around and self.parent is not None:
            self.parent.of_type(*types)  # the whole source will be searched for these anyway
            around = [self.parent]
        if around:
            known = around[-1]._by_type
            assert known is not None, "such a node is looked for"
            inside = (one for one in known[types] if self.start <= one.start and one.end <= self.end)
            return tuple(one for one in inside if one not in around)
        return self._matching(" ".join(f"({one})" for one in types))

    def _around_with(self, types: tuple[str, ...]) -> list[Node]:
        """The nodes around this one, up to the first whose nodes of these types are known."""
        found: list[Node] = []
        for node in self.around():
            found.append(node)
            if node._by_type is not None and types in node._by_type:
                return found
        return []

    def named(self, name: str, besides: Span | None = None) -> list[Node]:
        """The identifiers with this name, at or below this node, in source order; none in `besides`."""
        return [*self.each_named(name, besides)]

    def each_named(self, name: str, besides: Span | None = None) -> Iterator[Node]:
        """The same, one after the other: a node that is not asked for is not made."""
        return (self._node_of(raw) for raw in self._identifiers(name, besides))

    def mentions(self, name: str) -> bool:
        """Whether an identifier with this name is at or below this node."""
        return any(True for _ in self._identifiers(name))

    def _identifiers(self, name: str, besides: Span | None = None) -> Iterator[RawNode]:
        word = whole_word(name)
        around = [(self.start, self.end)]
        if besides is not None:
            around = [(self.start, max(self.start, besides.start)), (max(self.start, besides.end), self.end)]
        for match in (match for one in around for match in word.finditer(self.source.text, *one)):
            start, end = match.span()
            raw = self._raw.descendant_for_byte_range(start, end)
            if raw is not None and (raw.type, raw.start_byte, raw.end_byte) == ("identifier", start, end):
                yield raw

    def statements(self) -> tuple[Node, ...]:
        """The statements at or below this node, in source order."""
        return self.of_type(*_STATEMENTS)

    def possible_casts(self) -> tuple[Node, ...]:
        """The casts below this node, and the names in parentheses."""
        return self._matching(_CASTS)

    def declaring(self) -> tuple[Node, ...]:
        """The declarations and definitions below this node, casts, and calls of parenthesised names."""
        return self._matching(_DECLARING)

    def _matching(self, pattern: str) -> tuple[Node, ...]:
        """The matches of a pattern, in source order; in a long source, usual patterns are matched at once."""
        if self.end - self.start <= LONG:
            return tuple(dict.fromkeys(self._nodes_of(captures(self._raw, (pattern,))[0])))
        patterns = _IN_LONG if pattern in _IN_LONG else (pattern,)
        around = {node._raw.id for node in self.around()}
        found = captures_of_long(self.root._raw, patterns)[patterns.index(pattern)]
        inside = (one for one in found if self.start <= one.start_byte and one.end_byte <= self.end)
        return tuple(dict.fromkeys(self._nodes_of([one for one in inside if one.id not in around])))

    def _nodes_of(self, ordered: list[RawNode]) -> Iterator[Node]:
        """The wrappers of nodes below this one, in source order: each is found from the previous one."""
        current = self
        for raw in ordered:
            start, end = raw.start_byte, raw.end_byte
            while current.parent is not None and current is not self and current._raw.id != raw.id:
                is_around = current.start <= start and end <= current.end
                if is_around and (current.start, current.end) != (start, end):
                    break
                current = current.parent
            current = current._node_of(raw)
            yield current

    def _node_of(self, raw: RawNode) -> Node:
        """The wrapper of a node below this one."""
        node, start = self, raw.start_byte
        while node._raw.id != raw.id:
            node = node.children[bisect_right(node.children, start, key=lambda one: one.start) - 1]
        return node

    @property
    def only_expression(self) -> Node | None:
        """The e of a statement `e;`, None for any other."""
        inside = named_children(self) if self.type == "expression_statement" else []
        return inside[0] if len(inside) == 1 else None

    @property
    def only_assignment(self) -> Node | None:
        """The `x = e` of a statement `x = e;`, None for any other."""
        core = self.only_expression
        is_one = core is not None and core.type == "assignment_expression" and operator(core) == "="
        return core if is_one else None

    @property
    def declared(self) -> Node:
        """The declarator without its initialiser: `x[3]` for `x[3] = {1}`."""
        return field(self, "declarator") if self.type == "init_declarator" else self

    @property
    def is_missing(self) -> bool:
        """Whether the parser inserted it because the source lacks it."""
        return self._raw.is_missing

    @property
    def has_error(self) -> bool:
        """Whether it contains a syntax error."""
        return self._raw.has_error

    @property
    def span(self) -> Span:
        return Span(self.source, self.start, self.end)

    @property
    def text(self) -> str:
        if self._text is None:
            inside = self.source.text[self.start : self.end]
            self._text = self.spelled.text if ")" in inside else inside
        return self._text

    @property
    def spelled(self) -> Span:
        """The place of the node in the source, including the parenthesis that it starts with.

        The parser does not get the parentheses of `(x) - y` (see `casts`), and parses it as `x) - y`.
        A single parenthesis is unchanged.
        """
        text, start = self.source.text, self.start
        inside = text[start : self.end]
        if self.is_named and inside.count(")") > inside.count("("):
            visible = without_comments(inside, literals=False)
            for _ in range(visible.count(")") - visible.count("(")):
                found = text.rfind("(", 0, start)
                start = found if found >= 0 else start  # malformed source
        return Span(self.source, start, self.end)


def parse(source: Source, shown: str | None = None, whole: str | None = None, at: Span | None = None) -> Node:
    """The syntax tree of a C file; `shown` is the text for the parser, with unchanged offsets.

    It may be another text `whole`, with blanks or replacements for everything that is not `at` a place.
    """
    known = None if whole is None or at is None else (whole, at.start, at.end)
    return Node(source, parsed(source.text if shown is None else shown, known), None)


def is_atomic(node: Node) -> bool:
    """Whether an expression stays a single operand in any context."""
    words = ("identifier", "number_literal", "char_literal", "parenthesized_expression")
    return node.type in (*words, "call_expression", "subscript_expression", "field_expression")


def walk(node: Node) -> Iterator[Node]:
    """`node` and all nodes below it, in source order."""
    return iter(node.all_nodes())


def walk_inside(node: Node, place: Span) -> Iterator[Node]:
    """The nodes of `walk` that overlap `place`; the others are not visited."""
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        inside = [one for one in current.children if one.start < place.end and place.start < one.end]
        pending.extend(reversed(inside))


def identifiers(node: Node) -> tuple[str, ...]:
    """The names in `node`, in source order."""
    return tuple(part.text for part in walk(node) if part.type == "identifier")


def is_address(node: Node) -> bool:
    """Whether it is `&x`."""
    return node.type == "pointer_expression" and operator(node) == "&"


def is_dereference(node: Node) -> bool:
    """Whether it is `*p`."""
    return node.type == "pointer_expression" and operator(node) == "*"


def assigned_target(node: Node) -> Node | None:
    """The target of an assignment, `++` or `--`; None for other nodes."""
    match node.type:
        case "assignment_expression":
            return field(node, "left")
        case "update_expression":
            return field(node, "argument")
        case _:
            return None


def assigned_names(node: Node) -> tuple[str, ...]:
    """The names in such a target."""
    target = assigned_target(node)
    return () if target is None else identifiers(target)


def named_children(node: Node) -> list[Node]:
    """The parts of `node` that are not punctuation or comments."""
    return [child for child in node.named_children if child.type != "comment"]


def field(node: Node, name: str) -> Node:
    """The part called `name`, which the grammar guarantees."""
    child = node.child_by_field_name(name)
    if child is None:
        raise AssertionError(f"{node.type} without {name}")
    return child


def operator(node: Node) -> str:
    """The operator of an expression; `(X)` for a cast that is shown to the grammar as `~` (`casts.py`)."""
    found = field(node, "operator")
    if found.type == "~" and found.text != "~":
        return packed(node.text[: field(node, "argument").start - node.start])
    return found.type


def without_parentheses(node: Node) -> Node:
    while node.type == "parenthesized_expression" and len(inside := named_children(node)) == 1:
        node = inside[0]
    return node


def stands_as(node: Node, part: str, kind: str) -> bool:
    """Whether a node is this part of a parent of this type: `left` of an assignment, `function` of a call."""
    outer = node.parent
    return outer is not None and outer.type == kind and outer.child_by_field_name(part) == node


def refuse(where: Node | Span, message: str, hint: str, code: Code = Code.REGION_TEXT) -> BadInput:
    """The error for a place in the user's source, to be raised; `hint` says what is accepted."""
    return BadInput(code, message, span=where.span if isinstance(where, Node) else where, hint=hint)


def conditionals_without_yes(root: Node) -> list[Node]:
    """Expressions `a ?: b`, an extension of some compilers."""
    found = root.of_type("conditional_expression") if _NO_YES.search(root.text) else ()
    return [node for node in found if node.child_by_field_name("consequence") is None]
