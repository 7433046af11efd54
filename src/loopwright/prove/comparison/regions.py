"""Finds the regions of a rewritten file that has no pragmas to mark them.

Tools that rewrite a region often drop its pragmas.  The region is then the part that differs: in the function
of the same name, the statements after the declarations and after those that precede the region in the
original, up to those that follow it there.

If the loops of the new file are guarded, the comparison covers the sizes for which the guards hold.  If a
guard fails, the new file must run the loops of the old region, token by token.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from loopwright.c.declarations import declared_name
from loopwright.c.file import CFile, c_file, whole_file
from loopwright.c.loops import LOOPS
from loopwright.c.regions import marked_regions
from loopwright.c.reworded.jumps import RETURNED, with_returned_values
from loopwright.c.selection.choice import Choice
from loopwright.c.selection.chosen import (
    function_name,
    functions_with_loops,
    lines_of,
    outermost,
    with_places,
)
from loopwright.c.syntax import Node, field, identifiers, named_children, walk
from loopwright.c.tokens import packed, spelled
from loopwright.errors import BadInput, Code
from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import Program
from loopwright.prove.text.guards import Established, NotAGuard, established, shown_by, unguarded
from loopwright.read.c.options import ReadOptions
from loopwright.read.c.reader import read_source
from loopwright.source import Source, Span

TOO_LONG = 150_000
"""Characters above which a region is not read by itself: building its syntax tree takes a minute or more."""


def is_too_long(text: Source) -> bool:
    """Whether a region is longer than `TOO_LONG`."""
    return any(len(region.place.text) > TOO_LONG for region in c_file(text).regions)


def has_marks(source: Source) -> bool:
    """Whether pragmas mark the regions."""
    return bool(source.chosen or marked_regions(source, c_file(source).directives))


def changed_functions(old: Source, new: Source) -> Choice:
    """The functions that have loops in both files and differ in their tokens."""
    texts = [_loop_texts(one) for one in (old, new)]
    names = [name for name, text in texts[0].items() if texts[1].get(name, text) != text]
    return Choice(tuple(names))


def changed_parts(
    old: Source, new: Source, names: Sequence[str], *, from_start: bool = False
) -> tuple[Source, Source] | None:
    """Selects in both sources what differs between these functions, with everything between their loops.

    `from_start`: with everything before the loops, too, which says what variables hold there.
    Returns None if that contains a jump, or if a function is missing.
    """
    places: list[tuple[Span, Span]] = []
    functions = [_functions(whole_file(one)) for one in (old, new)]
    if any(name not in one for name in names for one in functions):
        return None
    for name in names:
        several = [named_children(field(one[name], "body")) for one in functions]
        idle = min(len(one) - len(_worked(one)) for one in several)
        before = idle if from_start else _common(several, backwards=False)
        after = _common(several, backwards=True)
        after = min(_unused_after(one[before:], after) for one in several)
        parts = [_worked(one[before : len(one) - after]) for one in several]
        if not all(parts) or any(_ends(one) for several in parts for one in several):
            return None
        first, second = (lines_of(one[0], one[-1]) for one in parts)
        places.append((first, second))
    return with_places(old, [one for one, _ in places]), with_places(new, [one for _, one in places])


def with_results(old: Source, new: Source, names: Sequence[str]) -> tuple[Source, Source]:
    """Rewrites both sources so that these functions return the value of a variable, if possible."""
    found: list[Source] = []
    for text in (replace(one, chosen=()) for one in (old, new)):
        functions = [node for name, node in _functions(c_file(text)).items() if name in names]
        found.append(with_returned_values(text, functions))
    is_returned = [RETURNED in one.text for one in found]
    return (found[0], found[1]) if is_returned[0] == is_returned[1] else (old, new)


def _common(several: Sequence[Sequence[Node]], *, backwards: bool) -> int:
    """How many statements two lists share at one end, up to the first loop."""
    found = 0
    for one, other in zip(*(each[::-1] if backwards else each for each in several), strict=False):
        has_loops = one.type in LOOPS or next(outermost(one), None) is not None
        if has_loops or packed(one.text) != packed(other.text):
            break
        found += 1
    return found


def _unused_after(statements: Sequence[Node], count: int) -> int:
    """How many of the last `count` statements use no variable that earlier statements declare."""
    own = {
        named[0]
        for one in statements[: len(statements) - count]
        if one.type == "declaration"
        for each in one.children_by_field_name("declarator")
        if (named := declared_name(each)) is not None
    }
    last = [one for one in statements[len(statements) - count :] if own & set(identifiers(one))]
    return count if not last else len(statements) - 1 - list(statements).index(last[-1])


def _worked(parts: Sequence[Node]) -> Sequence[Node]:
    """The statements without leading declarations that compute nothing."""
    while parts and parts[0].type == "declaration" and "=" not in parts[0].text:
        parts = parts[1:]
    return parts


def _ends(statement: Node) -> bool:
    """Whether a statement may leave the function, or be the target of a jump."""
    return any(node.type in _JUMPS for node in walk(statement))


_JUMPS = ("return_statement", "goto_statement", "labeled_statement")


def to_compare(old: Source, new: Source, *, headers: bool) -> Choice | None:
    """Selects the functions to compare in two versions of a file; returns None if no loop can have changed.

    These are the functions with loops whose tokens changed, or that call a changed function; all functions
    with loops if code outside of functions, or one of the `headers`, changed.
    """
    if has_marks(old) or has_marks(new):
        return Choice()
    changed = headers or _texts(old) != _texts(new)
    texts = [_loop_texts(one) for one in (old, new)]
    others = _changed_or_calling(old, new)
    names = [name for name, text in texts[0].items() if texts[1].get(name) != text or name in others]
    if not names and changed:
        names = list(texts[0])
    return Choice(tuple(names)) if names else None


def _loop_texts(source: Source) -> dict[str, tuple[str, ...]]:
    """The tokens of the functions with loops, by name."""
    return _tokens(one.node for one in functions_with_loops(c_file(source)))


def _tokens(functions: Iterable[Node]) -> dict[str, tuple[str, ...]]:
    """The tokens of functions, by name; under `#if` several may share a name."""
    found: dict[str, tuple[str, ...]] = {}
    for node in functions:
        name = function_name(node)
        found[name] = (*found.get(name, ()), *spelled(node.text))
    return found


def _changed_or_calling(old: Source, new: Source) -> set[str]:
    """Functions of OLD whose tokens differ in NEW, and those that name one of them, transitively."""
    before, after = (_tokens(c_file(one).possible.of_type("function_definition")) for one in (old, new))
    found = {name for name, words in before.items() if after.get(name) != words}
    while more := {name for name, words in before.items() if name not in found and found.intersection(words)}:
        found |= more
    return found


def _texts(source: Source) -> list[list[str]]:
    """The tokens of directives and of code outside of functions."""
    file = c_file(source)
    outside = [node.text for node in file.possible.named_children if node.type not in _INSIDE]
    return [spelled(text) for text in (*(line.place.text for line in file.directives), *outside)]


_INSIDE = ("function_definition", "comment")


def counterparts(old: Sequence[Span], new: Source) -> Source:
    """`new`, with the counterparts of the original's regions chosen.

    A file that marks as many regions or more is not changed.  If it marks only some, the others are in the
    functions where it marks none.
    """
    marked = [one.place for one in c_file(new).regions] if has_marks(new) else []
    if len(marked) >= len(old):
        return new
    functions = _functions(c_file(new))
    places: list[Span] = []
    for region in old:
        name, before, after = _around(region)
        same = [one for one in old if _around(one)[0] == name]
        if name in functions:
            inside = [one for one in marked if functions[name].span.contains(one)]
            if len(inside) == len(same):
                places.append(inside[same.index(region)])
                continue
        if name not in functions or len(same) > 1 or inside:
            raise BadInput(
                Code.REGION,
                f"no region is marked in this file, and which one of '{name}' is meant cannot be determined",
                span=Span.start_of(new.path),
                hint="put '#pragma scop' and '#pragma endscop' around the same loops in both files",
            )
        places.append(_between(field(functions[name], "body"), before, after))
    return with_places(new, places)


def _functions(file: CFile) -> dict[str, Node]:
    found: list[Node] = []
    pending = [file.possible]
    while pending:
        node = pending.pop()
        if node.type == "function_definition":
            found.append(node)
        else:
            pending += reversed(node.named_children)
    return {function_name(node): node for node in found if node.child_by_field_name("body") is not None}


def _around(region: Span) -> tuple[str, list[str], list[str]]:
    """The name of the function around a region, and the texts of the statements on either side."""
    file = whole_file(region.source)
    for name, node in _functions(file).items():
        if node.start <= region.start and region.end <= node.end:
            parts = named_children(field(node, "body"))
            before = [packed(part.text) for part in parts if part.end <= region.start]
            return name, before, [packed(part.text) for part in parts if part.start >= region.end]
    return "", [], []


def _between(body: Node, before: list[str], after: list[str]) -> Span:
    """The statements of a block without leading ones that are in `before` or are declarations that compute
    nothing, and without the `after` at the end."""
    parts: Sequence[Node] = named_children(body)
    while parts and parts != (rest := _worked(parts[1:] if packed(parts[0].text) in before else parts)):
        parts = rest
    while parts and after and packed(parts[-1].text) == after[-1]:
        parts, after = parts[:-1], after[:-1]
    if not parts:
        raise BadInput(Code.REGION, "this function has no statements to compare", span=body.span)
    return lines_of(parts[0], parts[-1])


@dataclass(frozen=True)
class GuardedComparison:
    """The old programs under the guards of the new file, and the guarded loops of the new file alone.

    `in_rows`: the old file was read with read-only arrays in rows, to which the guards refer.
    """

    old: tuple[Program, ...]
    new: Source
    guards: Mapping[int, Established]
    in_rows: bool = False

    @property
    def left(self) -> int:
        """The number of remaining assumptions."""
        return sum(len(program.trusted) for program in self.old)


def under_guards(
    before: Source, new: Source, old: tuple[Program, ...], reading: ReadOptions
) -> GuardedComparison:
    """The programs of `before` under the guards of `new`, read in the way that leaves fewer assumptions."""
    if len(c_file(new).regions) != len(old) or not unguarded(new, old)[1]:
        return GuardedComparison(old, new, {})
    found = _under(old, new)
    if found.guards and not found.left:
        return found
    rows = read_source(before, replace(reading, rows=True))
    other = replace(_under(rows, new), in_rows=True)
    return other if other.guards and (not found.guards or other.left < found.left) else found


def _under(old: tuple[Program, ...], new: Source) -> GuardedComparison:
    plain, conditions = unguarded(new, old)
    try:
        guards = {k: established(old[k], guard.conditions) for k, guard in conditions.items()}
    except NotAGuard:
        return GuardedComparison(old, new, {})
    found = tuple(_where(one, guards[k]) if k in guards else one for k, one in enumerate(old))
    return GuardedComparison(found, plain, guards)


def _where(program: Program, guard: Established) -> Program:
    """The program restricted to the sizes for which a guard holds."""
    shown = shown_by(program, program.assumptions, guard)
    return replace(program, assumptions=shown, context=program.context.intersect(guard.parameters))
