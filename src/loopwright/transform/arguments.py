"""The arguments of one operation of a script, each read as what the operation wants there."""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl

from loopwright.errors import Code
from loopwright.read.script import Argument, Integer, Items, MapText, Operation, SetText, Word
from loopwright.read.script_sets import input_names, map_of, new_iterators, set_of
from loopwright.source import Source
from loopwright.transform.plan import Component, Misuse, Plan, close_to
from loopwright.transform.relations import Function, function_of


@dataclass(frozen=True)
class Arguments:
    """Numbered from 0; every accessor blames the argument it is about."""

    plan: Plan
    operation: Operation
    source: Source

    def __len__(self) -> int:
        return len(self.operation.arguments)

    def expect(self, least: int, most: int | None, usage: str) -> None:
        """Refuse another number of arguments; `usage` shows a right call."""
        count = len(self)
        if count < least or (most is not None and count > most):
            if most is None:
                wanted = f"at least {least}"
            else:
                wanted = str(least) if least == most else f"{least} to {most}"
            name = self.operation.name.text
            raise Misuse(
                Code.ARGUMENTS,
                f"{name} takes {wanted} argument{'s' if wanted != '1' else ''}, not {count}",
                argument=most if most is not None and count > most else None,
                hint=f"write it as {usage}",
            )

    def _argument(self, k: int) -> Argument:
        return self.operation.arguments[k]

    def _plain(self, k: int) -> Argument:
        argument = self._argument(k)
        if argument.keyword is not None:
            raise Misuse(Code.ARGUMENTS, f"'{argument.keyword} =' has no meaning here", argument=k)
        return argument

    def wrong(self, k: int, wanted: str, hint: str | None = None) -> Misuse:
        """Argument `k` is not what is wanted there."""
        place = self._argument(k).place
        text = " ".join(self.source.text[place.start : place.end].split())
        return Misuse(Code.ARGUMENTS, f"'{text}' where {wanted} should be", argument=k, hint=hint)

    def component(self, k: int) -> Component:
        value = self._plain(k).value
        if not isinstance(value, Word):
            line = f"; a line of the C file is written @{value.value}" if isinstance(value, Integer) else ""
            raise self.wrong(k, "a handle", f"a label, or a name given by '='{line}")
        return self.plan.component(value.text, k)

    def components(self, k: int) -> list[Component]:
        """A handle, or the handles of a list `[A, B]`."""
        value = self._plain(k).value
        if not isinstance(value, Items):
            return [self.component(k)]
        if not all(isinstance(item, Word) for item in value.values):
            raise self.wrong(k, "a list of handles", "write it as [A, B]")
        return [self.plan.component(item.text, k) for item in value.values if isinstance(item, Word)]

    def integer(self, k: int, least: int | None = None) -> int:
        value = self._argument(k).value
        if not isinstance(value, Integer):
            raise self.wrong(k, "a number")
        if least is not None and value.value < least:
            raise Misuse(Code.ARGUMENTS, f"the number should be at least {least}", argument=k)
        return value.value

    def is_integer(self, k: int) -> bool:
        return k < len(self) and isinstance(self._argument(k).value, Integer)

    def is_word(self, k: int, text: str) -> bool:
        """Whether argument `k` is this plain word."""
        if k >= len(self) or self._argument(k).keyword is not None:
            return False
        value = self._argument(k).value
        return isinstance(value, Word) and value.text == text

    def keyword(self, k: int) -> str | None:
        return self._argument(k).keyword

    def _loops_of(self, component: Component) -> str:
        """A hint: what there is to choose from."""
        return f"its loops are {', '.join(self.plan.leaf(component.first).loops) or 'none'}"

    def loop(self, k: int, component: Component) -> int:
        """The depth, from 0, of the loop with this iterator around the component."""
        value = self._plain(k).value
        if not isinstance(value, Word):
            raise self.wrong(k, "an iterator", self._loops_of(component))
        return loop_called(self.plan, component, value.text, k)

    def loops(self, k: int, component: Component) -> tuple[int, ...]:
        """The loops of a list `[i, j]`."""
        value = self._plain(k).value
        if not isinstance(value, Items) or not all(isinstance(item, Word) for item in value.values):
            raise self.wrong(k, "a list of iterators", "write it as [k, i, j]")
        words = [item for item in value.values if isinstance(item, Word)]
        return tuple(loop_called(self.plan, component, word.text, k) for word in words)

    def is_list(self, k: int) -> bool:
        return k < len(self) and isinstance(self._argument(k).value, Items)

    def function(self, k: int) -> Function:
        value = self._plain(k).value
        if not isinstance(value, MapText):
            raise self.wrong(k, "a map", "such as {[i, j] -> [j, i]}")
        params = self.plan.program.params
        relation = map_of(self.source, value, params)
        return function_of(relation, tuple(new_iterators(value, params)), input_names(value))

    def predicate(self, k: int) -> isl.Set:
        value = self._plain(k).value
        if not isinstance(value, SetText):
            raise self.wrong(k, "a condition", "such as {[i, j] : j < n/2}")
        return set_of(self.source, value, self.plan.program.params)


def loop_called(
    plan: Plan, component: Component, name: str, argument: int | None = None, *, everywhere: bool = True
) -> int:
    """The depth of the loop with iterator `name` around the component's statements.

    All of them must have it at that depth, unless not `everywhere`: then one is enough.
    """
    leaves = [plan.leaf(position) for position in component.positions]
    depths = {leaf.loops.index(name) for leaf in leaves if name in leaf.loops}
    if not depths:
        known = list(dict.fromkeys(loop for leaf in leaves for loop in leaf.loops))
        near = close_to(name, known)
        hint = (f"did you mean {near}? " if near else "") + f"its loops are {', '.join(known) or 'none'}"
        message = f"no loop of the component has the iterator {name}"
        raise Misuse(Code.NO_ITERATOR, message, argument=argument, hint=hint)
    depth = min(depths)
    others = [leaf.position for leaf in leaves if leaf.loops[depth : depth + 1] != (name,)]
    if len(depths) > 1 or (everywhere and others):
        names = ", ".join(plan.statements_at(Component.of(others)))
        raise Misuse(
            Code.LOOPS_DO_NOT_FIT,
            f"{name} is loop {depth + 1} of some statements of the component, but not of {names}",
            argument=argument,
            hint="use a handle on those it is meant for",
        )
    return depth
