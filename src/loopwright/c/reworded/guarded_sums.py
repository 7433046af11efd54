"""Rewrites sums that threads update under `atomic` or `critical` as reductions.

    #pragma omp parallel for                          #pragma omp parallel for reduction(+:s)
    for (..) {                                        for (..) {
    #pragma omp atomic
      s += e;                                           s += e;
    }                                                 }

    #pragma omp parallel                              #pragma omp parallel
    {                                                 {
      double own = 0;
    #pragma omp for                                   #pragma omp for reduction(+:s)
      for (..) own += e;                                for (..) s += e;
    #pragma omp critical
      s += own;
    }                                                 }

Nothing else in the loop or block names `s`, and nothing but such sums names `own`, which has the type
of `s`.  There may be several such sums.  The terms added one by one to an integer are integers: others would
be truncated at each step.  The order in which the terms are added is unspecified in both forms.  Line numbers
do not change.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeAlias

from loopwright.c.declarations import Variable, is_integer_type
from loopwright.c.file import CFile, c_file
from loopwright.c.regions import Directive, Region
from loopwright.c.reworded.parallel_blocks import BLOCK
from loopwright.c.reworded.passages import is_before
from loopwright.c.syntax import Node, field, named_children, operator, walk, without_parentheses
from loopwright.c.tokens import names_in
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Edit, Source

_GUARD = re.compile(r"\s*omp\s+(?:atomic(?:\s+update)?|critical(?:\s*\(\s*\w+\s*\))?)\s*")
_DIVIDED = re.compile(r"\s*omp\s+(?:parallel\s+)?for\b")
_ZERO = re.compile(r"0+(?:\.0*)?[fFlL]?")
_FLOATING = ("double", "float")
_SIGNS = ("+=", "-=")
Sum: TypeAlias = tuple[Node, Node]
"""The operands of an assignment that adds."""


def with_reductions(source: Source, *, of_teams: bool = False) -> Source:
    """The source with clauses in place of such guards, if only sums are guarded.

    `of_teams`: where each thread has its part of a loop by its number, `omp parallel` gets the clause.
    """
    if not any(word in source.text for word in ("atomic", "critical")):
        return source
    file = c_file(source)
    edits: list[Edit] = []
    for region in file.regions:
        for pragma in region.pragmas:
            if _GUARD.fullmatch(pragma.argument) is not None:
                edits += _GuardedSum(file, region, pragma, of_teams).edits()
    return source.edited(sorted(edits)) if edits else source


@dataclass(frozen=True)
class _GuardedSum:
    """A pragma in a region that guards a statement."""

    file: CFile
    region: Region
    guard: Directive
    of_teams: bool

    def edits(self) -> list[Edit]:
        """Edits that make the statement a reduction; none if it is something else."""
        around = self.file.block(self.region.place)
        after = [one for one in around.statements() if one.start >= self.guard.place.end]
        statement = min(after, key=lambda one: (one.start, -one.end), default=None)
        if statement is None or not is_before(self.guard, statement):
            return []
        sums = _sums_of(statement)
        if len(sums) > 1 and "atomic" in self.guard.argument:
            return []
        loop = self.divided_around(statement)
        if loop is None:
            return self.in_block(sums, statement) if sums else []
        return self.in_loop(*sums[0], loop) if len(sums) == 1 and not self.of_teams else []

    def divided_around(self, statement: Node) -> Node | None:
        """The innermost loop around a statement that a directive divides among threads."""
        node = statement.parent
        while node is not None and (node.type != "for_statement" or self.directive(node) is None):
            node = node.parent
        return node

    def directive(self, loop: Node) -> Directive | None:
        own = [one for one in self.region.pragmas if is_before(one, loop)]
        return own[0] if len(own) == 1 and _DIVIDED.match(own[0].argument) is not None else None

    def in_loop(self, name: Node, value: Node, loop: Node) -> list[Edit]:
        """Edits for `s += e` in each iteration."""
        pragma = self.directive(loop)
        kind = self.declared(name)
        if pragma is None or kind is None or not self.is_exact(kind, value):
            return []
        if len(loop.named(name.text)) != 1 or self.is_told(name.text):
            return []
        return [_blanked(self.guard), _with_clause(pragma, name.text)]

    def is_told(self, *names: str) -> bool:
        """Whether a pragma of the file names one of these."""
        pragmas = [one for one in self.file.directives if one.name == "pragma"]
        return any(not {*names}.isdisjoint(names_in(one.argument)) for one in pragmas)

    def declared(self, name: Node) -> Variable | None:
        """The declaration of a variable, if it is a scalar."""
        found = self.file.declarations.visible(name.text, name.span)
        return None if found is None or found.rank or name.text in self.file.macro_names else found

    def is_exact(self, kind: Variable, value: Node) -> bool:
        """Whether the terms are exact in the type of the sum."""
        own = self.type_of(kind)
        if own in _FLOATING or not is_integer_type(own):
            return own in _FLOATING
        visible = self.file.declarations.visible
        for node in walk(value):
            match node.type:
                case "identifier":
                    is_integer = is_integer_type(self.type_of(visible(node.text, node.span)))
                case "number_literal":
                    is_integer = node.text.isdecimal()
                case other:
                    is_integer = other not in ("call_expression", "field_expression", "cast_expression")
            if not is_integer:
                return False
        return True

    def in_block(self, sums: Sequence[Sum], statement: Node) -> list[Edit]:
        """Edits for `s += own` after the loop of a block, for each of the sums."""
        block = statement.parent
        heads = [one for one in self.region.pragmas if block is not None and is_before(one, block)]
        is_block = len(heads) == 1 and BLOCK.match(heads[0].argument) is not None
        if block is None or not is_block:
            return []
        parts = [one for one in named_children(block) if one.type not in ("comment", "preproc_call")]
        if len(parts) < 3 or parts[-1] != statement or parts[-2].type != "for_statement":
            return []
        *before, loop, _ = parts
        divided = self.directive(loop)
        pragma = heads[0] if self.of_teams else divided
        inside = [one for one in self.region.pragmas if block.span.contains(one.place)]
        if pragma is None or len(inside) != (1 if self.of_teams else 2):
            return []
        names = [name.text for name, _ in sums]
        own = [without_parentheses(value).text for _, value in sums]
        gone = [one for one in before if not {*own}.isdisjoint(_begun_at_zero(one))]
        is_begun = sorted(own) == sorted(name for one in gone for name in _begun_at_zero(one))
        is_each = all(self.is_sum_of_own(*one, block, loop) for one in sums)
        if not is_begun or not is_each or self.is_told(*names, *own):
            return []
        left_out = [(one.start, one.end, "\n" * one.text.count("\n")) for one in (*gone, statement)]
        pairs = zip(names, own, strict=True)
        renamed = [(node.start, node.end, name) for name, one in pairs for node in loop.named(one)]
        return [*left_out, *renamed, _blanked(self.guard), _with_clause(pragma, *names)]

    def is_sum_of_own(self, name: Node, value: Node, block: Node, loop: Node) -> bool:
        """Whether `name += value` adds a variable of the same type that the loop only adds to."""
        own = without_parentheses(value)
        kinds = [self.type_of(self.declared(one)) for one in (name, own)]
        if own.type != "identifier" or not kinds[0] or kinds[0] != kinds[1]:
            return False
        uses = loop.named(own.text)
        is_alone = len(block.named(name.text)) == 1 and len(block.named(own.text)) == len(uses) + 2
        is_added = name.parent is not None and operator(name.parent) == "+="
        return is_alone and is_added and all(map(_is_added_to, uses))

    def type_of(self, kind: Variable | None) -> str:
        return "" if kind is None else self.file.declarations.resolved(kind.type)


def _sums_of(statement: Node) -> Sequence[Sum]:
    """The operands s and e of `s += e;`, or of each statement of a block; none if one is something else."""
    if statement.type == "compound_statement":
        found = [_sums_of(one) for one in named_children(statement)]
        return [one for sums in found for one in sums] if all(found) else ()
    core = statement.only_expression
    if core is None or core.type != "assignment_expression" or operator(core) not in _SIGNS:
        return ()
    name, value = field(core, "left"), field(core, "right")
    return [(name, value)] if name.type == "identifier" and not value.mentions(name.text) else ()


def _is_added_to(node: Node) -> bool:
    """Whether a name is the s of a statement `s += e;`."""
    core = node.parent
    statement = None if core is None else core.parent
    added = () if statement is None else _sums_of(statement)
    return len(added) == 1 and added[0][0] == node


def _begun_at_zero(declaration: Node) -> list[str]:
    """The variables of `double own = 0, other = 0;`; none of another declaration."""
    made = declaration.children_by_field_name("declarator") if declaration.type == "declaration" else []
    if len(named_children(declaration)) != 1 + len(made):
        return []
    pairs = [(field(one, "declarator"), field(one, "value")) for one in made if one.type == "init_declarator"]
    zeros = [one.text for one, value in pairs if one.type == "identifier" and _ZERO.fullmatch(value.text)]
    return zeros if len(zeros) == len(made) else []


def _blanked(pragma: Directive) -> Edit:
    return pragma.place.start, pragma.place.end, "\n" * pragma.place.text.count("\n")


def _with_clause(pragma: Directive, *names: str) -> Edit:
    end = pragma.place.start + len(pragma.place.text.rstrip())
    return end, end, f" reduction(+:{', '.join(names)})"
