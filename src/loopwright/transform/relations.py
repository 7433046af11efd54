"""Maps between iteration vectors, the arguments of `affine`, with their author's names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count

import islpy as isl

from loopwright.lazy_dataclass import dataclass
from loopwright.presburger.dimensions import only
from loopwright.presburger.functions import coordinate
from loopwright.presburger.sets import IN, OUT


@dataclass(frozen=True)
class Output:
    """One new iterator: its name if it has one, and the old iterators it is computed from."""

    name: str | None
    sources: tuple[int, ...]
    is_copy: bool
    """Whether it is the one source unchanged."""
    is_negative: bool = False
    """Whether it is the negative of the one source."""


@dataclass(frozen=True)
class IterationFunction:
    """f: Z^a -> Z^b, `relation` between unnamed tuples.  `inputs` are the author's names."""

    relation: isl.Map
    inputs: tuple[str | None, ...]
    outputs: tuple[Output, ...]

    @property
    def taken(self) -> int:
        return len(self.inputs)

    @property
    def given(self) -> int:
        return len(self.outputs)

    def loop_names(self, loops: tuple[str, ...]) -> tuple[str, ...]:
        """The names of the loops around a statement afterwards, given their names before.

        A copied iterator keeps its loop's name, a named one has its own, and one that is an
        expression is named after the loop it comes from.
        """
        old = [*loops[: self.taken], *(name or "c" for name in self.inputs[len(loops) :])]
        rest = loops[self.taken :]
        wanted = [self._name(k, output, old) for k, output in enumerate(self.outputs)]
        names: list[str] = []
        for name in wanted:
            taken = {*names, *rest}
            names.append(next(n for n in _variants(name) if n not in taken))
        return (*names, *rest)

    def _name(self, place: int, output: Output, old: list[str]) -> str:
        if output.name is not None:
            return output.name
        if output.is_copy:
            return old[output.sources[0]]
        if place in output.sources or not output.sources:
            return old[place] if place < len(old) else "c"
        return old[output.sources[0]]

    def moved_loop(self, loop: int, *, or_reversed: bool = False) -> int | None:
        """The index of the new iterator equal to a loop's iterator or its negative; None if there is none."""
        if loop >= self.taken:
            return loop + self.given - self.taken
        copies = [
            k
            for k, output in enumerate(self.outputs)
            if output.sources == (loop,) and (output.is_copy or (or_reversed and output.is_negative))
        ]
        return copies[-1] if copies else None

    def ambiguity(self) -> str | None:
        """A new iterator that the map does not determine."""
        for k, output in enumerate(self.outputs):
            if not only(self.relation, OUT, k).is_single_valued():
                what = output.name or f"iterator {k + 1}"
                return f"say what {what} is: {{[i] -> [{what}] : {what} = i + 1}}"
        return None


def _variants(name: str) -> Iterator[str]:
    """name, name1, name2, ..."""
    yield name
    yield from (f"{name}{k}" for k in count(1))


def function_of(
    relation: isl.Map,
    names: tuple[str | None, ...] | None = None,
    inputs: tuple[str | None, ...] | None = None,
) -> IterationFunction:
    """The map with the inputs of each output; `names` are those it gives to new iterators."""
    count = relation.dim(IN)
    relation = relation.apply_range(_unnamed(relation.dim(OUT)))
    outputs = []
    for k in range(relation.dim(OUT)):
        alone = only(relation, OUT, k).gist_domain(relation.domain())
        sources = tuple(j for j in range(count) if alone.involves_dims(IN, j, 1))
        is_copy = len(sources) == 1 and bool(alone.is_equal(_copy(alone, sources[0])))
        is_negative = len(sources) == 1 and not is_copy and bool(alone.is_equal(_negative(alone, sources[0])))
        outputs.append(Output(names[k] if names else None, sources, is_copy, is_negative))
    return IterationFunction(relation, inputs or (None,) * count, tuple(outputs))


def _unnamed(count: int) -> isl.Map:
    """The identity between vectors whose entries have no names."""
    return isl.Map.identity(isl.Space.alloc(isl.DEFAULT_CONTEXT, 0, count, count))


def _copy(like: isl.Map, source: int) -> isl.Map:
    return isl.Map.universe(like.get_space()).equate(IN, source, OUT, 0)


def _negative(like: isl.Map, source: int) -> isl.Map:
    return isl.Map.universe(like.get_space()).oppose(IN, source, OUT, 0)


def iterators(count: int) -> list[isl.Aff]:
    """x_0, ..., x_(count-1), as functions on Z^count."""
    space = isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, count)
    return [coordinate(space, k) for k in range(count)]


def constant(count: int, value: int) -> isl.Aff:
    """The function on Z^count that has this value everywhere."""
    space = isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, count)
    return isl.Aff.val_on_domain_space(space, isl.Val(value))


def tile_number(value: isl.Aff, size: int) -> isl.Aff:
    """[value/size]"""
    return value.scale_down_val(isl.Val(size)).floor()


def vector(outputs: Sequence[isl.Aff]) -> isl.MultiAff:
    """Functions on one space as the entries of a vector."""
    domain = outputs[0].get_domain_space()
    space = domain.map_from_domain_and_range(isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, len(outputs)))
    found = isl.MultiAff.zero(space)
    for k, output in enumerate(outputs):
        found = found.set_aff(k, output)
    return found


def function(outputs: Sequence[isl.Aff], names: Sequence[str | None] | None = None) -> IterationFunction:
    """f(x) = outputs; `names` are those of the new loops, if given."""
    return function_of(isl.Map.from_multi_aff(vector(outputs)), tuple(names) if names is not None else None)
