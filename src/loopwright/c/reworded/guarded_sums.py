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
of `s`.  The terms added one by one to an integer are integers: others would be truncated at each step.  The
order in which the terms are added is unspecified in both forms.  Line numbers do not change.
"""

from __future__ import annotations

import re

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


def with_reductions(source: Source) -> Source:
    """The source with clauses in place of such guards, if only a sum is guarded."""
    if not any(word in source.text for word in ("atomic", "critical")):
        return source
    file = c_file(source)
    edits: list[Edit] = []
    for region in file.regions:
        for pragma in region.pragmas:
            if _GUARD.fullmatch(pragma.argument) is not None:
                edits += _GuardedSum(file, region, pragma).edits()
    return source.edited(sorted(edits)) if edits else source


@dataclass(frozen=True)
class _GuardedSum:
    """A pragma in a region that guards a statement."""

    file: CFile
    region: Region
    guard: Directive

    def edits(self) -> list[Edit]:
        """Edits that make the statement a reduction; none if it is something else."""
        around = self.file.block(self.region.place)
        after = [one for one in around.statements() if one.start >= self.guard.place.end]
        statement = min(after, key=lambda one: (one.start, -one.end), default=None)
        if statement is None or not is_before(self.guard, statement):
            return []
        added = _sum_of(statement)
        if added is None:
            return []
        loop = self.divided_around(statement)
        return self.in_loop(*added, loop) if loop is not None else self.in_block(*added, statement)

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

    def in_block(self, name: Node, value: Node, statement: Node) -> list[Edit]:
        """Edits for `s += own` after the loop of a block."""
        block, own = statement.parent, without_parentheses(value)
        heads = [one for one in self.region.pragmas if block is not None and is_before(one, block)]
        is_block = len(heads) == 1 and BLOCK.match(heads[0].argument) is not None
        if block is None or own.type != "identifier" or not is_block:
            return []
        parts = [one for one in named_children(block) if one.type != "preproc_call"]
        if len(parts) != 3 or parts[2] != statement or parts[1].type != "for_statement":
            return []
        first, loop, _ = parts
        pragma = self.directive(loop)
        kinds = [self.type_of(self.declared(one)) for one in (name, own)]
        if pragma is None or not kinds[0] or kinds[0] != kinds[1]:
            return []
        inside = [one for one in self.region.pragmas if block.span.contains(one.place)]
        uses = loop.named(own.text)
        is_alone = len(block.named(name.text)) == 1 and len(block.named(own.text)) == len(uses) + 2
        is_sum = is_alone and all(map(_is_added_to, uses)) and _begins_at_zero(first, own.text)
        is_sum = is_sum and name.parent is not None and operator(name.parent) == "+="
        if not is_sum or len(inside) != 2 or self.is_told(name.text, own.text):
            return []
        gone = [(one.start, one.end, "\n" * one.text.count("\n")) for one in (first, statement)]
        renamed = [(node.start, node.end, name.text) for node in uses]
        return [*gone, *renamed, _blanked(self.guard), _with_clause(pragma, name.text)]

    def type_of(self, kind: Variable | None) -> str:
        return "" if kind is None else self.file.declarations.resolved(kind.type)


def _sum_of(statement: Node) -> tuple[Node, Node] | None:
    """The operands s and e of `s += e;`, or of a block with only this statement."""
    inner = named_children(statement)
    if statement.type == "compound_statement" and len(inner) == 1:
        return _sum_of(inner[0])
    core = statement.only_expression
    if core is None or core.type != "assignment_expression" or operator(core) not in _SIGNS:
        return None
    name, value = field(core, "left"), field(core, "right")
    return (name, value) if name.type == "identifier" and not value.mentions(name.text) else None


def _is_added_to(node: Node) -> bool:
    """Whether a name is the s of a statement `s += e;`."""
    core = node.parent
    statement = None if core is None else core.parent
    added = None if statement is None else _sum_of(statement)
    return added is not None and added[0] == node


def _begins_at_zero(declaration: Node, name: str) -> bool:
    """Whether a declaration is `double own = 0;`."""
    made = declaration.children_by_field_name("declarator") if declaration.type == "declaration" else []
    if len(made) != 1 or made[0].type != "init_declarator" or len(named_children(declaration)) != 2:
        return False
    declared, value = field(made[0], "declarator"), field(made[0], "value")
    return declared.type == "identifier" and declared.text == name and _ZERO.fullmatch(value.text) is not None


def _blanked(pragma: Directive) -> Edit:
    return pragma.place.start, pragma.place.end, "\n" * pragma.place.text.count("\n")


def _with_clause(pragma: Directive, name: str) -> Edit:
    end = pragma.place.start + len(pragma.place.text.rstrip())
    return end, end, f" reduction(+:{name})"
