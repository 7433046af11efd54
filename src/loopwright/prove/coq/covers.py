"""Nothing is missing: the way to the call that runs an instance, as steps of a Coq proof."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias, assert_never

from loopwright.lazy_dataclass import dataclass
from loopwright.loops.nodes import Block, Call, For, If, Let, Node, Remarked
from loopwright.prove.coq.arithmetic import Names, argument, proposition
from loopwright.prove.coq.words import is_marked
from loopwright.prove.obligations.decisions import Cases, Decided, Decision
from loopwright.prove.obligations.witnesses import Witness


@dataclass(frozen=True)
class Iteration:
    """Into the loop whose iterator is this dimension."""

    dimension: int


Step: TypeAlias = str | Iteration


def ways(program: Node) -> list[tuple[Step, ...]]:
    """For each call, in the order of the text, the steps from the root to it."""
    return list(_ways(program, (), 0))


def _ways(node: Node, so_far: tuple[Step, ...], depth: int) -> Iterator[tuple[Step, ...]]:
    match node:
        case Call():
            yield so_far
        case Block(children):
            for k, child in enumerate(children):
                yield from _ways(child, (*so_far, f"Child {k}"), depth)
        case If(_, then, orelse):
            yield from _ways(then, (*so_far, "Yes"), depth)
            if orelse is not None:
                yield from _ways(orelse, (*so_far, "No"), depth)
        case For(body=body):
            mark = ("Enter",) if is_marked(node) else ()
            yield from _ways(body, (*so_far, *mark, Iteration(depth)), depth + 1)
        case Let(body=body):
            yield from _ways(body, (*so_far, "Enter"), depth + 1)
        case Remarked(body=body):
            yield from _ways(body, (*so_far, "Enter"), depth)
        case _:
            assert_never(node)


def steps(tree: Decision[Witness], paths: list[tuple[Step, ...]], names: Names) -> list[str]:
    """The lines of the proof."""
    match tree:
        case Decided(found):
            return _wrapped([_step(one, found, names) for one in paths[found.position]])
        case Cases(test, yes, no):
            return [
                f"cases ({proposition(test, names)}).",
                *_branch(steps(yes, paths, names)),
                *_branch(steps(no, paths, names)),
            ]


def _step(step: Step, found: Witness, names: Names) -> str:
    match step:
        case Iteration(dimension):
            return f"Iterate {argument(found.iterators[dimension], names)}"
        case _:
            return step


def _branch(lines: list[str]) -> list[str]:
    first, *rest = lines
    found = [f"{{ {first}", *(f"  {line}" for line in rest)]
    found[-1] += " }"
    return found


def _wrapped(path: list[str], width: int = 90) -> list[str]:
    lines = ["run_by ["]
    for k, one in enumerate(path):
        shown = f"{one}; " if k < len(path) - 1 else one
        if len(lines[-1]) + len(shown) > width:
            lines[-1] = lines[-1].rstrip()
            lines.append("  ")
        lines[-1] += shown
    return [*lines[:-1], f"{lines[-1]}]."]
