"""The statements of a region, followed in the order in which they run, with what its variables are."""

from __future__ import annotations

from collections.abc import Mapping

from loopwright.c.reworded.plain_loops import lines_in
from loopwright.c.tokens import names_in
from loopwright.c.typed import tree
from loopwright.c.typed.file import TypedRegion
from loopwright.c.types import ArrayType, CType, unqualified
from loopwright.read.c.evolved_loops import (
    CountedLoop,
    added,
    after_all,
    breaks,
    either,
    entered,
    evolved,
    mark,
    plain_iterator,
    scopes,
)
from loopwright.read.c.evolved_values import (
    ElementPointer,
    Value,
    element_of,
    is_signed,
    own_value,
    rank_of,
    value_of,
)
from loopwright.read.c.integer_sums import ONE, ZERO, Atom, IntegerSum, RunCount, iterations
from loopwright.read.c.numbered_loops import OWN, moved_variable, parts_of, step_of, steps_of
from loopwright.source import Edit, Span

_LEAVING = ("CONTINUE_STMT", "SWITCH_STMT", "CASE_STMT", "DEFAULT_STMT", "GOTO_STMT")
_COMPARED = ("<", "<=", ">", ">=", "==", "!=")
Values = dict[int, Value | None]


class NotFollowed(Exception):
    """The values of a variable are not known where they are needed."""

    def __init__(self, offset: int) -> None:
        super().__init__()
        self.offset = offset


class EvolvedStatements:
    """The values of variables, and the changes of the text that replace them."""

    def __init__(
        self,
        region: TypedRegion,
        followed: Mapping[int, tree.Declaration],
        is_directed: bool,
        has_unsigned: bool,
    ) -> None:
        self.region, self.followed = region, followed
        self.is_directed, self.has_unsigned = is_directed, has_unsigned
        self.values: Values = {}
        self.found: list[Edit] = []
        self.ended = False
        """Whether a `return` has been passed."""
        self.used = set(names_in(region.place.source.text))
        nodes = region.function.nodes
        self.around = {id(part): node for node in nodes for part in tree.children(node)}
        self.changed = {one.offset for node in nodes if (one := moved_variable(node)) is not None}
        self.scopes = [*scopes(region)]
        inside = [*tree.walk_all(region.statements)]
        declared = {one.declaration.offset for one in inside if isinstance(one, tree.Declarator)}
        for offset, one in followed.items():
            self.values[offset] = None if offset in declared else own_value(one)
        self.iterators: set[int] = set()

    def edits(self) -> list[Edit]:
        for statement in self.region.statements:
            self._run(statement)
        return self.found

    # values

    def _lookup(self, one: tree.Declaration) -> Value | None:
        if one.offset in self.followed:
            return self.values.get(one.offset)
        is_own = one.storage in OWN and one.offset not in self.region.function.addressed
        is_kept = one.offset in self.iterators or one.offset not in self.changed
        if self.has_unsigned and rank_of(one.type) > 3:
            return None
        if isinstance(unqualified(one.type), ArrayType):
            return own_value(one)
        return own_value(one) if is_own and is_kept and not one.attributes else None

    def _value(self, node: tree.Expression) -> Value | None:
        return value_of(node, self._lookup)

    def _assign(self, one: tree.Declaration, value: Value | None) -> None:
        if value is None or isinstance(value, IntegerSum) != is_signed(one.type):
            raise NotFollowed(one.offset)
        if isinstance(value, ElementPointer):
            found = element_of(one.type)
            if found is None or found != (value.element, 1):
                raise NotFollowed(one.offset)
        self.values[one.offset] = value

    # statements

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
        """A statement that is not taken apart: it changes nothing that is followed."""
        for one in tree.walk(node):
            changed = moved_variable(one)
            if changed is not None and changed.offset in self.followed:
                raise NotFollowed(changed.offset)
            if isinstance(one, tree.Declarator) and one.declaration.offset in self.followed:
                raise NotFollowed(one.declaration.offset)
        self._replace_uses(node, {})

    def _declare(self, node: tree.Declare) -> None:
        mine = [one for one in node.variables if one.declaration.offset in self.followed]
        if len(mine) < len(node.variables):
            if mine:
                raise NotFollowed(mine[0].declaration.offset)
            for one in node.variables:
                for size in one.sizes:
                    self._replace_uses(size, self._embedded(size))
                if one.initial is not None:
                    self._replace_uses(one.initial, self._embedded(one.initial))
            return
        for one in mine:
            if one.initial is None:
                self.values[one.declaration.offset] = None
                continue
            if self._changes_in(one.initial):
                raise NotFollowed(one.declaration.offset)
            self._assign(one.declaration, self._value(one.initial))
        place, tokens = node.place.span, self.region.function.tokens[node.place.first : node.place.end]
        if tokens[0].macro is not None or tokens[-1].macro is not None:
            raise NotFollowed(mine[0].declaration.offset)
        self._edit(place, ";" if place.text.rstrip().endswith(";") else "")

    def _changes_in(self, node: tree.Node) -> list[tree.Node]:
        """The parts of an expression that change what is followed."""
        found = [(one, moved_variable(one)) for one in tree.walk(node)]
        return [one for one, changed in found if changed is not None and changed.offset in self.followed]

    def _evaluate(self, node: tree.Expression, *, keeps: bool = False) -> None:
        """An expression, and what it changes; `keeps`: its value is used."""
        parts = steps_of(node) if not keeps else [node]
        for part in parts:
            changed = moved_variable(part)
            if changed is not None and changed.offset in self.followed and not keeps:
                self._step(part, changed)
                if not self._is_written(part.place):
                    raise NotFollowed(changed.offset)
                self._edit(part.place.span, "0" if len(parts) > 1 else "")
            else:
                self._replace_uses(part, self._embedded(part))

    def _step(self, part: tree.Node, one: tree.Declaration) -> None:
        """`k += 3`, `p++` or `k = e` by itself."""
        inner = [each for each in self._changes_in(part) if each is not part]
        if inner:
            raise NotFollowed(one.offset)
        now = self.values.get(one.offset)
        match part:
            case tree.Assign(operator="=", value=value):
                self._assign(one, self._value(value))
            case tree.Assign(operator="+=" | "-=" as sign, value=value) if _is_kept(value.type, one.type):
                self._assign(one, added(now, self._value(value), sign))
            case tree.Update(operator=operator):
                self._assign(one, added(now, ONE, operator))
            case _:
                raise NotFollowed(one.offset)

    def _embedded(self, part: tree.Expression) -> dict[int, Value]:
        """The changes inside of an expression, each of a variable that it names once, and always makes: what
        their parts are worth, by the places of those."""
        found: dict[int, Value] = {}
        for change in self._changes_in(part):
            one = moved_variable(change)
            assert one is not None
            uses = [
                x for x in tree.walk(part) if isinstance(x, tree.Name) and x.declaration.offset == one.offset
            ]
            before = self.values.get(one.offset)
            step = step_of(change)
            if not isinstance(change, tree.Update) or len(uses) != 1 or before is None or step is None:
                raise NotFollowed(one.offset)
            after = added(before, ONE, change.operator)
            if after is None or not self._is_always(change, part):
                raise NotFollowed(one.offset)
            found[id(change)] = after if change.is_prefix else before
            self.values[one.offset] = after
        return found

    def _is_always(self, inner: tree.Node, part: tree.Node) -> bool:
        outer = self.around.get(id(inner))
        while inner is not part:
            match outer:
                case None | tree.Conditional() | tree.SizeOf() | tree.OtherExpression():
                    return False
                case tree.Binary(operator="&&" | "||"):
                    return False
            assert outer is not None
            inner, outer = outer, self.around.get(id(outer))
        return True

    # tests

    def _branch(self, node: tree.IfStatement) -> None:
        if self._changes_in(node.test):
            raise NotFollowed(self._first_changed(node.test))
        test = self._value(node.test)
        self._replace_uses(node.test, {})
        before = dict(self.values)
        ends: list[Values] = []
        for branch in (node.then, node.otherwise):
            self.values, was_ended, self.ended = dict(before), self.ended, False
            if branch is not None:
                self._run(branch)
            if not self.ended:
                ends.append(self.values)
            self.ended = was_ended
        if not ends:
            self.ended, self.values = True, before
        elif len(ends) == 1:
            self.values = ends[0]
        else:
            self.values = {one: either(test, ends[0][one], ends[1].get(one)) for one in ends[0]}

    def _first_changed(self, node: tree.Node) -> int:
        changed = moved_variable(self._changes_in(node)[0])
        assert changed is not None
        return changed.offset

    # loops

    def _loop(self, node: tree.ForStatement | tree.OtherStatement) -> None:
        parts = parts_of(node)
        changed = {one.offset for one in map(moved_variable, self._changes_in(node)) if one is not None}
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
        plain = plain_iterator(node)
        if plain is not None:
            self._plain_loop(node, plain, changed)
        elif changed:
            self._numbered_loop(node, changed)
        else:
            for part in (first, test, step):
                if part is not None:
                    self._replace_uses(part, {})
            self._body(body, self.values)

    def _body(self, body: tree.Statement, values: Values) -> None:
        """A body that changes nothing that is followed but its own variables, or whose changes are known."""
        was_ended = self.ended
        self.values = dict(values)
        self._run(body)
        self.ended = was_ended

    def _plain_loop(self, node: tree.ForStatement, counter: tree.Declaration, changed: set[int]) -> None:
        """`for (int i = a; i < b; i++)`: it stays a loop over i."""
        first, test, step = node.first, node.test, node.step
        assert isinstance(first, tree.Declare) and step is not None
        initial = first.variables[0].initial
        start = None if initial is None else self._value(initial)
        size = step_of(step)
        if changed and (not isinstance(start, IntegerSum) or size not in (1, -1)):
            raise NotFollowed(min(changed))
        self._replace_uses(first, {})
        self.iterators.add(counter.offset)
        name = IntegerSum.atom(counter.name, (counter.offset,))
        number = ZERO
        if isinstance(start, IntegerSum) and size is not None:
            number = name.minus(start) if size > 0 else start.minus(name)
        before = dict(self.values)
        if changed:
            self.values = self._evolved(node, changed, number)
        if test is not None:
            self._replace_uses(test, {})
        self._replace_uses(step, {})
        at_start = dict(self.values)
        count = None
        if isinstance(start, IntegerSum) and size is not None:
            count = self._count(test, counter, start, size, at_start)
        self._body(node.body, entered(at_start, count))
        total = None if count is None or breaks(node.body) else count.all
        self.values = self._left(node, before, changed, total, frozenset((counter.offset,)))
        self.iterators.discard(counter.offset)

    def _count(
        self,
        test: tree.Expression | None,
        counter: tree.Declaration,
        start: IntegerSum,
        size: int,
        values: Values,
    ) -> RunCount | None:
        """How often a loop over a variable runs."""
        fresh = Atom("?number")
        now = start.plus(IntegerSum(((((fresh,), 1)),)), size)
        self.values = dict(values)
        core = None if test is None else tree.without_casts(test)
        sides: list[Value | None] = []
        if isinstance(core, tree.Binary):
            both = (core.left, core.right)
            sides = [value_of(one, lambda x: now if x == counter else self._lookup(x)) for one in both]
        if not isinstance(core, tree.Binary) or len(sides) != 2:
            return None
        left, right = sides
        if not isinstance(left, IntegerSum) or not isinstance(right, IntegerSum):
            return None
        if counter.offset in left.about | right.about:
            return None
        return iterations(core.operator, left, right, fresh)

    def _numbered_loop(self, node: tree.ForStatement | tree.OtherStatement, changed: set[int]) -> None:
        """A loop in which variables are counted on: it becomes one over how often it has run."""
        parts = parts_of(node)
        assert parts is not None
        first, test, _, body = parts
        if first is not None:
            self._first(first, changed)
        before = dict(self.values)
        atom = Atom(self._fresh())
        number = IntegerSum((((atom,), 1),))
        self.values = self._evolved(node, changed, number)
        told = self._test(test)
        if told is None:
            raise NotFollowed(min(changed))
        text, count = told
        at_start = dict(self.values)
        tokens, begin = self.region.function.tokens, node.place.first
        if not self._is_written(tree.TokenRange(begin, body.place.first, node.place.span)):
            raise NotFollowed(min(changed))
        head = Span(tokens[begin].span.source, tokens[begin].span.start, tokens[body.place.first - 1].span.end)
        kept = len(self.found)
        limit = None if count is None else iterations(count[1], count[0], count[2], atom)
        self._body(body, entered(at_start, limit))
        kind = "int" if self.has_unsigned else "long"
        line = f"for ({kind} {atom.text} = 0; {text}; {atom.text}++) "
        inside = [one for one in self.found[:kept] if not (head.start <= one[0] and one[1] <= head.end)]
        self.found = [*inside, *self.found[kept:]]
        self._edit(head, line)
        total = None if limit is None or breaks(body) else limit.all
        self.values = self._left(node, before, changed, total, frozenset())

    def _first(self, first: tree.Node, changed: set[int]) -> None:
        """The first part of the head of a loop whose head is written again."""
        kept = len(self.found)
        if isinstance(first, tree.Declare):
            if not {one.declaration.offset for one in first.variables} <= set(self.followed):
                raise NotFollowed(min(changed))
            self._declare(first)
        elif isinstance(first, tree.Expression):
            for part in steps_of(first):
                one = moved_variable(part)
                if one is None or one.offset not in self.followed:
                    raise NotFollowed(min(changed))
                self._step(part, one)
        del self.found[kept:]

    def _evolved(
        self, node: tree.ForStatement | tree.OtherStatement, changed: set[int], number: IntegerSum
    ) -> Values:
        """What variables are at the start of each iteration, by what one iteration makes of them."""
        parts = parts_of(node)
        assert parts is not None
        _, test, step, body = parts
        before, found, was_ended = dict(self.values), self.found, self.ended
        marks = {offset: mark(self.followed[offset], before.get(offset)) for offset in changed}
        self.values, self.found = {**before, **marks}, []
        self._test_changes(test)
        self._run(body)
        if step is not None and isinstance(step, tree.Expression):
            self._evaluate(step)
        after, self.values, self.found, self.ended = dict(self.values), before, found, was_ended
        loop = CountedLoop(before, marks, {one: after.get(one) for one in changed}, number)
        return {**before, **evolved(loop, self._stays_in(node))}

    def _stays_in(self, node: tree.Node) -> frozenset[int]:
        """What is declared in a loop: not known before it."""
        return frozenset(
            one.declaration.offset for one in tree.walk(node) if isinstance(one, tree.Declarator)
        )

    def _left(
        self,
        node: tree.ForStatement | tree.OtherStatement,
        before: Values,
        changed: set[int],
        count: IntegerSum | None,
        inner: frozenset[int],
    ) -> Values:
        """What variables are after a loop."""
        if count is None or not changed:
            return {**before, **dict.fromkeys(changed)}
        parts = parts_of(node)
        assert parts is not None
        self.values = dict(before)
        at_end = self._evolved(node, changed, count)
        self.values = {**before, **at_end}
        found = self.found
        self.found = []
        self._test_changes(parts[1])
        self.found = found
        return after_all(self.values, inner)

    def _test_changes(self, test: tree.Expression) -> None:
        """What a test changes: `n-- > 0`."""
        for change in self._changes_in(test):
            one = moved_variable(change)
            assert one is not None
            uses = [x for x in tree.walk(test) if isinstance(x, tree.Name) and x.declaration == one]
            if len(uses) != 1 or not isinstance(change, tree.Update) or not self._is_always(change, test):
                raise NotFollowed(one.offset)
            self._step(change, one)

    def _test(
        self, test: tree.Expression
    ) -> tuple[str, tuple[IntegerSum, str, IntegerSum] | None] | None:
        """The test of a loop as a text, and the numbers that it compares; what it changes has then changed."""
        core = tree.without_casts(test)
        if isinstance(core, tree.Binary) and core.operator == "&&" and not self._changes_in(core):
            both = self._test(core.left), self._test(core.right)
            return None if both[0] is None or both[1] is None else (f"({both[0][0]}) && ({both[1][0]})", None)
        if not isinstance(core, tree.Binary) or core.operator not in _COMPARED:
            return None
        worth = self._embedded(core)
        sides = [self._compared(one, worth) for one in (core.left, core.right)]
        match sides:
            case [IntegerSum() as left, IntegerSum() as right]:
                pass
            case [ElementPointer() as one, ElementPointer() as other] if one.is_near(other):
                left, right = one.last, other.last
            case _:
                return None
        if core.operator in ("==", "!="):
            return None
        at = test.place.first
        self._check(left, at)
        self._check(right, at)
        return f"{left} {core.operator} {right}", (left, core.operator, right)

    def _compared(self, node: tree.Expression, worth: Mapping[int, Value]) -> Value | None:
        core = tree.without_casts(node)
        known = worth.get(id(core))
        return known if known is not None else self._value(node)

    # text

    def _replace_uses(self, node: tree.Node, worth: Mapping[int, Value]) -> None:
        """The names of what is followed, in other words."""
        for use in tree.walk(node):
            if isinstance(use, tree.Name) and use.declaration.offset in self.followed:
                change = self.around.get(id(use))
                while isinstance(change, tree.Cast) and change.is_implicit:
                    change = self.around.get(id(change))
                known = worth.get(id(change)) if isinstance(change, tree.Update) else None
                value = known if known is not None else self.values.get(use.declaration.offset)
                part: tree.Expression = use
                if known is not None and isinstance(change, tree.Update):
                    part = change
                elif isinstance(change, tree.Update) and change.target is use:
                    raise NotFollowed(use.declaration.offset)
                self._use(part, use.declaration, value)

    def _use(self, part: tree.Expression, one: tree.Declaration, value: Value | None) -> None:
        if value is None or self._is_measured(part):
            raise NotFollowed(one.offset)
        if not self._is_written(part.place):
            self._replace_macro(part, one.offset)
            return
        self._check(value, part.place.first, one.offset)
        place = part.place.span
        if isinstance(value, IntegerSum):
            self._edit(place, value.operand)
            return
        inner, outer = self._above(part)
        tokens, at = self.region.function.tokens, part.place.first
        match outer:
            case tree.Unary(operator="*", operand=operand) if operand is inner and tokens[at - 1].text == "*":
                star = tokens[at - 1]
                if star.macro is not None:
                    raise NotFollowed(one.offset)
                whole = Span(place.source, star.span.start, place.end)
                self._edit(whole, f"{value.row}[{value.last}]")
            case tree.Subscript(base=base, index=index) if (
                base is inner and value.last != ZERO and is_signed(index.type, least=0)
            ):
                self._element(part, index, value, one.offset)
            case _:
                self._edit(place, value.row if value.last == ZERO else f"({value.row} + {value.last})")

    def _is_measured(self, node: tree.Node) -> bool:
        """Whether only the type of an expression counts."""
        outer = self.around.get(id(node))
        while outer is not None and not isinstance(outer, tree.SizeOf | tree.OtherExpression):
            outer = self.around.get(id(outer))
        return outer is not None

    def _replace_macro(self, part: tree.Expression, offset: int) -> None:
        """The number that a whole macro stands for, in other words: `MIN(k, n)`."""
        whole: tree.Expression = part
        outer = self.around.get(id(part))
        while outer is not None and isinstance(outer, tree.Expression) and outer.place.macro is not None:
            whole, outer = outer, self.around.get(id(outer))
        tokens = self.region.function.tokens
        beside = tokens[whole.place.first - 1].span, tokens[whole.place.end].span
        value = None if whole.place.macro is None else self._value(whole)
        if not isinstance(value, IntegerSum) or self._changes_in(whole) or whole.place.span in beside:
            raise NotFollowed(offset)
        self._check(value, whole.place.first, offset)
        self._edit(whole.place.span, value.operand)

    def _element(
        self, part: tree.Expression, index: tree.Expression, value: ElementPointer, offset: int
    ) -> None:
        """`p[e]` as `a[d + (e)]`."""
        tokens = self.region.function.tokens
        opening, closing = tokens[part.place.end], tokens[index.place.end]
        whole = tree.TokenRange(part.place.first, index.place.end + 1, part.place.span)
        if opening.text != "[" or closing.text != "]" or not self._is_written(whole):
            raise NotFollowed(offset)
        start, last = part.place.span.start, opening.span.end
        self._edit(Span(part.place.span.source, start, last), f"{value.row}[{value.last} + (")
        self._edit(closing.span, ")]")

    def _check(self, value: Value, at: int, offset: int | None = None) -> None:
        """Whether the names of a value mean at a token what they meant before, and no mark is left."""
        for one in value.about:
            scopes = [scope for scope in self.scopes if scope.offset == one]
            name = scopes[0].name if scopes else ""
            hiding = [s for s in self.scopes if s.name == name and s.offset != one and s.first <= at < s.end]
            inner = [s for s in hiding if s.first > scopes[0].first]
            if not scopes or inner or not scopes[0].first <= at < scopes[0].end:
                raise NotFollowed(min(self.followed) if offset is None else offset)

    def _above(self, node: tree.Node) -> tuple[tree.Node, tree.Node | None]:
        inner, outer = node, self.around.get(id(node))
        while isinstance(outer, tree.Cast) and outer.is_implicit:
            inner, outer = outer, self.around.get(id(outer))
        return inner, outer

    def _is_written(self, place: tree.TokenRange) -> bool:
        tokens = self.region.function.tokens[place.first : place.end]
        return not any(token.macro is not None or token.follows_place for token in tokens)

    def _edit(self, place: Span, text: str) -> None:
        if "#" in place.text:
            raise NotFollowed(min(self.followed))
        self.found.append((place.start, place.end, text + lines_in(place.source, place.start, place.end)))

    def _fresh(self) -> str:
        number = 1
        while f"k_{number}" in self.used:
            number += 1
        self.used.add(f"k_{number}")
        return f"k_{number}"


def _is_kept(kind: CType, target: CType) -> bool:
    """Whether a number of a type stays what it is where it is added to a variable, or to a pointer."""
    is_number = is_signed(target)
    return is_signed(kind) and (not is_number or rank_of(kind) <= rank_of(target))
