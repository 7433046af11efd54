"""Reads one region of a C file as a program.

Arrays are assumed not to alias unless the source shows otherwise, such as `double *p = a;` in the function
around the region.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile

import islpy as isl

from loopwright.c.file import CFile, c_file
from loopwright.c.liveness import functions_around
from loopwright.c.loops import LOOPS
from loopwright.c.openmp import TRANSFORMING
from loopwright.c.references import pointer_sum, reference_of
from loopwright.c.regions import Directive, Region
from loopwright.c.storage import SharedStorage
from loopwright.c.syntax import Node, field, identifiers, operator, refuse, without_parentheses
from loopwright.c.tokens import names_in, without_comments
from loopwright.errors import BadInput, Code, InternalError
from loopwright.model.program import ELSEWHERE, Program
from loopwright.presburger.named import everywhere, number, variable
from loopwright.read.c.assemble import assembled
from loopwright.read.c.assume import assume_option, assume_pragma, combined, is_assume, refuse_deep
from loopwright.read.c.frames import Frame
from loopwright.read.c.locals import refuse_named_types
from loopwright.read.c.names import Setting, Unfollowed, names_of_region
from loopwright.read.c.options import AS_MARKED, ReadOptions
from loopwright.read.c.purity import (
    refuse_hiding_macros,
    refuse_returning_twice,
    refuse_storage_macros,
    unfollowed,
)
from loopwright.read.c.statements import read_sequence
from loopwright.read.c.trust import constants_used
from loopwright.read.c.wraparound import facts_of_types
from loopwright.source import Span

_MOST_ATTEMPTS = 60
"""How often a region is read, each time with one more statement kept whole or one more name untracked."""
_AROUND = frozenset(("parallel", "target", "teams", "distribute", "masked", "master"))
_OF_LOOPS = frozenset(("for", "simd", "loop", "taskloop", *TRANSFORMING))
_ON_DEVICES = (("parallel", "loop"), ("kernels", "loop"), ("serial", "loop"))
_LOOK = "look at the 'assume' pragmas, --assume, and the constants the region uses"


def read_region(
    place: Span, options: ReadOptions = AS_MARKED, whole: frozenset[Span] = frozenset()
) -> Program:
    """Read one region of a C source.

    Statements that cannot be analysed are kept whole, and names that cannot be tracked are not, provided that
    there are loops around or next to them; otherwise, the first error is raised.
    """
    file = c_file(place.source)
    boxes: dict[Span, bool] = {}
    untracked: frozenset[str] = frozenset()
    failures: list[BadInput] = []
    for _ in range(_MOST_ATTEMPTS):
        try:
            known = whole | boxes.keys()
            program = _program(file, file.region(place), options, known, untracked)
        except isl.Error as failure:
            raise InternalError(Code.ISL, f"isl could not represent a region: {failure}") from failure
        except Unfollowed as attempt:
            failures.append(attempt.failure)
            known_already = attempt.whole in boxes if attempt.whole else attempt.names <= untracked
            if known_already:
                raise failures[0] from None
            if attempt.whole is not None:
                boxes[attempt.whole] = attempt.alone
            untracked |= attempt.names
        except BadInput as failure:
            raise next(iter(failures), failure) from None
        else:
            has_loops = any(statement.depth for statement in program.statements)
            if boxes and not has_loops and not whole and not any(boxes.values()):
                raise failures[0]
            aside = tuple(one.diagnostic for one in failures)
            return replace(program, set_aside=(*aside, *program.set_aside))
    raise failures[0]


def _program(
    file: CFile, region: Region, options: ReadOptions, whole: frozenset[Span], untracked: frozenset[str]
) -> Program:
    block = file.block(region.place)
    refuse_deep(block)
    _refuse_pragmas(region, whole)
    setting = _setting(file, region, block, frozenset(options.pure), whole, untracked)
    stated = [assume_pragma(setting, line) for line in _assume_lines(file, region) if is_assume(line)]
    stated += [assume_option(setting, option) for option in options.assume]
    known = _known(setting, region, block, [known for known, _ in stated])
    setting = replace(setting, rows=options.rows, numbers=options.numbers, context=known)
    start = Frame(setting, everywhere())
    leaves = read_sequence(list(block.named_children), start, 0, is_block=False).leaves
    refuse_named_types(block, whole)
    refuse_known_aliases(setting, file.outline, region.place)
    found = assembled(setting, region, block, leaves, tuple(entry for _, entry in stated))
    spots = {touch.place for leaf in leaves for touch in leaf.touches if touch.base == ELSEWHERE}
    refuse_returning_twice(block, spots)
    return replace(found, set_aside=tuple(one.diagnostic for one in unfollowed(setting, block, spots)))


def _refuse_pragmas(region: Region, whole: frozenset[Span]) -> None:
    """Raise for pragmas that affect more than how a loop runs, or that are inside a statement kept whole."""
    for pragma in region.pragmas:
        if not _runs_alone(names_in(pragma.argument)):
            hint = _IN_ONE_LOOP if _has_team(pragma.argument) else _OUTSIDE
            raise refuse(pragma.place, "this pragma says which threads run a statement, and when", hint)
        if any(place.contains(pragma.place) for place in whole):
            hint = "leave the pragma out, or end the region before this loop"
            raise refuse(pragma.place, "this pragma is inside a statement that is kept whole", hint)


_OUTSIDE = "end the region before it, or start the region inside the statement that it applies to"
_IN_ONE_LOOP = (
    "give each loop that the threads share its own '#pragma omp parallel for', with 'reduction(+:s)' for a"
    " sum s that each thread adds its part to"
)


def _has_team(argument: str) -> bool:
    """Whether a pragma starts threads, or says which of them adds to a variable when."""
    return not {"parallel", "critical", "atomic"}.isdisjoint(names_in(argument))


def _runs_alone(words: Sequence[str]) -> bool:
    """Whether a pragma applies to a loop, which one thread runs without it.

    The statements of `loop`, `distribute`, `masked` and OpenACC directives without threads of their own are
    divided, or run in one thread of several: without the directive, all threads run them.  `omp for` is kept.
    """
    if words[:1] == ("acc",):
        return words[1:3] in _ON_DEVICES
    if words[:1] != ("omp",):
        return True
    before = [*takewhile(_AROUND.__contains__, words[1:])]
    last = words[len(before) + 1 : len(before) + 2]
    is_loop = bool(_OF_LOOPS.intersection(last)) or before[-1:] == ["distribute"]
    said = {*before, *_OF_LOOPS.intersection(last)}
    has_team = not said.isdisjoint(("parallel", "teams")) or said.isdisjoint(("loop", "masked", "master"))
    return is_loop and has_team and ("distribute" not in said or "teams" in said)


def _known(setting: Setting, region: Region, block: Node, stated: Sequence[isl.Set]) -> isl.Set:
    """The known constraints on the parameters: from assumptions, types, and the values of constants."""
    context = combined(stated).intersect(facts_of_types(setting, identifiers(block)))
    for name, value in constants_used(setting, block):
        context = context.intersect(variable(name).eq_set(number(value)))
    if context.is_empty():
        message = "the assumptions about this region contradict each other"
        raise refuse(region.place, message, _LOOK, code=Code.OPTION)
    return context


def _setting(
    file: CFile,
    region: Region,
    block: Node,
    pure: frozenset[str],
    whole: frozenset[Span],
    untracked: frozenset[str],
) -> Setting:
    """The names of a region with their meaning in the file; macros only if defined before it."""
    kinds = file.kinds(region.place)
    try:
        names = names_of_region(block, kinds, whole, untracked)
    except SharedStorage as shared:
        raise Unfollowed(shared.failure, names=frozenset((shared.root,))) from None
    setting = Setting(region.place, kinds.macros, kinds.declarations, file, names, pure, everywhere(), whole)
    refuse_hiding_macros(setting, block)
    refuse_storage_macros(setting, block)
    return setting


def _assume_lines(file: CFile, region: Region) -> tuple[Directive, ...]:
    """The pragmas in the region, and those before it that are still in scope."""
    text = without_comments(file.source.text, literals=False)
    outside = [
        line
        for line in file.directives
        if is_assume(line)
        and line.place.end <= region.place.start
        and not any(other.place.contains(line.place) for other in file.regions)
        and not _leaves_block(text[line.place.end : region.place.start])
    ]
    return (*outside, *region.pragmas)


def _leaves_block(text: str) -> bool:
    """Whether a block that is open at the start of `text` is closed in it."""
    depth = 0
    for brace in (one for one in text if one in "{}"):
        depth += 1 if brace == "{" else -1
        if depth < 0:
            return True
    return False


def refuse_known_aliases(setting: Setting, root: Node, region: Span) -> None:
    """Raise if one of two aliases is written in the region."""
    names = setting.names
    arrays = {name for name, rank in names.ranks.items() if rank > 0 and name not in names.iterators}
    for function in functions_around(root, region):
        last = len(region.source.text) if _may_run_again(function, region) else region.start
        given = [(target, value) for target, value in _given(function) if target.start < last]
        given = [pair for pair in given if not region.contains(pair[0].span)]
        into: dict[str, set[str]] = {}
        for target, value in given:
            into.setdefault(target.text, set()).update(_pointed_to(setting, value))
        for target, _ in given:
            pointer = target.text
            for array in sorted(_reached(into, pointer) & arrays - {pointer}):
                both = {array, pointer}
                if pointer in arrays and both & names.assigned and not both <= names.untracked:
                    failure = refuse(
                        target,
                        f"'{pointer}' points into '{array}', and the region uses both",
                        f"use one of them in the region: '{array}' with other subscripts, or '{pointer}'",
                    )
                    raise Unfollowed(failure, names=frozenset(both))


def _may_run_again(function: Node, region: Span) -> bool:
    """Whether a call of the function may run the region twice: by a loop around it, or a `goto`.

    Otherwise, code after the region does not matter here; the gate checks what persists between calls.
    """
    around = (one.start < region.start and region.end <= one.end for one in function.of_type(*LOOPS))
    return any(around) or bool(function.of_type("goto_statement", "gnu_asm_expression"))


def _reached(into: Mapping[str, set[str]], pointer: str) -> set[str]:
    """The arrays that a pointer may point into, also through other pointers."""
    found: set[str] = set()
    pending = [pointer]
    while pending:
        new = into.get(pending.pop(), set()) - found
        found |= new
        pending += sorted(new)
    return found


def _given(function: Node) -> Iterator[tuple[Node, Node]]:
    """The variables that are assigned, and the values."""
    for node in function.of_type("init_declarator", "assignment_expression"):
        if node.type == "init_declarator":
            target, value = field(node, "declarator"), field(node, "value")
            while target.type.endswith("_declarator"):
                target = target.child_by_field_name("declarator") or target.named_children[0]
        elif operator(node) == "=":
            target, value = without_parentheses(field(node, "left")), field(node, "right")
        else:
            continue
        if target.type == "identifier":
            yield target, value


def _pointed_to(setting: Setting, value: Node) -> set[str]:
    """The arrays that a pointer with this value may point into: a, a + i, &a[i], (T *)a, c ? a : b."""
    core = without_parentheses(value)
    match core.type:
        case "cast_expression":
            return _pointed_to(setting, field(core, "value"))
        case "conditional_expression":
            sides = (field(core, side) for side in ("consequence", "alternative"))
            return set().union(*(_pointed_to(setting, side) for side in sides))
        case "pointer_expression" if operator(core) == "&":
            reference = reference_of(field(core, "argument"))
            return set() if reference is None else {reference.base}
    target, _ = pointer_sum(core)
    if target != core:
        return _pointed_to(setting, target)
    reference = reference_of(core)
    if reference is None:
        return set()
    declared = setting.declarations.visible(reference.base, setting.region)
    rank = max(setting.names.ranks.get(reference.base, 0), 0 if declared is None else declared.rank)
    return {reference.base} if len(reference.subscripts) < rank else set()
