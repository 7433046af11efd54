"""Reads isl's flat code generation input (`.in`): a schedule map, a context, and options, in that order.

The schedule maps statement instances to time vectors.  Options map time vectors to
`separate[d]`, `atomic[d]`, `unroll[d]` or `separation_class[[d] -> [k]]`.
"""

from __future__ import annotations

import re
from typing import TypeVar

import islpy as isl

from loopwright.model.schedule import LEAF, AnyOrder, Band, Filter, Member, Schedule, Tree
from loopwright.presburger.sets import maps_of, sets_of
from loopwright.read.isl_text import Reader, read_isl
from loopwright.read.text import checked, mistake, without_comments
from loopwright.source import Source, Span

T = TypeVar("T")

PARTS = ("the schedule", "the context", "the options")
EXAMPLES = ("[n] -> { S[i] -> [i, 0] : 0 <= i < n }", "[n] -> { : n >= 1 }", "{ [i, j] -> unroll[1] }")
LOOP_TYPES = ("atomic", "separate", "unroll")


def parse(text: str, filename: str) -> Schedule:
    """The schedule that a `.in` file describes: one band, or one for each space of time vectors."""
    source = without_comments(checked(Source(filename, text)))
    pieces = _three_pieces(source)
    schedule = _read(isl.UnionMap.read_from_str, source, pieces, 0)
    context = _read(isl.Set.read_from_str, source, pieces, 1)
    options = _read(isl.UnionMap.read_from_str, source, pieces, 2)
    if context.dim(isl.dim_type.set) > 0:
        raise mistake(
            source,
            pieces[1].start,
            "the context constrains more than parameters",
            hint="write it without a tuple: [n] -> { : n >= 1 }",
        )
    _check_options(source, pieces[2], options)
    return Schedule(schedule.domain(), context.params(), _tree(schedule, options))


def _read(read: Reader[T], source: Source, pieces: tuple[Span, ...], k: int) -> T:
    return read_isl(read, source, pieces[k].start, pieces[k].end, PARTS[k], EXAMPLES[k])


def _three_pieces(source: Source) -> tuple[Span, Span, Span]:
    pieces = _pieces(source)
    if len(pieces) < 3:
        end = len(source.text.rstrip())
        raise mistake(
            source,
            end,
            f"{PARTS[len(pieces)]} should follow here",
            hint="a .in file holds a schedule, a context and options; the last two may be { : } and { }",
        )
    if len(pieces) > 3:
        raise mistake(
            source,
            pieces[3].start,
            "a fourth object in the file",
            hint="a file holds a schedule, a context and options",
        )
    return pieces[0], pieces[1], pieces[2]


def _pieces(source: Source) -> list[Span]:
    """The objects: each ends with the brace that closes its first one."""
    pieces: list[Span] = []
    start, depth = 0, 0
    for brace in re.finditer(r"[{}]", source.text):
        depth += 1 if brace.group() == "{" else -1
        if depth < 0:
            raise mistake(source, brace.start(), "this brace closes none that is open")
        if depth == 0:
            pieces.append(Span(source, _skip_space(source.text, start), brace.end()))
            start = brace.end()
    rest = _skip_space(source.text, start)
    if rest < len(source.text):
        what = PARTS[min(len(pieces), 2)] if len(pieces) < 3 else "the rest of the file"
        message = f"{what} has a brace that is never closed" if depth else f"{what} has no braces"
        raise mistake(source, rest, message, hint="objects are written in isl's notation: [n] -> { ... }")
    return pieces


def _skip_space(text: str, offset: int) -> int:
    while offset < len(text) and text[offset].isspace():
        offset += 1
    return offset


def _check_options(source: Source, piece: Span, options: isl.UnionMap) -> None:
    """Raise unless every option is one of isl's.

    An option on time vectors that the schedule does not have selects none of them, as in isl.
    """
    for option in sorted(maps_of(options), key=str):
        name = option.get_tuple_name(isl.dim_type.out) or ""
        at = max(source.text.find(name, piece.start, piece.end), piece.start)
        if not is_loop_option(option.get_space().range()):
            raise mistake(
                source,
                at,
                f"unknown option {option.get_space().range()}",
                length=len(name),
                hint="options are atomic[d], separate[d], unroll[d] and separation_class[[d] -> [k]]",
            )


def tuple_name(space: isl.Space) -> str:
    """The name of the tuples of a set space; "" for parameters only."""
    if space.is_params() or not space.has_tuple_name(isl.dim_type.set):
        return ""
    return str(space.get_tuple_name(isl.dim_type.set))


def is_loop_option(space: isl.Space) -> bool:
    """Whether an option is `atomic[d]`, `separate[d]`, `unroll[d]` or `separation_class[[d] -> [k]]`."""
    name = tuple_name(space)
    if name == "separation_class":
        return bool(space.is_wrapping()) and _shape(space.unwrap()) == (1, 1)
    return name in LOOP_TYPES and not space.is_wrapping() and space.dim(isl.dim_type.set) == 1


def _shape(space: isl.Space) -> tuple[int, int]:
    return space.dim(isl.dim_type.in_), space.dim(isl.dim_type.out)


def _tree(schedule: isl.UnionMap, options: isl.UnionMap) -> Tree:
    """One band; if time vectors are in several spaces, the spaces are unordered."""
    spaces = sorted((time.get_space() for time in sets_of(schedule.range())), key=_space_key)
    if not spaces:
        return LEAF
    bands = [_band(schedule, options, space) for space in spaces]
    if len(bands) == 1:
        return bands[0]
    return AnyOrder(tuple(Filter(band.schedule.domain(), band) for band in bands))


def _band(schedule: isl.UnionMap, options: isl.UnionMap, space: isl.Space) -> Band:
    """The instances scheduled in one space, with flat, unnamed vectors."""
    vectors = isl.UnionSet.from_set(isl.Set.universe(space))
    flat = isl.UnionMap.from_map(_plain(space))
    mine = schedule.intersect_range(vectors).apply_range(flat)
    about = options.intersect_domain(vectors).apply_domain(flat)
    return Band(mine, (Member(),) * space.dim(isl.dim_type.set), LEAF, options=about)


def _plain(space: isl.Space) -> isl.Map:
    """The map from the vectors of a space to flat, unnamed ones."""
    identity = isl.Map.identity(space.map_from_set())
    return identity.flatten_range().reset_tuple_id(isl.dim_type.out)


def _space_key(space: isl.Space) -> tuple[int, str]:
    return space.dim(isl.dim_type.set), str(space)
