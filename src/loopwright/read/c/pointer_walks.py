"""Pointers that walk through arrays by a constant step in each iteration: other words for the same C.

    for (i = 0; i < n; i++) { *d++ = f(*s); s += 2; }      for (i = 0; i < n; i++) { d[i] = f(s[2*i]); ; }
    while (n--) *d++ = 0;                                  for (k = 0; k < n; k++) d[k] = 0;
    for (p = a; p < a + n; p++) s += *p;                   for (k = 0; k < n; k++) s += a[k];

After the loop the pointer, or the number that was counted down, is not what it was: it counts only if nothing
reads it then.  A pointer is a variable of the function that no address leads to, and each iteration changes
it as often, by statements that run always, one after the other.  All is asked of the typed reading, where
macros are expanded and every name has its declaration.  Lines stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from loopwright.c.file import c_file
from loopwright.c.reworded.plain_loops import edited_while, lines_in
from loopwright.c.typed import tree
from loopwright.c.typed.file import TypedFile, TypedRegion, typed_file
from loopwright.c.typed.options import CompilerOptions
from loopwright.c.types import Pointer, unqualified
from loopwright.lazy_dataclass import dataclass
from loopwright.read.c.numbered_loops import (
    OWN,
    NumberedLoop,
    by_countdown,
    by_head,
    by_pointer,
    count_text,
    is_shadowed,
    loops_around,
    moved_variable,
    runs_through,
    step_of,
)
from loopwright.read.c.purity import LIBRARY
from loopwright.read.c.walked_ends import by_end
from loopwright.source import Edit, Source

_MOST = 40
_DIRECTED = re.compile(r"#\s*pragma\s+omp\b|\b_Pragma\b")
_MOVED = re.compile(r"([A-Za-z_]\w*)\s*(?:\+\+|--|\+=|-=)|(?:\+\+|--)\s*([A-Za-z_]\w*)")


def with_pointer_walks(source: Source, options: CompilerOptions, *, always: bool = True) -> Source:
    """The text with elements of arrays in place of pointers that walk through them.

    `while (n--) *d++ = 0;` is only the same where it is defined.  A text of which that is not known
    (`always` is no) keeps such loops: a head that counts says how often the others run, whatever n is.
    """
    if not _may_walk(source):
        return source
    return edited_while(source, lambda text: _edits(typed_file(text, options), always=always), _MOST)


def _may_walk(source: Source) -> bool:
    """Whether a region changes a name that is a pointer, as far as the text tells: cheap, and no proof."""
    file = c_file(source)
    for region in file.regions:
        text = region.place.text
        for name in {word for pair in _MOVED.findall(text) for word in pair if word}:
            declared = file.declarations.visible(name, region.place)
            is_pointer = declared is not None and declared.rank > 0
            if is_pointer or re.search(rf"\*\s*{name}\s*=", text):
                return True
    return False


def _edits(file: TypedFile, *, always: bool) -> Iterator[list[Edit]]:
    for region in file.regions:
        if not isinstance(region, TypedRegion) or region.function.jumps_anywhere:
            continue
        nodes = [*tree.walk_all(region.statements)]
        if _DIRECTED.search(region.place.text):
            continue
        is_jump = any(kind == "GOTO_STMT" for _, kind in region.function.jumps)
        if is_jump or any(isinstance(node, tree.Labelled) for node in nodes):
            continue
        for node in reversed(nodes):
            loop = _counted(node, region, file, always=always)
            found = None if loop is None else loop.edits()
            if found:
                yield found


@dataclass(frozen=True)
class _WalkingPointer:
    """A pointer that starts at `base` and moves by `stride` elements in each iteration."""

    base: str
    number: str
    stride: int

    def index(self, before: int) -> str:
        """Where it is after moving by `before` in this iteration."""
        text = self.number if self.stride == 1 else f"{self.stride} * {self.number}"
        return text if not before else f"{text} {'+' if before > 0 else '-'} {abs(before)}"


@dataclass(frozen=True)
class _WalkedLoop:
    node: tree.ForStatement | tree.OtherStatement
    counted: NumberedLoop
    region: TypedRegion
    around: dict[int, tree.Node]
    """The node that each node of the loop is a part of, by its identity."""
    file: TypedFile

    def edits(self) -> list[Edit] | None:
        """The changes that leave the pointers of the loop as they are; none where there are no such."""
        counted, edits = self.counted, []
        inside = [*tree.walk(counted.body)]
        if not runs_through(inside) or not self._returns(inside) or is_shadowed(counted.number, inside):
            return None
        moved = [moved_variable(one) for one in (*inside, *counted.after)]
        walked = {one.offset: one for one in moved if one is not None}
        if counted.start is not None:
            walked[counted.start[0].offset] = counted.start[0]
        walked = {offset: one for offset, one in walked.items() if self._is_walking(one, inside)}
        left = [moved_variable(one) for one in counted.after]
        if any(one is None or one.offset not in walked for one in left):
            return None
        for one in walked.values():
            changed = self._uses(one)
            if changed is None:
                return None
            edits += changed
        if counted.head is not None:
            place, text = counted.head
            if not walked or not _is_written(place, self.region) or not all(map(self._is_dead, counted.gone)):
                return None
            span = place.span
            edits.append((span.start, span.end, text + lines_in(span.source, span.start, span.end)))
        return edits or None

    def _is_walking(self, one: tree.Declaration, inside: Sequence[tree.Node]) -> bool:
        """Whether a variable is a pointer of the function that lives outside of the loop."""
        is_inside = any(isinstance(x, tree.Declarator) and x.declaration.offset == one.offset for x in inside)
        return isinstance(unqualified(one.type), Pointer) and not is_inside

    def _returns(self, inside: Sequence[tree.Node]) -> bool:
        """Whether all calls return, where the old loop may run on until it is not defined."""
        if not self.counted.ends_early:
            return True
        calls = [node for node in inside if isinstance(node, tree.CallExpression)]
        return all(
            call.callee is not None
            and call.callee.name.removeprefix("__builtin_") in LIBRARY
            and self.file.definition(call.callee) is None
            for call in calls
        )

    def _is_dead(self, one: tree.Declaration) -> bool:
        """Whether nothing reads a variable after the loop, nor before it on another way."""
        return self._is_gone(one) and not self._outer(one)

    def _is_gone(self, one: tree.Declaration) -> bool:
        function, place = self.region.function, self.node.place
        if one.storage not in OWN or one.offset in function.addressed or one.attributes:
            return False
        if any(one.name in problem.words for problem in function.problems):
            return False
        return all(at < place.end for at in function.mentions.get(one.offset, ()))

    def _outer(self, one: tree.Declaration) -> list[tree.ForStatement | tree.OtherStatement]:
        """The loops around this one that a variable outlives, from the inside out."""
        function, place = self.region.function, self.node.place
        start = self.counted.start
        is_set = start is not None and start[0].offset == one.offset
        mentioned = function.mentions.get(one.offset, ())
        if is_set and all(place.first <= at < place.end for at in mentioned):
            return []
        declared = [
            node.place.first
            for node in function.nodes
            if isinstance(node, tree.Declarator) and node.declaration.offset == one.offset
        ]
        return [
            loop
            for loop in loops_around(self.node, function.nodes)
            if not (declared and loop.place.first < declared[0] < loop.place.end)
        ]

    def _number(self, one: tree.Declaration) -> str | None:
        """How many iterations came before, in all the loops around that a pointer walks on through."""
        if not self._is_gone(one):
            return None
        number, inner, counted = self.counted.number, self.node, self.counted
        mentioned = self.region.function.mentions.get(one.offset, ())
        for loop in self._outer(one):
            outer = by_head(loop, self.region) if isinstance(loop, tree.ForStatement) else None
            inside = [] if outer is None else [*tree.walk(outer.body)]
            if outer is None or counted.bound is None or not runs_through(inside):
                return None
            own = [at for at in mentioned if loop.place.first <= at < loop.place.end]
            is_part = _is_step(inner, outer.body)
            if not is_part or any(not inner.place.first <= at < inner.place.end for at in own):
                return None
            text = count_text(counted.bound, [*tree.walk(loop)], self.region)
            if text is None or is_shadowed(outer.number, inside) or not self._is_read(loop):
                return None
            number = f"({outer.number} * {text} + {number})"
            inner, counted = loop, outer
        return number

    def _is_read(self, loop: tree.Node) -> bool:
        return self.region.first <= loop.place.first and loop.place.end <= self.region.end

    def _uses(self, one: tree.Declaration) -> list[Edit] | None:
        """A pointer in the words of where it was before the loop; None where its walk is not followed."""
        start = self.counted.start
        is_own = start is not None and start[0].offset == one.offset
        base = start[1] if start is not None and is_own else one.name
        number = self._number(one)
        in_head = {*range(self.node.place.first, self.counted.body.place.first)}
        in_head -= {at for part in self.counted.after for at in range(part.place.first, part.place.end)}
        is_tested = any(at in in_head for at in self.region.function.mentions.get(one.offset, ()))
        if number is None or not _is_plain_pointer(one):
            return None
        if is_tested and not is_own and self.counted.tested != one:
            return None
        found: list[tuple[tree.Name, int]] = []
        moves: list[tuple[tree.Node, int]] = []
        offset = self.counted.stride if is_own else 0
        total = 0
        after = [(part, True) for part in self.counted.after]
        for part, is_certain in (*_sequence(self.counted.body), *after):
            uses = [
                x for x in tree.walk(part) if isinstance(x, tree.Name) and x.declaration.offset == one.offset
            ]
            moved = [x for x in tree.walk(part) if moved_variable(x) == one]
            if not moved:
                found += [(use, total) for use in uses]
                continue
            step = step_of(moved[0])
            is_single = len(moved) == len(uses) == 1 and is_certain and self._is_always(moved[0], part)
            if is_own or not is_single or step is None:
                return None
            if (part, True) not in after:
                moves.append((moved[0], total))
            total += step
        stride = offset or total
        if not stride:
            return None
        walk = _WalkingPointer(base, number, stride)
        edits = [self._use(use, walk, before) for use, before in found]
        edits += [self._move(move, walk, before) for move, before in moves]
        known = [edit for edit in edits if edit is not None]
        return known if len(known) == len(edits) else None

    def _is_always(self, moved: tree.Node, part: tree.Node) -> bool:
        """Whether an expression is evaluated exactly once whenever `part` of the body runs."""
        inner, outer = moved, self.around.get(id(moved))
        while inner is not part:
            match outer:
                case None | tree.Conditional() | tree.SizeOf() | tree.ForStatement() | tree.IfStatement():
                    return False
                case tree.Binary(operator="&&" | "||") | tree.OtherStatement() | tree.OtherExpression():
                    return False
            assert outer is not None
            inner, outer = outer, self.around.get(id(outer))
        return True

    def _use(self, use: tree.Name, walk: _WalkingPointer, before: int) -> Edit | None:
        """`*p`, `p->` or `p` of `p[k]`."""
        tokens, at = self.region.function.tokens, use.place.first
        inner, outer = tree.with_conversions(use, self.around)
        after, previous = tokens[at + 1], tokens[at - 1]
        base, index = walk.base, walk.index(before)
        match outer:
            case tree.MemberAccess(object=part, is_arrow=True) if part is inner and after.text == "->":
                first, last, text = tokens[at], after, f"{base}[{index}]."
            case tree.Subscript(base=part) if part is inner and after.text == "[":
                first, last, text = tokens[at], tokens[at], f"({base} + {index})"
            case tree.Unary(operator="*", operand=part) if part is inner and previous.text == "*":
                first, last, text = previous, tokens[at], f"{base}[{index}]"
            case _:
                return None
        return self._edit(first.span.start, last.span.end, text, (at - 1, at + 2))

    def _move(self, move: tree.Node, walk: _WalkingPointer, before: int) -> Edit | None:
        """`*p++` or `*++p`, or `p++;` and `p += 2;` as statements."""
        assert isinstance(move, tree.Update | tree.Assign)
        inner, outer = tree.with_conversions(move, self.around)
        place = move.place
        if isinstance(outer, tree.Evaluate):
            return self._edit(place.span.start, place.span.end, "", (place.first, place.end))
        tokens = self.region.function.tokens
        if not isinstance(move, tree.Update) or place.end != place.first + 2:
            return None
        step = step_of(move)
        is_read = isinstance(outer, tree.Unary) and outer.operator == "*" and outer.operand is inner
        if step is None or not is_read or tokens[place.first - 1].text != "*":
            return None
        index = walk.index(before + (step if move.is_prefix else 0))
        start = tokens[place.first - 1].span.start
        return self._edit(start, place.span.end, f"{walk.base}[{index}]", (place.first - 1, place.end))

    def _edit(self, start: int, end: int, text: str, tokens: tuple[int, int]) -> Edit | None:
        known = self.region.function.tokens[tokens[0] : tokens[1]]
        if any(token.macro is not None or token.follows_place for token in known) or start >= end:
            return None
        return start, end, text + lines_in(self.region.place.source, start, end)


def _is_step(part: tree.Statement, body: tree.Statement) -> bool:
    """Whether a statement runs exactly once whenever a body does."""
    if isinstance(body, tree.CompoundStatement):
        return any(_is_step(part, one) for one in body.statements)
    return part is body


def _sequence(body: tree.Statement) -> Iterator[tuple[tree.Node, bool]]:
    """The parts of a body that run one after the other, and whether each always does."""
    match body:
        case tree.CompoundStatement(statements=statements):
            for statement in statements:
                yield from _sequence(statement)
        case tree.Declare(variables=variables):
            yield from ((variable, True) for variable in variables)
        case tree.IfStatement(test=test, then=then, otherwise=otherwise):
            yield test, True
            yield from ((part, False) for part in (then, otherwise) if part is not None)
        case tree.Evaluate():
            yield body, True
        case _:
            yield body, False


def _is_plain_pointer(one: tree.Declaration) -> bool:
    kind = unqualified(one.type)
    target = unqualified(kind.target) if isinstance(kind, Pointer) else None
    return target is not None and not isinstance(target, Pointer)


def _is_written(place: tree.TokenRange, region: TypedRegion) -> bool:
    tokens = region.function.tokens[place.first : place.end]
    return not any(token.macro is not None or token.follows_place for token in tokens)


def _counted(
    node: tree.Node, region: TypedRegion, file: TypedFile, *, always: bool
) -> _WalkedLoop | None:
    """A loop whose iterations are numbered."""
    if not isinstance(node, tree.ForStatement | tree.OtherStatement):
        return None
    found = by_head(node, region) if isinstance(node, tree.ForStatement) else None
    if found is None and always:
        found = by_countdown(node, region) or by_pointer(node, region) or by_end(node, region)
    if found is None:
        return None
    around = tree.parents((*tree.walk(node), *tree.walk(found.body)))
    return _WalkedLoop(node, found, region, around, file)
