"""Prints LOOP programs as C, as a careful programmer would write it.

A body of one statement has no braces, unless an `else` could bind to another `if`; a nested block is merged
into its parent.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from enum import Enum
from typing import Literal, TypeAlias, assert_never

from loopwright.emit.expressions import condition_to_c, expression_to_c, is_wide, literal
from loopwright.emit.helpers import FUNCTIONS, used
from loopwright.emit.names import called_statements, fresh, readable_names, standalone_names, with_names
from loopwright.emit.openmp import has_canonical_form, pragma, with_clauses
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import TRUE, Int
from loopwright.loops.nodes import Block, Call, For, If, Let, Node, Remark, Remarked
from loopwright.loops.traverse import free_variables, subterms, unmarked, with_children
from loopwright.model.annotations import Clauses

IteratorType: TypeAlias = Literal["int", "long", "long long"]


class Increment(Enum):
    """How a loop counts by one, up or down."""

    POSTFIX = "{0}{1}{1}"
    PREFIX = "{1}{1}{0}"
    ADD = "{0} {1}= 1"
    ASSIGN = "{0} = {0} {1} 1"


class Braces(Enum):
    """The position of an opening brace."""

    SAME_LINE = "same line"
    OWN_LINE = "own line"


@dataclass(frozen=True)
class Handwriting:
    """The style of loops; the iterators in `outside` are declared outside the region."""

    indent: str = "  "
    increment: Increment = Increment.ADD
    braces: Braces = Braces.SAME_LINE
    always_braces: bool = False
    outside: frozenset[str] = frozenset()

    def update(self, iterator: str, step: int) -> str:
        """The update of the iterator after each iteration."""
        sign = "+" if step > 0 else "-"
        if abs(step) == 1:
            return self.increment.value.format(iterator, sign)
        return f"{iterator} {sign}= {literal(abs(step))}"


def plain_call(call: Call) -> list[str]:
    """`S1(i, j + 1);`."""
    return [f"{call.name}({', '.join(expression_to_c(argument) for argument in call.arguments)});"]


def _commented(remark: str | Remark, body: Node, lines: list[str]) -> list[str]:
    """A remark as a one-line comment, without anything that would end or continue a comment."""
    shown = re.sub(r"\s+", " ", "".join(c if c.isprintable() else " " for c in str(remark))).strip()
    shown = re.sub(r"/(?=\*)|\*(?=/)", r"\g<0> ", shown).rstrip("\\/ ").strip()
    return [f"// {shown}", *lines] if shown else lines


def _annotated(loop: For) -> list[str]:
    """A pragma if there are clauses for one, else a comment."""
    directive = pragma(loop)
    if directive is not None:
        return [directive]
    return ["// vectorize"] * (loop.vector is not None) + ["// parallel"] * (loop.parallel is not None)


def _not_distributed(loop: For, first: str) -> None:
    return None


def _condition(node: If) -> str:
    return condition_to_c(node.test)


def _as_loop(loop: For) -> None:
    return None


def _never(remark: str | Remark) -> bool:
    return False


@dataclass(frozen=True)
class Style:
    """The style of a printed program.

    `call` gives the lines of a call, `annotated` the lines that print a loop's annotations before it,
    and `mark` the lines of a marked statement, given those of the statement alone.
    """

    iterator_type: str = "int"
    call: Callable[[Call], list[str]] = plain_call
    annotated: Callable[[For], list[str]] = _annotated
    mark: Callable[[str | Remark, Node, list[str]], list[str]] = _commented
    needs_block: Callable[[str | Remark], bool] = _never
    """Whether a mark puts a line before its statement, so that the two need braces."""
    hand: Handwriting = field(default_factory=Handwriting)
    types: Mapping[str, str] = field(default_factory=dict)
    """The types of iterators other than `iterator_type`."""
    distributed: Callable[[For, str], tuple[str, str] | None] = _not_distributed
    """For a loop and the text of its first value: its start and step, if it is distributed."""
    condition: Callable[[If], str] = _condition
    """The function that prints the test of an `if`."""
    instead: Callable[[For], list[str] | None] = _as_loop
    """The lines of a loop that is not printed as a loop."""

    def declared(self, iterator: str) -> str:
        """The iterator in the head of its loop, which declares it unless it is declared outside."""
        if iterator in self.hand.outside:
            return iterator
        return f"{self.types.get(iterator, self.iterator_type)} {iterator}"

    def indented(self, lines: Iterable[str]) -> list[str]:
        """Lines one level further in; directives stay at the margin."""
        return [line if not line or line.startswith("#") else self.hand.indent + line for line in lines]


def to_c(
    node: Node,
    *,
    standalone: bool = False,
    parameters: Sequence[str] = (),
    openmp: bool = False,
    iterator_type: IteratorType | None = None,
) -> str:
    """`node` as C.

    `standalone` makes it a self-contained file: the helpers it uses, a declaration of each
    statement, and a function of the parameters; those in `parameters` come first, in this order, then the
    other ones used.  Iterators are `int`, or `long long` where a constant of the program needs it, unless
    `iterator_type` says otherwise.
    """
    style = Style(iterator_type or ("long long" if is_wide(node) else "int"))
    if not standalone:
        return program_text(_named(node, parameters, openmp=openmp), style)
    if openmp:
        node = shared_out(node)
    names = standalone_names(node, parameters)
    program = with_names(node, names)
    body = "".join(f"  {line}\n" if line else "\n" for line in program_text(program, style).splitlines())
    arguments = tuple(names.variables[parameter] for parameter in parameters)
    return _translation_unit(program, body, fresh("run", names.all()), arguments, style.iterator_type)


def printed_loops(node: Node, parameters: Sequence[str] = (), *, openmp: bool = False) -> Node:
    """`node` as `to_c` prints it, not standalone: with its names, and only annotations that have a pragma."""

    def plain(part: Node) -> Node:
        part = with_children(part, plain)
        return replace(part, annotations=()) if isinstance(part, For) and pragma(part) is None else part

    return plain(_named(node, parameters, openmp=openmp))


def _named(node: Node, parameters: Sequence[str], *, openmp: bool) -> Node:
    node = shared_out(node) if openmp else node
    return with_names(node, readable_names(node, parameters))


def shared_out(node: Node) -> Node:
    """`node` with its outermost parallel loops distributed among threads, without any clauses."""
    return with_clauses(node, lambda loop: Clauses() if has_canonical_form(loop) else None)


def _translation_unit(program: Node, body: str, entry: str, parameters: Sequence[str], number: str) -> str:
    """A C file with a function `entry` of the parameters whose body is `body`."""
    mentioned = free_variables(program)
    arguments = [*parameters, *sorted(mentioned - set(parameters))]
    unused = [f"  (void){name};\n" for name in arguments if name not in mentioned]
    signature = ", ".join(f"{number} {name}" for name in arguments) or "void"
    function = f"void {entry}({signature})\n{{\n{''.join(unused)}{body}}}\n"
    declarations = "".join(
        f"void {name}({', '.join([number] * arity) or 'void'});\n"
        for name, arity in called_statements(program)
    )
    helpers = (FUNCTIONS[name] for name in used([program]))
    return "\n".join(part for part in (*helpers, declarations, function) if part)


def program_text(node: Node, style: Style) -> str:
    """The lines of `node`, whose names are valid in C."""
    statements = _flat(node)
    lone = len(statements) == 1
    lines = [line for statement in statements for line in _lines(statement, style, lone=lone)]
    return "".join(f"{line}\n" for line in lines)


def _flat(node: Node) -> tuple[Node, ...]:
    """The statements of the sequence `node`; a mark stays on the first one."""
    match node:
        case Block(nodes):
            return tuple(statement for child in nodes for statement in _flat(child))
        case Remarked(remark, body):
            first, *rest = _flat(body) or (Block(()),)
            return Remarked(remark, first), *rest
        case _:
            return (node,)


def _lines(node: Node, style: Style, *, lone: bool) -> list[str]:
    """The lines of one statement; a `lone` one is the only statement of its scope."""
    match node:
        case Call():
            return style.call(node)
        case If():
            return _conditional(node, style)
        case For():
            return _loop(node, style)
        case Let(name, value, body):
            declaration = f"{style.iterator_type} {name} = {expression_to_c(value)};"
            lines = [declaration, *_sequence(body, style)]
            return lines if lone else ["{", *style.indented(lines), "}"]
        case Remarked(remark, body):
            return style.mark(remark, body, _lines(body, style, lone=lone))
        case Block():
            return []
        case _:
            assert_never(node)


def _sequence(node: Node, style: Style) -> list[str]:
    """The lines of `node` in a scope that is not its own."""
    return [line for statement in _flat(node) for line in _lines(statement, style, lone=False)]


def _loop(loop: For, style: Style) -> list[str]:
    iterator = loop.iterator
    if (lines := style.instead(loop)) is not None:
        return lines
    test = " " if loop.test == TRUE else f" {condition_to_c(loop.test)}"
    first, update = expression_to_c(loop.start), style.hand.update(iterator, loop.step)
    shared = style.distributed(loop, first)
    if shared is not None:
        first, update = shared[0], f"{iterator} += {shared[1]}"
    for bound in subterms(loop.test):
        if isinstance(bound, Int):
            literal(bound.value + loop.step)  # the value that ends the loop must fit too
    head = f"for ({style.declared(iterator)} = {first};{test}; {update})"
    lines = _controlled(head, loop.body, style, braces=_needs_braces(loop.body, style))
    return [*style.annotated(loop), *lines]


def _conditional(node: If, style: Style) -> list[str]:
    ambiguous = _ends_in_if(node.then, followed_by_else=node.orelse is not None)
    braces = ambiguous or _needs_braces(node.then, style)
    lines = _controlled(f"if ({style.condition(node)})", node.then, style, braces=braces)
    if node.orelse is None:
        return lines
    head = "else"
    if braces and style.hand.braces is Braces.SAME_LINE:
        head = f"{lines.pop()} else"
    orelse = _flat(node.orelse)
    if len(orelse) == 1 and isinstance(orelse[0], If):
        first, *rest = _conditional(orelse[0], style)
        return [*lines, f"{head} {first}", *rest]
    return [*lines, *_controlled(head, node.orelse, style, braces=_needs_braces(node.orelse, style))]


def _controlled(head: str, body: Node, style: Style, *, braces: bool) -> list[str]:
    statements = _flat(body)
    lines = [line for s in statements for line in _lines(s, style, lone=len(statements) == 1)]
    if not braces:
        return [head, *style.indented(lines)]
    opening = [head, "{"] if style.hand.braces is Braces.OWN_LINE else [f"{head} {{"]
    return [*opening, *style.indented(lines), "}"]


def _needs_braces(body: Node, style: Style) -> bool:
    """Whether `body` is anything but exactly one statement of C.

    A statement of several lines or one that starts with `if` gets braces too: its text is the author's, and
    an `else` after it might bind to it.
    """
    statements = _flat(body)
    if len(statements) != 1 or style.hand.always_braces or _needs_block(statements[0], style):
        return True
    match unmarked(statements[0]):
        case Let() | Block():
            return True
        case Call() as call:
            lines = style.call(call)
            return len(lines) != 1 or re.match(r"if\b", lines[0]) is not None
        case _:
            return False


def _ends_in_if(body: Node, *, followed_by_else: bool) -> bool:
    """Whether an `else` in or after `body`, written without braces, could belong to two `if`s."""
    statements = _flat(body)
    match unmarked(statements[0]) if len(statements) == 1 else None:
        case If(orelse=None):
            return followed_by_else
        case If():
            return True
        case For(body=inner):
            return _ends_in_if(inner, followed_by_else=followed_by_else)
        case _:
            return False


def _needs_block(node: Node, style: Style) -> bool:
    return isinstance(node, Remarked) and (style.needs_block(node.remark) or _needs_block(node.body, style))
