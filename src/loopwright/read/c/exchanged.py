"""Rewrites loops that swap two pointers in each iteration, with both orders written out.

    for (t = a; t < b; t++) { B; T *p = f; f = g; g = p; }
    for (t = a; t < b; t++) { if (t % 2 == a % 2) { B } else { B' } }      B' is B with f for g, g for f

After an even number of swaps each pointer has its original value.  The loop counts by one, so the number is
even if t and a are both even or both odd.  It is an identity if nothing else modifies the pointers, no
pointer points to them, nothing in B skips the swap, and nothing in the region but B reads them after the
start.  The swap may also come first in the body.  If the function names the pointers after the region,
the loop is repeated there with only the swap, to restore their values; then nothing exits the loop
early, its head is the same there, and it leaves its counter as the region does.  Line numbers do not change.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from loopwright.c.file import c_file
from loopwright.c.reworded.passages import edited_while
from loopwright.c.tokens import names_in, on_one_line
from loopwright.c.typed import tree
from loopwright.c.typed.effects import effect_in_a_type
from loopwright.c.typed.file import TypedFile, TypedRegion, typed_file
from loopwright.c.typed.options import CompilerOptions
from loopwright.c.types import BOOL, Pointer, is_observed, unqualified
from loopwright.lazy_dataclass import dataclass
from loopwright.read.c.evolved_loops import PlainLoop, plain_loop
from loopwright.read.c.evolved_values import loops_around, moved_variable, step_of
from loopwright.source import Edit, Source, Span

_MOST = 20
_EXCHANGE = re.compile(r"\b(\w+)\s*=\s*(\w+)\s*;\s*\2\s*=\s*\w+\s*;")


@dataclass(frozen=True)
class _Exchange:
    """A swap `p = f; f = g; g = p;`, as a range of tokens."""

    one: tree.Declaration
    other: tree.Declaration
    kept: tree.Declaration
    first: int
    end: int


def with_exchanges_written_out(source: Source, options: CompilerOptions) -> Source:
    """The source with such loops of its regions rewritten."""
    if not any(_EXCHANGE.search(region.place.text) for region in c_file(source).regions):
        return source
    return edited_while(source, lambda text: _edits(typed_file(text, options)), _MOST)


def _edits(file: TypedFile) -> Iterator[list[Edit]]:
    for region in file.regions:
        if not isinstance(region, TypedRegion) or effect_in_a_type(region) is not None:
            continue
        if region.function.jumps_anywhere or any(kind == "GOTO_STMT" for _, kind in region.function.jumps):
            continue
        for statement in region.statements:
            plain = plain_loop(statement, assigned=True)
            if plain is None or plain.others or not isinstance(statement, tree.ForStatement):
                continue
            edits = _written_out(region, statement, plain)
            if edits:
                yield edits


def _written_out(region: TypedRegion, loop: tree.ForStatement, plain: PlainLoop) -> list[Edit] | None:
    body = loop.body
    if not isinstance(body, tree.CompoundStatement) or loops_around(loop, region.function.nodes):
        return None
    is_one = step_of(plain.counting) in (1, -1) and unqualified(plain.counter.type) != BOOL
    if not is_one or plain.counter.offset in region.function.addressed or "#" in body.place.span.text:
        return None
    found = [*_exchanges(region, body.statements)]
    rest = [one for one in body.statements if not any(x.first <= one.place.first < x.end for x in found)]
    if not found or not rest or not _is_last_or_first(found, rest):
        return None
    if _jumps(loop, body, "CONTINUE_STMT") or not all(_is_own(region, x, found) for x in found):
        return None
    if any(_is_read_beside(region, loop, x) for x in found):
        return None
    parity = _parity(region, plain)
    made = None if parity is None else _made(region, body, found, rest, parity)
    if made is None or not any(_is_named_after(region, x) for x in found):
        return made
    again = None if _jumps(loop, body, "BREAK_STMT") else _again(region, loop, plain, found)
    return None if again is None else [*made, again]


def _again(
    region: TypedRegion, loop: tree.ForStatement, plain: PlainLoop, found: Sequence[_Exchange]
) -> Edit | None:
    """The loop with only the swaps, to insert after the region."""
    tokens, source = region.function.tokens, loop.place.span.source
    head = range(loop.place.first, loop.body.place.first)
    fixed = [part for part in (loop.test, plain.initial) if part is not None]
    if not all(_is_fixed(region, x, plain.counter) for x in fixed):
        return None
    later = region.function.mentions.get(plain.counter.offset, ())
    if any(loop.place.end <= at < region.end for at in later) or tokens[region.first - 1].text not in "{};":
        return None  # the counter is used for something else, or the region is a branch without braces
    if any(tokens[at].macro is not None for at in head):
        return None
    marked = re.compile(r"[ \t]*#[^\n\\/]*\n(?!\s*#)").match(source.text, region.place.end)
    if source.chosen or marked is None:
        return None
    spans = [(tokens[at.start].span.start, tokens[at.stop - 1].span.end) for at in (head,)]
    spans += [(tokens[x.first].span.start, tokens[x.end - 1].span.end) for x in found]
    first, *others = (on_one_line(source.text[start:end]) for start, end in spans)
    return marked.end(), marked.end(), f"{first} {{ {' '.join(others)} }} "


def _is_named_after(region: TypedRegion, exchange: _Exchange) -> bool:
    mentions = region.function.mentions
    three = (exchange.one, exchange.other, exchange.kept)
    return any(at >= region.end for one in three for at in mentions.get(one.offset, ()))


def _is_read_beside(region: TypedRegion, loop: tree.ForStatement, exchange: _Exchange) -> bool:
    """Whether the test of the loop, or the region after it, names the pointers, which are swapped there."""
    body, mentions = loop.body.place, region.function.mentions
    at_all = [at for one in (exchange.one, exchange.other) for at in mentions.get(one.offset, ())]
    return any(loop.place.first <= at < body.first or body.end <= at < region.end for at in at_all)


def _is_last_or_first(found: Sequence[_Exchange], rest: Sequence[tree.Statement]) -> bool:
    """Whether all swaps come after all other statements, or before them."""
    first, last = rest[0].place.first, rest[-1].place.first
    return all(x.first > last for x in found) or all(x.first < first for x in found)


def _exchanges(region: TypedRegion, statements: Sequence[tree.Statement]) -> Iterator[_Exchange]:
    tokens = region.function.tokens
    for k, one in enumerate(statements):
        parts = one.statements if isinstance(one, tree.CompoundStatement) else statements[k : k + 3]
        names = _changed_places(parts) if len(parts) == 3 else None
        if names is None:
            continue
        last = one if isinstance(one, tree.CompoundStatement) else parts[-1]
        end = last.place.end
        if tokens[end - 1].text not in ";}":
            end += 1
        if not any(token.macro is not None for token in tokens[one.place.first : end]):
            yield _Exchange(*names, one.place.first, end)


def _changed_places(
    parts: Sequence[tree.Statement],
) -> tuple[tree.Declaration, tree.Declaration, tree.Declaration] | None:
    """f, g and p of `p = f; f = g; g = p;`, where p may be declared."""
    given = [_given(one) for one in parts]
    match given:
        case [(p, f), (f_1, g), (g_1, p_1)] if (f, g, p) == (f_1, g_1, p_1) and len({f, g, p}) == 3:
            return f, g, p
    return None


def _given(statement: tree.Statement) -> tuple[tree.Declaration, tree.Declaration] | None:
    """The two variables of `x = y;`, if they are pointers of the same type."""
    match statement:
        case tree.Declare(variables=(tree.Declarator(declaration=target, initial=value),)) if value:
            pass
        case tree.Evaluate(value=tree.Assign(operator="=", target=tree.Name(declaration=target)) as given):
            value = given.value
        case _:
            return None
    core = tree.without_casts(value)
    if not isinstance(core, tree.Name) or core.place.first + 1 != core.place.end:
        return None
    kinds = unqualified(target.type), unqualified(core.declaration.type)
    is_pointer = isinstance(kinds[0], Pointer) and kinds[0] == kinds[1] and not is_observed(target.type)
    return (target, core.declaration) if is_pointer and not is_observed(core.declaration.type) else None


def _jumps(loop: tree.ForStatement, body: tree.CompoundStatement, kind: str) -> bool:
    """Whether a body contains a `continue` or `break` of this loop, not of an inner one."""
    nodes = [loop, *tree.walk(body)]
    jumps = [x for x in nodes if isinstance(x, tree.OtherStatement) and x.kind == kind]
    return any(loops_around(jump, nodes)[0] is loop for jump in jumps)


def _is_own(region: TypedRegion, exchange: _Exchange, found: Sequence[_Exchange]) -> bool:
    """Whether only the swap modifies the three variables, and nothing else reads the third."""
    function = region.function
    nodes = [*tree.walk_all(region.statements)]
    for one in (exchange.one, exchange.other, exchange.kept):
        if not function.keeps(one):
            return False
        if any(one.name in problem.words for problem in function.problems):
            return False
        changes = [node.place.first for node in nodes if moved_variable(node) == one]
        if not all(exchange.first <= at < exchange.end for at in changes):
            return False
    kept = function.mentions.get(exchange.kept.offset, ())
    inside = [at for at in kept if region.first <= at < region.end]
    return all(any(x.first <= at < x.end for x in found) for at in inside)


def _parity(region: TypedRegion, plain: PlainLoop) -> str | None:
    """The test whether an even number of iterations has run."""
    name, core = plain.counter.name, tree.without_casts(plain.initial)
    if isinstance(core, tree.Number) and core.value is not None and core.text.isdigit():
        return f"{name} % 2 {'!=' if core.value % 2 else '=='} 0"
    named = {part.declaration for part in tree.walk(plain.initial) if isinstance(part, tree.Name)}
    is_fixed = plain.counter not in named and _is_fixed(region, plain.initial, plain.counter)
    if plain.initial.place.macro is not None or not is_fixed:
        return None
    return f"({name} % 2 - ({on_one_line(plain.initial.place.span.text)}) % 2) % 2 == 0"


def _is_fixed(region: TypedRegion, value: tree.Expression, counter: tree.Declaration) -> bool:
    """Whether an expression consists of numbers, a counter, and variables that the region does not modify."""
    changed = {moved_variable(node) for node in tree.walk_all(region.statements)} - {counter}
    for part in tree.walk(value):
        match part:
            case tree.Name(declaration=one):
                is_kept = one.is_own and one not in changed and not one.attributes
                if not is_kept or one.offset in region.function.addressed:
                    return False
            case tree.Number() | tree.Cast(is_implicit=True) | tree.Unary(operator="-"):
                pass
            case tree.Binary(operator="+" | "-" | "*" | "<" | "<=" | ">" | ">=" | "!="):
                pass
            case _:
                return False
    return True


def _made(
    region: TypedRegion,
    body: tree.CompoundStatement,
    found: Sequence[_Exchange],
    rest: Sequence[tree.Statement],
    parity: str,
) -> list[Edit] | None:
    tokens = region.function.tokens
    other = {x.one.offset: x.other.name for x in found} | {x.other.offset: x.one.name for x in found}
    last = tokens[body.place.end - 1]
    after = min((x.first for x in found if x.first > rest[0].place.first), default=body.place.end - 1)
    start, end = tokens[rest[0].place.first].span.start, tokens[after].span.start
    source = last.span.source
    used = set(names_in(source.text))
    edits: list[Edit] = []
    for node in tree.walk_all(rest):
        match node:
            case tree.Name(declaration=one) if one.offset in other:
                token = tokens[node.place.first]
                if token.macro is not None or node.place.first + 1 != node.place.end:
                    return None
                edits.append((token.span.start, token.span.end, other[one.offset]))
            case tree.Declarator(declaration=one) if (
                one.name in other.values() or one.storage is tree.Storage.STATIC
            ):
                return None  # it hides a pointer, or would become two variables
            case tree.Labelled(label=label):
                token = tokens[node.place.first]
                if token.macro is not None or token.text != label or f"{label}_1" in used:
                    return None
                edits.append((token.span.start, token.span.end, f"{label}_1"))
    exchanged = source.edited(sorted(edits)).text
    longer = len(exchanged) - len(source.text)
    branches = source.text[start:end], on_one_line(exchanged[start : end + longer])
    is_early = found[0].first < rest[0].place.first
    same, turned = branches
    written = f"if ({parity}) {{ {same}}} else {{ {turned} }} "
    if is_early:
        written = f"if (!({parity})) {{ {same}}} else {{ {turned} }} "
    gone = [(tokens[x.first].span.start, tokens[x.end - 1].span.end) for x in found]
    if last.macro is not None or "//" in same.rpartition("\n")[2]:
        return None
    return [(start, end, written), *(Span(source, *one).reworded() for one in gone)]
