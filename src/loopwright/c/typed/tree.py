"""The typed syntax tree: declarations, expressions with their types, statements.

Every node has a `place`: its tokens, and where they are in the file.  Parentheses belong to the place of
the expression inside them.  A type that is not known is `Unknown`; a construct that is not modelled is
`OtherExpression` or `OtherStatement`, with its parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from enum import Enum, auto
from typing import get_args

from loopwright.c.types import ArrayType, CType, Field, unqualified
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Span


@dataclass(frozen=True, slots=True)
class TokenRange:
    """Tokens `first` to `end` (exclusive) of the enclosing function or declaration."""

    first: int
    end: int
    span: Span
    """The place in the file; for a macro expansion, that of the macro call."""
    macro: str | None = None
    """The macro that produced all of the tokens."""


class Storage(Enum):
    """The kind of a name, and its storage duration."""

    AUTOMATIC = auto()
    PARAMETER = auto()
    STATIC = auto()
    """A variable of static storage duration, of the file or of a function."""
    EXTERNAL = auto()
    FUNCTION = auto()
    ENUMERATOR = auto()
    TYPE = auto()
    UNDECLARED = auto()
    """Without a declaration: a header is missing, or the file is a fragment."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """A declared name; `offset` in the preprocessed text tells two of the same name apart."""

    name: str
    type: CType
    storage: Storage
    is_file_scope: bool
    offset: int
    line: int
    """The line in the file; 0 in a header."""
    attributes: tuple[str, ...] = ()
    """The attributes as written: `alias("a")`, `pure`."""
    value: int | None = None
    """The value of an enumerator."""
    is_thread_local: bool = False
    part_of: Declaration | None = None
    """The struct of a member `z.d` with a value of its own, which is described like a variable."""

    @property
    def is_own(self) -> bool:
        """Whether it is a local variable or parameter with automatic storage duration."""
        return self.storage in (Storage.AUTOMATIC, Storage.PARAMETER)


@dataclass(frozen=True, slots=True)
class Name:
    place: TokenRange
    type: CType
    declaration: Declaration


@dataclass(frozen=True, slots=True)
class Number:
    """A literal; `value` is exact for integers and characters, for others only `text` has the value."""

    place: TokenRange
    type: CType
    text: str
    value: int | None


@dataclass(frozen=True, slots=True)
class Text:
    """A string literal."""

    place: TokenRange
    type: CType


@dataclass(frozen=True, slots=True)
class Unary:
    """`-x`, `!x`, `~x`, `+x`, `*x`, `&x`, and gcc's `__real__`, `__imag__`, `__extension__`."""

    place: TokenRange
    type: CType
    operator: str
    operand: Expression


@dataclass(frozen=True, slots=True)
class Update:
    """`x++`, `++x`, `x--`, `--x`."""

    place: TokenRange
    type: CType
    operator: str
    is_prefix: bool
    target: Expression


@dataclass(frozen=True, slots=True)
class Binary:
    """Arithmetic, comparisons, `&&`, `||` and `,`."""

    place: TokenRange
    type: CType
    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Assign:
    """`=` or a compound assignment, which computes in `computed` and converts the result to `type`."""

    place: TokenRange
    type: CType
    operator: str
    target: Expression
    value: Expression
    computed: CType


@dataclass(frozen=True, slots=True)
class Conditional:
    place: TokenRange
    type: CType
    test: Expression
    then: Expression
    otherwise: Expression


@dataclass(frozen=True, slots=True)
class Cast:
    """An explicit cast, or an implicit conversion."""

    place: TokenRange
    type: CType
    operand: Expression
    is_implicit: bool


@dataclass(frozen=True, slots=True)
class CallExpression:
    """A call; `callee` is a declaration, or None for a call through an expression."""

    place: TokenRange
    type: CType
    callee: Declaration | None
    function: Expression
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Subscript:
    place: TokenRange
    type: CType
    base: Expression
    index: Expression


@dataclass(frozen=True, slots=True)
class MemberAccess:
    """`object.field`, or `object->field` where `is_arrow`; the field is None where it is unknown."""

    place: TokenRange
    type: CType
    object: Expression
    name: str
    is_arrow: bool
    field: Field | None
    in_union: bool
    is_bit_field: bool


@dataclass(frozen=True, slots=True)
class SizeOf:
    """`sizeof` and `_Alignof`; `operand` is not evaluated unless its type has a variable length."""

    place: TokenRange
    type: CType
    value: int | None
    operand: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class OtherExpression:
    """An expression that is not modelled; `kind` is the front end's name for it."""

    place: TokenRange
    type: CType
    kind: str
    parts: tuple[Node, ...]
    designator: tuple[str, ...] = ()
    """The tokens up to `=` of a designated value."""


Expression = (
    Name
    | Number
    | Text
    | Unary
    | Update
    | Binary
    | Assign
    | Conditional
    | Cast
    | CallExpression
    | Subscript
    | MemberAccess
    | SizeOf
    | OtherExpression
)


@dataclass(frozen=True, slots=True)
class Declarator:
    """One declarator of a declaration; `sizes` are the expressions in its brackets."""

    place: TokenRange
    name: Span
    declaration: Declaration
    initial: Expression | None
    sizes: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class Declare:
    place: TokenRange
    variables: tuple[Declarator, ...]


@dataclass(frozen=True, slots=True)
class Evaluate:
    """An expression as a statement."""

    place: TokenRange
    value: Expression


@dataclass(frozen=True, slots=True)
class CompoundStatement:
    place: TokenRange
    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class ForStatement:
    place: TokenRange
    first: Declare | Expression | None
    test: Expression | None
    step: Expression | None
    body: Statement


@dataclass(frozen=True, slots=True)
class IfStatement:
    place: TokenRange
    test: Expression
    then: Statement
    otherwise: Statement | None


@dataclass(frozen=True, slots=True)
class Labelled:
    place: TokenRange
    label: str
    statement: Statement


@dataclass(frozen=True, slots=True)
class Return:
    place: TokenRange
    value: Expression | None


@dataclass(frozen=True, slots=True)
class OtherStatement:
    """Another statement: `while`, `do`, `switch`, `case`, `break`, `continue`, `goto`, `;` and so on."""

    place: TokenRange
    kind: str
    parts: tuple[Node, ...]


Statement = (
    Declare | Evaluate | CompoundStatement | ForStatement | IfStatement | Labelled | Return | OtherStatement
)
Node = Expression | Statement | Declarator


_KINDS = frozenset((*get_args(Expression), *get_args(Statement), Declarator))
_SILENT = ("place", "type", "declaration", "callee")
_PARTS = {kind: tuple(one.name for one in fields(kind) if one.name not in _SILENT) for kind in _KINDS}
"""The fields of each kind of node that may contain nodes."""


def children(node: Node) -> Iterator[Node]:
    """The direct parts of `node`, in source order."""
    for name in _PARTS[type(node)]:
        value = getattr(node, name)
        if type(value) in _KINDS:
            yield value
        elif type(value) is tuple:
            yield from (part for part in value if type(part) in _KINDS)


def walk(node: Node) -> Iterator[Node]:
    """`node` and all nodes below it, in source order."""
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        pending.extend(reversed(tuple(children(current))))


def walk_all(nodes: Iterable[Node]) -> Iterator[Node]:
    """These nodes and all nodes below them."""
    return (inner for node in nodes for inner in walk(node))


def parents(nodes: Iterable[Node]) -> dict[int, Node]:
    """The parent of each part of these nodes, by the identity of the part."""
    return {id(part): node for node in nodes for part in children(node)}


def with_conversions(node: Node, around: Mapping[int, Node]) -> tuple[Node, Node | None]:
    """A node with the implicit conversions applied to it, and its parent."""
    outer = around.get(id(node))
    while isinstance(outer, Cast) and outer.is_implicit:
        node, outer = outer, around.get(id(outer))
    return node, outer


def without_casts(node: Expression) -> Expression:
    """The expression without implicit conversions."""
    while isinstance(node, Cast) and node.is_implicit:
        node = node.operand
    return node


def owner(target: Expression) -> Declaration | None:
    """The variable whose own storage contains an lvalue; None if a pointer is dereferenced on the way."""
    node = without_casts(target)
    while not isinstance(node, Name):
        match node:
            case MemberAccess(object=inner, is_arrow=False):
                node = without_casts(inner)
            case Subscript(base=inner) | Unary(operator="*", operand=inner):
                node = without_casts(inner)
                if not isinstance(unqualified(node.type), ArrayType):
                    return None
            case _:
                return None
    return node.declaration


def root_of(node: Expression) -> Declaration | None:
    """The variable that an lvalue starts with."""
    core = without_casts(node)
    while not isinstance(core, Name):
        match core:
            case (
                Subscript(base=inner) | MemberAccess(object=inner) | Unary(operand=inner) | Binary(left=inner)
            ):
                core = without_casts(inner)
            case _:
                return None
    return core.declaration


def changed_root(node: Node) -> Declaration | None:
    """The variable at the start of the lvalue that a node assigns to, or that the node declares."""
    if isinstance(node, Declarator):
        return node.declaration
    return root_of(node.target) if isinstance(node, Assign | Update) else None
