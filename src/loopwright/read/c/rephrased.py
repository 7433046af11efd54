"""A text in other words, where the words it is written in are not read: the same C, in forms that are.

`c.plain_loops` and `c.final_values` have the identities.  They are about what is written, so they count only
where macros stand for expressions: no macro in a region may have a jump, a block or an assignment in it, or
name what is assigned.  What replaces an iterator by another variable counts only if no pointer leads to it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby

from loopwright.c.file import c_file
from loopwright.c.loops import loop_iterator
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
from loopwright.c.reworded.jumps import with_structured_jumps
from loopwright.c.reworded.parallel_blocks import with_ordered_tests
from loopwright.c.reworded.passages import passages
from loopwright.c.reworded.plain_loops import with_plain_loops
from loopwright.c.reworded.set_bounds import WithBounds, with_set_bounds
from loopwright.c.syntax import Node, assigned_names, field, identifiers, walk
from loopwright.c.tokens import as_text, is_name, names_in, packed, spelled
from loopwright.c.typed.file import typed_file
from loopwright.c.typed.options import CompilerOptions
from loopwright.c.typed.prepare import Located, Unread
from loopwright.c.typed.redefined import redefined
from loopwright.errors import BadInput
from loopwright.model.program import Program
from loopwright.read.c.evolution import with_pointer_walks
from loopwright.read.c.exchanged import with_exchanges_written_out
from loopwright.read.c.inlined import called_in, with_calls_inlined
from loopwright.read.c.purity import LIBRARY
from loopwright.source import Edit, Source, Span

_DEEPEST = 3
"""How deep functions that call others are inlined."""
_STATEMENTS = frozenset(
    (
        *("{", "}", ";", "=", "++", "--", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "|=", "^="),
        *("if", "else", "for", "while", "do", "switch", "case", "default"),
        *("break", "continue", "goto", "return"),
    )
)


def _kept_apart(
    source: Source,
    before: Source,
    found: Source,
    options: CompilerOptions,
    names: Callable[[Source, Source], Iterable[str]] = lambda before, found: (),
) -> Source:
    """Other words that were `found` for what was `before`, if macros of the text that was given are what they
    seem, and no pointer leads to the variables of these names."""
    if found == before or not _has_plain_macros(source, options):
        return before
    is_changed = any(map(typed_file(source, options).may_point_to, names(before, found)))
    return before if is_changed else found


def _all_names(text: Source, _: Source) -> list[str]:
    """The names in the regions of a text."""
    return sorted({name for passage in passages(text) for name in identifiers(passage.block)})


def in_plain_loops(source: Source, options: CompilerOptions) -> Source:
    """The text with plain loops, where that is what the compiler reads."""
    plain = _kept_apart(source, source, with_plain_loops(source), options)
    once = with_first_iterations(plain, LIBRARY)
    return _kept_apart(source, plain, with_plain_loops(once), options, _all_names) if once != plain else plain


def in_counted_loops(source: Source, options: CompilerOptions) -> Source:
    """The text with plain loops, those that count in other ways among them."""
    plain = in_plain_loops(source, options)
    counted = with_plain_loops(with_counted_loops(plain, LIBRARY))
    counted = with_plain_loops(with_counted_loops(counted, LIBRARY)) if counted != plain else plain
    return _kept_apart(source, plain, counted, options, _all_names)


def in_table_loops(source: Source, options: CompilerOptions, way: Callable[[Source], Source]) -> Source:
    """The text with the loops over tables in other words, where nothing else may change what these name."""
    return _kept_apart(source, source, way(source), options, _all_names)


def with_own_names(source: Source, options: CompilerOptions) -> Source:
    """The text in which no variable of a block has the name of another loop's iterator."""
    found = _kept_apart(source, source, with_distinct_names(source), options)
    if found == source:
        return source
    located = zip(typed_file(source, options).located, typed_file(found, options).located, strict=True)
    return found if all(_is_renamed(one, other) for (_, one), (_, other) in located) else source


def _is_renamed(one: Located | Unread, other: Located | Unread) -> bool:
    """Whether the compiler reads the same tokens of a region, but for names that end in a number now, and
    that no macro has in it."""
    if not (isinstance(one, Located) and isinstance(other, Located)):
        return False
    if one.follows_place or len(one.texts) != len(other.texts):
        return False
    changed = [(old, new) for old, new in zip(one.texts, other.texts, strict=True) if old != new]
    hidden = {token.text for token in one.tokens if token.macro is not None and token.written is None}
    return all(old not in hidden and re.fullmatch(rf"{re.escape(old)}_\d+", new) for old, new in changed)


def with_assigned_arrays(source: Source, options: CompilerOptions) -> Source:
    """The text with assignments to arrays of its regions in place of their first values.

    Macros in such declarations stand for values: none makes a comma, or one of the words before the names.
    """
    found = _kept_apart(source, source, with_array_values(source), options)
    is_kept = found == source or hides_words(source, arrays_with_values(source), options)
    return source if is_kept else found


def _with_outer_declarations(source: Source, options: CompilerOptions) -> Source:
    """The text with the variables of its regions that are used after them declared before them.

    Macros in their declarations stand for values: one that is `static int` sets the first value once.
    """
    found = _kept_apart(source, source, with_outer_declarations(source), options)
    is_kept = found == source or hides_words(source, moved_declarations(source), options)
    return source if is_kept else found


def with_other_iterators(source: Source, options: CompilerOptions) -> Source:
    """The text with plain loops that have iterators of their own, where those are read after the loops."""
    plain = in_plain_loops(source, options)

    def replaced(before: Source, found: Source) -> Counter[str]:
        return _iterators(before) - _iterators(found)

    return _kept_apart(source, plain, with_final_values(plain), options, replaced)


def with_first_values(source: Source, options: CompilerOptions) -> Source:
    """The text with plain loops, and first values for those that go on where another one ended."""
    plain = in_plain_loops(source, options)
    found = with_continued_loops(plain)
    return _kept_apart(source, plain, found, options, lambda _, text: {*_iterators(text)})


def wordings(source: Source, options: CompilerOptions) -> Iterator[WithBounds]:
    """The text in other words, each of them once.

    With names that mean one variable each, with plain loops, with the values of bounds that are set in the
    region, with loops over variables of their own where iterators are read after them; first with the
    elements that local pointers lead to.  Then the same with macros written out that are more than
    expressions, with all that are called, and with what functions of the file do in place of their calls.
    """
    seen = {source.text}
    for text in _base_texts(source, options):
        text = with_exchanges_written_out(text, options)
        text = with_own_names(with_assigned_arrays(text, options), options)
        for words in dict.fromkeys((with_pointer_walks(text, options), text)):
            plain = in_counted_loops(words, options)
            others = WithBounds(with_other_iterators(words, options))
            for one in (WithBounds(plain), WithBounds(words), _with_bounds(plain, options), others):
                if one.source.text not in seen:
                    seen.add(one.source.text)
                    yield one


def _base_texts(source: Source, options: CompilerOptions) -> Iterator[Source]:
    source = with_ordered_tests(with_leading_attributes(source), options)
    source = _with_outer_declarations(source, options)
    source = _kept_apart(source, source, with_structured_jumps(source), options)
    yield source
    again = _defined_again(source, options)
    other = (_is_more, _is_called, _is_part, lambda call, _: not again.isdisjoint(names_in(call.text)))
    for is_written_out in other:
        yield with_macros_written_out(source, options, is_written_out)
    yield from _with_helpers_inlined(source, options)


def in_other_words(
    source: Source, options: CompilerOptions, read: Callable[[Source], Sequence[Program] | None]
) -> Sequence[Program] | None:
    """The first of the wordings that is read, with all loops that got other bounds as loops: then these
    bounds do not change.  In loops that are not taken apart the bounds stay as they are."""
    for text in wordings(source, options):
        found = read(text.source)
        if found is None:
            continue
        inside = _loops_in_statements(found, text)
        if inside and text.before is not None:
            text = _with_bounds(text.before, options, inside)
            found = read(text.source) if text.heads else None
        if found is not None and not _loops_in_statements(found, text):
            return found
    return None


def further_followed(
    source: Source,
    options: CompilerOptions,
    found: Sequence[Program],
    read: Callable[[Source], Sequence[Program] | None],
) -> Sequence[Program]:
    """What was read, or what is read with the elements that pointers lead to, if less of it is set aside."""
    aside = sum(len(program.set_aside) for program in found)
    for text in _further(source, options) if aside else ():
        other = read(text) if text != source else None
        if other is not None and sum(len(program.set_aside) for program in other) < aside:
            return other
    return found


def _further(source: Source, options: CompilerOptions) -> Iterator[Source]:
    """The elements that pointers lead to in place of these, then what called functions do as well."""
    for text in (source, *_with_helpers_inlined(source, options)):
        text = with_exchanges_written_out(text, options)
        text = with_own_names(with_assigned_arrays(text, options), options)
        words = with_pointer_walks(text, options)
        yield words
        yield in_counted_loops(words, options)


def _with_helpers_inlined(source: Source, options: CompilerOptions) -> Iterator[Source]:
    """The text without calls of functions of the file in its regions, where there are such."""
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
    """The changed loops that are inside of statements of the programs, by where they were before."""
    places = [statement.body.place for program in programs for statement in program.statements]
    return frozenset(
        loop
        for loop, head in zip(text.loops, text.heads, strict=True)
        if any(place.start <= head < place.end for place in places)
    )


def _with_bounds(source: Source, options: CompilerOptions, kept: frozenset[int] = frozenset()) -> WithBounds:
    """The text with the values of bounds that the region sets, where nothing else may change them."""
    try:
        found = with_set_bounds(source, kept)
    except BadInput:  # a text that is C only after its macros are written out
        return WithBounds(source)
    text = _kept_apart(source, source, found.source, options, _all_names) if found.heads else source
    return found if text == found.source else WithBounds(source)


def _defined_again(source: Source, options: CompilerOptions) -> frozenset[str]:
    """The macros in regions that a header defines again after the file has, or one that they are made of."""
    macros, file = c_file(source).macros, typed_file(source, options)
    names = {name for region, _ in file.located for name in names_in(region.place.text)}
    return frozenset(name for name in names if redefined([name], macros, file.text))


def _is_more(call: Span, words: Sequence[str]) -> bool:
    """Whether a macro stands for more than an expression: `SWAP(a, b);`, `FOR(i, 0, n)`."""
    return not _STATEMENTS.isdisjoint(words)


def _is_called(call: Span, words: Sequence[str]) -> bool:
    return call.text.endswith(")") or _is_more(call, words)


def _is_part(call: Span, words: Sequence[str]) -> bool:
    """Whether a macro without arguments is part of something: `#define t s->X[3]`."""
    return is_name(call.text) and not {"[", "->", "."}.isdisjoint(words)


def with_statements_written_out(source: Source, options: CompilerOptions) -> Source:
    """The text without macros in its regions that are more than expressions, where the file defines such.

    One that makes names, by `##`, is written out with all that are called.
    """
    tokens = _macro_tokens(source)
    if "##" in tokens:
        return with_macros_written_out(source, options, _is_called)
    return source if _STATEMENTS.isdisjoint(tokens) else with_macros_written_out(source, options, _is_more)


def _macro_tokens(source: Source) -> frozenset[str]:
    """The tokens of the macros that regions use, and of those that these use; none where no macro of the file
    has any that is asked for.
    """
    found: set[str] = set()
    telling = _STATEMENTS | {"##"}
    if all(telling.isdisjoint(spelled(macro.body)) for macro in c_file(source).macros):
        return frozenset()
    used = {name for region in c_file(source).regions for name in names_in(region.place.text)}
    while used:
        bodies = [macro.body for macro in c_file(source).macros if macro.name in used]
        new = {token for body in bodies for token in spelled(body)} - found
        found |= new
        used = {token for token in new if is_name(token)}
    return frozenset(found)


def with_macros_written_out(
    source: Source, options: CompilerOptions, is_written_out: Callable[[Span, Sequence[str]], bool]
) -> Source:
    """The text with the tokens that macros become in their place: the compiler reads the same ones.

    That is compared: what is written out may name a macro that no longer expands.
    """
    edits: list[Edit] = []
    for _, spot in typed_file(source, options).located:
        if not isinstance(spot, Located):
            return source
        for (macro, place), tokens in groupby(spot.tokens, lambda token: (token.macro, token.span)):
            words = [token.text for token in tokens]
            if macro is not None and is_written_out(place, words):
                edits.append((place.start, place.end, as_text(words) + "\n" * place.text.count("\n")))
    if not edits:
        return source
    written = source.edited(sorted(edits))
    if not _same_tokens(source, written, options):
        return source
    return source.edited(sorted((start, end, _bare_owners(text)) for start, end, text in edits))


def _bare_owners(text: str) -> str:
    """`(g)->n` and `(g).n` as `g->n` and `g.n`: no cast is followed by a member."""
    return re.sub(r"(?<![\w)\]])\(([A-Za-z_]\w*)\)(?=->|\.)", r"\1", text)


def _same_tokens(source: Source, written: Source, options: CompilerOptions) -> bool:
    """Whether the compiler reads the same tokens in the regions of two texts, and the same around them."""
    texts = (typed_file(one, options).text.text for one in (source, written))
    before, after = map(packed, texts)
    if before != after:
        return False
    pairs = zip(typed_file(source, options).located, typed_file(written, options).located, strict=True)
    for (_, one), (_, other) in pairs:
        if not (isinstance(one, Located) and isinstance(other, Located)):
            return False
        if one.follows_place or list(one.texts) != list(other.texts):
            return False
    return True


def _iterators(source: Source) -> Counter[str]:
    """The names that the loops of regions assign their first values to, and how many of them do."""
    loops = (node for passage in passages(source) for node in passage.block.of_type("for_statement"))
    return Counter(name for loop in loops if (name := loop_iterator(loop)) is not None)


def _has_plain_macros(source: Source, options: CompilerOptions) -> bool:
    """Whether macros stand for expressions in the regions of a file, and for no name assigned there."""
    for region, spot in typed_file(source, options).located:
        if not isinstance(spot, Located):
            return False
        assigned = {name for node in walk(c_file(source).block(region.place)) for name in _targets(node)}
        made = [token for token in spot.tokens if token.macro is not None]
        if not _STATEMENTS.isdisjoint(token.text for token in made):
            return False
        if not assigned.isdisjoint(token.text for token in made if token.written is None):
            return False
    return True


def as_written(place: Span, texts: Sequence[Source]) -> Span:
    """A place of a text in other words, in the one of `texts` that it is another wording of: lines stay."""
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
    """The names that an expression or a declaration gives values to."""
    is_declared = node.type == "init_declarator"
    return identifiers(field(node, "declarator")) if is_declared else assigned_names(node)
