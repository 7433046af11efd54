"""The roles of the names in a region: iterators, parameters, scalars, arrays, locals."""

from __future__ import annotations

import islpy as isl

from loopwright.c.casts import Kinds
from loopwright.c.declarations import Declarations, declared_name, type_text
from loopwright.c.file import CFile, FunctionDefinition
from loopwright.c.loops import countdown_of, loop_iterator
from loopwright.c.macros import Macro, constant_macro, definitions, looks_like_macro
from loopwright.c.references import Reference, element_of, elements_in, reference_of
from loopwright.c.reworded.row_pointers import RowPointer, row_at, row_pointers
from loopwright.c.storage import refuse_mixed_fields, refuse_odd_bases
from loopwright.c.syntax import Node, assigned_target, field, operator, refuse, walk, without_parentheses
from loopwright.errors import BadInput
from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import ELSEWHERE
from loopwright.source import Span


@dataclass(frozen=True, slots=True)
class Local:
    """A variable declared inside the region, except for iterators of loops."""

    name: str
    type: str
    rank: int
    extents: tuple[str, ...]
    scope: Span
    node: Node
    is_kept: bool = False
    """Whether its declaration stays in a statement that is kept whole."""


@dataclass(frozen=True)
class RegionNames:
    """`assigned` are the bases of all assignments, `ranks` the maximum number of subscripts of each base."""

    iterators: frozenset[str]
    assigned: frozenset[str]
    locals: tuple[Local, ...]
    ranks: dict[str, int]
    rows: tuple[RowPointer, ...] = ()
    """Local pointers to rows."""
    untracked: frozenset[str] = frozenset()
    """Names whose storage cannot be tracked: pointers that move, storage with aliases."""
    given: frozenset[str] = frozenset()
    """Struct arguments that point to what the region writes: calls with them may read that."""

    @property
    def written(self) -> frozenset[str]:
        """Everything that is modified in the region: what is assigned, and what is declared there."""
        return self.assigned | {local.name for local in self.locals}


@dataclass(frozen=True)
class Setting:
    """The invariants of reading one region."""

    region: Span
    macros: tuple[Macro, ...]
    declarations: Declarations
    file: CFile
    names: RegionNames
    pure: frozenset[str]
    context: isl.Set
    whole: frozenset[Span] = frozenset()
    """The statements that are kept whole, whatever they contain."""
    rows: bool = False
    """Whether arrays that are only read are read in rows, under a condition on sizes."""
    numbers: frozenset[str] = frozenset()
    """Row lengths that need no assumption, since they are known numbers."""
    entered: frozenset[str] = frozenset()
    """Functions that are being analysed."""

    def function(self, name: str) -> FunctionDefinition | None:
        """The function `name`, if the file defines it once."""
        return None if name in self.entered else self.file.function(name)

    def constant(self, name: str) -> int | None:
        """The integer value of a macro, an enumerator or a `const` variable of the file."""
        value = constant_macro(self.macros, name)
        if value is not None or definitions(self.macros, name) or name in self.names.written:
            return value
        variable = self.declarations.visible(name, self.region)
        return variable.value if variable is not None else None

    @property
    def kinds(self) -> Kinds:
        """The kinds of the names of the file at this place."""
        return Kinds(self.declarations, self.macros, self.region)


class Unfollowed(Exception):
    """Raised if a region can only be read, if at all, with `whole` kept whole or `names` untracked."""

    def __init__(
        self,
        failure: BadInput,
        whole: Span | None = None,
        names: frozenset[str] = frozenset(),
        *,
        alone: bool = False,
    ) -> None:
        super().__init__(failure.message)
        self.failure = failure
        self.whole = whole
        self.names = names
        self.alone = alone
        """Whether to retry even if the region contains nothing else: a loop that ends on data."""


_BOXES = frozenset(("while_statement", "do_statement", "switch_statement"))


def loops_of(block: Node, whole: frozenset[Span]) -> list[Node]:
    """The `for` loops of a region that are read as loops."""
    found: list[Node] = []
    pending = [block]
    while pending:
        node = pending.pop()
        if node.type in _BOXES or (whole and node.span in whole):
            continue
        if node.type == "for_statement":
            found.append(node)
        pending.extend(reversed(node.children))
    return found


def is_counted_inside(node: Node, name: str, whole: frozenset[Span]) -> bool:
    """Whether `name` is set by a loop around `node` that is inside a statement kept whole."""
    for around in (node, *node.around()):
        if around.type == "for_statement" and loop_iterator(around) == name:
            start = field(around, "initializer")
            is_set = start.type == "declaration" or operator(start) == "="
            return is_set and any(place.contains(around.span) for place in whole)
    return False


def names_of_region(
    block: Node, kinds: Kinds, whole: frozenset[Span] = frozenset(), untracked: frozenset[str] = frozenset()
) -> RegionNames:
    """Determine the roles of all names of a region; raises if a name has two roles."""
    declarations = kinds.declarations
    loops = loops_of(block, whole)
    iterators = frozenset(name for loop in loops if (name := loop_iterator(loop)) is not None)
    headers = frozenset(part for loop in loops for part in _header(loop))
    rows = row_pointers(block, kinds, iterators)
    followed = frozenset(row.name for row in rows)
    targets = _targets(block, kinds, loops, headers, rows, whole)
    known = _locals(block, headers, whole)
    locals_ = tuple(one for one in known if one.name not in iterators and one.name not in followed)
    _refuse_hidden_arrays(loops, declarations)
    ranks = _ranks(block, kinds)
    for local in locals_:
        if ranks.get(local.name, 0) > local.rank and local.name not in untracked:
            message = f"'{local.name}' is subscripted, but not declared as an array here"
            failure = refuse(local.node, message, "use the array it points into")
            raise Unfollowed(failure, names=frozenset((local.name,)))
        ranks[local.name] = max(local.rank, ranks.get(local.name, 0))
    for target in targets:
        if not {target.base, target.root.text} & untracked:
            _refuse_whole(target, ranks)
    assigned = frozenset(target.base for target in targets)
    given = refuse_mixed_fields(block, assigned, frozenset(local.name for local in locals_), untracked)
    refuse_odd_bases(block, iterators, ranks, declarations)
    ranks[ELSEWHERE] = 0
    return RegionNames(iterators, assigned, locals_, ranks, rows, untracked, given)


def _refuse_hidden_arrays(loops: list[Node], declarations: Declarations) -> None:
    """Raise if an iterator and an array share a name: accesses could not tell them apart."""
    for loop in loops:
        name = loop_iterator(loop)
        declared = None if name is None else declarations.visible(name, loop.span)
        start = loop.child_by_field_name("initializer")
        if declared is not None and declared.rank > 0 and start is not None and start.type == "declaration":
            line = declared.place.line
            message = f"the iterator '{name}' has the name of an array (line {line})"
            raise refuse(start, message, "give the two different names")


def _targets(
    block: Node,
    kinds: Kinds,
    loops: list[Node],
    headers: frozenset[Node],
    rows: tuple[RowPointer, ...],
    whole: frozenset[Span],
) -> list[Reference]:
    """All lvalues that the region assigns to, except its iterators in the heads of their loops."""
    iterators = {name: loop for loop in reversed(loops) if (name := loop_iterator(loop)) is not None}
    found: list[Reference] = []
    for node in walk(block):
        target = assigned_target(node)
        if target is None:
            continue
        element = element_of(kinds, target)
        reference = _element(target, rows) if element is None else element.reference
        if reference is None:
            _refuse_macro_target(target, kinds)
            continue
        is_own = is_counted_inside(node, reference.base, whole)
        if reference.base not in iterators or reference.subscripts or is_own:
            found.append(reference)
        elif not _is_within(node, headers):
            failure = refuse(
                node,
                f"the loop iterator '{reference.base}' is assigned outside the head of its loop",
                "use another variable, so that the loop alone decides the values of its iterator",
            )
            raise Unfollowed(failure, iterators[reference.base].span)
    return found


def _refuse_macro_target(target: Node, kinds: Kinds) -> None:
    """Raise if a macro assigns to something: it may be anything, even what decides which instances run."""
    for part in walk(target):
        name = part.text if part.type == "identifier" else ""
        if name and (looks_like_macro(name) or definitions(kinds.macros, name)):
            pointer = target.child_by_field_name("argument") if target.type == "pointer_expression" else None
            has_cast = pointer is not None and without_parentheses(pointer).type == "cast_expression"
            message = "what this assigns to is not a variable or an array element"
            told = "this assigns through a pointer to another type, whose parts are not modelled"
            raise refuse(target, told if has_cast else message, "assign to x, A[i], *p or s.f")


def _element(target: Node, rows: tuple[RowPointer, ...]) -> Reference | None:
    """The lvalue of an assignment, with pointers to rows resolved."""
    reference = reference_of(target)
    row = None if reference is None else row_at(rows, reference)
    return reference if reference is None or row is None else row.element(reference)


def _header(loop: Node) -> list[Node]:
    parts = [loop.child_by_field_name(name) for name in ("initializer", "update")]
    if countdown_of(loop) is not None:
        parts.append(loop.child_by_field_name("condition"))
    return [part for part in parts if part is not None]


def _is_within(node: Node, parts: frozenset[Node]) -> bool:
    """Whether a node is one of `parts`, or inside one."""
    return any(one in parts for one in (node, *node.around()))


def _locals(block: Node, headers: frozenset[Node], whole: frozenset[Span]) -> tuple[Local, ...]:
    found: list[Local] = []
    for node in walk(block):
        if node.type != "declaration" or _is_within(node, headers):
            continue
        scope = node.enclosing("compound_statement", "for_statement")
        for declarator in node.children_by_field_name("declarator"):
            named = declared_name(declarator)
            if named is None or scope is None:
                raise refuse(
                    declarator,
                    "only variables and arrays can be declared in a region",
                    "move this declaration out of the region",
                )
            name, rank, extents = named
            kind = type_text(node, qualifiers=False)
            reach = Span(node.source, node.start, scope.end)
            is_kept = any(place.contains(reach) for place in whole)
            found.append(Local(name, kind, rank, extents, reach, declarator, is_kept))
    return tuple(found)


def _ranks(block: Node, kinds: Kinds) -> dict[str, int]:
    """The rank of every base: the number of subscripts in use, or the declared rank if greater."""
    ranks: dict[str, int] = {}
    texts = [block]
    for call, element in elements_in(kinds, block):
        texts.append(element.node)
        base = element.reference.base
        if any(part.text.startswith((f"{base}.", f"{base}->")) for part in walk(block)):
            message = f"'{base}' is used both through a macro and through its fields here"
            raise refuse(call, message, "write the element of the array itself")
    for root in texts:
        for node in walk(root):
            reference = _outermost_reference(node)
            if reference is not None:
                known = ranks.get(reference.base, 0)
                ranks[reference.base] = max(known, len(reference.subscripts))
    for base in ranks:
        variable = kinds.declarations.visible(base, block.span)
        if variable is not None:
            ranks[base] = max(ranks[base], variable.rank)
    return ranks


def _outermost_reference(node: Node) -> Reference | None:
    if node.type not in ("identifier", "subscript_expression", "field_expression", "pointer_expression"):
        return None
    return reference_of(node)


def _refuse_whole(target: Reference, ranks: dict[str, int]) -> None:
    """Raise if an array or a pointer is itself assigned."""
    base, count = target.base, len(target.subscripts)
    if count >= ranks[base]:
        return
    above = target.node.parent
    is_moved = above is not None and above.type == "update_expression"
    if above is not None and above.type == "assignment_expression":
        is_moved = operator(above) in ("+=", "-=")
    if is_moved and not count:
        message = f"the pointer '{base}' changes here, and its position in each iteration is not known"
        hint = (
            f"write {base}[i] with the iterator of a loop, or let a loop of a known length advance it by "
            "the same amount in each iteration, and do not read it afterwards"
        )
    else:
        message = (
            f"'{base}' has {_counted(ranks[base], 'dimension')} here, but is assigned with "
            f"{_counted(count, 'subscript')}"
        )
        hint = (
            "pointers must not change in a region: use the array with all its subscripts; buffers that are "
            "exchanged in each step t are arrays of their own: if (t % 2 == 0) b[i] = .. a[i] ..; else "
            "a[i] = .. b[i] .."
        )
    raise Unfollowed(refuse(target.node, message, hint), names=frozenset((base,)))


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
