"""Where a rewritten file has what the regions of the original have, if it does not say so by pragmas.

Tools that rewrite a region leave out its pragmas.  The region is then what differs: in the function of the
same name, the statements after the declarations and after those that the original has before its region, up
to those that it has after it.

A new file whose loops stand under guards: what is compared is what they do where the guards hold.

Where a guard does not hold, the loops of the old region run, token by token.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from loopwright.c.declarations import declared_name
from loopwright.c.file import CFile, c_file
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
"""Characters of a region that is not read by itself: the compiler's tree of it takes a minute and more."""


def is_too_long(text: Source) -> bool:
    """Whether the text of a region is longer than that."""
    return any(len(region.place.text) > TOO_LONG for region in c_file(text).regions)


def has_marks(source: Source) -> bool:
    """Whether pragmas say where its regions are."""
    return bool(source.chosen or marked_regions(source, c_file(source).directives))


def changed_functions(old: Source, new: Source) -> Choice:
    """The functions of both files that have loops, and not the same text."""
    texts = [_loop_texts(one) for one in (old, new)]
    names = [name for name, text in texts[0].items() if texts[1].get(name, text) != text]
    return Choice(tuple(names))


def changed_parts(old: Source, new: Source, names: Sequence[str]) -> tuple[Source, Source] | None:
    """The texts with what differs between these functions chosen, and all that is between loops of theirs.

    None where that has a jump in it, or where one of them is missing.
    """
    places: list[tuple[Span, Span]] = []
    functions = [_functions(c_file(replace(one, chosen=()))) for one in (old, new)]
    if any(name not in one for name in names for one in functions):
        return None
    for name in names:
        several = [named_children(field(one[name], "body")) for one in functions]
        before, after = (_common(several, backwards=way) for way in (False, True))
        after = min(_unused_after(one[before:], after) for one in several)
        parts = [_worked(one[before : len(one) - after]) for one in several]
        if not all(parts) or any(_ends(one) for several in parts for one in several):
            return None
        first, second = (lines_of(one[0], one[-1]) for one in parts)
        places.append((first, second))
    return with_places(old, [one for one, _ in places]), with_places(new, [one for _, one in places])


def with_results(old: Source, new: Source, names: Sequence[str]) -> tuple[Source, Source]:
    """The texts in which these functions return the value of a variable, where both can be put so."""
    found: list[Source] = []
    for text in (replace(one, chosen=()) for one in (old, new)):
        functions = [node for name, node in _functions(c_file(text)).items() if name in names]
        found.append(with_returned_values(text, functions))
    is_returned = [RETURNED in one.text for one in found]
    return (found[0], found[1]) if is_returned[0] == is_returned[1] else (old, new)


def _common(several: Sequence[Sequence[Node]], *, backwards: bool) -> int:
    """How many statements two lists have in common, at one end, up to the first loop there."""
    found = 0
    for one, other in zip(*(each[::-1] if backwards else each for each in several), strict=False):
        has_loops = one.type in LOOPS or next(outermost(one), None) is not None
        if has_loops or packed(one.text) != packed(other.text):
            break
        found += 1
    return found


def _unused_after(statements: Sequence[Node], count: int) -> int:
    """How many of the last `count` statements use no variable that those before them declare."""
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
    """The statements without declarations in front that compute nothing."""
    while parts and parts[0].type == "declaration" and "=" not in parts[0].text:
        parts = parts[1:]
    return parts


def _ends(statement: Node) -> bool:
    """Whether a statement may leave the function, or is reached from elsewhere."""
    return any(node.type in _JUMPS for node in walk(statement))


_JUMPS = ("return_statement", "goto_statement", "labeled_statement")


def to_compare(old: Source, new: Source, *, headers: bool) -> Choice | None:
    """What to compare of two versions of a file: None where no loop can have changed.

    The functions with loops whose text is another, or that of a function they call; all of them where
    something outside of functions is, or one of the `headers`.
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
    """The functions of a file that have loops, by name, as tokens."""
    return _tokens(one.node for one in functions_with_loops(c_file(source)))


def _tokens(functions: Iterable[Node]) -> dict[str, tuple[str, ...]]:
    """By name; under `#if` there may be several of one name."""
    found: dict[str, tuple[str, ...]] = {}
    for node in functions:
        name = function_name(node)
        found[name] = (*found.get(name, ()), *spelled(node.text))
    return found


def _changed_or_calling(old: Source, new: Source) -> set[str]:
    """The functions of OLD whose text is another in NEW, and those that name one of them."""
    before, after = (_tokens(c_file(one).possible.of_type("function_definition")) for one in (old, new))
    found = {name for name, words in before.items() if after.get(name) != words}
    while more := {name for name, words in before.items() if name not in found and found.intersection(words)}:
        found |= more
    return found


def _texts(source: Source) -> list[list[str]]:
    """Directives, and what stands outside of functions, as tokens."""
    file = c_file(source)
    outside = [node.text for node in file.possible.named_children if node.type not in _INSIDE]
    return [spelled(text) for text in (*(line.place.text for line in file.directives), *outside)]


_INSIDE = ("function_definition", "comment")


def counterparts(old: Sequence[Span], new: Source) -> Source:
    """`new` with the places of the regions of the original chosen.

    A file that marks as many or more is left alone.  One that marks some of them has the
    others in the functions where it marks none.
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
    """The function around a region, and the texts of its statements before and after the region."""
    file = c_file(replace(region.source, chosen=()))
    for name, node in _functions(file).items():
        if node.start <= region.start and region.end <= node.end:
            parts = named_children(field(node, "body"))
            before = [packed(part.text) for part in parts if part.end <= region.start]
            return name, before, [packed(part.text) for part in parts if part.start >= region.end]
    return "", [], []


def _between(body: Node, before: list[str], after: list[str]) -> Span:
    """The statements of a block but for `before` and declarations that compute nothing in front, and `after`
    at the end.
    """
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
    """The old programs under the guards of the new file, and the loops of these alone.

    `in_rows`: the old file was read with arrays in rows that are only read, which the guards are about.
    """

    old: tuple[Program, ...]
    new: Source
    guards: Mapping[int, Established]
    in_rows: bool = False

    @property
    def left(self) -> int:
        """How much is left to believe."""
        return sum(len(program.trusted) for program in self.old)


def under_guards(
    before: Source, new: Source, old: tuple[Program, ...], reading: ReadOptions
) -> GuardedComparison:
    """The programs of `before`, read as leaves less to believe where `new` has guards."""
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
    """What a program does where a guard holds."""
    shown = shown_by(program, program.assumptions, guard)
    return replace(program, assumptions=shown, context=program.context.intersect(guard.parameters))
