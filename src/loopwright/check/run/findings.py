"""Parses the report of a checked run, line by line, into values."""

from __future__ import annotations

from enum import Enum

from loopwright.errors import Code, InternalError
from loopwright.lazy_dataclass import dataclass


class ErrorClass(Enum):
    """The kind of error of an operation [Bao2016, section 5, "Localizing bugs"]."""

    TOO_SOON = "too soon"
    OVERWRITTEN = "too soon: overwritten"
    DUPLICATE = "duplicate"
    MISSING = "missing"
    WRONG_READ = "wrong cell read"
    WRONG_WRITE = "wrong cell written"
    NO_INSTANCE = "not an instance of any statement"
    OUTSIDE = "out of the data space"


_CLASSES = {
    "too-soon": ErrorClass.TOO_SOON,
    "overwritten": ErrorClass.OVERWRITTEN,
    "duplicate": ErrorClass.DUPLICATE,
    "missing": ErrorClass.MISSING,
    "wrong-read": ErrorClass.WRONG_READ,
    "wrong-write": ErrorClass.WRONG_WRITE,
    "no-instance": ErrorClass.NO_INSTANCE,
    "outside": ErrorClass.OUTSIDE,
}


@dataclass(frozen=True, slots=True)
class StatementInstance:
    """A statement of the original by its number, and its iteration vector."""

    statement: int
    iteration: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """One violation.

    `site` is None for writes missing at the end. `match` is the instance the operation is matched to; `found`
    and `wanted` are the instances observed and expected, None for the value before the segment; `read`
    is the number of the read concerned; `cell` the cell concerned.
    """

    kind: ErrorClass
    site: int | None
    read: int | None
    operation: int
    depth: int
    seen: tuple[int, ...]
    match: StatementInstance | None
    found: StatementInstance | None
    wanted: StatementInstance | None
    cell: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class RunLog:
    """The report of a run: `entries` and `done` count how often the segment was entered and left."""

    sizes: tuple[tuple[int, ...], ...]
    findings: tuple[Finding, ...]
    operations: int
    violations: int
    entries: int
    done: int
    left_early: bool
    aliases: tuple[tuple[int, int], ...] = ()
    """Arrays that share memory."""
    changed: frozenset[int] = frozenset()
    """Modified variables that the original does not write, by number; -1 is allocated memory."""
    unseen: frozenset[int] = frozenset()
    """Those of them that were not compared."""


_WORDS = ("enter", "violation", "done", "left", "clean", "skipped", "dirty", "alias", "changed", "unseen")


def run_log(lines: tuple[str, ...]) -> RunLog:
    """The lines as values; a last line that a crash cut short is left out."""
    told: dict[str, list[dict[str, str]]] = {word: [] for word in _WORDS}
    operations = violations = 0
    for line in lines:
        word, _, rest = line.partition(" ")
        if word == "memory":
            raise InternalError(Code.INTERNAL, "there is not enough memory for the shadow of the arrays")
        if word not in told:
            raise InternalError(Code.INTERNAL, f"the checked program reported '{line[:80]}'")
        fields = dict(part.split("=", 1) for part in rest.split(" ") if "=" in part)
        told[word].append(fields)
        if word in ("done", "left"):
            operations, violations = (int(fields.get(one, 0)) for one in ("operations", "violations"))
        violations += word == "dirty"
    findings = tuple(map(_finding, told["violation"]))
    return RunLog(
        sizes=tuple(_numbers(one["sizes"]) for one in told["enter"]),
        findings=findings,
        operations=operations,
        violations=max(violations, len(findings)),
        entries=len(told["enter"]),
        done=sum(len(told[word]) for word in ("done", "clean", "skipped", "dirty")),
        left_early=bool(told["left"]),
        aliases=tuple((int(one["one"]), int(one["other"])) for one in told["alias"]),
        changed=frozenset(int(one["variable"]) for one in told["changed"]),
        unseen=frozenset(int(one["variable"]) for one in told["unseen"]),
    )


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(",")) if text else ()


def _instance(text: str | None) -> StatementInstance | None:
    if text is None or text == "-":
        return None
    number, _, iteration = text.partition(":")
    return StatementInstance(int(number), _numbers(iteration))


def _finding(fields: dict[str, str]) -> Finding:
    site, read = int(fields["site"]), int(fields["read"])
    return Finding(
        _CLASSES[fields["kind"]],
        None if site < 0 else site,
        None if read < 0 or site < 0 else read,
        int(fields["operation"]),
        int(fields["depth"]),
        _numbers(fields.get("seen", "")),
        _instance(fields.get("match")),
        _instance(fields.get("found")),
        _instance(fields.get("wanted")),
        _numbers(fields["cell"]) if "cell" in fields else None,
    )
