"""Operations as methods: `plan["Mult"].interchange("j", "k").tile(32, 32).plan`.

Each method says its line of a script, so that both mean the same; the line is in the history.
"""

from __future__ import annotations

from dataclasses import dataclass

from loopwright.display import Displayed
from loopwright.transform.plan import Component, Plan


@dataclass(frozen=True)
class Handle(Displayed):
    """A component of a plan; every method gives a new handle, on the new plan."""

    plan: Plan
    name: str

    def __repr__(self) -> str:
        return f"<Handle {self.name} of {self.plan!r}>"

    @property
    def component(self) -> Component:
        return self.plan.component(self.name)

    def __getitem__(self, name: str | int) -> Handle:
        """Another component of the same plan."""
        return self.plan[name]

    def _say(self, line: str) -> Handle:
        return Handle(self.plan.transform(line, "<python>"), self.name)

    def _call(self, operation: str, *arguments: object, **named: object) -> Handle:
        words = [self.name, *map(str, arguments), *(f"{name}={value}" for name, value in named.items())]
        return self._say(f"{operation}({', '.join(words)})")

    def _new_name(self, wanted: str | None, suffix: str) -> str:
        if wanted is not None:
            return wanted
        name = f"{self.name.replace('@', 'line')}_{suffix}"
        while name in self.plan.components:
            name += "_"
        return name

    def realign(self, other: str, common: int) -> Handle:
        return self._call("realign", other, common)

    def lift(self, loop: int, name: str | None = None) -> Handle:
        """A handle on the loop itself, under `name`."""
        target = self._new_name(name, str(loop))
        return Handle(self._say(f"{target} = lift({self.name}, {loop})").plan, target)

    def affine(self, function: str) -> Handle:
        """`function` as in a script: `{[i, j] -> [j, i]}`."""
        return self._call("affine", function)

    def isplit(
        self, condition: str, common: int, names: tuple[str, str] | None = None
    ) -> tuple[Handle, Handle]:
        """Handles on the iterations where the condition holds and on the others."""
        one, two = names or (self._new_name(None, "in"), self._new_name(None, "out"))
        plan = self._say(f"({one}, {two}) = isplit({self.name}, {condition}, {common})").plan
        return Handle(plan, one), Handle(plan, two)

    def interchange(self, one: str, two: str) -> Handle:
        return self._call("interchange", one, two)

    def permute(self, *order: str) -> Handle:
        return self._call("interchange", f"[{', '.join(order)}]")

    def skew(self, loop: str, along: str, factor: int = 1) -> Handle:
        return self._call("skew", loop, along, factor)

    def shift(self, loop: str, amount: int) -> Handle:
        return self._call("shift", loop, amount)

    def reverse(self, loop: str) -> Handle:
        return self._call("reverse", loop)

    def strip_mine(self, loop: str, size: int) -> Handle:
        return self._call("strip_mine", loop, size)

    def from_zero(self) -> Handle:
        return self._call("from_zero")

    def tile(self, *sizes: int, skew: bool = False, full: bool = False, **named: int) -> Handle:
        """`tile(32, 32)` for the innermost loops, or `tile(i=32, k=64)`."""
        words = [self.name, *map(str, sizes), *(f"{loop}={size}" for loop, size in named.items())]
        words += [word for word, wanted in (("skew", skew), ("full", full)) if wanted]
        return self._say(f"tile({', '.join(words)})")

    def unroll(self, loop: str, factor: int | None = None) -> Handle:
        return self._call("unroll", loop, *(() if factor is None else (factor,)))

    def unroll_and_jam(self, **sizes: int) -> Handle:
        return self._call("unroll_and_jam", **sizes)

    def fuse(self, *others: str, common: int | None = None) -> Handle:
        """The handle is on everything that was fused."""
        words = [self.name, *others, *(() if common is None else (str(common),))]
        target = self._new_name(None, "fused") if self.name.startswith("@") else self.name
        return Handle(self._say(f"{target} = fuse({', '.join(words)})").plan, target)

    def distribute(self, *others: str, common: int = 0, legal: bool = False) -> Handle:
        """Apart from the others; alone, its statements apart, with `legal` as far as that is legal."""
        return self._call("distribute", *others, "legal" if legal else common)

    def reorder(self, other: str) -> Handle:
        return self._call("reorder", other)

    def sink(self, nest: str, value: int = 0) -> Handle:
        return self._call("sink", nest, value)

    def parallel(self, loop: str) -> Handle:
        return self._call("parallel", loop)

    def vectorize(self, loop: str) -> Handle:
        return self._call("vectorize", loop)

    def separate(self, loop: str) -> Handle:
        return self._call("separate", loop)

    def isolate(self, loop: str, points: tuple[str, ...]) -> Handle:
        return self._call("isolate", loop, f"[{', '.join(points)}]")
