"""The arguments of one operation of a script, each read as what the operation wants there."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

import islpy as isl

from loopwright.errors import Code
from loopwright.read.script import Argument, Integer, Items, MapText, Operation, SetText, Word
from loopwright.read.script_sets import input_names, map_of, new_iterators, set_of
from loopwright.read.source import Source
from loopwright.transform.plan import Component, Misuse, Plan
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

    def component(self, k: int) -> Component:
        value = self._plain(k).value
        if not isinstance(value, Word):
            raise Misuse(
                Code.ARGUMENTS, "a handle should be here", argument=k, hint="a label, or a name given by '='"
            )
        return self.plan.component(value.text, k)

    def integer(self, k: int, least: int | None = None) -> int:
        value = self._argument(k).value
        if not isinstance(value, Integer):
            raise Misuse(Code.ARGUMENTS, "a number should be here", argument=k)
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

    def keyword_loop(self, k: int, component: Component, *, everywhere: bool) -> int:
        """The loop that is named in front of `=`."""
        name = self._argument(k).keyword
        assert name is not None
        return loop_called(self.plan, component, name, k, everywhere=everywhere)

    def loop(self, k: int, component: Component) -> int:
        """The depth, from 0, of the loop with this iterator around the component."""
        value = self._plain(k).value
        if not isinstance(value, Word):
            raise Misuse(Code.ARGUMENTS, "an iterator should be here", argument=k)
        return loop_called(self.plan, component, value.text, k)

    def loops(self, k: int, component: Component) -> tuple[int, ...]:
        """The loops of a list `[i, j]`."""
        value = self._plain(k).value
        if not isinstance(value, Items) or not all(isinstance(item, Word) for item in value.values):
            raise Misuse(
                Code.ARGUMENTS, "a list of iterators should be here", argument=k, hint="write it as [k, i, j]"
            )
        words = [item for item in value.values if isinstance(item, Word)]
        return tuple(loop_called(self.plan, component, word.text, k) for word in words)

    def is_list(self, k: int) -> bool:
        return k < len(self) and isinstance(self._argument(k).value, Items)

    def function(self, k: int) -> Function:
        value = self._plain(k).value
        if not isinstance(value, MapText):
            raise Misuse(
                Code.ARGUMENTS, "a map should be here", argument=k, hint="such as {[i, j] -> [j, i]}"
            )
        params = self.plan.program.params
        relation = map_of(self.source, value, params)
        return function_of(relation, tuple(new_iterators(value, params)), input_names(value))

    def predicate(self, k: int) -> isl.Set:
        value = self._plain(k).value
        if not isinstance(value, SetText):
            raise Misuse(
                Code.ARGUMENTS, "a condition should be here", argument=k, hint="such as {[i, j] : j < n/2}"
            )
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
        near = difflib.get_close_matches(name, known, 1)
        hint = f"did you mean {near[0]}?" if near else f"its loops are {', '.join(known) or 'none'}"
        raise Misuse(
            Code.NO_ITERATOR,
            f"no loop of the component has the iterator {name}",
            argument=argument,
            hint=hint,
        )
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
