"""Operations as methods: `plan["Mult"].interchange("j", "k").tile(32, 32).plan`.

Each method makes the operation a script would name, and the plan after it; the operation is in the
history.
"""

from __future__ import annotations

from typing import TypeVar

from loopwright.arguments import expected
from loopwright.display import Displayed
from loopwright.errors import BadInput, Code
from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import Program
from loopwright.transform.perform import performed
from loopwright.transform.plan import Component, Plan
from loopwright.transform.script import operations as ops
from loopwright.transform.script.formulas import AffineMap, AffineSet
from loopwright.transform.script.loop_numbers import LoopNumber
from loopwright.transform.script.steps import Step, parse_script
from loopwright.transform.script.syntax import BRACES, parse_braces

_LINES = 10**9
"""More than any file has."""

B = TypeVar("B", AffineMap, AffineSet)


class FluentPlan(Plan):
    """A plan with its components by name, and methods that give the plan after some operations."""

    def __getitem__(self, name: str | int) -> Handle:
        """`plan["Mult"].tile(32, 32)`: the component with its operations as methods.

        A number is a line of the C file: `plan[12]` is what a script calls `@12`.
        """
        expected(name, (str, int), "a label or a line", "plan['Mult'] or plan[12]")
        is_line = isinstance(name, int)
        handle = f"@{name if abs(int(name)) < _LINES else _LINES}" if is_line else str(name)
        self.component(handle)
        return Handle(self, handle)

    def transform(self, script: str, filename: str = "<script>") -> FluentPlan:
        """The plan after the operations of a script."""
        return self.perform(*parse_script(script, filename))

    def perform(self, *steps: Step) -> FluentPlan:
        """The plan after some steps."""
        for step in steps:
            expected(step, Step, "a step", "plan.perform(Step(Interchange('Mult', 'i', 'j')))")
        after = performed(self, *steps)
        assert isinstance(after, FluentPlan)
        return after


def plan_of(program: Program) -> FluentPlan:
    """The plan of a program as it was written."""
    return FluentPlan.of(program)


def transform(program: Program, script: str, filename: str = "<script>") -> FluentPlan:
    """The plan that a script makes of a program."""
    return plan_of(program).transform(script, filename)


@dataclass(frozen=True)
class Handle(Displayed):
    """A component of a plan; every method gives a new handle, on the new plan."""

    plan: FluentPlan
    name: str

    def __repr__(self) -> str:
        return f"<Handle {self.name} of {self.plan!r}>"

    @property
    def component(self) -> Component:
        """The statements and loops that the handle is on."""
        return self.plan.component(self.name)

    def __getitem__(self, name: str | int) -> Handle:
        """Another component of the same plan."""
        return self.plan[name]

    def perform(self, operation: ops.Operation, *binds: str) -> Handle:
        """The same component after an operation, whose handles get the names `binds`."""
        return Handle(self.plan.perform(Step(operation, binds)), self.name)

    def _new_name(self, wanted: str | None, suffix: str) -> str:
        if wanted is not None:
            return wanted
        name = f"{self.name.replace('@', 'line')}_{suffix}"
        while name in self.plan.components:
            name += "_"
        return name

    def realign(self, other: str, common: int) -> Handle:
        """Shares exactly `common` loops with `other`, the component right after it."""
        return self.perform(ops.Realign(self.name, other, common))

    def lift(self, loop: int, name: str | None = None) -> Handle:
        """A handle on the loop itself, under `name`."""
        target = self._new_name(name, str(loop))
        return self.perform(ops.Lift(self.name, loop), target)[target]

    def affine(self, function: str | AffineMap) -> Handle:
        """`function` as in a script: `{[i, j] -> [j, i]}`."""
        return self.perform(ops.Affine(self.name, _braces(function, AffineMap, "a map")))

    def isplit(
        self, condition: str | AffineSet, common: int, names: tuple[str, str] | None = None
    ) -> tuple[Handle, Handle]:
        """Handles on the iterations where the condition holds and on the others."""
        one, two = names or (self._new_name(None, "in"), self._new_name(None, "out"))
        operation = ops.Isplit(self.name, _braces(condition, AffineSet, "a condition"), common)
        after = self.perform(operation, one, two)
        return after[one], after[two]

    def interchange(self, one: str, two: str) -> Handle:
        """Two loops of the nest change places."""
        return self.perform(ops.Interchange(self.name, one, two))

    def permute(self, *order: str) -> Handle:
        """The loops of the nest in this order, the outermost first."""
        return self.perform(ops.Permute(self.name, order))

    def skew(self, loop: str, along: str, factor: int = 1) -> Handle:
        """`factor` times the iterator `along` is added to that of `loop`."""
        return self.perform(ops.Skew(self.name, loop, along, factor))

    def shift(self, loop: str, amount: int) -> Handle:
        """The iterations of `loop` run `amount` later."""
        return self.perform(ops.Shift(self.name, (LoopNumber(amount, loop),)))

    def reverse(self, loop: str) -> Handle:
        """The iterations of `loop` run in the opposite order."""
        return self.perform(ops.Reverse(self.name, (loop,)))

    def strip_mine(self, loop: str, size: int) -> Handle:
        """A loop of `size` iterations inside a loop over these strips."""
        return self.perform(ops.StripMine(self.name, loop, size))

    def from_zero(self) -> Handle:
        """The loops count 0, 1, 2, ..., as they were written."""
        return self.perform(ops.FromZero(self.name))

    def tile(self, *sizes: int, skew: bool = False, full: bool = False, **named: int) -> Handle:
        """`tile(32, 32)` for the innermost loops, or `tile(i=32, k=64)`."""
        numbers = (*map(LoopNumber, sizes), *_numbers(named))
        return self.perform(ops.Tile(self.name, numbers, skew, full))

    def hexagon(self, *, staged: bool = False, **sizes: int) -> tuple[Handle, Handle]:
        """`hexagon(t=4, i=16, j=32)`: handles on the tiles of the two phases; `staged` ones use buffers."""
        one, two = self._new_name(None, "first"), self._new_name(None, "second")
        after = self.perform(ops.Hexagon(self.name, _numbers(sizes), staged), one, two)
        return after[one], after[two]

    def unroll(self, loop: str, factor: int | None = None) -> Handle:
        """`loop` written out, `factor` iterations at a time or all of them."""
        return self.perform(ops.Unroll(self.name, loop, factor))

    def unroll_and_jam(self, **factors: int) -> Handle:
        """`unroll_and_jam(i=4, j=2)`: so many iterations of outer loops inside the innermost one."""
        return self.perform(ops.UnrollAndJam(self.name, _numbers(factors)))

    def fuse(self, *others: str, common: int | None = None) -> Handle:
        """The handle is on everything that was fused."""
        target = self._new_name(None, "fused") if self.name.startswith("@") else self.name
        return self.perform(ops.Fuse((self.name, *others), common), target)[target]

    def distribute(self, *others: str, common: int = 0, legal: bool = False) -> Handle:
        """Apart from the others; alone, its statements apart, with `legal` as far as that is legal."""
        if not legal:
            return self.perform(ops.Distribute((self.name, *others), common))
        if others or common:
            raise BadInput(Code.ARGUMENTS, "distribute with legal=True is for one component alone")
        return self.perform(ops.DistributeLegally(self.name))

    def reorder(self, other: str) -> Handle:
        """Changes places with `other`, its neighbour in the body of a loop."""
        return self.perform(ops.Reorder(self.name, other))

    def sink(self, nest: str, value: int = 0) -> Handle:
        """Into the loops of the nest beside it, at iteration `value`."""
        return self.perform(ops.Sink(self.name, nest, value))

    def parallel(self, loop: str) -> Handle:
        """The iterations of `loop` may run at the same time."""
        return self.perform(ops.Parallelize(self.name, (loop,)))

    def vectorize(self, loop: str) -> Handle:
        """The iterations of `loop` may run in the lanes of a vector."""
        return self.perform(ops.Vectorize(self.name, (loop,)))

    def block(self, *loops: str) -> Handle:
        """The loops become blocks of the grid of a GPU."""
        return self.perform(ops.MapBlocks(self.name, loops))

    def thread(self, **counts: int) -> Handle:
        """`thread(i=8, j=32)`: so many threads along each loop."""
        return self.perform(ops.MapThreads(self.name, _numbers(counts)))

    def separate(self, loop: str) -> Handle:
        """`loop` is cut where its statements have different bounds."""
        return self.perform(ops.Separate(self.name, (loop,)))

    def isolate(self, loop: str, points: tuple[str, ...]) -> Handle:
        """Where the loops `points` run over full tiles, they are generated apart, down to `loop`."""
        return self.perform(ops.Isolate(self.name, loop, tuple(points)))

    def expand(self, variable: str, *loops: str) -> Handle:
        """Each iteration of the loops has its own `variable`, wherever it is used."""
        return self.perform(ops.Expand(variable, loops))

    def contract(self, variable: str, count: int | None = None, *, ring: bool = False) -> Handle:
        """`variable` without its first `count` subscripts, or without any; as a ring, with `count` rows."""
        return self.perform(ops.Contract(variable, count, ring))

    def pack(
        self,
        variable: str,
        loop: str | None = None,
        *,
        transposed: bool = False,
        written: bool = False,
        reused: bool = False,
        scaled: bool = False,
        shared: bool = False,
        registers: bool = False,
        name: str | None = None,
    ) -> Handle:
        """What the component reads of an array is copied, in each iteration of `loop`; a handle on that.

        With `written` it writes to the copy too, which is copied back; with `reused` only reads move that
        touch a cell in several iterations of the loop inside; with `scaled` the copy holds each cell times
        the variable that it is multiplied by.  The copy of a GPU's block is `shared` by its threads, or in
        their `registers`.
        """
        target = self._new_name(name, "packed")
        words = (transposed, written, reused, scaled, shared, registers)
        operation = ops.Pack(variable, self.name, loop, *words)
        return self.perform(operation, target)[target]

    def pad(self, variable: str, amount: int) -> Handle:
        """The rows of `variable` get `amount` elements more."""
        return self.perform(ops.Pad(variable, amount))

    def split_sum(self, name: str | None = None) -> tuple[Handle, Handle]:
        """The statement adds the first part of its sum, a new one after it the second; handles on both."""
        second = self._new_name(name, "second")
        after = self.perform(ops.SplitSum(self.name), self.name, second)
        return after[self.name], after[second]

    def rename(self, variable: str) -> Handle:
        """The component uses a variable of its own instead of `variable`."""
        return self.perform(ops.Rename(variable, self.name))


def _numbers(named: dict[str, int]) -> tuple[LoopNumber, ...]:
    return tuple(LoopNumber(number, loop) for loop, number in named.items())


def _braces(value: str | B, wanted: type[B], what: str) -> B:
    """The map or the condition, read where it is text."""
    found = parse_braces(value) if isinstance(value, str) else value
    if not isinstance(found, wanted):
        raise BadInput(Code.ARGUMENTS, f"'{found}' where {what} should be", hint=BRACES)
    return found
