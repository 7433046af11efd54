"""The known values of the variables of a region at a statement, and the edits of its source so far."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from loopwright.c.reworded.passages import fresh_names
from loopwright.c.sums import ONE, ZERO, IntegerSum
from loopwright.c.tokens import on_one_line
from loopwright.c.typed import tree
from loopwright.c.typed.file import TypedRegion
from loopwright.c.types import INT, LONG, ArrayType, CType, Integer, Pointer, Record, is_observed, unqualified
from loopwright.read.c.changed_memory import ChangedMemory
from loopwright.read.c.evolved_loops import added, scopes
from loopwright.read.c.evolved_values import (
    ElementPointer,
    Value,
    element_of,
    in_words,
    is_beyond,
    is_signed,
    loops_around,
    moved_variable,
    own_value,
    parts_of,
    rank_of,
    step_of,
    value_of,
)
from loopwright.read.c.evolved_widths import Widths
from loopwright.source import Edit, Span

Values = dict[int, Value | None]
_COMPUTING = ("+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", ",")


class NotFollowed(Exception):
    """Raised if the values of a variable are unknown where they are needed."""

    def __init__(self, offset: int) -> None:
        super().__init__()
        self.offset = offset


class EvolvedState:
    """The values of the tracked variables, by their declarations, and the edits that substitute them."""

    def __init__(
        self,
        region: TypedRegion,
        followed: Mapping[int, tree.Declaration],
        memory: ChangedMemory,
        *,
        has_unsigned: bool,
        into_rows: bool,
    ) -> None:
        """`into_rows`: pointers to rows of arrays are tracked, assuming that they stay in the rows."""
        self.region, self.followed, self.has_unsigned = region, followed, has_unsigned
        self.into_rows = into_rows
        self.values: Values = {}
        self.found: list[Edit] = []
        self.fresh = fresh_names(region.place.source, "k")
        nodes = region.function.nodes
        self.around = tree.parents(nodes)
        self.changed = {one.offset for node in nodes if (one := moved_variable(node)) is not None}
        targets = [node.target for node in nodes if isinstance(node, tree.Assign | tree.Update)]
        self.owners = {one.offset for one in map(tree.owner, targets) if one is not None}
        """The variables that are modified, entirely or in part."""
        self.memory = memory
        self.scopes = [*scopes(region)]
        named = [one for one in nodes if isinstance(one, tree.Name | tree.Declarator)]
        types = {one.declaration.offset: one.declaration.type for one in named}
        self.iterators: dict[int, bool] = {}
        """The iterators of the enclosing loops that are kept: whether each counts up from a number >= 0."""
        self.widths = Widths(types, INT.rank if has_unsigned else rank_of(LONG), self.iterators)
        inside = [*tree.walk_all(region.statements)]
        declared = {one.declaration.offset for one in inside if isinstance(one, tree.Declarator)}
        for offset, one in followed.items():
            self.values[offset] = None if offset in declared else own_value(one)
        self.given = self._given()
        self.values.update((offset, value) for offset, value in self.given.items() if offset in followed)

    def _given(self) -> Values:
        """The values of pointers that are declared before the region: `end = a + n`."""
        function, first = self.region.function, self.region.first
        if not self.region.statements or loops_around(self.region.statements[0], function.nodes):
            return {}
        moved = [moved_variable(node) for node in function.nodes if node.place.first < first]
        early = {one.offset for one in moved if one is not None}

        def lookup(one: tree.Declaration | tree.Expression) -> Value | None:
            if not isinstance(one, tree.Declaration):
                return None
            is_array = isinstance(unqualified(one.type), ArrayType)
            is_own = function.keeps(one)
            is_kept = one.offset in self.followed or one.offset not in self.changed
            is_known = not any(one.name in problem.words for problem in function.problems)
            if not is_array and not (is_own and is_kept and is_known and one.offset not in early):
                return None
            return found.get(one.offset, own_value(one))

        found: Values = {}
        for node in function.nodes:
            if isinstance(node, tree.Declarator) and node.place.first < first and node.initial is not None:
                one = node.declaration
                value = value_of(node.initial, lookup) if lookup(one) is not None else None
                if isinstance(value, ElementPointer) and element_of(one.type) == (value.element, 1):
                    found.update({one.offset: value} if self._is_followed(value) else {})
        return found

    def _is_followed(self, value: ElementPointer) -> bool:
        return self.into_rows or len(value.subscripts) == 1

    def lookup(self, one: tree.Declaration | tree.Expression, *, by_name: bool = False) -> Value | None:
        if not isinstance(one, tree.Declaration):
            return self._part(one, by_name=by_name)
        if one.offset in self.followed:
            return self.values.get(one.offset)
        is_kept = one.offset in self.iterators or one.offset not in self.changed
        if self.has_unsigned and rank_of(one.type) > 3:
            return None
        if isinstance(unqualified(one.type), ArrayType):
            return own_value(one)
        is_known = is_kept and self.region.function.keeps(one)
        return self.given.get(one.offset, own_value(one)) if is_known else None

    def _part(self, node: tree.Expression, *, by_name: bool) -> Value | None:
        """`s->n`, `rows[i]` or `a + (size_t)i * n` as written, if the region modifies no part of it."""
        names = [one.declaration for one in tree.walk(node) if isinstance(one, tree.Name)]
        if self.has_unsigned or not self._is_in_words(node.place) or not all(map(self._stays, names)):
            return None
        if not self._is_read_again(node, by_name=by_name):
            return None
        text = on_one_line(node.place.span.text)
        text = f"({text})" if isinstance(node, tree.Binary) else text
        return in_words(text, node.type, (one.offset for one in names))

    def _is_in_words(self, place: tree.TokenRange) -> bool:
        """Whether tokens are those of the file, except for macros that are numbers."""
        tokens = self.region.function.tokens[place.first : place.end]
        made = [token for token in tokens if token.macro is not None]
        is_plain = len({token.span for token in made}) == len(made) and not any(
            token.follows_place for token in tokens
        )
        return is_plain and all(one.text[0].isdigit() and one.span.text.isidentifier() for one in made)

    def _stays(self, one: tree.Declaration) -> bool:
        """Whether a variable still has the value that its name denoted before the region."""
        if is_observed(one.type):
            return False
        if one.offset in self.followed:
            return self.values.get(one.offset) == own_value(one)
        if isinstance(unqualified(one.type), ArrayType):
            return True
        is_kept = one.offset not in self.changed and one.offset not in self.owners
        return self.region.function.keeps(one) and (is_kept or one.offset in self.iterators)

    def _is_read_again(self, node: tree.Expression, *, by_name: bool) -> bool:
        """Whether an expression has the same value everywhere in the region, if its variables have."""
        core = tree.without_casts(node)
        parts: tuple[tree.Expression, ...] = ()
        match core:
            case tree.Name() | tree.Number():
                pass
            case tree.Binary(operator="+" | "-" | "*", left=left, right=right):
                parts = (left, right)
            case tree.Cast(operand=operand) if isinstance(unqualified(core.type), Integer):
                parts = (operand,)
            case tree.MemberAccess(object=inner, in_union=False) if self._is_kept(core, by_name=by_name):
                parts = (inner,)
            case tree.Subscript(base=inner, index=index) if self._is_kept(core, by_name=by_name):
                parts = (inner, index)
            case _:
                return False
        return all(self._is_read_again(part, by_name=by_name) for part in parts)

    def _is_kept(self, lvalue: tree.Expression, *, by_name: bool) -> bool:
        """Whether the region does not modify an lvalue; for an array or a struct only its address matters."""
        if is_observed(lvalue.type):
            return False
        if isinstance(unqualified(lvalue.type), ArrayType | Record):
            return True
        one = tree.owner(lvalue)
        if one is not None and one.offset in self.owners:
            return False
        is_own = one is not None and self.region.function.keeps(one)
        return is_own or self.memory.keeps(lvalue, by_name=by_name)

    def value(self, node: tree.Expression, *, by_name: bool = False) -> Value | None:
        return value_of(node, partial(self.lookup, by_name=by_name))

    def assign(self, one: tree.Declaration, value: Value | None) -> None:
        is_number = isinstance(value, IntegerSum)
        if value is None or is_number != is_signed(one.type) or is_beyond(value, one.type):
            raise NotFollowed(one.offset)
        if isinstance(value, ElementPointer):
            found = element_of(one.type)
            if found is None or found != (value.element, 1) or not self._is_followed(value):
                raise NotFollowed(one.offset)
        self.values[one.offset] = value

    def changes_in(self, node: tree.Node) -> list[tree.Node]:
        """The parts of an expression that modify tracked variables."""
        found = [(one, moved_variable(one)) for one in tree.walk(node)]
        return [one for one, changed in found if changed is not None and changed.offset in self.followed]

    def step(self, part: tree.Node, one: tree.Declaration) -> None:
        """Perform `k += 3`, `p++` or `k = e` as an expression by itself."""
        inner = [each for each in self.changes_in(part) if each is not part]
        if inner:
            raise NotFollowed(one.offset)
        now = self.values.get(one.offset)
        match part:
            case tree.Assign(operator="=", value=value):
                self.assign(one, self.value(value))
            case tree.Assign(operator="+=" | "-=" as sign, value=value) if _is_kept(value.type, one.type):
                self.assign(one, added(now, self.value(value), sign))
            case tree.Update(operator=operator):
                self.assign(one, added(now, ONE, operator))
            case _:
                raise NotFollowed(one.offset)

    def embedded(self, part: tree.Expression) -> dict[int, Value]:
        """Perform the modifications inside an expression, each unconditional and of a variable named once;
        returns the values of these parts, by their identity."""
        found: dict[int, Value] = {}
        for change in self.changes_in(part):
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
            if after is None or is_beyond(after, one.type) or not self.is_always(change, part):
                raise NotFollowed(one.offset)
            found[id(change)] = after if change.is_prefix else before
            self.values[one.offset] = after
        return found

    def is_always(self, inner: tree.Node, part: tree.Node) -> bool:
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

    def replace_uses(self, node: tree.Node, worth: Mapping[int, Value]) -> None:
        """Replace the names of tracked variables by their values."""
        for use in tree.walk(node):
            if isinstance(use, tree.Name) and use.declaration.offset in self.followed:
                _, change = tree.with_conversions(use, self.around)
                known = worth.get(id(change)) if isinstance(change, tree.Update) else None
                value = known if known is not None else self.values.get(use.declaration.offset)
                part: tree.Expression = use
                if known is not None and isinstance(change, tree.Update):
                    part = change
                elif isinstance(change, tree.Update) and change.target is use:
                    raise NotFollowed(use.declaration.offset)
                self.use(part, use.declaration, value)

    def use(self, part: tree.Expression, one: tree.Declaration, value: Value | None) -> None:
        if value is None or self.is_measured(part):
            raise NotFollowed(one.offset)
        if not self.is_written(part.place):
            self.replace_macro(part, one.offset)
            return
        self.check(value, part.place.first, one.offset)
        place = part.place.span
        if isinstance(value, IntegerSum):
            self.edit(place, self.number(part, one.type, value))
            return
        inner, outer = tree.with_conversions(part, self.around)
        number = self.widths.element(value.last)
        tokens, at = self.region.function.tokens, part.place.first
        match outer:
            case tree.Unary(operator="*", operand=operand) if operand is inner and tokens[at - 1].text == "*":
                star = tokens[at - 1]
                if star.macro is not None:
                    raise NotFollowed(one.offset)
                whole = Span(place.source, star.span.start, place.end)
                self.edit(whole, f"{value.row}[{number}]")
            case tree.MemberAccess(object=owner, is_arrow=True) if (
                owner is inner and value.last != ZERO and tokens[part.place.end].text == "->"
            ):
                arrow = tokens[part.place.end]
                if arrow.macro is not None:
                    raise NotFollowed(one.offset)
                self.edit(Span(place.source, place.start, arrow.span.end), f"{value.row}[{number}].")
            case tree.Subscript(base=base, index=index) if (
                base is inner and value.last != ZERO and is_signed(index.type, least=0)
            ):
                self.element(part, index, value, one.offset)
            case _:
                self.edit(place, value.row if value.last == ZERO else f"({value.row} + {number})")

    def number(self, part: tree.Expression, kind: CType, value: IntegerSum) -> str:
        """The value of a number in the type of the expression that it replaces: `y[k] * i` overflows
        sooner than `y[k] * k_1`, which is a `long`, and `i * m` than a `long` that grows by m in each
        iteration.
        """
        inner, outer = tree.with_conversions(part, self.around)
        is_argument = isinstance(outer, tree.CallExpression)  # `printf("%d", k)` reads an int
        is_operand = isinstance(outer, tree.Conditional | tree.Unary) or (
            isinstance(outer, tree.Binary | tree.Assign) and outer.operator.rstrip("=") in _COMPUTING
        )
        is_integer = isinstance(outer, tree.Expression) and isinstance(unqualified(outer.type), Integer)
        while isinstance(outer, tree.Expression) and not _is_place(outer):
            inner, outer = outer, self.around.get(id(outer))
        is_index = isinstance(outer, tree.Expression) and not (
            isinstance(outer, tree.Subscript) and outer.index is not inner
        )
        loop = parts_of(outer)
        is_head = loop is not None and not loop[3].place.first <= part.place.first < loop[3].place.end
        if self.has_unsigned:
            return self.widths.int_operand(value)
        if is_argument:
            return self.widths.typed(value, kind)
        if is_index or is_head:
            return self.widths.operand(value, kind)
        is_exact = rank_of(kind) > INT.rank or (is_operand and is_integer)
        return self.widths.typed(value, kind) if is_exact else self.widths.operand(value, kind)

    def is_measured(self, node: tree.Node) -> bool:
        """Whether only the type of an expression matters."""
        outer = self.around.get(id(node))
        while outer is not None and not isinstance(outer, tree.SizeOf | tree.OtherExpression):
            outer = self.around.get(id(outer))
        return outer is not None

    def replace_macro(self, part: tree.Expression, offset: int) -> None:
        """Replace an entire macro call that has a known value, such as `MIN(k, n)`."""
        whole: tree.Expression = part
        outer = self.around.get(id(part))
        while outer is not None and isinstance(outer, tree.Expression) and outer.place.macro is not None:
            whole, outer = outer, self.around.get(id(outer))
        tokens = self.region.function.tokens
        beside = tokens[whole.place.first - 1].span, tokens[whole.place.end].span
        value = None if whole.place.macro is None else self.value(whole)
        if not isinstance(value, IntegerSum) or self.changes_in(whole) or whole.place.span in beside:
            raise NotFollowed(offset)
        self.check(value, whole.place.first, offset)
        self.edit(whole.place.span, self.number(whole, whole.type, value))

    def element(
        self, part: tree.Expression, index: tree.Expression, value: ElementPointer, offset: int
    ) -> None:
        """Rewrite `p[e]` as `a[(long)(e) + d]`: the sum of two numbers of `int` may be none."""
        tokens = self.region.function.tokens
        opening, closing = tokens[part.place.end], tokens[index.place.end]
        whole = tree.TokenRange(part.place.first, index.place.end + 1, part.place.span)
        if opening.text != "[" or closing.text != "]" or not self.is_written(whole):
            raise NotFollowed(offset)
        written, (before, after) = opening.span.source, self.widths.around(index, value.last)
        if isinstance(index, tree.Number) and isinstance(index.value, int) and index.text.isdigit():
            moved = self.widths.element(value.last.plus(IntegerSum.number(index.value)))
            self.edit(Span(written, part.place.span.start, closing.span.end), f"{value.row}[{moved}]")
            return
        self.edit(Span(written, part.place.span.start, opening.span.end), f"{value.row}[{before}")
        self.edit(closing.span, f"{after}]")

    def check(self, value: Value, at: int, offset: int | None = None) -> None:
        """Raise unless the names in a value mean the same at a token, and no mark is left."""
        for one in value.about:
            scopes = [scope for scope in self.scopes if scope.offset == one]
            name = scopes[0].name if scopes else ""
            hiding = [s for s in self.scopes if s.name == name and s.offset != one and s.first <= at < s.end]
            inner = [s for s in hiding if s.first > scopes[0].first]
            if not scopes or inner or not scopes[0].first <= at < scopes[0].end:
                raise NotFollowed(min(self.followed) if offset is None else offset)

    def is_written(self, place: tree.TokenRange) -> bool:
        tokens = self.region.function.tokens[place.first : place.end]
        return not any(token.macro is not None or token.follows_place for token in tokens)

    def edit(self, place: Span, text: str) -> None:
        if "#" in place.text:
            raise NotFollowed(min(self.followed))
        self.found.append(place.reworded(text))


def _is_place(node: tree.Expression) -> bool:
    """Whether an expression is an element, or a pointer that is computed."""
    is_sum = isinstance(node, tree.Binary) and isinstance(unqualified(node.type), Pointer)
    return isinstance(node, tree.Subscript) or is_sum


def _is_kept(kind: CType, target: CType) -> bool:
    """Whether a number of a type keeps its value when it is added to a variable, or to a pointer."""
    is_number = is_signed(target)
    return is_signed(kind) and (not is_number or rank_of(kind) <= rank_of(target))
