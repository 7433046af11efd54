"""What a front end says of C text: declarations, expressions with their types, statements.

Every node has a `place`: the tokens it is made of, and where they are in the file.  Parentheses are
part of the place of what is in them.  A type that is not known is `Unknown`; a construct that is not
modelled is `OtherExpression` or `OtherStatement`, with its parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from enum import Enum, auto

from loopwright.c.types import CType, Field
from loopwright.source import Span


@dataclass(frozen=True, slots=True)
class Place:
    """Tokens `first` to `end` (exclusive) of the function or declaration around."""

    first: int
    end: int
    span: Span
    """In the file; the call of the macro where it came out of one."""
    macro: str | None = None
    """The macro that all of it came from."""


class Storage(Enum):
    """What a name stands for, and how long it lives."""

    AUTOMATIC = auto()
    PARAMETER = auto()
    STATIC = auto()
    """Of the file, or of a function and alive as long as the program."""
    EXTERNAL = auto()
    FUNCTION = auto()
    ENUMERATOR = auto()
    TYPE = auto()
    UNDECLARED = auto()
    """No declaration was seen: a header is missing, or it is a snippet."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """A declared name; `offset` in the preprocessed text tells two of the same name apart."""

    name: str
    type: CType
    storage: Storage
    is_file_scope: bool
    offset: int
    line: int
    """Of the file; 0 in a header."""
    attributes: tuple[str, ...] = ()
    """As they are written: `alias("a")`, `pure`."""
    value: int | None = None
    """Of an enumerator."""
    is_thread_local: bool = False


@dataclass(frozen=True, slots=True)
class Name:
    place: Place
    type: CType
    declaration: Declaration


@dataclass(frozen=True, slots=True)
class Number:
    """`value` is exact for integers and characters; for others the text says it."""

    place: Place
    type: CType
    text: str
    value: int | None


@dataclass(frozen=True, slots=True)
class Text:
    """A string."""

    place: Place
    type: CType


@dataclass(frozen=True, slots=True)
class Unary:
    """`-x`, `!x`, `~x`, `+x`, `*x`, `&x`, and gcc's `__real__`, `__imag__`, `__extension__`."""

    place: Place
    type: CType
    operator: str
    operand: Expression


@dataclass(frozen=True, slots=True)
class Update:
    """`x++`, `++x`, `x--`, `--x`."""

    place: Place
    type: CType
    operator: str
    is_prefix: bool
    target: Expression


@dataclass(frozen=True, slots=True)
class Binary:
    """Arithmetic, comparisons, `&&`, `||` and `,`."""

    place: Place
    type: CType
    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Assign:
    """`=` or a compound assignment, which computes in `computed` and converts the result to `type`."""

    place: Place
    type: CType
    operator: str
    target: Expression
    value: Expression
    computed: CType


@dataclass(frozen=True, slots=True)
class Conditional:
    place: Place
    type: CType
    test: Expression
    then: Expression
    otherwise: Expression


@dataclass(frozen=True, slots=True)
class Cast:
    """A conversion that is written, or one that C makes by itself."""

    place: Place
    type: CType
    operand: Expression
    is_implicit: bool


@dataclass(frozen=True, slots=True)
class Call:
    """`callee` is a declaration, or None for a call through an expression."""

    place: Place
    type: CType
    callee: Declaration | None
    function: Expression
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Subscript:
    place: Place
    type: CType
    base: Expression
    index: Expression


@dataclass(frozen=True, slots=True)
class Member:
    """`object.field`, or `object->field` where `is_arrow`; the field is None where it is unknown."""

    place: Place
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

    place: Place
    type: CType
    value: int | None
    operand: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class OtherExpression:
    """`kind` is the front end's name of it."""

    place: Place
    type: CType
    kind: str
    parts: tuple[Node, ...]


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
    | Call
    | Subscript
    | Member
    | SizeOf
    | OtherExpression
)


@dataclass(frozen=True, slots=True)
class Variable:
    """One declarator of a declaration; `sizes` are the expressions in its brackets."""

    place: Place
    declaration: Declaration
    initial: Expression | None
    sizes: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class Declare:
    place: Place
    variables: tuple[Variable, ...]


@dataclass(frozen=True, slots=True)
class Evaluate:
    """An expression as a statement."""

    place: Place
    value: Expression


@dataclass(frozen=True, slots=True)
class Block:
    place: Place
    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class For:
    place: Place
    first: Declare | Expression | None
    test: Expression | None
    step: Expression | None
    body: Statement


@dataclass(frozen=True, slots=True)
class If:
    place: Place
    test: Expression
    then: Statement
    otherwise: Statement | None


@dataclass(frozen=True, slots=True)
class Labelled:
    place: Place
    label: str
    statement: Statement


@dataclass(frozen=True, slots=True)
class Return:
    place: Place
    value: Expression | None


@dataclass(frozen=True, slots=True)
class OtherStatement:
    """`while`, `do`, `switch`, `case`, `break`, `continue`, `goto`, `;` and whatever else there is."""

    place: Place
    kind: str
    parts: tuple[Node, ...]


Statement = Declare | Evaluate | Block | For | If | Labelled | Return | OtherStatement
Node = Expression | Statement | Variable


def children(node: Node) -> Iterator[Node]:
    """The nodes `node` is made of, in the order of the text."""
    for one in fields(node):
        value = getattr(node, one.name)
        if isinstance(value, Node):
            yield value
        elif isinstance(value, tuple):
            yield from (part for part in value if isinstance(part, Node))


def walk(node: Node) -> Iterator[Node]:
    """`node` and all nodes below it, in the order of the text."""
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        pending.extend(reversed(tuple(children(current))))


def without_casts(node: Expression) -> Expression:
    """What is converted, conversions that C makes by itself left out."""
    while isinstance(node, Cast) and node.is_implicit:
        node = node.operand
    return node
