"""Interprets the statements of a region in execution order, with the values of its variables."""

from __future__ import annotations

from collections.abc import Sequence

from loopwright.c.sums import ZERO, Atom, IntegerSum, RunCount, iterations
from loopwright.c.tokens import on_one_line
from loopwright.c.typed import tree
from loopwright.c.typed.file import TypedFile
from loopwright.lazy_dataclass import dataclass
from loopwright.read.c.changed_memory import is_only_followed
from loopwright.read.c.evolved_loops import (
    EvolvingLoop,
    PlainLoop,
    after_all,
    breaks,
    either,
    entered,
    evolved,
    mark,
    plain_loop,
)
from loopwright.read.c.evolved_state import EvolvedState, NotFollowed, Values
from loopwright.read.c.evolved_tests import EvolvedTests
from loopwright.read.c.evolved_values import (
    ElementPointer,
    Value,
    is_beyond,
    is_signed,
    moved_variable,
    own_value,
    parts_of,
    step_of,
    steps_of,
    value_of,
)
from loopwright.source import Edit, Span

_LEAVING = ("CONTINUE_STMT", "SWITCH_STMT", "CASE_STMT", "DEFAULT_STMT", "GOTO_STMT")


@dataclass(frozen=True)
class Following:
    """Which variables are tracked, which loops may get new heads, and whether pointers to rows of arrays
    are assumed to stay in the rows."""

    pointers_alone: bool = False
    new_heads: bool = True
    into_rows: bool = True


class EvolvedStatements:
    """The statements of a region, and their effects on the tracked variables."""

    def __init__(
        self, state: EvolvedState, file: TypedFile, following: Following, *, is_directed: bool
    ) -> None:
        self.state, self.file, self.following = state, file, following
        self.is_directed = is_directed
        self.ended = False
        """Whether a `return` has been passed."""

    def edits(self) -> list[Edit]:
        for statement in self.state.region.statements:
            self._run(statement)
        return self.state.found

    def _run(self, node: tree.Node) -> None:
        match node:
            case tree.CompoundStatement(statements=statements):
                for one in statements:
                    self._run(one)
            case tree.Declare():
                self._declare(node)
            case tree.Evaluate(value=value):
                self._evaluate(value)
            case tree.IfStatement():
                self._branch(node)
            case tree.ForStatement():
                self._loop(node)
            case tree.OtherStatement(kind="WHILE_STMT"):
                self._loop(node)
            case tree.Return(value=returned):
                if returned is not None:
                    self._evaluate(returned, keeps=True)
                self.ended = True
            case _:
                self._untouched(node)

    def _untouched(self, node: tree.Node) -> None:
        """A statement that is kept whole: it modifies no tracked variable."""
        for one in tree.walk(node):
            changed = moved_variable(one)
            if changed is not None and changed.offset in self.state.followed:
                raise NotFollowed(changed.offset)
            if isinstance(one, tree.Declarator) and one.declaration.offset in self.state.followed:
                raise NotFollowed(one.declaration.offset)
        self.state.replace_uses(node, {})

    def _declare(self, node: tree.Declare) -> None:
        mine = [one for one in node.variables if one.declaration.offset in self.state.followed]
        if len(mine) < len(node.variables):
            if mine:
                raise NotFollowed(mine[0].declaration.offset)
            for one in node.variables:
                for size in one.sizes:
                    self.state.replace_uses(size, self.state.embedded(size))
                if one.initial is not None:
                    self.state.replace_uses(one.initial, self.state.embedded(one.initial))
            return
        if self._starts_elsewhere(mine):
            return
        for one in mine:
            if one.initial is None:
                self.state.values[one.declaration.offset] = None
                continue
            if self.state.changes_in(one.initial):
                raise NotFollowed(one.declaration.offset)
            by_name = self._is_fixed(one.declaration)
            self.state.assign(one.declaration, self.state.value(one.initial, by_name=by_name))
        place, tokens = node.place.span, self.state.region.function.tokens[node.place.first : node.place.end]
        if tokens[0].macro is not None or tokens[-1].macro is not None:
            raise NotFollowed(mine[0].declaration.offset)
        self.state.edit(place, ";" if place.text.rstrip().endswith(";") else "")

    def _is_fixed(self, one: tree.Declaration) -> bool:
        """Whether a pointer never moves, and is only used to select elements."""
        nodes = tree.walk_all(self.state.region.statements)
        is_moved = one.offset in self.state.changed or not self.following.pointers_alone
        return not is_moved and is_only_followed(one, nodes, self.state.around)

    def _starts_elsewhere(self, variables: Sequence[tree.Declarator]) -> bool:
        """Whether pointers are declared with initial places such as `double *p = s->x + n;`: they
        are kept there, and tracked relative to them."""
        given = [one.initial for one in variables if one.initial is not None]
        own = [own_value(one.declaration) for one in variables]
        known = [self.state.value(one) for one in given]
        are_pointers = all(isinstance(one, ElementPointer) and len(one.subscripts) == 1 for one in own)
        is_moved = any(one.declaration.offset in self.state.changed for one in variables)
        if not are_pointers or not is_moved or len(given) < len(variables) or None not in known:
            return False
        for initial in given:
            if self.state.changes_in(initial):
                return False
            self.state.replace_uses(initial, {})
        for variable, value in zip(variables, own, strict=True):
            self.state.values[variable.declaration.offset] = value
        return True

    def _evaluate(self, node: tree.Expression, *, keeps: bool = False) -> None:
        """Perform an expression and its modifications; `keeps`: its value is used."""
        parts = steps_of(node) if not keeps else [node]
        for part in parts:
            changed = moved_variable(part)
            if changed is not None and changed.offset in self.state.followed and not keeps:
                self.state.step(part, changed)
                if not self.state.is_written(part.place):
                    raise NotFollowed(changed.offset)
                self.state.edit(part.place.span, "0" if len(parts) > 1 else "")
            else:
                self.state.replace_uses(part, self.state.embedded(part))

    def _branch(self, node: tree.IfStatement) -> None:
        test = None if self.state.changes_in(node.test) else self.state.value(node.test)
        self.state.replace_uses(node.test, self.state.embedded(node.test))
        before = dict(self.state.values)
        ends: list[Values] = []
        for branch in (node.then, node.otherwise):
            self.state.values, was_ended, self.ended = dict(before), self.ended, False
            if branch is not None:
                self._run(branch)
            if not self.ended:
                ends.append(self.state.values)
            self.ended = was_ended
        if not ends:
            self.ended, self.state.values = True, before
        elif len(ends) == 1:
            self.state.values = ends[0]
        else:
            self.state.values = {one: either(test, ends[0][one], ends[1].get(one)) for one in ends[0]}

    def _loop(self, node: tree.ForStatement | tree.OtherStatement) -> None:
        parts = parts_of(node)
        changed = {one.offset for one in map(moved_variable, self.state.changes_in(node)) if one is not None}
        if parts is None:
            for offset in sorted(changed):
                raise NotFollowed(offset)
            self._untouched(node)
            return
        first, test, step, body = parts
        own = {x.declaration.offset for x in tree.walk(body) if isinstance(x, tree.Declarator)}
        changed -= own
        leaving = [x for x in tree.walk(body) if isinstance(x, tree.OtherStatement) and x.kind in _LEAVING]
        is_kept = self.is_directed or bool(leaving)
        if changed and is_kept:
            raise NotFollowed(min(changed))
        plain = self._plain(node)
        if plain is not None and isinstance(node, tree.ForStatement):
            self._plain_loop(node, plain, changed)
        elif changed:
            self._numbered_loop(node, changed)
        else:
            for part in (first, test, step):
                if part is not None:
                    self.state.replace_uses(part, {})
            self._body(body, self.state.values)

    def _body(self, body: tree.Statement, values: Values) -> None:
        """Run a body that modifies only its own variables among the tracked ones, or has known effects."""
        was_ended = self.ended
        self.state.values = dict(values)
        self._run(body)
        self.ended = was_ended

    def _plain(self, node: tree.Node) -> PlainLoop | None:
        """A loop that is kept as one over its counter: no pointer points to it, and all else is tracked."""
        found = plain_loop(node, assigned=self.following.pointers_alone)
        if found is None or found.counter.offset in self.state.region.function.addressed:
            return None
        others = [moved_variable(one) for one in found.others]
        is_followed = all(one is not None and one.offset in self.state.followed for one in others)
        return found if is_followed and found.counter.offset not in self.state.followed else None

    def _plain_loop(self, node: tree.ForStatement, plain: PlainLoop, changed: set[int]) -> None:
        """Run `for (int i = a; i < b; i++)`, which is kept as a loop over i."""
        first, test, step, counter = node.first, node.test, node.step, plain.counter
        assert first is not None and step is not None
        start = self._start(plain)
        size = step_of(plain.counting)
        if changed and (not isinstance(start, IntegerSum) or size not in (1, -1)):
            raise NotFollowed(min(changed))
        self.state.replace_uses(first, {})
        first_number = start.constant if isinstance(start, IntegerSum) else None
        self.state.iterators[counter.offset] = size == 1 and first_number is not None and first_number >= 0
        text = counter.name if is_signed(counter.type, least=0) else f"(long){counter.name}"
        name, number = IntegerSum.atom(text, (counter.offset,)), ZERO
        if isinstance(start, IntegerSum) and size is not None:
            number = name.minus(start) if size > 0 else start.minus(name)
        before = dict(self.state.values)
        if changed:
            self.state.values = self._evolved(node, changed, number)
        if test is not None:
            self.state.replace_uses(test, {})
        if plain.others:
            if not self.state.is_written(step.place):
                raise NotFollowed(min(changed))
            self.state.edit(step.place.span, on_one_line(plain.counting.place.span.text))
        else:
            self.state.replace_uses(step, {})
        at_start = dict(self.state.values)
        count = None
        if isinstance(start, IntegerSum) and size is not None:
            count = self._count(test, counter, start, size, at_start)
        self._body(node.body, entered(at_start, count))
        total = None if count is None or breaks(node.body) else count.all
        self.state.values = self._left(node, before, changed, total, frozenset((counter.offset,)))
        self.state.iterators.pop(counter.offset, None)

    def _start(self, plain: PlainLoop) -> Value | None:
        """The initial value of a counter; an unsigned one may be in subscripts."""
        core = tree.without_casts(plain.initial)
        if self.following.pointers_alone and isinstance(core, tree.Number) and core.text in ("0", "1", "2"):
            return IntegerSum.number(int(core.text))
        return self.state.value(plain.initial)

    def _count(
        self,
        test: tree.Expression | None,
        counter: tree.Declaration,
        start: IntegerSum,
        size: int,
        values: Values,
    ) -> RunCount | None:
        """The trip count of a loop over a variable."""
        fresh = Atom("?number")
        now = start.plus(IntegerSum(((((fresh,), 1)),)), size)
        self.state.values = dict(values)
        core = None if test is None else tree.without_casts(test)
        sides: list[Value | None] = []
        if isinstance(core, tree.Binary):
            both = (core.left, core.right)
            sides = [value_of(one, lambda x: now if x == counter else self.state.lookup(x)) for one in both]
        if not isinstance(core, tree.Binary) or core.operator == "!=":
            return None
        left, right = sides
        if not isinstance(left, IntegerSum) or not isinstance(right, IntegerSum):
            return None
        if counter.offset in left.about | right.about:
            return None
        return iterations(core.operator, left, right, fresh)

    def _numbered_loop(self, node: tree.ForStatement | tree.OtherStatement, changed: set[int]) -> None:
        """Run a loop that increments variables: it becomes one over its iteration count."""
        parts = parts_of(node)
        assert parts is not None
        first, test, step, body = parts
        for part in () if step is None else steps_of(step):
            one = moved_variable(part)
            if one is None or one.offset not in self.state.followed:
                raise NotFollowed(min(changed))  # the new head would drop it
        if not self.following.new_heads:
            raise NotFollowed(min(changed))
        if first is not None:
            self._first(first, changed)
        before = dict(self.state.values)
        atom = Atom(next(self.state.fresh))
        number = IntegerSum((((atom,), 1),))
        self.state.values = self._evolved(node, changed, number)
        tests = EvolvedTests(self.state, self.file, self.following.pointers_alone)
        told = tests.counted_down(node, body, test, atom) or tests.read(test, body, atom)
        if told is None:
            raise NotFollowed(min(changed))
        text, comparisons = told
        counts = [iterations(relation, left, right, atom) for left, relation, right in comparisons]
        if all(one is None for one in counts):
            raise NotFollowed(min(changed))  # nothing shows that it ends
        at_start = dict(self.state.values)
        tokens, begin = self.state.region.function.tokens, node.place.first
        if not self.state.is_written(tree.TokenRange(begin, body.place.first, node.place.span)):
            raise NotFollowed(min(changed))
        last = tokens[body.place.first - 1].span
        head = Span(last.source, tokens[begin].span.start, last.end)
        kept = len(self.state.found)
        limit = counts[0] if len(counts) == 1 else None
        self._body(body, entered(at_start, limit))
        kind = "int" if self.state.has_unsigned else "long"
        line = f"for ({kind} {atom.text} = 0; {text}; {atom.text}++) "
        inside = [one for one in self.state.found[:kept] if not (head.start <= one[0] and one[1] <= head.end)]
        self.state.found = [*inside, *self.state.found[kept:]]
        self.state.edit(head, line)
        total = None if limit is None or breaks(body) else limit.all
        self.state.values = self._left(node, before, changed, total, frozenset())

    def _first(self, first: tree.Node, changed: set[int]) -> None:
        """Perform the initialiser in the head of a loop that gets a new head."""
        kept = len(self.state.found)
        if isinstance(first, tree.Declare):
            if not {one.declaration.offset for one in first.variables} <= set(self.state.followed):
                raise NotFollowed(min(changed))
            self._declare(first)
        elif isinstance(first, tree.Expression):
            for part in steps_of(first):
                one = moved_variable(part)
                if one is None or one.offset not in self.state.followed:
                    raise NotFollowed(min(changed))
                self.state.step(part, one)
        del self.state.found[kept:]

    def _evolved(
        self, node: tree.ForStatement | tree.OtherStatement, changed: set[int], number: IntegerSum
    ) -> Values:
        """The values of variables at the start of each iteration, given the effect of one iteration."""
        parts = parts_of(node)
        assert parts is not None
        _, test, step, body = parts
        before, found, was_ended = dict(self.state.values), self.state.found, self.ended
        marks = {offset: mark(self.state.followed[offset], before.get(offset)) for offset in changed}
        self.state.values, self.state.found = {**before, **marks}, []
        self.state.embedded(test)
        self._run(body)
        if step is not None and isinstance(step, tree.Expression):
            self._evaluate(step)
        after = dict(self.state.values)
        self.state.values, self.state.found, self.ended = before, found, was_ended
        loop = EvolvingLoop(before, marks, {one: after.get(one) for one in changed}, number)
        return {**before, **evolved(loop, self._stays_in(node))}

    def _stays_in(self, node: tree.Node) -> frozenset[int]:
        """The variables declared or counted in a loop, which do not exist before it."""
        plain = self._plain(node)
        declared = {one.declaration.offset for one in tree.walk(node) if isinstance(one, tree.Declarator)}
        return frozenset(declared if plain is None else (*declared, plain.counter.offset))

    def _left(
        self,
        node: tree.ForStatement | tree.OtherStatement,
        before: Values,
        changed: set[int],
        count: IntegerSum | None,
        inner: frozenset[int],
    ) -> Values:
        """The values of variables after a loop."""
        if count is None or not changed:
            return {**before, **dict.fromkeys(changed)}
        parts = parts_of(node)
        assert parts is not None
        self.state.values = dict(before)
        at_end = self._evolved(node, changed, count)
        self.state.values = {**before, **at_end}
        found = self.state.found
        self.state.found = []
        self.state.embedded(parts[1])
        self.state.found = found
        last = after_all(self.state.values, inner)
        for offset in changed:
            if is_beyond(last.get(offset), self.state.followed[offset].type):
                raise NotFollowed(offset)
        return last
