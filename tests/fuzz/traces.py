"""Computes the accesses of a small program's loops, iteration by iteration, from its source for given sizes.

It confirms a "no" about a directive: two iterations of its loop access a cell as the answer states, and one
of them writes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_LOOP = re.compile(
    r"for \(int (\w) = (?P<first>[^;]+); \1 (?P<test><=|<|!=|>=|>) (?P<last>[^;]+); "
    r"\1(?P<step>\+\+|--| [-+]= \d)\) \{"
)
_STATEMENT = re.compile(
    r"(?:if \((?P<test>.*?)\) )?(?P<target>\w+(?:\[[^]]*\])*) (?P<how>[-+*]?=) (?P<value>[^=;]+);"
)
_CELL = re.compile(r"\b([stv]|A\d)\b((?:\[[^]]*\])*)")
_SUM = re.compile(r"[\w +*-]+")
MOST = 20_000
"""Touches of a trace."""
_OTHER_SIZES = {"n": 4, "m": 5}
"""Of what a witness does not name."""


class Untraced(Exception):
    """The text is more than such loops, or touches too much."""


@dataclass(frozen=True)
class Touch:
    """An access: the line of its statement, the loops around it with their values, and the cell.

    A loop is called by its line, and by which of its executions this is.
    """

    line: int
    loops: tuple[tuple[int, int, int], ...]
    array: str
    cell: tuple[int, ...]
    is_write: bool
    is_certain: bool

    @property
    def instance(self) -> tuple[int, ...]:
        return tuple(value for _, _, value in self.loops)


class _Tracer:
    def __init__(self, lines: Sequence[str], sizes: Mapping[str, int]) -> None:
        self.lines = lines
        self.names = dict(sizes)
        self.touches: list[Touch] = []
        self.executions = 0

    def block(self, start: int, loops: tuple[tuple[int, int, int], ...]) -> int:
        """Runs the lines from `start` to the brace that closes them; the line after it."""
        at = start
        while at < len(self.lines):
            line = self.lines[at].strip()
            if line == "}":
                return at + 1
            if line.startswith("#pragma omp") or not line:
                at += 1
            elif (head := _LOOP.fullmatch(line)) is not None:
                at = self.loop(head, at, loops)
            else:
                self.statement(line, at, loops)
                at += 1
        return at

    def loop(self, head: re.Match[str], at: int, loops: tuple[tuple[int, int, int], ...]) -> int:
        name, relation = head[1], head["test"]
        by = {"++": 1, "--": -1}.get(head["step"]) or int(head["step"].replace("= ", ""))
        value, last = self.sum(head["first"]), self.sum(head["last"])
        self.executions += 1
        execution = self.executions
        while eval(f"{value} {relation} {last}", {}):  # of two numbers
            self.names[name] = value
            self.block(at + 1, (*loops, (at + 1, execution, value)))
            value += by
            if abs(value) > MOST:
                raise Untraced("it does not end")
        return self.end(at + 1)

    def end(self, at: int) -> int:
        depth = 1
        while depth:
            line = self.lines[at].strip()
            depth += line.endswith("{") - line.startswith("}")
            at += 1
        return at

    def statement(self, line: str, at: int, loops: tuple[tuple[int, int, int], ...]) -> None:
        found = _STATEMENT.fullmatch(line)
        if found is None:
            raise Untraced(line)
        read = [*_CELL.finditer(found["test"] or ""), *_CELL.finditer(found["value"])]
        target = _CELL.fullmatch(found["target"])
        if target is None or any(word in found["value"] for word in ("(", "?", "++", "--")):
            raise Untraced(line)
        read += [target] if found["how"] != "=" else []
        for one, is_write in (*((each, False) for each in read), (target, True)):
            cell = tuple(map(self.sum, re.findall(r"\[([^]]*)\]", one[2])))
            certain = found["test"] is None
            self.touches.append(Touch(at + 1, loops, one[1], cell, is_write, certain))
        if len(self.touches) > MOST:
            raise Untraced("it touches too much")

    def sum(self, text: str) -> int:
        if _SUM.fullmatch(text) is None:
            raise Untraced(text)
        try:
            return int(eval(text, {}, self.names))  # a sum of names and numbers
        except (NameError, SyntaxError):
            raise Untraced(text) from None


def traced(text: str, sizes: Mapping[str, int]) -> list[Touch]:
    """What the region of a text touches, in its order; lines are those of the text."""
    lines = text.split("\n")
    first, last = (next(k for k, one in enumerate(lines) if word in one) for word in ("scop", "endscop"))
    tracer = _Tracer(lines[:last], _OTHER_SIZES | dict(sizes))
    tracer.block(first + 1, ())
    return tracer.touches


def unconfirmed(text: str, details: Mapping[str, Any]) -> str | None:
    """What of a "no" about the directives of a text its trace does not show."""
    for one in details["violations"]:
        touches = traced(text, one["parameters"])
        if one["loop_span"] is None:
            raise Untraced("no loop")
        marked = one["loop_span"]["line"]
        directive = text.split("\n")[marked - 1]
        count = 2 if "collapse(2)" in directive else 1
        found = any(_is_conflict(pair, marked, count) for pair in _pairs(touches, one))
        if found and _is_private(one["array"], directive):
            others = (traced(text, sizes) for sizes in ({}, {"n": 8, "m": 9}))  # where it is not private
            found = any(_is_exposed(text, each, one, marked) for each in (touches, *others))
        if not found:
            return f"{one['kind']} dependence on {one['array']}{list(one['cell'])} at {one['parameters']}"
    return None


def _pairs(touches: list[Touch], told: Mapping[str, Any]) -> Iterator[tuple[Touch, Touch]]:
    """The touches that a violation names, one of each statement."""
    cell = told["array"], tuple(told["cell"])
    sides: list[list[Touch]] = []
    for side in ("first", "second"):
        named = told[side]["span"]["line"], told[f"{side}_access"]["is_write"], tuple(told[side]["instance"])
        mine = (one for one in touches if (one.array, one.cell) == cell)
        sides.append([one for one in mine if (one.line, one.is_write, one.instance) == named])
    return ((one, other) for one in sides[0] for other in sides[1])


def _is_conflict(pair: tuple[Touch, Touch], marked: int, count: int) -> bool:
    """Whether a pair is in two iterations of one execution of so many loops after the directive's line."""
    one, other = pair
    both = zip(one.loops, other.loops, strict=False)
    inside = [(mine, theirs) for mine, theirs in both if mine[:2] == theirs[:2] and mine[0] > marked]
    are_apart = any(mine[2] != theirs[2] for mine, theirs in inside[:count])
    return are_apart and (one.is_write or other.is_write)


def _is_private(array: str, directive: str) -> bool:
    named = re.findall(r"\b(?:first|last)?private\(([^)]*)\)", directive)
    return any(array in re.split(r"\W+", names) for names in named)


def _is_exposed(text: str, touches: list[Touch], told: Mapping[str, Any], marked: int) -> bool:
    """Whether an iteration may read a private variable before it is set, or the variable is read later."""
    first: dict[tuple[tuple[tuple[int, int, int], ...], tuple[int, ...]], Touch] = {}
    for one in touches:
        around = [k for k, loop in enumerate(one.loops) if loop[0] > marked]
        if one.array == told["array"] and around:
            first.setdefault((one.loops[: around[0] + 1], one.cell), one)
    later = "\n".join(text.split("\n")[marked:])
    is_read = re.search(rf"(?s)\n  \}}\n.*\b{told['array']}\b", later) is not None
    return is_read or any(not (one.is_write and one.is_certain) for one in first.values())
