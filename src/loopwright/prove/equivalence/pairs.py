"""Two programs to run side by side, and what is known where they begin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import field as field_of

import islpy as isl

from loopwright.c.liveness import first_value, has_no_value
from loopwright.c.macros import reachable_macros
from loopwright.c.tokens import names_in
from loopwright.c.types import CType
from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import AssumptionKind, Program
from loopwright.presburger.named import at_parameters, parameter_names
from loopwright.prove.equivalence.beginning import EnclosingFunction, function_of
from loopwright.prove.equivalence.definitions import constants, functions_with_body
from loopwright.prove.equivalence.known_numbers import (
    macros_of_headers,
    open_names,
    other_class,
    standard_headers,
)
from loopwright.prove.equivalence.reading import local_name
from loopwright.prove.equivalence.shared import names_of_one_memory
from loopwright.prove.equivalence.terms import TermAssignment
from loopwright.prove.equivalence.traces import CellKey, Runnable
from loopwright.prove.reading.c_expressions import Unreadable


@dataclass(frozen=True)
class Pair:
    """Two programs to run side by side."""

    paths: tuple[str, str]
    """The paths of their files."""
    runs: tuple[Runnable, Runnable]
    arrays: tuple[str, ...]
    reassociate: bool
    opaque: frozenset[str]
    """Functions defined in a file, whose bodies are not examined."""
    known: Mapping[str, float] = field_of(default_factory=dict)
    """Values of variables of the function at the start of the regions."""
    unset: frozenset[str] = frozenset()
    """Variables of OLD that are uninitialised at the start of its region."""
    function: EnclosingFunction | None = None
    """The function around the region of OLD."""
    constants: Mapping[str, float] = field_of(default_factory=dict)
    """Constants of headers."""
    assumed: tuple[isl.Set, ...] = ()
    """What the user states of parameters."""
    loaded: Mapping[str, CellKey] = field_of(default_factory=dict)
    """Variables that hold the values of cells at the start of the regions."""
    finite: bool = False
    """Whether a compiler is told that no number is infinite or a NaN."""

    def admits(self, given: Mapping[str, int], read: Set[str]) -> bool:
        """Whether what the user states holds for these parameters; not known of others that are read."""
        for one in self.assumed:
            names = parameter_names(one)
            if any(name in read and name not in given for name in names):
                return False
            if at_parameters(one, {name: given[name] for name in names if name in given}).is_empty():
                return False
        return True

    @property
    def assignments(self) -> list[TermAssignment]:
        """All assignments of the programs; copies of a statement share theirs."""
        own = {id(one.copied or one): one for side in self.runs for one in side.computations.values()}
        return [assignment for one in own.values() for assignment in one.assignments]

    @property
    def types(self) -> dict[str, CType]:
        return {one.target.array: one.target.type for one in self.assignments}


def pair_of(
    programs: tuple[Program, Program],
    runs: tuple[Runnable, Runnable],
    arrays: tuple[str, ...],
    *,
    reassociate: bool,
) -> Pair:
    """Pairs two programs to run; raises `Unreadable` if a run would not show what they compute."""
    arrays_of = ((p, one) for p in programs for one in p.arrays if not one.local)
    fixed = [one.name for p, one in arrays_of if one.name in constants(p.source)]
    if fixed:
        raise Unreadable(f"the value of the constant '{fixed[0]}' was not determined")
    shared = names_of_one_memory(*programs)
    if shared is not None:
        raise Unreadable(f"whether '{shared[0]}' and '{shared[1]}' are the same memory was not determined")
    functions = tuple(map(function_of, programs))
    for program, function in zip(programs, functions, strict=True):
        name = _macro_of_header(program, function) or other_class(program)
        if name is not None:
            raise Unreadable(f"the macro '{name}' of a header was not examined")
    name = _defined_elsewhere(programs, functions)
    if name is not None:
        raise Unreadable(f"'{name}', which the file does not define, was not examined")
    opaque = functions_with_body(programs[0].source) | functions_with_body(programs[1].source)
    paths = programs[0].source.path, programs[1].source.path
    given = {name: value for one in functions if one is not None for name, value in one.constants.items()}
    known = given | _known(*programs)
    stated = (one.holds_for for p in programs for one in p.trusted if one.kind is AssumptionKind.USER)
    assumed = tuple(one for one in stated if one is not None)
    unset = _unset(programs[0])
    finite = any(one.compiled.finite(one.source) for one in programs)
    return Pair(
        *(paths, runs, arrays, reassociate, opaque, known, unset, functions[0], given, assumed),
        finite=finite,
    )


def _macro_of_header(program: Program, known: EnclosingFunction | None) -> str | None:
    """Returns a constant of a header `<..>`, read as a variable or a size, whose value is not known."""
    names = [one for one in open_names(program) if known is None or one not in known.constants]
    if not names:
        return None
    there = macros_of_headers(standard_headers(program.file), program.compiled.for_file(program.source.path))
    return next((one for one in names if one in there), None)


def _defined_elsewhere(
    programs: tuple[Program, Program], functions: Sequence[EnclosingFunction | None]
) -> str | None:
    """Returns a name of one program alone that a user's header or an option may define.

    A name that both have is a size like any other.  If one has a number in its place, the name is that
    number.
    """
    names = [_named_in(one) for one in programs]
    given = {name for one in functions if one is not None for name in one.constants}
    alone = [{*open_names(one)} - names[1 - k] - given for k, one in enumerate(programs)]
    return min(alone[0] | alone[1], default=None)


def _named_in(program: Program) -> set[str]:
    """The names in a region, and in the expansions of its macros."""
    found = set(names_in(program.region.text))
    macros = [one for name in sorted(found) for one in reachable_macros(program.file.macros, name)]
    return found.union(*(names_in(one.body) for one in macros))


def _known(old: Program, new: Program) -> dict[str, float]:
    """The values of the function's variables at the start of the regions; those of OLD take precedence."""
    found: dict[str, float] = {}
    for program in (new, old):
        names = {one.name for one in program.arrays if one.rank == 0 and not one.local}
        values = {name: first_value(program.file, program.region, name) for name in sorted(names)}
        found |= {name: value for name, value in values.items() if value is not None}
    return found


def _unset(program: Program) -> frozenset[str]:
    """Locals of the region, and uninitialised scalars of the function."""
    own = {local_name(one.name) for one in program.arrays if one.local}
    others = {one.name for one in program.arrays if one.rank == 0 and not one.local}
    return frozenset(own | {name for name in others if has_no_value(program.file, program.region, name)})
