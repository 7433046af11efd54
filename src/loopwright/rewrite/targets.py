"""Targets of new source: the interface for the pipeline, and the C target.

A target is a class like `CTarget`, which `pipeline.py` chooses, a printer in `emit`, and in `prove.text` a
reader of its source as C. The rest is the same for every target.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from loopwright.emit.region import Loops, claims, new_source, printed_loops
from loopwright.generate.program import generate
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.nodes import Call, Node
from loopwright.model.program import Program
from loopwright.progress import Progress
from loopwright.prove.scanning.scan import ScannedLoops
from loopwright.rewrite.evidence import Evidence, of_text, refuse_other_pragmas
from loopwright.rewrite.teams import Divided, in_teams
from loopwright.source import Source
from loopwright.transform import Plan, to_schedule
from loopwright.transform.directives import DirectiveKind


@dataclass(frozen=True)
class TargetText:
    """The C file, the file of kernels, and the equivalent C source."""

    source: Source
    kernels: Source | None
    meant: Source
    evidence: Evidence = Evidence()


class RewriteTarget(ABC):
    """Generates, prints and reads back loops."""

    name: ClassVar[str]
    refused: ClassVar[tuple[DirectiveKind, ...]]
    """Loop annotations of scripts that this target does not support."""
    hint: ClassVar[str]
    """The hint for such annotations."""
    on_host: ClassVar[bool]
    """Whether the loops run on the host: then allocations are tested, the schedule is proved for the loops as
    generated, and guards are possible."""

    @abstractmethod
    def generated(self, plan: Plan) -> Node:
        """The new loops of a region."""

    @abstractmethod
    def printed(self, loops: Sequence[Loops], plans: Sequence[Plan], *, prove: bool) -> TargetText:
        """The source of the new regions of a file; to `prove` it, also its meaning."""

    @abstractmethod
    def loops_of_text(self, loops: Loops) -> Node:
        """The loops with the annotations of the source."""

    def inherited(self, plan: Plan, printed: Node, new: Program, calls: Sequence[Call]) -> Evidence | None:
        """The facts that the source inherits from the schedule, if they need no separate proof."""
        return None

    def of_text(
        self, plan: Plan, loops: Loops, new: Program, progress: Progress, scanned: ScannedLoops | None = None
    ) -> Evidence:
        """Prove that the source, read again as `new`, executes the schedule; `scanned` are loops proved
        to."""
        progress("proving the new source")
        printed = self.loops_of_text(loops)
        refuse_other_pragmas(printed, new)
        return self.inherited(plan, printed, new, claims(loops)) or of_text(plan, loops, new, scanned)


@dataclass(frozen=True)
class CTarget(RewriteTarget):
    """C, with pragmas of OpenMP or without."""

    openmp: bool = False
    teams: tuple[Divided | None, ...] = ()
    """The regions with worksharing loops of an existing team."""
    name = "c"
    refused = (DirectiveKind.BLOCK, DirectiveKind.THREAD)
    hint = "--target cuda makes kernels of mapped loops"
    on_host = True

    def generated(self, plan: Plan) -> Node:
        return generate(to_schedule(plan))

    def printed(self, loops: Sequence[Loops], plans: Sequence[Plan], *, prove: bool) -> TargetText:
        source = new_source(loops, openmp=self.openmp)
        written = in_teams(source, self.teams, plans) if any(self.teams) else source
        return TargetText(written, None, source)

    def loops_of_text(self, loops: Loops) -> Node:
        return printed_loops(loops, openmp=self.openmp)
