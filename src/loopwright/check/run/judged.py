"""The verdict of a run: what its log shows, and what limits it."""

from __future__ import annotations

from loopwright.check.original.specification import Specification
from loopwright.check.program.addresses import shared_memory
from loopwright.check.program.control import starts_threads
from loopwright.check.program.guards import not_kept
from loopwright.check.program.outside import other_writes
from loopwright.check.program.segment import Input
from loopwright.check.program.sites import Sites
from loopwright.check.run.execute import Ended, Toolchain
from loopwright.check.run.findings import RunLog, run_log
from loopwright.check.run.report import Answer, Report
from loopwright.check.run.sizes import Sizes, not_reached
from loopwright.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Job:
    """A program ready for instrumentation."""

    given: Input
    spec: Specification
    sites: Sites
    sizes: Sizes
    tools: Toolchain


def judged(job: Job, ended: Ended, algorithm: str, because: str) -> Report:
    """Return the verdict of a run."""
    log = run_log(ended.lines)
    if log.aliases:
        raise shared_memory(job.spec, job.sites.known, log.aliases)
    if not log.entries:
        raise not_reached(job.given, ended)
    ending = _ending(ended, log)
    notes = _notes(job, log, ended)
    if ended.crashed is not None or ended.timed_out or _ended_inside(ended, log):
        answer = Answer.CRASHED
    elif log.violations:
        answer = Answer.VIOLATION
    elif has_other_sizes(job, log) or not_kept(job.spec, job.sites, log.changed, log.unseen):
        answer = Answer.GAVE_UP
    else:
        answer = Answer.VALID
    return Report(
        answer,
        job.spec,
        job.sites.sites,
        job.given.segment.source,
        algorithm,
        because,
        log.operations or None,
        log.findings,
        log.violations,
        ending,
        notes,
    )


def _ending(ended: Ended, log: RunLog) -> str:
    if ended.timed_out:
        return "did not end in time"
    if ended.crashed is not None:
        return f"crashed ({ended.crashed})"
    if _ended_inside(ended, log):
        return f"ended with status {ended.status} inside the segment"
    return "left the segment before its end" if log.left_early else ""


def _ended_inside(ended: Ended, log: RunLog) -> bool:
    """Whether the program exited in the segment, silently or with a failure status."""
    return log.done + log.left_early < log.entries or (log.left_early and ended.status != 0)


def has_other_sizes(job: Job, log: RunLog) -> bool:
    """Whether the segment was entered with other sizes than those that are checked."""
    return any(sizes != tuple(number for _, number in job.spec.sizes) for sizes in log.sizes)


def _notes(job: Job, log: RunLog, ended: Ended) -> tuple[str, ...]:
    others = ", ".join(other_writes(job.spec, job.sites.known))
    notes = [f"not compared, and changed by the segment: {others}"] if others else []
    notes += not_kept(job.spec, job.sites, log.changed, log.unseen)
    if ended.status > 0 and not _ended_inside(ended, log):
        notes.append(f"after the segment, the program ended with status {ended.status}")
    if has_other_sizes(job, log):
        notes.append("the segment was entered with other problem sizes than the first")
    if job.sizes.solved:
        names = ", ".join(f"{name} = {job.sizes.values[name]}" for name in job.sizes.solved)
        notes.append(f"{names} is inferred from the operations of the program; give sizes with -D to be sure")
    if log.entries > 1:
        notes.append(f"the segment was entered {log.entries} times")
    if job.tools.openmp or starts_threads(job.sites.known) is not None:
        notes.append("the program runs in parallel: the verdict holds if it has no data races (see --race)")
    return tuple(notes)
