"""Rewrites values that threads combine under `atomic` or `critical` as reductions.

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

So are other operators, and the larger or smaller of values.  Nothing else in the loop or block names `s`,
and nothing but steps of the same operator names `own`, which has the type of `s`, and is declared in the
block or private to it.  It begins at the identity of the operator, or, where values may be combined twice,
at a value v that the block does not change: then v is combined into `s` after the block.  `own` may also
begin at `s` if all threads wait between that and the first change of `s`.  There may be several such
variables.
Values combined one by one into an integer are integers: others would be truncated at each step.
The order in which they are combined is unspecified in both forms.  Line numbers do not change.
"""

from __future__ import annotations

import re
from functools import partial

from loopwright.c.accumulations import CALLS
from loopwright.c.file import CFile, c_file
from loopwright.c.loops import only_inside
from loopwright.c.regions import Directive, Region
from loopwright.c.reworded.merged_values import (
    MergingBlock,
    is_exact,
    is_told,
    reworded,
    scalar,
    without_names,
)
from loopwright.c.reworded.own_values import MergingStep, step_of
from loopwright.c.reworded.parallel_blocks import BLOCK
from loopwright.c.reworded.passages import is_before
from loopwright.c.syntax import Node, field, named_children
from loopwright.c.tokens import names_in
from loopwright.c.typed.library_names import is_of_library
from loopwright.c.typed.options import CompilerOptions
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Edit, Source

_GUARD = re.compile(r"\s*omp\s+(?:atomic(?:\s+update)?|critical(?:\s*\(\s*\w+\s*\))?)\s*")
_CRITICAL = re.compile(r"\s*omp\s+critical\b\s*(?:\(\s*(\w+)\s*\))?")
_DIVIDED = re.compile(r"\s*omp\s+(?:parallel\s+)?for\b")


def with_reductions(source: Source, options: CompilerOptions, *, of_teams: bool = False) -> Source:
    """The source with clauses in place of such guards, if only such values are guarded.

    `of_teams`: where each thread has its part of a loop by its number, `omp parallel` gets the clause.
    """
    if not any(word in source.text for word in ("atomic", "critical")):
        return source
    file = c_file(source)
    edits: list[Edit] = []
    for region in file.regions:
        for pragma in region.pragmas:
            if _GUARD.fullmatch(pragma.argument) is not None:
                edits += _Guarded(file, region, pragma, options, of_teams).edits()
    return source.edited(sorted(edits)) if edits else source


@dataclass(frozen=True)
class _Guarded:
    """A pragma in a region that guards a statement."""

    file: CFile
    region: Region
    guard: Directive
    options: CompilerOptions
    of_teams: bool

    def edits(self) -> list[Edit]:
        """Edits that make the statement a reduction; none if it is something else."""
        around = self.file.block(self.region.place)
        after = [one for one in around.statements() if one.start >= self.guard.place.end]
        statement = min(after, key=lambda one: (one.start, -one.end), default=None)
        if statement is None or not is_before(self.guard, statement):
            return []
        steps = self.steps(statement)
        is_atomic = len(steps) == 1 and steps[0].is_atomic
        if not steps or ("atomic" in self.guard.argument and not is_atomic) or not self.is_entered_alone():
            return []
        loop = self.divided_around(statement)
        if loop is None:
            found = self.in_block(steps, statement)
        else:
            found = self.in_loop(steps[0], loop) if len(steps) == 1 and not self.of_teams else []
        return [*found, self.guard.place.reworded()] if found else []

    def is_entered_alone(self) -> bool:
        """Whether no thread of this file is in a section of the same name here: it would wait for ever."""
        own = _CRITICAL.match(self.guard.argument)
        if own is None:
            return True
        called = {*CALLS} - {one.name for one in self.file.functions}
        for pragma in self.file.directives:
            other = _CRITICAL.match(pragma.argument)
            if pragma == self.guard or other is None or other[1] != own[1]:
                continue
            inside = next((one for one in self.file.possible.statements() if is_before(pragma, one)), None)
            if inside is None or inside.span.contains(self.guard.place):
                return False
            calls = {field(one, "function").text for one in inside.of_type("call_expression")}
            if not calls <= called or not self.file.macro_names.isdisjoint(names_in(inside.text)):
                return False
        return "_Pragma" not in self.file.source.text

    def steps(self, statement: Node) -> list[MergingStep]:
        """The steps of a statement, or of a block; none if one of its parts is something else."""
        parts = named_children(statement) if statement.type == "compound_statement" else [statement]
        found = [step_of(one, self.file) for one in parts]
        return [one for one in found if one is not None] if None not in found else []

    def divided_around(self, statement: Node) -> Node | None:
        """The innermost loop around a statement that a directive divides among threads."""
        node = statement.parent
        while node is not None and (node.type != "for_statement" or self.directive(node) is None):
            node = node.parent
        return node

    def directive(self, loop: Node) -> Directive | None:
        own = [one for one in self.region.pragmas if is_before(one, loop)]
        return own[0] if len(own) == 1 and _DIVIDED.match(own[0].argument) is not None else None

    def in_loop(self, step: MergingStep, loop: Node) -> list[Edit]:
        """Edits for `s += e` in each iteration."""
        pragma, name = self.directive(loop), step.name
        kind = scalar(self.file, name, step.node)
        if pragma is None or kind is None or not is_exact(self.file, kind, _value_of(step.node)):
            return []
        said = without_names(pragma.argument, "shared", (name,))
        is_alone = len(loop.named(name)) == len(step.node.named(name))
        is_own = not is_alone or is_told(self.file, self.region, (name,), pragma, said)
        return [] if is_own else [reworded(pragma, said, (step,))]

    def in_block(self, steps: list[MergingStep], statement: Node) -> list[Edit]:
        """Edits for `s += own` after the loop of a block, for each of the steps."""
        block = statement.parent
        heads = [one for one in self.region.pragmas if block is not None and is_before(one, block)]
        is_block = len(heads) == 1 and BLOCK.match(heads[0].argument) is not None
        if block is None or not is_block:
            return []
        parts = [one for one in named_children(block) if one.type not in ("comment", "preproc_call")]
        if len(parts) < 2 or parts[-1] != statement or parts[-2].type != "for_statement":
            return []
        *before, loop, _ = parts
        divided = None if self.of_teams else self.directive(loop)
        inside = [one for one in self.region.pragmas if block.span.contains(one.place)]
        if self.of_teams != (divided is None) or len(inside) != (1 if self.of_teams else 2):
            return []
        parts_of_it = tuple(before), loop, statement, partial(is_of_library, options=self.options)
        return MergingBlock(self.file, self.region, block, heads[0], divided, *parts_of_it).edits(steps)


def _value_of(step: Node) -> Node | None:
    """The right side of the assignment that makes a step; None for `s++`."""
    inner = only_inside(field(step, "consequence")) if step.type == "if_statement" else step
    core = inner.only_expression
    return None if core is None else core.child_by_field_name("right")
