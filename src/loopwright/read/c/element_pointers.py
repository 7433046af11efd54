"""Local pointers to elements, in the words of what they point to: other words for the same C.

    T *p = &s[i];     p->x, p[k], *p        s[i].x, (&s[i])[k], s[i]
    T *p = a + e;     p->x, p[k], *p        a[e].x, (a + e)[k], a[e]

Each is an identity of C if p has its first value and its type all the time, if nothing that this value is
made of changes while p lives, and if the words mean there what they meant where p was declared.  All is asked
of the typed reading, where macros are expanded and every name has its declaration.  What p points to through
memory, `src->data + y * src->stride`, may change by assignments to memory that the region has in other names:
that there are none is what the reader takes on trust of the new words, and lists.  Lines stay.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loopwright.c.file import c_file
from loopwright.c.reworded.passages import edited_while
from loopwright.c.syntax import field
from loopwright.c.tokens import on_one_line
from loopwright.c.typed import tree
from loopwright.c.typed.effects import Reach, effect_in_a_type, reach_of
from loopwright.c.typed.file import TypedFile, TypedRegion, typed_file
from loopwright.c.typed.options import CompilerOptions
from loopwright.c.types import ArrayType, CType, Pointer, Record, Unknown, is_observed, unqualified
from loopwright.errors import BadInput
from loopwright.lazy_dataclass import dataclass
from loopwright.read.c.purity import INDEX_HELPERS, LIBRARY
from loopwright.source import Edit, Source, Span

_LASTING = (tree.Storage.STATIC, tree.Storage.EXTERNAL)
_VALUES = (
    tree.Name, tree.Number, tree.Unary, tree.Binary, tree.Subscript, tree.MemberAccess, tree.Cast,
    tree.SizeOf, tree.Conditional,
)


def with_element_pointers(source: Source, options: CompilerOptions, *, rows: bool = False) -> Source:
    """The text with the elements that local pointers of its regions point to, in place of the pointers.

    `rows`: also `A[i][k]` in place of `row[k]`, after `double *row = A[i];`.
    """
    if "*" not in source.text or not _may_declare_pointers(source):
        return source
    return edited_while(source, lambda text: _edits(typed_file(text, options), rows=rows))


def _may_declare_pointers(source: Source) -> bool:
    """Whether a declaration in a region has a `*`, or a name for its type, which may be that of a pointer."""
    file = c_file(source)
    try:
        blocks = [file.block(region.place) for region in file.regions]
    except BadInput:  # C only after its macros are written out
        return True
    declared = [node for block in blocks for node in block.of_type("declaration")]
    return any(
        field(node, "type").type == "type_identifier" or node.of_type("pointer_declarator")
        for node in declared
    )


def _edits(file: TypedFile, *, rows: bool) -> Iterator[list[Edit]]:
    """The changes that make one declaration go, for each that can."""
    for region in file.regions:
        if isinstance(region, TypedRegion) and not effect_in_a_type(region):
            found = _PointersOfRegion.of(region, file, rows=rows)
            for declare, life in found.declarations if found is not None else ():
                edits = found.without(declare, life) if found is not None else None
                if edits is not None:
                    yield edits


@dataclass(frozen=True)
class _PointersOfRegion:
    """A region whose parts are looked up: what is around each node, and what may change."""

    typed: TypedRegion
    nodes: tuple[tree.Node, ...]
    around: dict[int, tree.Node]
    """The node that each node is a part of, by its identity."""
    declarations: tuple[tuple[tree.Declare, tuple[tree.Node, ...]], ...]
    """Those in blocks, with all that may run while what they declare lives."""
    reach: Reach
    rows: bool
    """Whether a pointer to the first element of a row may be the row."""

    @staticmethod
    def of(region: TypedRegion, file: TypedFile, *, rows: bool) -> _PointersOfRegion | None:
        """None where jumps decide what runs when."""
        nodes = tuple(tree.walk_all(region.statements))
        if any(isinstance(node, tree.Labelled) for node in nodes) or region.function.jumps_anywhere:
            return None
        if any(isinstance(node, tree.OtherStatement) and node.kind == "GOTO_STMT" for node in nodes):
            return None
        around = tree.parents(nodes)
        found = []
        for node in nodes:
            block = around.get(id(node))
            if isinstance(node, tree.Declare) and (
                block is None or isinstance(block, tree.CompoundStatement)
            ):
                found.append((node, nodes if block is None else tuple(tree.walk(block))))
        reach = reach_of(file, nodes, frozenset((*LIBRARY, *INDEX_HELPERS)))
        return _PointersOfRegion(region, nodes, around, tuple(found), reach, rows)

    def without(self, declare: tree.Declare, life: Sequence[tree.Node]) -> list[Edit] | None:
        """The changes after which a declaration is not needed; None where it is."""
        edits: list[Edit] = []
        if not declare.variables or not self._is_written(declare.place):
            return None
        for variable in declare.variables:
            changed = self._uses(variable, life)
            if changed is None:
                return None
            edits += changed
        return [*edits, declare.place.span.reworded(";")]

    def _uses(self, variable: tree.Declarator, life: Sequence[tree.Node]) -> list[Edit] | None:
        """The changes that write out where a pointer points, where that is known."""
        target = _target(variable, rows=self.rows)
        if target is None or variable.initial is None or not self._stays(variable, life):
            return None
        offset = variable.declaration.offset
        mentioned = self.typed.function.mentions.get(offset, ())
        if any(not self.typed.first <= at < self.typed.end for at in mentioned):
            return None
        uses = [
            node for node in self.nodes if isinstance(node, tree.Name) and node.declaration.offset == offset
        ]
        edits = [self._use(node, target) for node in uses]
        found = [edit for edit in edits if edit is not None]
        return found if len(found) == len(uses) and uses else None

    def _use(self, use: tree.Name, target: _PointedTo) -> Edit | None:
        """`p->`, `p` of `p[k]`, or `*p`, in other words."""
        inner, outer = tree.with_conversions(use, self.around)
        tokens, at = self.typed.function.tokens, use.place.first
        if use.place.end != at + 1 or tokens[at].macro is not None:
            return None
        after, before = tokens[at + 1], tokens[at - 1]
        match outer:
            case tree.MemberAccess(object=part, is_arrow=True) if part is inner and after.text == "->":
                first, last, text = tokens[at], after, f"{target.element}."
            case tree.Subscript(base=part) if part is inner and after.text == "[" and target.row is not None:
                first, last, text = tokens[at], tokens[at], target.row
            case tree.Unary(operator="*", operand=part) if part is inner and before.text == "*":
                first, last, text = before, tokens[at], target.element
            case _:
                return None
        if first.macro is not None or last.macro is not None:
            return None
        return Span(first.span.source, first.span.start, last.span.end).reworded(text)

    def _is_written(self, place: tree.TokenRange) -> bool:
        """Whether tokens are those of the file, but for macros that are one token each."""
        tokens = self.typed.function.tokens[place.first : place.end]
        expanded = [token.span for token in tokens if token.macro is not None]
        is_plain = len(expanded) == len(set(expanded)) and all(one.text.isidentifier() for one in expanded)
        return is_plain and not any(token.follows_place for token in tokens)

    def _stays(self, variable: tree.Declarator, life: Sequence[tree.Node]) -> bool:
        """Whether a pointer has its first value all the time, which is made of what does not change."""
        if variable.initial is None or not self._keeps(variable.declaration, variable, life):
            return False
        parts = [*tree.walk(variable.initial)]
        names = {part.declaration.offset: part.declaration for part in parts if isinstance(part, tree.Name)}
        if not all(isinstance(part, _VALUES) for part in parts):
            return False
        place = variable.initial.place
        tokens = self.typed.function.tokens
        words = {
            tokens[at].text for at in range(place.first, place.end) if tokens[at - 1].text not in (".", "->")
        }
        declared = [node.declaration for node in self.nodes if isinstance(node, tree.Declarator)]
        if any(one.name in words and one.offset not in names for one in declared):
            return False
        loads = [*_loaded(variable.initial)]
        return all(self._keeps(one, variable, life) for one in names.values()) and self._same_memory(loads)

    def _keeps(self, one: tree.Declaration, pointer: tree.Declarator, life: Sequence[tree.Node]) -> bool:
        """Whether a variable keeps its value while the pointer lives: loops around it count on outside."""
        if one.storage is tree.Storage.ENUMERATOR:
            return True
        for node in life:
            if isinstance(node, tree.Declarator) and node.declaration.offset == one.offset:
                if node.place.first > pointer.place.first:
                    return False
            elif isinstance(node, tree.Assign | tree.Update):
                changed = tree.owner(node.target)
                if changed is not None and changed.offset == one.offset:
                    return False
        if isinstance(unqualified(one.type), ArrayType):
            return one.is_own or one.storage in _LASTING
        if one.is_own:
            return one.offset not in self.typed.function.addressed
        is_kept = not self.reach.unknown and one.offset not in self.reach.changed
        return one.storage in _LASTING and is_kept

    def _same_memory(self, loads: Sequence[tree.Expression]) -> bool:
        """Whether nothing in the region assigns to what is read through pointers to find the element."""
        far = [one for one in loads if tree.owner(one) is None]
        if not far:
            return True
        if self.reach.unknown or any(isinstance(kind, Unknown) for kind in self.reach.written):
            return False
        members = {one.name for one in far if isinstance(one, tree.MemberAccess)}
        roots = {root.offset for one in far if (root := tree.root_of(one)) is not None}
        for node in self.nodes:
            target = tree.without_casts(node.target) if isinstance(node, tree.Assign | tree.Update) else None
            if target is None or tree.owner(target) is not None:
                continue
            if isinstance(unqualified(target.type), Record | Pointer | ArrayType | Unknown):
                return False
            if isinstance(target, tree.MemberAccess):
                is_loaded = target.name in members
            else:
                root = tree.root_of(target)
                is_loaded = root is None or (not members and root.offset in roots)
            if is_loaded:
                return False
        return True


@dataclass(frozen=True)
class _PointedTo:
    """`element` is what the pointer points to; `row[k]` the element k further, where that is followed."""

    element: str
    row: str | None


def _target(variable: tree.Declarator, *, rows: bool) -> _PointedTo | None:
    """What a pointer points to, in the words of its first value, if that is of the pointer's type."""
    kind = unqualified(variable.declaration.type)
    if variable.initial is None or not isinstance(kind, Pointer) or is_observed(kind.target):
        return None
    if variable.declaration.storage is not tree.Storage.AUTOMATIC or variable.declaration.attributes:
        return None
    given = tree.without_casts(variable.initial)
    text = _text(given)
    if text is None:
        return None
    if isinstance(given, tree.Unary) and given.operator == "&":
        inner = tree.without_casts(given.operand)
        element = _text(inner)
        is_element = isinstance(inner, tree.Subscript | tree.MemberAccess | tree.Name)
        if element is None or not is_element or not _same(inner.type, kind.target):
            return None
        return _PointedTo(element, f"({text})" if isinstance(inner, tree.Subscript) else None)
    source = unqualified(given.type)
    target = source.target if isinstance(source, Pointer) else None
    target = source.element if isinstance(source, ArrayType) else target
    if target is None or not _same(target, kind.target) or not _is_sum(given):
        return None
    start = given
    while isinstance(start, tree.Binary):
        start = tree.without_casts(start.left)
    is_row = isinstance(unqualified(start.type), ArrayType) and not isinstance(
        start, tree.Name | tree.MemberAccess
    )
    element = f"({text})[0]"
    is_sum = isinstance(given, tree.Binary) and given.operator == "+"
    if (
        isinstance(given, tree.Binary)
        and is_sum
        and not isinstance(tree.without_casts(given.left), tree.Binary)
    ):
        base, index = _text(given.left), _text(given.right)
        element = f"{base}[{index}]" if base and index else element
    return _PointedTo(element, None if is_row and not rows else f"({text})")


def _is_sum(given: tree.Expression) -> bool:
    """Whether a pointer is `a`, `s->a`, `a[i]`, `a + e` or `a + e - f`."""
    match given:
        case tree.Binary(operator="+" | "-", left=left):
            return _is_sum(tree.without_casts(left)) and isinstance(
                unqualified(left.type), Pointer | ArrayType
            )
        case tree.Name() | tree.MemberAccess() | tree.Subscript():
            return True
    return False


def _same(one: CType, other: CType) -> bool:
    """Whether two types of objects are the same, and of one size all the time."""
    match unqualified(one), unqualified(other):
        case (Unknown(), _) | (_, Unknown()) | (ArrayType(length=str() | None), _):
            return False
        case Record(tag=mine, is_union=union), Record(tag=theirs, is_union=other_union) if mine:
            return mine == theirs and union == other_union and not is_observed(one)
        case kinds:
            return kinds[0] == kinds[1] and not is_observed(one)


def _text(node: tree.Expression) -> str | None:
    """The text of an expression on one line; None where it is only part of a macro."""
    if node.place.macro is not None:
        return None
    return on_one_line(node.place.span.text)


def _loaded(node: tree.Expression) -> Iterator[tree.Expression]:
    """The lvalues whose values are read to compute `node`, variables left out."""
    core = tree.without_casts(node)
    match core:
        case tree.Unary(operator="&", operand=operand):
            yield from _located(operand)
        case tree.MemberAccess() | tree.Subscript() | tree.Unary(operator="*"):
            if not isinstance(unqualified(core.type), ArrayType):
                yield core
            yield from _located(core)
        case _:
            for part in tree.children(core):
                if not isinstance(part, tree.Expression):
                    raise AssertionError(part)
                yield from _loaded(part)


def _located(lvalue: tree.Expression) -> Iterator[tree.Expression]:
    """The same for where an lvalue is."""
    match tree.without_casts(lvalue):
        case tree.MemberAccess(object=inner, is_arrow=is_arrow):
            yield from _loaded(inner) if is_arrow else _located(inner)
        case tree.Subscript(base=base, index=index):
            yield from (*_loaded(base), *_loaded(index))
        case tree.Unary(operator="*", operand=operand):
            yield from _loaded(operand)
