"""Temporaries, as `proofs/Temporaries.v` and `proofs/Reused.v` state them: tags and origins.

Private storage has a layer of copies for each depth of nested parallel loops.  The tag of an instance is the
iteration of the loop at that depth that contains it: 1 and the path to it, the positions in blocks and the
values of iterators; 0 outside of such loops.  For temporaries that are used in another order, it is a prefix
of its time in the original.  The origin of a value that is read from a temporary is an instance with the same
tag that wrote the cell before.  isl finds it, as the first one; the checker checks that nothing with another
tag wrote the cell since.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

import islpy as isl

from loopwright.errors import Code, GaveUp
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import Expr, Int
from loopwright.loops.nodes import Block, For, Let, Node
from loopwright.loops.traverse import NodePath, calls_in, children, paths_to_calls
from loopwright.model.program import Access, Program
from loopwright.presburger.dimensions import beyond, first
from loopwright.presburger.sets import IN, OUT, maps_of, union, union_map
from loopwright.prove.certificates.specification import Owned, chosen, shapes_of, time_of
from loopwright.prove.coq.words import Words, is_marked, listed, name, names, vector
from loopwright.prove.obligations.cells import Cell, StatementCells, relation_of
from loopwright.prove.obligations.decisions import mapped
from loopwright.prove.obligations.formulas import exprs_of
from loopwright.prove.obligations.timetable import Shape, Timetable, Vector, pieces_of
from loopwright.prove.obligations.witnesses import Witness, witness

Way: TypeAlias = tuple[int | str, ...]
"""Numbers are those of children, or padding; for iterators, the number of the dimension as text."""


@dataclass(frozen=True)
class Origin:
    """The instance of `statement` with these arguments is the origin, by its write number `write`."""

    statement: str
    arguments: Vector
    write: int


def storage(
    original: Program,
    later: Timetable,
    loops: Node,
    uses: Mapping[str, StatementCells],
    owned: Sequence[Owned],
) -> Words:
    """The layers: depths, tags and origins of the statements of `original`, whose new loops are `loops`.

    `last_copies` of `proofs/Private.v` is about the first layer, and about arrays in no other layer.
    """
    found = owned_at_depths(loops, uses, owned)
    inner = [one.array for one in owned if one.last and any(one.array in arrays for arrays in found[1:])]
    if inner:
        raise GaveUp(Code.NO_PROOF, f"the last {inner[0]} is kept in a parallel loop inside of another")
    shapes = dict(shapes_of(later))
    order = [statement.name for statement in original.statements if statement.name in shapes]
    layers: list[tuple[str, ...]] = []
    same: isl.UnionMap | None = None
    for depth, arrays in enumerate(found, start=1):
        ways = padded_ways(ways_to_calls(loops, (), depth))
        here = _same_tag(shapes, ways)
        same = here if same is None else same.intersect(here)
        origins = _OriginFinder(original, same, uses).origins(order, arrays)
        tags = [tag_in(shapes[one], ways) for one in order]
        layers.append((str(depth), *_words(arrays, tags, origins)))
    return listed(layers, iter)


def owned_at_depths(
    loops: Node, uses: Mapping[str, StatementCells], owned: Sequence[Owned]
) -> list[list[str]]:
    """For each depth of parallel loops, outermost first, the arrays private to all users there."""
    found: list[list[str]] = []
    marked = list(_marked(loops, 1))
    for depth in range(1, max((depth for depth, _ in marked), default=0) + 1):
        here = [inside for one, inside in marked if one == depth]
        arrays = sorted({one.array for one in owned})
        found.append([array for array in arrays if _all_own(array, here, uses, owned)])
    return found


def _all_own(
    array: str, loops: Sequence[frozenset[str]], uses: Mapping[str, StatementCells], owned: Sequence[Owned]
) -> bool:
    """Whether each of these loops, given by their statements, privatises the array if it uses it."""
    using = [
        inside
        for inside in loops
        if any(cell.array == array for one in inside for cell in (*uses[one].reads, *uses[one].writes))
    ]
    answers = {any(one.array == array and inside <= set(one.statements) for one in owned) for inside in using}
    if len(answers) > 1:
        raise GaveUp(Code.NO_PROOF, f"some parallel loops have their own {array}, and some do not")
    return True in answers


def _marked(node: Node, depth: int) -> Iterator[tuple[int, frozenset[str]]]:
    """Yields each parallel loop, as its depth among such loops and the statements inside."""
    here = isinstance(node, For) and is_marked(node)
    if here:
        yield depth, calls_in(node)
    for child in children(node):
        yield from _marked(child, depth + here)


def reused(
    original: Program, old: Timetable, uses: Mapping[str, StatementCells], temporaries: Sequence[str]
) -> Words:
    """The same for `temporaries` with other values in between: tags are longest possible time prefixes.

    With longer prefixes fewer instances share a copy, so more orders are legal; if they are too long, a read
    sees a value that has another tag.
    """
    shapes = dict(shapes_of(old))
    order = [statement.name for statement in original.statements if statement.name in shapes]
    for count in range(old.width, 0, -1):
        try:
            found = _OriginFinder(original, _same_beginning(original, count), uses).origins(
                order, temporaries
            )
        except GaveUp:
            continue
        return _words(temporaries, [time_of(shapes[one])[:count] for one in order], found)
    raise GaveUp(Code.NO_PROOF, f"no dimension of time distinguishes the values of {', '.join(temporaries)}")


def _words(temporaries: Sequence[str], tags: list[Vector], origins: list[list[Origin]]) -> Words:
    yield from names(temporaries)
    yield from listed(tags, vector)
    yield from listed(origins, lambda several: listed(several, origin_words))


def origin_words(one: Origin) -> Words:
    yield name(one.statement)
    yield from vector(one.arguments)
    yield str(one.write)


# -- tags ---------------------------------------------------------------------------------------------


def padded_ways(several: Iterable[Way]) -> list[Way]:
    found = list(several)
    width = max(map(len, found), default=0)
    return [(*one, *[0] * (width - len(one))) for one in found]


def ways_to_calls(node: Node, so_far: Way, left: int) -> Iterator[Way]:
    """Yields the ways to calls; `left` parallel loops remain to be entered before the distinguishing one."""
    for _, path in paths_to_calls(node):
        way, missing = way_along(path, left)
        yield () if missing else (1, *so_far, *way)


def way_along(path: NodePath, left: int) -> tuple[Way, int]:
    """The way until `left` parallel loops are entered, and how many of them are not on the path."""
    found: list[int | str] = []
    depth = 0
    for node, number in path:
        if not left:
            break
        match node:
            case Block():
                found.append(number)
            case For():
                found.append(str(depth))
                left -= is_marked(node)
        depth += isinstance(node, For | Let)
    return tuple(found), left


def tag_in(shape: Shape, ways: list[Way]) -> Vector:
    def at(found: Witness) -> Vector:
        return tuple(
            Int(one) if isinstance(one, int) else found.iterators[int(one)] for one in ways[found.position]
        )

    tree = witness(shape)
    width = len(ways[0]) if ways else 0
    none: tuple[Expr, ...] = (Int(0),) * width
    return none if tree is None else chosen(mapped(tree, at))


def _same_tag(shapes: Mapping[str, Shape], ways: list[Way]) -> isl.UnionMap:
    """{ instance -> instance with the same tag }"""
    parts = [
        isl.UnionMap.from_map(_tagged(one.points, ways[one.run.position]).set_tuple_name(IN, statement))
        for statement, shape in shapes.items()
        for one in shape.executions
    ]
    if not parts:
        raise GaveUp(Code.NO_PROOF, "no statement is run")
    tags = union(parts)
    return tags.apply_range(tags.reverse())


def _tagged(points: isl.Map, way: Way) -> isl.Map:
    """{ instance -> tag }, from [p] -> instance."""
    found = points.reverse()
    depth = found.dim(OUT)
    found = found.add_dims(OUT, len(way))
    for k, part in enumerate(way):
        if isinstance(part, int):
            found = found.fix_val(OUT, depth + k, isl.Val(part))
        else:
            found = found.equate(OUT, int(part), OUT, depth + k)
    return beyond(found, OUT, depth)


def _same_beginning(original: Program, count: int) -> isl.UnionMap:
    """{ instance -> instance whose time in the original has the same first `count` entries }"""
    whole = original.schedule()
    times = union_map((first(one, OUT, count) for one in maps_of(whole)), whole.get_space())
    return times.apply_range(times.reverse())


# -- origins ------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _OriginFinder:
    original: Program
    same_tag: isl.UnionMap
    uses: Mapping[str, StatementCells]

    def origins(self, order: Sequence[str], temporaries: Sequence[str]) -> list[list[Origin]]:
        """The origins of each temporary cell that a statement reads, statement by statement."""
        return [
            [self.origin(one, cell) for cell in self.uses[one].reads if cell.array in temporaries]
            for one in order
        ]

    def origin(self, statement: str, read: Cell) -> Origin:
        """The origin of what `statement` reads in this cell."""
        reader = self.original.statement(statement)
        array = read.array
        domain = reader.domain.intersect_params(self.original.context)
        cell = isl.UnionMap.from_map(relation_of(read, reader).intersect_domain(domain))
        time = self.original.schedule()
        possible = self.same_tag.intersect(time.lex_gt_union_map(time))
        for writer, written in self._writes(array):
            found = cell.apply_range(written.reverse()).intersect(possible)
            maps = [one for one in maps_of(found) if domain.is_subset(one.domain())]
            pieces = pieces_of(maps[0].lexmin()) if maps else []
            if len(pieces) == 1:
                return Origin(writer, exprs_of(pieces[0][1], reader.iterators), self._number(writer, array))
        raise GaveUp(Code.NO_PROOF, f"where {statement} reads {array}, no write of its iteration is seen")

    def _writes(self, array: str) -> Iterator[tuple[str, isl.UnionMap]]:
        for one in self.original.statements:
            for access in one.writes:
                if access.array == array and _sure(access):
                    yield one.name, isl.UnionMap.from_map(access.relation.intersect_domain(one.domain))

    def _number(self, writer: str, array: str) -> int:
        return [cell.array for cell in self.uses[writer].writes].index(array)


def _sure(access: Access) -> bool:
    if not access.must:
        raise GaveUp(Code.NO_PROOF, f"{access.array} may be written or not")
    return True
