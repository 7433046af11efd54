"""What new text is written for: what the pipeline asks of a target, and C as the first of them.

A target is a class like `CTarget`, which `pipeline.py` chooses, a printer in `emit`, and in `prove.text` what
reads its text back as C.  All else is the same for every target.
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
    """The C file, the file of kernels, and the C text that both mean."""

    source: Source
    kernels: Source | None
    meant: Source
    evidence: Evidence = Evidence()


class RewriteTarget(ABC):
    """How loops are made, printed and read back."""

    name: ClassVar[str]
    refused: ClassVar[tuple[DirectiveKind, ...]]
    """What a script may say of loops, and this target cannot."""
    hint: ClassVar[str]
    """What to do where a script says it."""
    on_host: ClassVar[bool]
    """Whether the loops run where the rest of the C file does: there storage is tested when it is allocated,
    the schedule is proved of the loops as they are generated, and guards can be written."""

    @abstractmethod
    def generated(self, plan: Plan) -> Node:
        """The new loops of a region."""

    @abstractmethod
    def printed(self, loops: Sequence[Loops], plans: Sequence[Plan], *, prove: bool) -> TargetText:
        """The text of the new regions of a file; to `prove` it, also what it means."""

    @abstractmethod
    def loops_of_text(self, loops: Loops) -> Node:
        """The loops with what the text says of them."""

    def inherited(self, plan: Plan, printed: Node, new: Program, calls: Sequence[Call]) -> Evidence | None:
        """What the text has from the schedule, where that needs no proof of its own."""
        return None

    def of_text(
        self, plan: Plan, loops: Loops, new: Program, progress: Progress, scanned: ScannedLoops | None = None
    ) -> Evidence:
        """That the text, read again as `new`, runs the schedule; `scanned` are loops proved to run it."""
        progress("proving the new source")
        printed = self.loops_of_text(loops)
        refuse_other_pragmas(printed, new)
        return self.inherited(plan, printed, new, claims(loops)) or of_text(plan, loops, new, scanned)


@dataclass(frozen=True)
class CTarget(RewriteTarget):
    """C, with pragmas of OpenMP or without."""

    openmp: bool = False
    teams: tuple[Divided | None, ...] = ()
    """Of the regions whose loops threads divide which there are already."""
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
