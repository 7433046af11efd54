"""Delayed detection for one specification and one program: branch-free checks [Bao2016, section 5].

A scheme defines the contents of the shadow of a cell, one number.  For an operation with observed subscripts
o, assumed to be an instance of a group:

    x    := the iterators that o and the shadows determine
    neg  |= every constraint of the domain at x             (its sign says "outside")
    dif  |= o_k ^ f_k(x)                                    for every subscript
    dif  |= shadow[w] ^ before(x)                           what the shadow must hold before x
    dif  |= shadow[r] ^ source(x, r)                        for every read of a written array
    shadow[w] = after(x)

If neg is not negative and dif is 0 at the end, every operation was an instance of the domain, executed after
the previous writer of its cell and read the right values.  With shadow[w] = last(w) for all w in the
WriteSet, every instance executed exactly once.  How x was computed need not be trusted: all of its
consequences are checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

import islpy as isl

from loopwright.check.algorithms.bulk_to_c import bulk_call, bulk_function, scan
from loopwright.check.algorithms.fronts import Front, front_macro
from loopwright.check.algorithms.scheme import Group, Scheme, Shadow, group_of, shadows
from loopwright.check.original.c_text import test, value
from loopwright.check.original.solving import Solution, solution_to_c, solve
from loopwright.check.original.specification import FixedAccess, Specification, Stated, box
from loopwright.check.original.writers import Writers, subscripts
from loopwright.check.program.sites import Candidate, Site, Sites
from loopwright.emit.expressions import Level, expression_to_c
from loopwright.generate.expressions import EvaluationPlace, linear
from loopwright.lazy_dataclass import dataclass
from loopwright.presburger.sets import DIM

NARROW = 1 << 24


@dataclass(frozen=True)
class Fast:
    """The generated C of one check: `header` has a function for each site, `tables` is for the engine."""

    header: str
    tables: str


def fast_check(
    spec: Specification,
    found: Writers,
    scheme: Scheme,
    sites: Sites,
    ahead: Sequence[Front],
    *,
    parallel: bool,
) -> Fast:
    """Generate the header and the tables for these sites; raises GaveUp if the scheme does not apply."""
    places = shadows(spec, scheme)
    writer = _SiteWriter(scheme, places, parallel)
    header = "\n".join(
        (
            '#include "delayed.h"\n',
            *(writer.site(site) for site in sites.sites),
            *(bulk_function(one.number, one.bulk, scheme, places) for one in ahead if one.bulk is not None),
            "#undef floord\n#undef max\n#undef min",
            *(front_macro(one, fast_call, _whole(one)) for one in ahead),
        )
    )
    return Fast(header, _tables(spec, found, scheme, places))


def _whole(front: Front) -> str | None:
    return None if front.bulk is None else bulk_call(front.number, front.bulk)


def fast_call(site: Site, observed: Sequence[str]) -> str:
    return f"lw_site_{site.number}({', '.join(observed)})"


@dataclass(frozen=True)
class _Trace:
    """The C variables in which a check records errors, and the test before the shadow changes."""

    dif: str
    neg: str
    when: str = ""


_AT_ONCE = _Trace("lw_dif", "lw_neg")
_TRIED = _Trace("dif", "neg", "if (!dif && neg >= 0) ")
"""For one of several groups: nothing changes unless it matches."""


@dataclass(frozen=True)
class _SiteWriter:
    scheme: Scheme
    places: dict[str, Shadow]
    parallel: bool
    checks: dict[tuple[object, ...], str] = field(default_factory=dict)
    """The checks written so far, shared because those of unrolled loops are identical."""

    def site(self, site: Site) -> str:
        """The function that checks one site."""
        names = [f"o{k}" for k in range(len(site.observed))]
        arguments = ", ".join(f"long {name}" for name in names) or "void"
        opening = f"LW_SITE lw_site_{site.number}({arguments})\n{{\n"
        groups = self._groups(site)
        if site.write.array not in self.places or not groups:
            return f"{opening}  LW_WRONG();\n}}\n"
        if len(groups) == 1 and not self.parallel:
            return opening + self._check(site, *groups[0], _AT_ONCE) + "}\n"
        return opening + self._alternatives(site, groups) + "}\n"

    def _groups(self, site: Site) -> list[tuple[Group, Candidate]]:
        """Return the groups that a site may belong to, each with one of its candidates."""
        found: dict[int, tuple[Group, Candidate]] = {}
        for candidate in site.candidates:
            group = group_of(self.scheme.groups, candidate.statement)
            if not group.domain.is_empty():
                found.setdefault(group.number, (group, candidate))
        return list(found.values())

    def _alternatives(self, site: Site, groups: list[tuple[Group, Candidate]]) -> str:
        """Take the first group that matches; the shadow changes only then."""
        pieces = []
        for group, candidate in groups:
            body = self._check(site, group, candidate, _TRIED)
            opening = "  {\n  unsigned long dif = 0; long neg = 0;\n"
            pieces.append(f"{opening}{body}  if (!dif && neg >= 0) return;\n  }}\n")
        return "".join(pieces) + "  LW_WRONG();\n"

    def _check(self, site: Site, group: Group, candidate: Candidate, trace: _Trace) -> str:
        holes = tuple(candidate.statement.symbols.index(name) for name, _ in candidate.holes)
        key = (group.number, site.first_hole(candidate), holes, trace.dif)
        if key not in self.checks:
            self.checks[key] = self._written(site, group, candidate, trace)
        return self.checks[key]

    def _written(self, site: Site, group: Group, candidate: Candidate, trace: _Trace) -> str:
        dif = trace.dif
        rows = self._rows(site, group, candidate)
        solution = solve([row.function for row in rows], group.depth)
        array, width = site.write.array, len(site.write.subscripts)
        shadow = self.places[array].cell([f"o{k}" for k in range(width)])
        lines = [f"  const lw_code{self.scheme.size[array]} c = {shadow};"]
        values = {k: row.text for k, row in enumerate(rows)}
        lines += self._open(group, solution, values, width)
        wide = [f"y{k}" for k in range(group.depth)]
        for name, text in zip(wide, solution_to_c(solution, values), strict=True):
            lines.append(f"  const long {name} = {text};")
        lines += self._subscripts(group, rows, solution, wide, dif)
        names = wide
        if self._is_narrow(group) and solution.is_integral:
            names = [f"x{k}" for k in range(group.depth)]
            lines += [f"  {line}" for line in narrowed(group.domain, names, solution.free, dif)]
        else:
            lines += [f"  {line}" for line in domain_checks(group.domain, names, dif, trace.neg)]
        lines.append(self._compared(array, "c", self.scheme.before(group, names), dif))
        lines += self._reads(site, group, names, dif)
        lines.append(f"  {trace.when}{shadow} = {self.scheme.after(group, names)};")
        return "\n".join(lines) + "\n"

    def _is_narrow(self, group: Group) -> bool:
        """Whether iterators and shadows are so small that int arithmetic cannot overflow on them."""
        is_small = all(low > -NARROW and high < NARROW for low, high in box(group.domain))
        arrays = {group.first.write.array, *(read.array for read in group.first.reads)} & set(self.places)
        is_short = all(self.scheme.size[array] <= 4 for array in arrays)
        return is_small and is_short and self.scheme.fits_int(group)

    def _rows(self, site: Site, group: Group, candidate: Candidate) -> list[_Row]:
        """The value that each observation must have, including iterators in the text and linear shadows."""
        rows = [_Row(one, f"o{k}", is_observed=True) for k, one in enumerate(subscripts(group.first))]
        start = site.first_hole(candidate)
        for offset, (name, _) in enumerate(candidate.holes):
            rows.append(_Row(candidate.statement.symbol(name), f"o{start + offset}", is_observed=True))
        before = self.scheme.linear_before(group)
        if before is not None:
            rows.append(_Row(before, "(long)c", is_observed=False))
        for number, read, texts in self._shadowed(site, group):
            source = self.scheme.linear_source(group, number)
            if source is not None:
                rows.append(_Row(source, f"(long){self.places[read.array].cell(texts)}", is_observed=False))
        return rows

    def _open(self, group: Group, solution: Solution, values: dict[int, str], width: int) -> list[str]:
        """The iterators that the subscripts do not determine, guessed from the shadow of the cell."""
        if not solution.free:
            return []
        names = ["s", *(f"o{k}" for k in range(width))]
        lines = ["  const long s = (long)c;"]
        count = len(values)
        parts = self.scheme.guess(group, solution.free, names)
        for iterator, text in zip(solution.free, parts, strict=True):
            lines.append(f"  const long g{iterator} = {text};")
            values[count + iterator] = f"g{iterator}"
        return lines

    def _subscripts(
        self, group: Group, rows: list[_Row], solution: Solution, names: list[str], dif: str
    ) -> list[str]:
        """The subscripts that were not used to find x, or all if finding it took a division."""
        used = set(solution.rows) if solution.is_integral else set()
        return [
            f"  {dif} |= (unsigned long)({row.text} ^ ({value(row.function, names, group.domain)}));"
            for k, row in enumerate(rows)
            if k not in used and row.is_observed
        ]

    def _shadowed(self, site: Site, group: Group) -> list[tuple[int, FixedAccess, list[str]]]:
        """The reads to compare: of written arrays, except of the cell written, which is compared already."""
        found = []
        position = len(site.write.subscripts)
        first = group.first
        for number, read in enumerate(first.reads):
            count = len(read.subscripts)
            texts = [f"o{position + k}" for k in range(count)]
            position += count
            if read.array in self.places and not _is_target(first, read):
                found.append((number, read, texts))
        return found

    def _reads(self, site: Site, group: Group, names: list[str], dif: str) -> list[str]:
        lines = []
        for number, read, texts in self._shadowed(site, group):
            shadow = self.places[read.array].cell(texts)
            lines.append(self._compared(read.array, shadow, self.scheme.source(group, number, names), dif))
        return lines

    def _compared(self, array: str, shadow: str, expected: str, dif: str) -> str:
        """Small codes are compared in their own width: more of them fit into a vector register."""
        if self.scheme.size[array] <= 4 and dif == "lw_dif":
            return f"  lw_dif4 |= {shadow} ^ (unsigned int)({expected});"
        return f"  {dif} |= {shadow} ^ (unsigned long)({expected});"


@dataclass(frozen=True)
class _Row:
    """A value that must be `function` of the iterators; a shadow is compared elsewhere."""

    function: isl.PwAff
    text: str
    is_observed: bool


def _is_target(statement: Stated, read: FixedAccess) -> bool:
    same = read.array == statement.write.array
    return same and bool(read.relation.is_equal(statement.write.relation))


def narrowed(domain: isl.Set, names: Sequence[str], free: tuple[int, ...], dif: str) -> list[str]:
    """The iterators as int, with statements that record an error if they do not fit or are outside `domain`.

    The bounds of each iterator are tested first and separately, so that no overflow goes unnoticed. A value
    guessed from a shadow is small; otherwise its bounds fail.
    """
    small = "lw_dif4" if dif == "lw_dif" else dif
    lines = []
    around = isl.Set.universe(domain.get_space())
    for k, ((low, high), name) in enumerate(zip(box(domain), names, strict=True)):
        lines.append(f"const int {name} = (int)y{k};")
        if k not in free:
            lines.append(f"{dif} |= (unsigned long)(y{k} ^ {name});")
        lines.append(f"{small} |= ({name} < {low}) | ({name} > {high});")
        around = around.lower_bound_val(DIM, k, isl.Val(low)).upper_bound_val(DIM, k, isl.Val(high))
    inside = domain.gist(around)
    if not inside.plain_is_universe():
        lines.append(f"{small} |= !({test(domain, names, around, branches=False)});")
    return lines


def domain_checks(domain: isl.Set, names: Sequence[str], dif: str, neg: str) -> list[str]:
    """Statements that record an error if x is outside `domain`."""
    pieces = domain.get_basic_sets()
    constraints = pieces[0].get_constraints() if len(pieces) == 1 else []
    if len(pieces) != 1 or pieces[0].dim(isl.dim_type.div):
        everything = isl.Set.universe(domain.get_space())
        return [f"{dif} |= (unsigned long)!({test(domain, names, everything, branches=False)});"]
    place = EvaluationPlace(tuple(names), domain)
    lines = []
    for constraint in constraints:
        text = expression_to_c(linear(constraint.get_aff(), place).expr(), Level.SELECT)
        is_equality = constraint.is_equality()
        lines.append(f"{dif} |= (unsigned long)({text});" if is_equality else f"{neg} |= {text};")
    return lines


def _tables(spec: Specification, found: Writers, scheme: Scheme, places: dict[str, Shadow]) -> str:
    """`lw_tables.h` of delayed detection: the facts about the original that `delayed.c` needs."""
    table = ", ".join(f"{{{one.address:#x}UL, {max(one.bytes, 1)}UL}}" for one in places.values())
    return "\n".join(
        (
            '#include "codes.h"\n',
            f"#define LW_SIZES {len(spec.sizes)}\n#define LW_SHADOWS {len(places)}",
            f"static const unsigned long lw_places[][2] = {{{table or '{0, 0}'}}};",
            _last_writers(spec, found, scheme, places),
        )
    )


def _last_writers(spec: Specification, found: Writers, scheme: Scheme, places: dict[str, Shadow]) -> str:
    """@terminate: shadow(w) == LastWriter(w) for all w in the WriteSet, with generated loops."""
    lines = ["static unsigned long lw_last_writers(void)\n{\n  LW_DIFFERENCES;"]
    for array, shadow in places.items():
        cells = found.arrays[array].write_set
        rank = spec.ranks[array]
        names = [f"w{k}" for k in range(rank)]
        arguments = ", ".join(names)
        lines.append(f"#define LW_CELL({arguments}) {shadow.compared(names, scheme.last(array, names))}")
        lines += [f"  {line}" for line in scan(cells, "LW_CELL")]
        lines.append("#undef LW_CELL")
    lines.append("  return LW_DIFFERENT;\n}\n")
    return "\n".join(lines)
