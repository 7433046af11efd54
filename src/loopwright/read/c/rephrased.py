"""Rewrites a source into equivalent C in forms that the reader supports.

`c.plain_loops` and `c.final_values` describe the identities.  They are syntactic, so they are valid only
if macros are expressions: no macro in a region may contain a jump, a block or an assignment, or
name what is assigned.  Replacing an iterator by another variable is valid only if no pointer points to it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

from loopwright.c.file import c_file
from loopwright.c.loops import LOOPS, loop_iterator
from loopwright.c.reworded.array_values import arrays_with_values, with_array_values
from loopwright.c.reworded.counted_loops import (
    with_continued_loops,
    with_counted_loops,
    with_first_iterations,
)
from loopwright.c.reworded.declared import (
    hides_words,
    moved_declarations,
    with_leading_attributes,
    with_outer_declarations,
)
from loopwright.c.reworded.distinct_names import with_distinct_names
from loopwright.c.reworded.final_values import with_final_values
from loopwright.c.reworded.guarded_rests import with_guarded_rests
from loopwright.c.reworded.jumps import with_structured_jumps
from loopwright.c.reworded.loop_heads import with_one_counter
from loopwright.c.reworded.macros_written_out import (
    STATEMENTS,
    is_called,
    is_more,
    is_part,
    with_macros_written_out,
)
from loopwright.c.reworded.parallel_blocks import with_ordered_tests
from loopwright.c.reworded.passages import distinct_texts, passages
from loopwright.c.reworded.plain_loops import with_plain_loops
from loopwright.c.reworded.set_bounds import WithBounds, with_set_bounds
from loopwright.c.syntax import Node, assigned_names, field, identifiers, walk
from loopwright.c.tokens import names_in
from loopwright.c.typed.file import may_point_to
from loopwright.c.typed.options import CompilerOptions
from loopwright.c.typed.prepare import Located, Unread, located_file
from loopwright.c.typed.redefined import redefined
from loopwright.c.typed.values_in_parentheses import with_values_shown
from loopwright.errors import BadInput
from loopwright.model.program import Program
from loopwright.read.c.evolution import with_evolved_values, with_pointer_walks
from loopwright.read.c.exchanged import with_exchanges_written_out
from loopwright.read.c.inlined import called_in, with_calls_inlined
from loopwright.read.c.purity import LIBRARY
from loopwright.source import Source, Span

Reading: TypeAlias = Callable[[Source], Sequence[Program] | None]
"""What reads a source; None if it cannot be read."""
_DEEPEST = 3
"""The maximum depth of inlined calls."""


def _kept_apart(
    source: Source,
    before: Source,
    found: Source,
    options: CompilerOptions,
    names: Callable[[Source, Source], Iterable[str]] = lambda before, found: (),
) -> Source:
    """`found`, a rewriting of `before`, if the macros of the original source are plain expressions, and no
    pointer points to the variables of these names; otherwise `before`."""
    if found == before or not _has_plain_macros(source, options):
        return before
    is_changed = any(may_point_to(source, options, name) for name in names(before, found))
    return before if is_changed else found


def _all_names(text: Source, _: Source) -> list[str]:
    """The names in the regions of a source."""
    return sorted({name for passage in passages(text) for name in identifiers(passage.block)})


def in_plain_loops(source: Source, options: CompilerOptions) -> Source:
    """The source with plain loops, if that is equivalent for the compiler."""
    plain = _kept_apart(source, source, with_plain_loops(with_one_counter(source)), options)
    once = with_first_iterations(plain, LIBRARY)
    return _kept_apart(source, plain, with_plain_loops(once), options, _all_names) if once != plain else plain


def in_counted_loops(source: Source, options: CompilerOptions) -> Source:
    """The source with plain loops, including those that count in other ways."""
    plain = in_plain_loops(source, options)
    counted = with_plain_loops(with_counted_loops(plain, LIBRARY))
    counted = with_plain_loops(with_counted_loops(counted, LIBRARY)) if counted != plain else plain
    return _kept_apart(source, plain, counted, options, _all_names)


def in_table_loops(source: Source, options: CompilerOptions, way: Callable[[Source], Source]) -> Source:
    """The source with the loops over tables rewritten, if nothing else may modify the names in them."""
    return _kept_apart(source, source, way(source), options, _all_names)


def with_own_names(source: Source, options: CompilerOptions) -> Source:
    """The source with variables of blocks renamed that share the name of another loop's iterator."""
    found = _kept_apart(source, source, with_distinct_names(source), options)
    if found == source:
        return source
    located = zip(located_file(source, options).located, located_file(found, options).located, strict=True)
    return found if all(_is_renamed(one, other) for (_, one), (_, other) in located) else source


def _is_renamed(one: Located | Unread, other: Located | Unread) -> bool:
    """Whether the compiler's tokens of a region are the same, except for names that now end in a number and
    that no macro in it contains."""
    if not (isinstance(one, Located) and isinstance(other, Located)):
        return False
    if one.follows_place or len(one.texts) != len(other.texts):
        return False
    changed = [(old, new) for old, new in zip(one.texts, other.texts, strict=True) if old != new]
    hidden = {token.text for token in one.tokens if token.macro is not None and token.written is None}
    return all(old not in hidden and re.fullmatch(rf"{re.escape(old)}_\d+", new) for old, new in changed)


def with_assigned_arrays(source: Source, options: CompilerOptions) -> Source:
    """The source with assignments in place of the initialisers of arrays in its regions.

    Macros in such declarations are values: none expands to a comma, or to a word before the declarator.
    """
    found = _kept_apart(source, source, with_array_values(source), options)
    is_kept = found == source or hides_words(source, arrays_with_values(source), options)
    return source if is_kept else found


def _with_outer_declarations(source: Source, options: CompilerOptions) -> Source:
    """The source with the variables of its regions that are used after them declared before them.

    Macros in their declarations are values: one that is `static int` would initialise the variable only once.
    """
    found = _kept_apart(source, source, with_outer_declarations(source), options)
    is_kept = found == source or hides_words(source, moved_declarations(source), options)
    return source if is_kept else found


def with_other_iterators(source: Source, options: CompilerOptions) -> Source:
    """The source with plain loops that have their own iterators, if these are read after the loops."""
    plain = in_plain_loops(source, options)

    def replaced(before: Source, found: Source) -> Counter[str]:
        return _iterators(before) - _iterators(found)

    return _kept_apart(source, plain, with_final_values(plain), options, replaced)


def with_first_values(source: Source, options: CompilerOptions) -> Source:
    """The source with plain loops, and initialisers for those that continue where another one ended."""
    plain = in_plain_loops(source, options)
    found = with_continued_loops(plain)
    return _kept_apart(source, plain, found, options, lambda _, text: {*_iterators(text)})


def wordings(source: Source, options: CompilerOptions) -> Iterator[WithBounds]:
    """The rewritten sources to try, each of them once.

    They have distinct names for variables, plain loops, the values of bounds that are set in the
    region, and loops over their own variables if iterators are read after them; first with the
    elements that local pointers point to.  Then the same with macros expanded that are more than
    expressions, with all macros that are called, and with functions of the file inlined.  Last come the
    values of the other variables that loops increment.
    """
    seen = {source.text}
    ready: list[Source] = []
    for text in distinct_texts(_base_texts(source, options)):
        text = with_exchanges_written_out(text, options)
        text = with_own_names(with_assigned_arrays(text, options), options)
        ready.append(text)
        for words in dict.fromkeys((with_pointer_walks(text, options), text)):
            plain = in_counted_loops(words, options)
            others = WithBounds(with_other_iterators(words, options))
            for one in (WithBounds(plain), WithBounds(words), _with_bounds(plain, options), others):
                if one.source.text not in seen:
                    seen.add(one.source.text)
                    yield one
    for text in distinct_texts((ready[0], ready[-1])):
        yield from (one for one in _in_counts(text, options) if one.source.text not in seen)


def _in_counts(text: Source, options: CompilerOptions) -> tuple[WithBounds, ...]:
    """The source with all variables that loops increment in terms of iteration counts, if there are any;
    the new terms overflow only where the source does, which is undefined there."""
    try:
        loops = [loop for passage in passages(text) for loop in passage.block.of_type(*LOOPS)]
    except BadInput:  # a source that is C only after macro expansion
        return ()
    is_other = any(_has_other_counters(loop) for loop in loops)
    words = with_evolved_values(text, options) if is_other else text
    return () if words == text else (WithBounds(in_counted_loops(words, options)),)


def _has_other_counters(loop: Node) -> bool:
    """Whether the head of a loop sets or increments other than one variable."""
    if loop.type != "for_statement":
        return loop.type == "while_statement"
    start, update = (loop.child_by_field_name(part) for part in ("initializer", "update"))
    several = start is not None and len(start.children_by_field_name("declarator")) > 1
    return several or any(part is None or part.type == "comma_expression" for part in (start, update))


def _base_texts(source: Source, options: CompilerOptions) -> Iterator[Source]:
    source = with_values_shown(source, options)
    source = with_ordered_tests(with_leading_attributes(source), options)
    source = _with_outer_declarations(source, options)
    source = _kept_apart(source, source, with_structured_jumps(source), options)
    source = _kept_apart(source, source, with_guarded_rests(source), options)
    yield source
    again = _defined_again(source, options)
    other = (is_more, is_called, is_part, lambda call, _: not again.isdisjoint(names_in(call.text)))
    for is_written_out in other:
        yield with_macros_written_out(source, options, is_written_out)
    yield from _with_helpers_inlined(source, options)


def in_other_words(source: Source, options: CompilerOptions, read: Reading) -> Sequence[Program] | None:
    """The first of the wordings that can be read, if all loops with new bounds are loops of the program:
    then these bounds are invariant.  In loops that are kept whole, the bounds are not replaced."""
    found = (_with_loops(text, options, read) for text in wordings(source, options))
    return next((one for one in found if one is not None), None)


def _with_loops(text: WithBounds, options: CompilerOptions, read: Reading) -> Sequence[Program] | None:
    """A wording as it is read, with its new bounds in loops of the program alone."""
    found = read(text.source)
    inside = frozenset() if found is None else _loops_in_statements(found, text)
    if inside and text.before is not None:
        text = _with_bounds(text.before, options, inside)
        found = read(text.source) if text.heads else None
    return None if found is None or _loops_in_statements(found, text) else found


def further_followed(
    source: Source, options: CompilerOptions, found: Sequence[Program], read: Reading
) -> Sequence[Program]:
    """The programs, or those read with conditions in place of `continue`, and with elements in place of
    pointers, if they set less aside."""
    guarded = _kept_apart(source, source, with_guarded_rests(source), options)
    other = None if guarded == source else read(guarded)
    if other is not None and _left(other) < _left(found):
        source, found = guarded, other
    aside = sum(len(program.set_aside) for program in found)
    tried = {source}
    for text in _further(source, options) if aside else ():
        other = None if text.source in tried else _with_loops(text, options, read)
        tried.add(text.source)
        if other is not None and sum(len(program.set_aside) for program in other) < aside:
            return other
    return found


def _left(programs: Sequence[Program]) -> tuple[int, int]:
    """How much programs set aside; of two that set as much aside, the one with fewer loops left is less."""
    depths = sum(statement.depth for program in programs for statement in program.statements)
    return sum(len(program.set_aside) for program in programs), -depths


def _further(source: Source, options: CompilerOptions) -> Iterator[WithBounds]:
    """The sources with elements in place of pointers, and values of bounds, then also with calls inlined."""
    for text in distinct_texts((source, *_with_helpers_inlined(source, options))):
        text = with_exchanges_written_out(text, options)
        text = with_own_names(with_assigned_arrays(text, options), options)
        words = with_pointer_walks(text, options)
        counted = in_counted_loops(words, options)
        yield from (_with_bounds(counted, options), WithBounds(words), WithBounds(counted))
        yield from _in_counts(text, options)


def _with_helpers_inlined(source: Source, options: CompilerOptions) -> Iterator[Source]:
    """The source with calls of the file's functions in its regions inlined, if there are any."""
    try:
        names = called_in(source)
    except BadInput:
        return
    found = source
    for _ in range(_DEEPEST if names else 0):
        found = with_calls_inlined(found, called_in(found), options, before=source)
    if found != source:
        yield found


def _loops_in_statements(programs: Sequence[Program], text: WithBounds) -> frozenset[int]:
    """The changed loops that are inside statements of the programs, by their offsets before the change."""
    places = [statement.body.place for program in programs for statement in program.statements]
    return frozenset(
        loop
        for loop, head in zip(text.loops, text.heads, strict=True)
        if any(place.start <= head < place.end for place in places)
    )


def _with_bounds(source: Source, options: CompilerOptions, kept: frozenset[int] = frozenset()) -> WithBounds:
    """The source with the values of bounds that the region sets, if nothing else may modify them."""
    try:
        found = with_set_bounds(source, kept)
    except BadInput:  # a source that is C only after macro expansion
        return WithBounds(source)
    text = _kept_apart(source, source, found.source, options, _all_names) if found.heads else source
    return found if text == found.source else WithBounds(source)


def _defined_again(source: Source, options: CompilerOptions) -> frozenset[str]:
    """The macros in regions that a header redefines after the file, or that depend on such a macro."""
    macros, file = c_file(source).macros, located_file(source, options)
    names = {name for region, _ in file.located for name in names_in(region.place.text)}
    return frozenset(name for name in names if redefined([name], macros, file.text))


def _iterators(source: Source) -> Counter[str]:
    """The names that the loops of regions initialise by assignment, with their number of loops."""
    loops = (node for passage in passages(source) for node in passage.block.of_type("for_statement"))
    return Counter(name for loop in loops if (name := loop_iterator(loop)) is not None)


def _has_plain_macros(source: Source, options: CompilerOptions) -> bool:
    """Whether macros in the regions of a file are expressions, and contain no name assigned there."""
    for region, spot in located_file(source, options).located:
        if not isinstance(spot, Located):
            return False
        assigned = {name for node in walk(c_file(source).block(region.place)) for name in _targets(node)}
        made = [token for token in spot.tokens if token.macro is not None]
        if not STATEMENTS.isdisjoint(token.text for token in made):
            return False
        if not assigned.isdisjoint(token.text for token in made if token.written is None):
            return False
    return True


def as_written(place: Span, texts: Sequence[Source]) -> Span:
    """A place of a rewritten source in the one of `texts` that it was made from; lines are the same."""
    for text in texts:
        if text.path == place.source.path and text.text != place.source.text:
            start = text.offset(place.line, 1)
            end = text.text.find("\n", start)
            line = text.text[start : end if end >= 0 else None]
            if line == place.source.at(place.start).excerpt:
                return text.at(start + place.column - 1, place.length)
            return text.at(start + len(line) - len(line.lstrip()), max(1, len(line.strip())))
    return place


def _targets(node: Node) -> tuple[str, ...]:
    """The names that an expression or a declaration assigns to."""
    is_declared = node.type == "init_declarator"
    return identifiers(field(node, "declarator")) if is_declared else assigned_names(node)
