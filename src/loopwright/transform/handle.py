"""Operations as methods: `plan["Mult"].interchange("j", "k").tile(32, 32).plan`.

Each method creates the operation of the same name in scripts, applies it to the plan and adds it to the
history.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import isfunction
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from loopwright.arguments import expected, integer
from loopwright.display import Displayed, public
from loopwright.errors import BadInput, Code
from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import Program
from loopwright.transform.perform import performed
from loopwright.transform.plan import Component, Plan
from loopwright.transform.script import operations as ops
from loopwright.transform.script.arguments import Misuse
from loopwright.transform.script.formulas import AffineMap, AffineSet
from loopwright.transform.script.loop_numbers import LoopNumber
from loopwright.transform.script.steps import Step, parse_script
from loopwright.transform.script.syntax import BRACES, parse_braces

_LINES = 10**9
"""More lines than any file has."""

T = TypeVar("T")
B = TypeVar("B", AffineMap, AffineSet)


class FluentPlan(Plan):
    """A plan with handles on its components, and methods that return the plan after operations."""

    @public
    def __getitem__(self, name: str | int) -> Handle:
        """`plan["Mult"].tile(32, 32)`: the component with its operations as methods.

        A number is a line of the C file: `plan[12]` is what a script calls `@12`.
        """
        handle = self.called(name, "plan['Mult'] or plan[12]")
        try:
            self.component(handle)
        except Misuse as error:
            raise BadInput.of(error.diagnostic) from None
        return Handle(self, handle)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            """Explain that operations are methods of handles."""
            if name in self.components:
                raise AttributeError(f"'{name}' is a part of this plan: write plan[{name!r}]")
            if not hasattr(Handle, name):
                raise AttributeError(f"a plan has no attribute '{name}'", name=name, obj=self)
            labels = [label for label in self.components if not label.startswith("@")]
            usage = f"plan[{labels[0]!r}].{name}(...)" if labels else f"plan[LINE].{name}(...)"
            raise AttributeError(f"'{name}' is a method of a part of a plan: write {usage}")

    def called(self, part: object, usage: str) -> str:
        """The name of a component by its label, its line, or a handle on it."""
        given = integer(part)
        if isinstance(given, Handle):
            if given.plan.written.region != self.written.region:
                message = f"this handle is of another region, {given.plan.written.region.place}"
                raise BadInput(Code.ARGUMENTS, message, hint=f"write {usage}")
            return given.name
        expected(given, (str, int), "a label or a line", usage)
        return f"@{given if abs(given) < _LINES else _LINES}" if isinstance(given, int) else str(given)

    @public
    def transform(self, script: str, filename: str = "<script>") -> FluentPlan:
        """Apply the operations of a script."""
        return self.perform(*parse_script(script, filename))

    @public
    def perform(self, *steps: Step) -> FluentPlan:
        """Apply these steps."""
        for step in steps:
            expected(step, Step, "a step", "plan.perform(Step(Interchange('Mult', 'i', 'j')))")
        after = performed(self, *steps)
        assert isinstance(after, FluentPlan)
        return after


def plan_of(program: Program) -> FluentPlan:
    """The plan of the original program."""
    return FluentPlan.of(program)


def transform(program: Program, script: str, filename: str = "<script>") -> FluentPlan:
    """The plan of a program after a script."""
    return plan_of(program).transform(script, filename)


@dataclass(frozen=True)
class Handle(Displayed):
    """A component of a plan; every method returns a new handle on a new plan."""

    plan: FluentPlan
    name: str

    def __repr__(self) -> str:
        return f"<Handle {self.name} of {self.plan!r}>"

    @property
    def component(self) -> Component:
        """The component that the handle refers to."""
        return self.plan.component(self.name)

    def __getitem__(self, name: str | int) -> Handle:
        """A handle on another component of the same plan."""
        return self.plan[name]

    def perform(self, operation: ops.Operation, *binds: str) -> Handle:
        """The same component after an operation, whose handles get the names `binds`."""
        return Handle(self.plan.perform(Step(operation, binds)), self.name)

    def _called(self, other: str | int | Handle, usage: str) -> str:
        return self.plan.called(other, f"plan[{self.name!r}].{usage}")

    def _new_name(self, wanted: str | None, suffix: str) -> str:
        if wanted is not None:
            return wanted
        name = f"{self.name.replace('@', 'line')}_{suffix}"
        while name in self.plan.components:
            name += "_"
        return name

    def realign(self, other: str | int | Handle, common: int) -> Handle:
        """Share exactly `common` loops with `other`, the next component."""
        return self.perform(ops.Realign(self.name, self._called(other, "realign('Other', 1)"), common))

    def lift(self, loop: int, name: str | None = None) -> Handle:
        """Return a handle on the enclosing loop, called `name`."""
        target = self._new_name(name, str(loop))
        return self.perform(ops.Lift(self.name, loop), target)[target]

    def affine(self, function: str | AffineMap) -> Handle:
        """`function` as in a script: `{[i, j] -> [j, i]}`."""
        return self.perform(ops.Affine(self.name, _braces(function, AffineMap, "a map")))

    def isplit(
        self, condition: str | AffineSet, common: int, names: tuple[str, str] | None = None
    ) -> tuple[Handle, Handle]:
        """Split the iterations by a condition; return handles on both parts."""
        one, two = names or (self._new_name(None, "in"), self._new_name(None, "out"))
        operation = ops.Isplit(self.name, _braces(condition, AffineSet, "a condition"), common)
        after = self.perform(operation, one, two)
        return after[one], after[two]

    def interchange(self, one: str, two: str) -> Handle:
        """Interchange two loops of the nest."""
        return self.perform(ops.Interchange(self.name, one, two))

    def permute(self, *order: str) -> Handle:
        """Reorder the loops of the nest, outermost first."""
        return self.perform(ops.Permute(self.name, order))

    def skew(self, loop: str, along: str, factor: int = 1) -> Handle:
        """Add `factor` times the iterator `along` to that of `loop`."""
        return self.perform(ops.Skew(self.name, loop, along, factor))

    def shift(self, loop: str, amount: int) -> Handle:
        """Delay the iterations of `loop` by `amount`."""
        return self.perform(ops.Shift(self.name, _numbers({loop: amount})))

    def reverse(self, loop: str) -> Handle:
        """Run the iterations of `loop` in reverse."""
        return self.perform(ops.Reverse(self.name, (loop,)))

    def strip_mine(self, loop: str, size: int) -> Handle:
        """Split `loop` into strips of `size` iterations."""
        return self.perform(ops.StripMine(self.name, loop, size))

    def from_zero(self) -> Handle:
        """Renumber the iterations of the original loops 0, 1, 2, ...."""
        return self.perform(ops.FromZero(self.name))

    def tile(self, *sizes: int, skew: bool = False, full: bool = False, **named: int) -> Handle:
        """Tile the innermost loops, `tile(32, 32)`, or named ones, `tile(i=32, k=64)`."""
        numbers = (*map(LoopNumber, sizes), *_numbers(named))
        return self.perform(ops.Tile(self.name, numbers, skew, full))

    def hexagon(self, *, staged: bool = False, **sizes: int) -> tuple[Handle, Handle]:
        """Tile by hexagons, `hexagon(t=4, i=16, j=32)`, with buffers if `staged`; return both handles."""
        one, two = self._new_name(None, "first"), self._new_name(None, "second")
        after = self.perform(ops.Hexagon(self.name, _numbers(sizes), staged), one, two)
        return after[one], after[two]

    def unroll(self, loop: str, factor: int | None = None) -> Handle:
        """Unroll `loop` by `factor`, or completely."""
        return self.perform(ops.Unroll(self.name, loop, factor))

    def unroll_and_jam(self, **factors: int) -> Handle:
        """Unroll outer loops inside the innermost one: `unroll_and_jam(i=4, j=2)`."""
        return self.perform(ops.UnrollAndJam(self.name, _numbers(factors)))

    def fuse(self, *others: str | int | Handle, common: int | None = None) -> Handle:
        """Fuse loops; return a handle on the fused component."""
        target = self._new_name(None, "fused") if self.name.startswith("@") else self.name
        names = (self._called(one, "fuse('Other')") for one in others)
        return self.perform(ops.Fuse((self.name, *names), common), target)[target]

    def distribute(self, *others: str | int | Handle, common: int = 0, legal: bool = False) -> Handle:
        """Separate from the others, or split up without arguments; with `legal`, as far as legal."""
        if not legal:
            names = (self._called(one, "distribute('Other')") for one in others)
            return self.perform(ops.Distribute((self.name, *names), common))
        if others or common:
            raise BadInput(Code.ARGUMENTS, "distribute with legal=True is for one component alone")
        return self.perform(ops.DistributeLegally(self.name))

    def reorder(self, other: str | int | Handle) -> Handle:
        """Swap with `other`, an adjacent component in the body of a loop."""
        return self.perform(ops.Reorder(self.name, self._called(other, "reorder('Other')")))

    def sink(self, nest: str | int | Handle, value: int = 0) -> Handle:
        """Move into the loops of the adjacent nest, at iteration `value`."""
        return self.perform(ops.Sink(self.name, self._called(nest, "sink('Nest')"), value))

    def parallel(self, loop: str) -> Handle:
        """Run the iterations of `loop` in parallel."""
        return self.perform(ops.Parallelize(self.name, (loop,)))

    def vectorize(self, loop: str) -> Handle:
        """Run the iterations of `loop` in the lanes of a vector."""
        return self.perform(ops.Vectorize(self.name, (loop,)))

    def block(self, *loops: str) -> Handle:
        """Map the loops to blocks of a GPU grid."""
        return self.perform(ops.MapBlocks(self.name, loops))

    def thread(self, **counts: int) -> Handle:
        """Map the loops to this many threads each: `thread(i=8, j=32)`."""
        return self.perform(ops.MapThreads(self.name, _numbers(counts)))

    def separate(self, loop: str) -> Handle:
        """Split `loop` where its statements have different bounds."""
        return self.perform(ops.Separate(self.name, (loop,)))

    def isolate(self, loop: str, points: tuple[str, ...]) -> Handle:
        """Generate full tiles of the loops `points` separately, down to `loop`."""
        return self.perform(ops.Isolate(self.name, loop, tuple(points)))

    def expand(self, variable: str, *loops: str) -> Handle:
        """Give each iteration of the loops its own copy of `variable`."""
        return self.perform(ops.Expand(variable, loops))

    def contract(self, variable: str, count: int | None = None, *, ring: bool = False) -> Handle:
        """Drop the first `count` subscripts of `variable`, or all; as a ring, keep `count` rows."""
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
        """Copy the cells of an array that the component reads in each iteration of `loop`; return a handle.

        With `written` it writes to the copy too, which is copied back; with `reused` only reads are replaced
        that access a cell in several iterations of the loop inside; with `scaled` the copy holds each cell
        times the variable that it is multiplied by.  The copy of a GPU's block is `shared` by its threads, or
        in their `registers`.
        """
        target = self._new_name(name, "packed")
        words = (transposed, written, reused, scaled, shared, registers)
        operation = ops.Pack(variable, self.name, loop, *words)
        return self.perform(operation, target)[target]

    def pad(self, variable: str, amount: int) -> Handle:
        """Lengthen the rows of `variable` by `amount` elements."""
        return self.perform(ops.Pad(variable, amount))

    def split_sum(self, name: str | None = None) -> tuple[Handle, Handle]:
        """Split the sum of the statement into two statements; return handles on both."""
        second = self._new_name(name, "second")
        after = self.perform(ops.SplitSum(self.name), self.name, second)
        return after[self.name], after[second]

    def pretest(self, loop: str, name: str | None = None) -> Handle:
        """Test all conditions of an iteration of `loop` before them; return a handle on the test."""
        target = self._new_name(name, "test")
        return self.perform(ops.Pretest(self.name, loop), target)[target]

    def rename(self, variable: str) -> Handle:
        """Use a new variable instead of `variable` in the component."""
        return self.perform(ops.Rename(variable, self.name))


def _with_integers(method: Callable[..., T]) -> Callable[..., T]:
    """The method, with integers of other libraries converted."""

    @wraps(method)
    def called(*arguments: Any, **named: Any) -> T:
        return method(*map(integer, arguments), **{name: integer(value) for name, value in named.items()})

    return public(called)


for _name, _method in list(vars(Handle).items()):
    if isfunction(_method) and not _name.startswith("_"):
        setattr(Handle, _name, _with_integers(_method))


def _numbers(named: dict[str, int]) -> tuple[LoopNumber, ...]:
    return tuple(LoopNumber(number, loop) for loop, number in named.items())


def _braces(value: str | B, wanted: type[B], what: str) -> B:
    """The map or condition, parsed if it is a string."""
    found = parse_braces(value) if isinstance(value, str) else value
    if not isinstance(found, wanted):
        raise BadInput(Code.ARGUMENTS, f"'{found}' where {what} should be", hint=BRACES)
    return found
