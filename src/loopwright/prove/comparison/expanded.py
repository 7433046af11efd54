"""Compares with a text that keeps a cell per iteration where OLD has one variable, along its loops.

    for (i = 0; i < m; i++) {          double s_i[m];
      double s = 0;                    for (i = 0; i < m; i++) s_i[i] = 0;
      for (j = 0; j < n; j++)          for (j = 0; j < n; j++)
        s += A[i][j] * x[j];             for (i = 0; i < m; i++) s_i[i] += A[i][j] * x[j];
      y[i] = s;                        for (i = 0; i < m; i++) y[i] = s_i[i];
    }

    OLD  =  OLD with s_i[i] for s       the proof of `expand(s, i)`
         =  NEW                         the same statements in another order, around which both declare s_i

Only arrays named and declared as `expand` does are found: a guess, which the proofs confirm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

from loopwright.c.allocation import AllocatedArray
from loopwright.c.file import c_file
from loopwright.c.syntax import Node, named_children
from loopwright.c.tokens import spelled
from loopwright.errors import BadInput, GaveUp
from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import AssumptionKind, Program
from loopwright.prove.legality.plans import prove_plan
from loopwright.prove.text.correspondence import prove_model
from loopwright.prove.verdict import Proved
from loopwright.source import Source
from loopwright.transform.perform import attempted
from loopwright.transform.plan import Plan
from loopwright.transform.script.operations import Expand
from loopwright.transform.script.steps import Step


@dataclass(frozen=True)
class ExpandedTexts:
    """OLD with cells for its variables, and NEW, whose regions follow the declarations of these."""

    old: Source
    new: Source
    obligations: int


def expanded_texts(
    old: Sequence[Program], new: Source, arrays: Sequence[AllocatedArray]
) -> ExpandedTexts | None:
    """Both texts, if all `arrays` of NEW are what `expand` makes of variables of OLD, and that is proved."""
    if len(old) != 1 or not old[0].source.chosen or not arrays:
        return None
    plan: Plan | None = Plan.of(old[0])
    for one in arrays:
        step = None if plan is None else _expansion(plan.program, one.name)
        plan = None if plan is None or step is None else attempted(plan, step)
    declarations = [one.declaration for one in arrays]
    texts = None if plan is None else (_inside(plan.program.source, declarations), _inside(new, declarations))
    if plan is None or texts is None or texts[0] is None or texts[1] is None:
        return None
    try:
        made = prove_plan(plan)
        models = [prove_model(old[0]), prove_model(plan.program)]
    except (BadInput, GaveUp):
        return None
    obligations = [one.obligations for one in models if isinstance(one, Proved)]
    if not made.proved or made.reassociations or len(obligations) != len(models):
        return None
    return ExpandedTexts(texts[0], texts[1], made.obligations + sum(obligations))


def without_bounds(program: Program) -> Program:
    """The expanded program without what is assumed of subscripts: it is assumed of OLD, and the new cells are
    proved to be in their arrays."""
    kept = (one for one in program.assumptions if one.kind is not AssumptionKind.BOUNDS)
    return replace(program, assumptions=tuple(kept))


def _expansion(program: Program, name: str) -> Step | None:
    """The step that makes an array of this name of a variable: `s_i_j` of s and loops i and j around it."""
    for array in (one for one in program.arrays if not one.rank):
        users = [one for one in program.statements if any(a.array == array.name for a in one.accesses)]
        shared = [name for name in users[0].iterators if all(name in one.iterators for one in users)]
        for count in range(1, len(shared) + 1):
            for loops in combinations(shared, count):
                if "_".join((array.name, *loops)) == name:
                    return Step(Expand(array.name, loops))
    return None


def _inside(source: Source, declarations: Sequence[str]) -> Source | None:
    """The source with the region B in braces, where it was `{ declarations; B }` or `declarations; B`."""
    (region,) = c_file(source).regions
    place = region.place
    parts = named_children(c_file(source).block(place))
    is_block = len(parts) == 1 and parts[0].type == "compound_statement"
    inner: list[Node] = named_children(parts[0]) if is_block else parts
    count = len(declarations)
    body = [one for one in inner[count:] if one.type != "comment"]
    written = [" ".join(spelled(one.text)) for one in inner[:count]]
    if not body or sorted(written) != sorted(" ".join(spelled(one)) for one in declarations):
        return None
    text, end = source.text, body[-1].end
    head = f"{text[: place.start]}{{ {' '.join(declarations)} "
    lines = "\n" * text[place.start : body[0].start].count("\n")
    start = len(head) + len(lines)
    whole = f"{head}{lines}{text[body[0].start : end]} }}\n{text[place.end :]}"
    return replace(source, text=whole, chosen=((start, start + end - body[0].start),))
