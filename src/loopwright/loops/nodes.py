"""The statements of LOOP [Courant2021, figure 9], of which generated programs consist."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias, TypeVar

from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import Expr, Test
from loopwright.model.annotations import Annotation, Parallel, Vector

Kind = TypeVar("Kind", bound=Annotation)


@dataclass(frozen=True, slots=True)
class Call:
    """One execution of a statement, `name(arguments);`.

    `time` is the schedule point of this execution, in terms of the iterators.  It is given only if an
    instance has several (a schedule that is not single-valued) and is a hint: the prover checks it against
    the schedule.
    """

    name: str
    arguments: tuple[Expr, ...]
    time: tuple[Expr, ...] | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """The children in order; `Block(())` does nothing."""

    children: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class If:
    test: Test
    then: Node
    orelse: Node | None = None


@dataclass(frozen=True, slots=True)
class For:
    """`for (int iterator = start; test; iterator += step) body`: it counts down where the step is negative.

    The loop ends at the first value for which `test` fails, as in C; a `test` of TRUE never ends it.
    """

    iterator: str
    start: Expr
    test: Test
    step: int
    body: Node
    dimension: int | None = None
    """The schedule dimension the loop scans; None if it scans none, or none is known."""
    annotations: tuple[Annotation, ...] = ()
    """The annotations of the loop, at most one of each kind."""

    def annotation(self, kind: type[Kind]) -> Kind | None:
        """The annotation of this kind."""
        return next((one for one in self.annotations if isinstance(one, kind)), None)

    def with_annotation(self, annotation: Annotation) -> For:
        """The loop with `annotation` in place of one of the same kind, or as its last."""
        kept = tuple(annotation if type(one) is type(annotation) else one for one in self.annotations)
        added = kept if self.annotation(type(annotation)) is not None else (*kept, annotation)
        return replace(self, annotations=added)

    @property
    def parallel(self) -> Parallel | None:
        return self.annotation(Parallel)

    @property
    def vector(self) -> Vector | None:
        return self.annotation(Vector)


@dataclass(frozen=True, slots=True)
class Let:
    """`int name = value;` before `body`: a loop of one iteration."""

    name: str
    value: Expr
    body: Node
    dimension: int | None = None
    """The schedule dimension that has only this value."""


@dataclass(frozen=True, slots=True)
class Remark:
    """The base class of text that a printer writes before a statement, such as a label."""


@dataclass(frozen=True, slots=True)
class Remarked:
    """A remark on `body` without effect, from the author of the schedule or for a printer."""

    remark: str | Remark
    body: Node


Node: TypeAlias = Call | Block | If | For | Let | Remarked

EMPTY = Block(())
