"""The text around passes of streamed tiles: what is kept for them, and the steps that fill none.

Two passes take turns, from an array to a second one and back; after an odd number of them the second one is
copied back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from loopwright.presburger.dimensions import only
from loopwright.presburger.sets import DIM
from loopwright.transform.library.affine_text import affine_text
from loopwright.transform.library.stencils import Stencil, bounds_of
from loopwright.transform.library.stream_text import Line, pass_text
from loopwright.transform.library.stream_tiles import StreamRole, StreamTile, element, step_arrays


def streamed_text(stencil: Stencil, passes: Sequence[StreamTile]) -> Iterator[Line]:
    first = passes[0]
    inner, _ = step_arrays(stencil)
    point = stencil.loops[1:]
    heads = ""
    for k, name in zip(first.loops, point, strict=True):
        low, high = first.touched_range(1, k)
        heads += f"for ({first.kind(k)} {name} = {low}; {name} <= {high}; {name}++) "
    statement = stencil.program.statements[0]
    ends = [bounds_of(only(statement.domain, DIM, k).reset_tuple_id(), "") for k in (0, *first.loops)]
    tests = [" <= ".join(affine_text(stencil.program, end, ()) for end in pair) for pair in ends]
    if first.few:
        yield f"if ({' || '.join(first.few)}) {{\n", None
        yield from _rest(first, "all", first.low(0))
        yield "} else {\n", None
    yield f"if ({' && '.join(tests)}) {{\n", None
    kept = first.kept(statement, point)
    yield (
        f"{heads}if ({kept}) {element(inner.next, point)} = {element(inner.array.name, point)};\n",
        StreamRole("keep", array=inner.array.name, point=point, time=first.low(0)),
    )
    name = stencil.tiles[0]
    yield f"for ({first.kind(0)} {name} = 0; {first.last_step} <= {first.high(0)}; {name}++) {{\n", None
    for one in passes:
        if one.number:
            yield f"if ({one.last_step} <= {one.high(0)}) {{\n", None
        for text, role in pass_text(one):
            yield text, None if role is None else replace(role, number=one.number)
    yield "} else {\n", None
    yield _back(first)
    yield "}\n}\n}\n", None
    start, last, steps = first.low(0), first.high(0), first.steps
    yield from _rest(first, "rest", f"{start} + {steps} * (({last} - ({start}) + 1) / {steps})")
    if first.few:
        yield "}\n", None


def _back(tile: StreamTile) -> Line:
    """After an odd number of passes, what the last one stored."""
    _, outer = step_arrays(tile.stencil)
    statement, heads = tile.program.statements[1], ""
    for k, name in zip(tile.loops, statement.iterators[1:], strict=True):
        low, high = tile.written_range(statement, k)
        heads += f"for ({tile.kind(k)} {name} = {low}; {name} <= {high}; {name}++) "
    point, array = statement.iterators[1:], outer.array.name
    role = StreamRole("back", array=array, point=point, time=tile.time(0, str(tile.steps)))
    return f"{heads}{element(array, point)} = {element(outer.next, point)};\n", role


def _rest(tile: StreamTile, key: str, begin: str) -> Iterator[Line]:
    """Steps as they were, from one on: those that fill no pass, or all."""
    program, time = tile.program, tile.stencil.loops[0]
    yield f"for ({tile.kind(0)} {time} = {begin}; {time} <= {tile.high(0)}; {time}++) {{\n", None
    for one in program.statements:
        heads = ""
        for k in tile.loops:
            ends = bounds_of(only(one.domain, DIM, k).reset_tuple_id(), one.iterators[k])
            low, high = (affine_text(program, end, ()) for end in ends)
            loop = one.iterators[k]
            heads += f"for ({tile.kind(k)} {loop} = {low}; {loop} <= {high}; {loop}++) "
        text = one.body.place.text + one.body.terminator
        yield f"{heads}{text}\n", StreamRole(f"{key} {one.name}", statement=one.name, point=one.iterators)
    yield "}\n", None
