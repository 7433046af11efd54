"""Statements in a run that is followed as far as the file shows.

Both sides of a test that is not known are followed, and what they agree on is kept.  A loop whose number of
iterations is not known, or is large, keeps what its iterations leave as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from functools import partial
from itertools import count

from loopwright.c.runs.calls import Calls
from loopwright.c.runs.conversions import truth
from loopwright.c.runs.memory import RunMemory, StoredBlock, Value
from loopwright.c.runs.values import Stopped
from loopwright.c.typed import tree
from loopwright.c.typed.file import TypedRegion
from loopwright.c.types import Floating, unqualified
from loopwright.lazy_dataclass import dataclass

STEPS = 12_000
"""The number of expressions that are evaluated for a region; a call is some more of them."""
_LOOP_STEPS = 1_000
"""The number of those that are evaluated for the iterations of a loop, one by one."""
_ROUNDS = 6
"""How often the iterations of any other loop are followed, until they change nothing more."""
_MOST_ARRIVALS = 16


@dataclass
class FollowedLoop:
    """A loop, or a switch: the memory where it is left, and where an iteration ends early."""

    left: list[RunMemory] = field(default_factory=list)
    continued: list[RunMemory] = field(default_factory=list)
    is_switch: bool = False


@dataclass(frozen=True)
class Arrival:
    """A run that has come to a region."""

    run: FollowedRun
    memory: RunMemory
    frame: int
    call: tree.CallExpression | None
    """The call of the function around the region; None if no call is followed."""

    def value(self, node: tree.Expression) -> Value:
        """The value of an expression there, if it is known."""
        return self._asked(self.run.value, node)

    def place(self, node: tree.Expression) -> Value:
        """The place of an lvalue there, if it is known."""
        return self._asked(self.run.place, node)

    def _asked(self, ask: Callable[[tree.Expression], Value], node: tree.Expression) -> Value:
        self.run.memory, self.run.frame, self.run.steps = self.memory.copy(), self.frame, STEPS
        try:
            return ask(node)
        except Stopped:
            return None


@dataclass
class FollowedRun(Calls):
    """Follows statements."""

    region: TypedRegion | None = None
    loops: list[FollowedLoop] = field(default_factory=list)
    arrived: list[Arrival] = field(default_factory=list)

    def block_of(self, node: tree.OtherExpression) -> Value:
        inner = node.parts[0] if node.parts else None
        if not isinstance(inner, tree.CompoundStatement) or not inner.statements:
            raise Stopped
        *before, last = inner.statements
        for one in before:
            self.executed(one)
        if isinstance(last, tree.Evaluate) and self.alive:
            return self.value(last.value)
        self.executed(last)
        return None

    def executed(self, body: tree.Node | None) -> None:
        if body is None or not self.alive:
            return
        self._arrive(body)
        match body:
            case tree.CompoundStatement(statements=statements):
                for one in statements:
                    self.executed(one)
            case tree.Declare(variables=variables):
                for variable in variables:
                    self._declared(variable)
            case tree.Evaluate(value=value):
                self.value(value)
            case tree.IfStatement(test=test, then=then, otherwise=otherwise):
                tested = truth(self.value(test))
                sides = [(then, True), (otherwise, False)][:: -1 if self.guess is False else 1]
                self.either([partial(self.executed, one) for one, when in sides if tested in (None, when)])
            case tree.ForStatement(first=first, test=test, step=step, body=inner) as loop:
                self.executed(first)
                is_idle = self.file.once(("idle", id(loop)), lambda: _stores_only_fractions(loop))
                self._looped(test, inner, step, is_idle=is_idle)
            case tree.Labelled(statement=inner):
                self.executed(inner)
            case tree.Return(value=value):
                given = None if value is None else self.value(value)
                if self.alive:
                    self.frames[-1].returned.append((self.memory, given))
                self.alive = False
            case tree.OtherStatement(kind=kind, parts=parts):
                self._other(kind, parts)
            case other if isinstance(other, tree.Expression):
                self.value(other)

    def _arrive(self, body: tree.Node) -> None:
        region, frame = self.region, self.frames[-1]
        is_here = region is not None and bool(region.statements) and body is region.statements[0]
        is_here = is_here and not self.memory.is_doubtful
        if region is not None and is_here and frame.function is region.function:
            self.arrived.append(Arrival(self, self.memory.copy(), self.frame, frame.call))
            if len(self.arrived) >= _MOST_ARRIVALS:
                raise Stopped

    def _declared(self, variable: tree.Declarator) -> None:
        declared = variable.declaration
        for size in variable.sizes:
            self.value(size)
        if declared.storage is tree.Storage.STATIC:
            self.statics.setdefault(self.key(declared), variable)
        if declared.storage is not tree.Storage.AUTOMATIC:
            return
        key = self.key(declared)
        if variable.initial is None:
            self.memory.set_block(key, StoredBlock(None))
        else:
            self.initialise(key, declared.type, variable.initial)

    def either(self, sides: Sequence[Callable[[], object]]) -> None:
        """Follow each side from here, and keep what they agree on; after a guess, the first that goes on."""
        before, ended = self.memory, list[RunMemory]()
        self.conditions += 1
        for side in sides:
            self.memory, self.alive = before.copy() if len(sides) > 1 else before, True
            side()
            ended += [self.memory] if self.alive else []
            if ended and self.guess is not None:
                break
        self.conditions -= 1
        self._merged(ended)

    def _merged(self, ended: list[RunMemory]) -> None:
        self.alive = bool(ended)
        for place, one in enumerate(ended):
            if place:
                self.memory.join(one)
            else:
                self.memory = one

    def _other(self, kind: str, parts: tuple[tree.Node, ...]) -> None:
        match kind, parts:
            case "NULL_STMT", _:
                return
            case "WHILE_STMT", (test, body) if isinstance(test, tree.Expression):
                self._looped(test, body, None)
            case "DO_STMT", (body, test) if isinstance(test, tree.Expression):
                self._looped(test, body, None, is_tested_first=False)
            case "SWITCH_STMT", (value, body) if isinstance(value, tree.Expression):
                if any(_has_label(inner) for _, inner in _cases(body)):
                    raise Stopped
                self._switched(self.value(value), body)
            case (("CASE_STMT" | "DEFAULT_STMT"), (*_, body)):
                self.executed(body)
            case "BREAK_STMT", _ if self.loops:
                self.loops[-1].left.append(self.memory)
                self.alive = False
            case "CONTINUE_STMT", _:
                around = [one for one in self.loops if not one.is_switch]
                around[-1].continued.append(self.memory)
                self.alive = False
            case _:
                raise Stopped

    def _looped(
        self,
        test: tree.Expression | None,
        body: tree.Node,
        step: tree.Expression | None,
        *,
        is_tested_first: bool = True,
        is_idle: bool = False,
    ) -> None:
        loop, ended = FollowedLoop(), list[RunMemory]()
        self.loops.append(loop)
        last = self.steps - _LOOP_STEPS
        for number in count():
            tested = True if test is None or not (number or is_tested_first) else truth(self.value(test))
            if tested is False and self.alive:
                ended.append(self.memory)
            if not self.alive or tested is False:
                break
            if tested is None and self.guess is not None:
                tested = self.guess and not number
                ended += [] if tested else [self.memory]
                if not tested:
                    break
            if tested is None or is_idle or self.steps < last:
                self._any_number_of_times(loop, test, body, step)
                ended += [self.memory] if self.alive else []
                break
            self._once(loop, body, step)
            if not self.alive:
                break
        self.loops.pop()
        self._merged([*ended, *loop.left])

    def _once(self, loop: FollowedLoop, body: tree.Node, step: tree.Expression | None) -> None:
        self.executed(body)
        ended, loop.continued = loop.continued, []
        self._merged([*([self.memory] if self.alive else []), *ended])
        if step is not None and self.alive:
            self.value(step)

    def _any_number_of_times(
        self, loop: FollowedLoop, test: tree.Expression | None, body: tree.Node, step: tree.Expression | None
    ) -> None:
        self.repeated += 1
        for round_ in range(_ROUNDS):
            before = self.memory.copy()
            self._once(loop, body, step)
            if self.alive and test is not None:
                self.value(test)
            after, is_back, self.memory, self.alive = self.memory, self.alive, before, True
            if not is_back:
                break
            changed = [key for key, one in after.blocks.items() if before.blocks.get(key) is not one]
            if not before.join(after):
                break
            if round_ == _ROUNDS - 1:
                for key in changed:
                    before.forget(key)
        self.repeated -= 1

    def _switched(self, value: Value, body: tree.Node) -> None:
        parts = [*_cases(body)]
        labels = [label for values, _ in parts for label in values]
        known = {id(one): self.value(one) for one in labels if one is not None}
        entries = [
            (place, None if label is None else known[id(label)])
            for place, (values, _) in enumerate(parts)
            for label in values
        ]
        if isinstance(value, int):
            taken = [place for place, number in entries if number == value]
            entries = [(place, value) for place in taken] or [one for one in entries if one[1] is None]
        sides = [partial(self._from, parts, place) for place, _ in entries]
        is_passed = not sides or (not isinstance(value, int) and None not in labels)
        loop = FollowedLoop(is_switch=True)
        self.loops.append(loop)
        self.either([*sides, *([_nothing] if is_passed else [])])
        self.loops.pop()
        self._merged([*([self.memory] if self.alive else []), *loop.left])

    def _from(self, parts: list[tuple[list[tree.Expression | None], tree.Node]], start: int) -> None:
        for _, one in parts[start:]:
            self.executed(one)


def _stores_only_fractions(loop: tree.ForStatement) -> bool:
    """Whether a loop stores only floating-point numbers, which are no sizes, and its own counters."""
    nodes = [*tree.walk(loop)]
    counted = [] if loop.first is None else [*tree.walk(loop.first)]
    own = {node.declaration.offset for node in nodes if isinstance(node, tree.Declarator)}
    own |= {root.offset for root in map(tree.changed_root, counted) if root is not None}
    for node in nodes:
        if isinstance(node, tree.CallExpression | tree.Return | tree.OtherExpression | tree.Labelled):
            return False
        if isinstance(node, tree.Assign | tree.Update) and not isinstance(unqualified(node.type), Floating):
            target = tree.without_casts(node.target)
            if not isinstance(target, tree.Name) or target.declaration.offset not in own:
                return False
    return True


def _nothing() -> None:
    pass


def _has_label(node: tree.Node) -> bool:
    """Whether a label of the switch around a statement is inside it."""
    if isinstance(node, tree.OtherStatement) and node.kind in ("CASE_STMT", "DEFAULT_STMT"):
        return True
    is_switch = isinstance(node, tree.OtherStatement) and node.kind == "SWITCH_STMT"
    return not is_switch and any(map(_has_label, tree.children(node)))


def _cases(body: tree.Node) -> Iterator[tuple[list[tree.Expression | None], tree.Node]]:
    """The statements of a switch with their labels, None for the default."""
    for one in body.statements if isinstance(body, tree.CompoundStatement) else (body,):
        labels, inner = list[tree.Expression | None](), one
        node: tree.Node = inner
        while isinstance(node, tree.OtherStatement) and node.kind in ("CASE_STMT", "DEFAULT_STMT"):
            if len(node.parts) > 2:
                raise Stopped  # a range of values
            value = node.parts[0] if node.kind == "CASE_STMT" else None
            labels.append(value if isinstance(value, tree.Expression) else None)
            node = node.parts[-1]
        yield labels, node
