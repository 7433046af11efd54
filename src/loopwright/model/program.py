"""The polyhedral model of a region of C [Namjoshi2016, section 3.2]: statements, domains, accesses.

It keeps enough of the source to print the statements again.  Statement spaces are named tuples `S1[i, j]`,
arrays are named tuples `A[x, y]`, and a scalar is an array of no dimensions.
"""

from __future__ import annotations

import re
from enum import Enum

import islpy as isl

from loopwright.c.declarations import is_floating_type
from loopwright.c.file import CFile, c_file
from loopwright.c.liveness import is_automatic, is_dead_after
from loopwright.c.syntax import Node
from loopwright.c.tokens import bracketed
from loopwright.c.typed.options import PLAIN, CompilerOptions
from loopwright.c.types import CType
from loopwright.display import Displayed
from loopwright.errors import Diagnostic
from loopwright.lazy_dataclass import dataclass
from loopwright.model.parameters import Parameter, ShownCall, known_cases
from loopwright.presburger.named import everywhere, number, variable
from loopwright.presburger.sets import union_map, union_set
from loopwright.source import Source, Span

ELSEWHERE = "_elsewhere"
"""The array, of no dimensions, that stands for all storage a region does not name: unknown calls touch it."""


class MemorySpace(Enum):
    """The location of storage created by an operation."""

    STACK = "an array of the function"
    HEAP = "allocated on each call"
    PRIVATE = "of each lane of a warp of a GPU, in its registers; elsewhere an array of the function"
    OWN = "of each thread of a block of a GPU, in its registers; elsewhere an array of the function"
    SHARED = "of each block of a GPU, shared by its threads; elsewhere an array of the function"


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the elements of an array are: what its name leads to, as the compiler declares it.

    `rows` are the lengths of the dimensions inside the first: `sizeof(*a)` counts them.
    """

    is_pointer: bool
    element_bytes: int
    rows: tuple[int | str, ...] = ()
    element: CType | None = None


@dataclass(frozen=True, slots=True)
class Array:
    """Storage that the region accesses; distinct names are assumed not to alias.

    `element_type` is the declared type where a declaration was seen.  A `local` one was declared inside the
    region: it is declared again before the new loops, since several of them may use it.
    """

    name: str
    rank: int
    element_type: str | None = None
    local: bool = False
    extents: tuple[str, ...] = ()
    """The text between the brackets of the declaration, where it was seen."""
    rows: tuple[str, ...] = ()
    """Of `A[(i * n + j) * m + k]`, which is read as A[i][j][k]: the sizes n and m of the inner dimensions."""
    space: MemorySpace | None = None
    """Of a `local` array that an operation made; None for the author's."""
    observed: bool | None = None
    """Its final values may be read afterwards or through a pointer; None if unknown."""
    addressed: bool = False
    """There may be a pointer to it."""
    layout: Layout | None = None
    """Where the typed declaration says it."""
    inside: isl.Set | None = None
    """{ A[s] : 0 <= s_k < e_k }, as far as sizes e_k are declared; None where none is known."""
    is_sized: bool = False
    """All sizes are declared: every cell that is `inside` is there."""

    @property
    def dimensions(self) -> int:
        """The number of indices of a cell, as it is read."""
        return len(self.rows) + 1 if self.rows else self.rank

    @property
    def declaration(self) -> str:
        """The text that declares it with its extents."""
        return f"{self.element_type} {self.name}{bracketed(self.extents)};"


@dataclass(frozen=True)
class Access:
    """`relation` maps instances to the cells touched, `S1[i, j] -> A[i, j - 1]`.

    Where `must` is false it is an upper bound: the statement may touch these cells, because the
    subscript is not affine or the access depends on data.
    """

    array: str
    relation: isl.Map
    is_write: bool
    must: bool
    place: Span


@dataclass(frozen=True, slots=True)
class Hole:
    """An occurrence of an iterator in a statement's text, to be replaced by its new value.

    The text around it need not bind tightly: put parentheses around what is not atomic.  An iterator of a
    `type` other than int is replaced by a value cast to that type: the arithmetic around it stays the same.
    """

    place: Span
    iterator: str
    type: str = "int"


@dataclass(frozen=True, slots=True)
class Inlined:
    """An occurrence of a local integer `int m = n - i;` that nothing else assigns.

    It is not storage: each occurrence means the text of its value, `definition`.
    """

    place: Span
    definition: Span
    holes: tuple[Hole | Inlined, ...] = ()
    """The occurrences inside the definition."""
    type: str = "int"
    is_row: bool = False
    """A local pointer: `row[j]` means `definition[j]`."""


@dataclass(frozen=True, slots=True)
class Body:
    """The text of a statement, `;` or braces included and labels left out.

    `leading` are the comments before it that belong to it, `trailing` one after it on its
    line.  For an initialised local declaration `double t = e, u;` the text is `t = e` and
    `terminator` is the `;` to add.
    """

    place: Span
    holes: tuple[Hole | Inlined, ...] = ()
    leading: tuple[Span, ...] = ()
    trailing: Span | None = None
    terminator: str = ""


@dataclass(frozen=True)
class Statement:
    """One statement: its instances, their schedule, their accesses, and its text.

    `domain`    { S1[i, j] : ... }, dimensions named after `iterators`, outermost first;
    `schedule`  { S1[i, j] -> [p0, i, p1, j, p2] }: positions in the syntax tree and iteration
                numbers in turn, padded with zeros to the length of the deepest statement.  The
                iteration number of a loop that counts down is `-i`, so that time increases.
    `accesses`  in the order of the text, reads of a compound assignment before its write.
    `depth`     the number of loops around it: `len(iterators)`.
    """

    name: str
    iterators: tuple[str, ...]
    domain: isl.Set
    schedule: isl.Map
    accesses: tuple[Access, ...]
    body: Body
    iterator_types: tuple[str, ...] = ()
    """The declared types of the iterators, `int` where no declaration was seen."""

    @property
    def depth(self) -> int:
        return len(self.iterators)

    @property
    def reads(self) -> tuple[Access, ...]:
        return tuple(access for access in self.accesses if not access.is_write)

    @property
    def writes(self) -> tuple[Access, ...]:
        return tuple(access for access in self.accesses if access.is_write)


@dataclass(frozen=True, slots=True)
class Tag:
    """A label: a handle on `statements` inside `depth` loops [Namjoshi2016, section 3.1]."""

    name: str
    statements: tuple[str, ...]
    depth: int
    place: Span


class AssumptionKind(Enum):
    """The reason for an assumption that the source of the region does not justify."""

    USER = "stated by the user"
    ALIASING = "no two names share storage"
    BOUNDS = "subscripts stay inside their arrays"
    ROWS = "the rows of an array written as one dimension do not reach into each other"
    ARITHMETIC = "index arithmetic does not wrap around"
    PURE = "has no effect but its value"
    CONSTANT = "is an integer that does not change in the region"
    ITERATOR = "is not read after the region"
    PRAGMA = "means nothing for the result"
    DESCRIPTION = "is what a description of a program says"


class Standing(Enum):
    """The status of an assumption; one that the file refutes is an error."""

    PROVED = "proved"
    GUARDED = "guarded"
    ASSUMED = "assumed"


@dataclass(frozen=True, slots=True)
class Assumption:
    """An assumption of the region, listed in the proof report unless it is proved.

    `about` are its names, `pairs` what storage is not shown to be apart.  Where it holds for the parameters
    of a set, `holds_for` is that set, and a test can stand for it; `condition` says it of rows, as an option.
    """

    kind: AssumptionKind
    text: str
    place: Span | None = None
    standing: Standing = Standing.ASSUMED
    about: tuple[str, ...] = ()
    holds_for: isl.Set | None = None
    pairs: tuple[tuple[str, str], ...] = ()
    needs: isl.Set | None = None
    """Where `holds_for` is enough and not needed, since data decide what is touched: what is needed."""
    condition: str = ""

    @property
    def implies(self) -> isl.Set | None:
        """The parameters that there are where it holds."""
        return self.holds_for if self.needs is None else self.needs


@dataclass(frozen=True)
class Program(Displayed):
    """One region: `region` is what lies between its pragmas, exclusive of them.

    `context` is what is known of the parameters, over the parameters alone.  `statements` are in
    the order of the text; their schedules have one common length, `2 * max depth + 1`.
    """

    region: Span
    parameters: tuple[Parameter, ...]
    context: isl.Set
    assumptions: tuple[Assumption, ...]
    arrays: tuple[Array, ...]
    statements: tuple[Statement, ...]
    tags: tuple[Tag, ...]
    set_aside: tuple[Diagnostic, ...] = ()
    """Code that was not analysed, with reasons: loops kept whole, names and calls not followed."""
    renamed: frozenset[str] = frozenset()
    """Names of functions of the library that a header or an option makes macros."""
    foreign: frozenset[str] = frozenset()
    """Names of our helper macros that headers or options use."""
    compiled: CompilerOptions = PLAIN
    calls: tuple[ShownCall, ...] = ()
    """Of the function around the region, with numbers that the region depends on."""

    def __repr__(self) -> str:
        """One line; the sets and relations are for `loopwright.describe`."""
        names = ", ".join(f"{one.name}[{', '.join(one.iterators)}]" for one in self.statements)
        return f"<Program {self.source.path}:{self.region.line}: {names}>"

    @property
    def source(self) -> Source:
        """The text of the file the region is in."""
        return self.region.source

    @property
    def file(self) -> CFile:
        """The rest of the C file."""
        return c_file(self.source)

    @property
    def syntax(self) -> Node:
        """The statements of the region, as the block of a function."""
        return self.file.block(self.region)

    @property
    def facts(self) -> isl.Set:
        """The context, and what the types and definitions of the parameters say of them."""
        return self.context.intersect(self.possible)

    @property
    def promised(self) -> isl.Set:
        """The facts, and what is assumed of the parameters."""
        known = self.facts
        for one in self.assumptions:
            known = known if one.implies is None else known.intersect(one.implies)
        return known

    @property
    def possible(self) -> isl.Set:
        """The parameters that their types and definitions allow, whatever is assumed of them."""
        known = everywhere()
        for one in self.parameters:
            if one.values is not None:
                least, greatest = map(number, one.values)
                own = variable(one.name)
                known = known.intersect(own.ge_set(least)).intersect(own.le_set(greatest))
        return known

    @property
    def cases(self) -> tuple[ShownCall, ...]:
        """Numbers that parameters have together: each that one of them can be, and those of calls."""
        return known_cases(self.parameters, self.calls)

    @property
    def rounds(self) -> bool:
        """Whether it may compute with floating-point numbers: storage has such a type, or one not seen."""
        types = [one.element_type for one in self.arrays if one.name != ELSEWHERE]
        known = self.file.declarations
        return any(kind is None or is_floating_type(known.resolved(kind)) for kind in types)

    @property
    def trusted(self) -> tuple[Assumption, ...]:
        """The assumptions that are neither proved nor tested at run time."""
        return tuple(one for one in self.assumptions if one.standing is Standing.ASSUMED)

    @property
    def params(self) -> tuple[str, ...]:
        return tuple(parameter.name for parameter in self.parameters)

    def statement(self, name: str) -> Statement:
        """The statement called `name`; KeyError where there is none."""
        return {one.name: one for one in self.statements}[name]

    def array(self, name: str) -> Array:
        """The array called `name`; KeyError where there is none."""
        return {one.name: one for one in self.arrays}[name]

    def labels_on(self, statement: Statement) -> tuple[str, ...]:
        """The tags on this very statement, and no loop around it."""
        wanted = (statement.name,), statement.depth
        return tuple(tag.name for tag in self.tags if (tag.statements, tag.depth) == wanted)

    def is_private(self, array: Array) -> bool:
        """Whether a thread can have its own: a variable of the region or of the function, no pointer."""
        if array.space is MemorySpace.HEAP or array.addressed:
            return False
        return array.local or is_automatic(self.file, self.region, array.name, array.rank)

    def is_dead_after(self, array: Array) -> bool:
        """Whether no text after the region can see what the region leaves in `array`."""
        if array.local or array.observed is not None:
            return array.local or not array.observed
        return is_dead_after(self.file, self.region, array.name, array.rank)

    def domain(self) -> isl.UnionSet:
        """All instances, where the context holds."""
        instances = union_set((one.domain for one in self.statements), self.context.get_space())
        return instances.intersect_params(self.context)

    def schedule(self) -> isl.UnionMap:
        """θ of [Namjoshi2016, section 3.2] on the instances of `domain`."""
        times = union_map((one.schedule for one in self.statements), self.context.get_space())
        return times.intersect_domain(self.domain())


def statement_text(statement: Statement, values: dict[str, str]) -> str:
    """The text of `statement` with `values[i]`, in parentheses where needed, for every iterator `i`."""
    body = statement.body
    return _filled(body.place, body.holes, values) + body.terminator


def is_element(text: str) -> bool:
    """Whether `text` is a name with subscripts, which needs no parentheses before another one."""
    return re.fullmatch(r"\w+(\s*\[[^][]*\])*", text) is not None


def _filled(place: Span, holes: tuple[Hole | Inlined, ...], values: dict[str, str]) -> str:
    return place.edited((hole.place.start, hole.place.end, _filler(hole, values)) for hole in holes)


def _filler(hole: Hole | Inlined, values: dict[str, str]) -> str:
    match hole:
        case Hole(_, iterator):
            value = values.get(iterator, iterator)
            is_same = iterator == value
        case Inlined(_, definition, inner):
            value = _filled(definition, inner, values)
            is_same = False
    is_row = isinstance(hole, Inlined) and hole.is_row
    if not (value.isidentifier() or value.isdigit() or (is_row and is_element(value))):
        value = f"({value})"
    return value if hole.type == "int" or is_same else f"(({hole.type}){value})"
