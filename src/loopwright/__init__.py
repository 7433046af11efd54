"""Loopwright: loop transformation that is proved, not hoped.

    import loopwright as lw

    schedule = lw.read("gemm.poly")
    program = lw.generate(schedule, dead_loops=True)
    print(lw.prove(schedule, program))
    print(lw.to_c(program))

    plan = lw.read("gemm.c")["Mult"].interchange("j", "k").tile(32, 32).plan
    print(lw.prove(plan).status)
    print(lw.to_c(plan))
    print(lw.suggest(plan))
    print(lw.prove("old.c", "new.c").verdict)
    print(lw.check("new.c", "old.c", N=100).answer)
    print(lw.tune("program.c", budget=60).script)

docs/python.md has examples of all of it.

`read`, `generate`, `prove`, `check` and `tune` are rooms of this package as well as verbs, so their
modules are made callable when they are imported.  Nothing heavy is loaded before it is used.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast, overload

from loopwright.errors import BadInput, Code, GaveUp, Illegal, InternalError, LoopwrightError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from loopwright.check.run.report import Report
    from loopwright.loops.nodes import Node
    from loopwright.model.schedule import Schedule
    from loopwright.prove.equivalence.files import Comparison
    from loopwright.prove.legality.legality import LegalityVerdict
    from loopwright.prove.legality.suggest import Suggestion
    from loopwright.prove.verdict import Verdict
    from loopwright.transform.plan import Plan
    from loopwright.tune.tuning import Tuned

__version__ = "0.1.0"

__all__ = [
    "BadInput",
    "Code",
    "GaveUp",
    "Illegal",
    "InternalError",
    "LoopwrightError",
    "check",
    "generate",
    "prove",
    "read",
    "read_c",
    "suggest",
    "to_c",
    "tune",
]


def to_c(program: Node | Plan | Sequence[Plan], **options: Any) -> str:
    """The program as C; `standalone=True` makes it a file that compiles alone.

    A plan, or the plans of a file's regions, gives the C file with its new loops, after the proof;
    `openmp=True` and `allow_reassociation=True` mean what they do on the command line.
    """
    from loopwright.emit.c import to_c
    from loopwright.transform.plan import Plan

    if isinstance(program, Plan | Sequence):
        from loopwright.rewrite.plans import plan_to_c

        return plan_to_c(program, **options)
    return to_c(program, **options)


def read_c(path: str | Path, *, pure: Iterable[str] = (), assume: Sequence[str] = ()) -> tuple[Plan, ...]:
    """The regions of a C file, in the order of its text; `read` gives the only one as it is."""
    from loopwright.read.c.reader import read_c
    from loopwright.transform import plan_of

    return tuple(plan_of(program) for program in read_c(str(path), pure=pure, assume=assume))


def suggest(plan: Plan) -> tuple[Suggestion, ...]:
    """What may be done to the loops as they were written: every suggestion is proved legal."""
    from loopwright.prove.legality.suggest import suggestions

    return tuple(one for one in suggestions(plan) if one.legal)


if TYPE_CHECKING:

    def read(path: str | Path, *, pure: Iterable[str] = (), assume: Sequence[str] = ()) -> Any: ...
    def generate(schedule: Schedule, **options: Any) -> Node: ...
    @overload
    def prove(what: Plan, *, allow_reassociation: bool = False) -> LegalityVerdict: ...
    @overload
    def prove(what: Schedule, other: Node) -> Verdict: ...
    @overload
    def prove(
        what: str | Path,
        other: str | Path,
        *,
        pure: Sequence[str] = (),
        assume: Sequence[str] = (),
        allow_reassociation: bool = False,
    ) -> Comparison: ...
    def prove(what: Any, other: Any = None, **options: Any) -> Any: ...
    def check(program: str | Path, spec: str | Path | None = None, **sizes: int) -> Report: ...
    def tune(path: str | Path, *, budget: float = 60.0, defines: Sequence[str] = ()) -> Tuned: ...


class _Read(ModuleType):
    def __call__(self, path: str | Path, **options: Any) -> Schedule | Plan | tuple[Plan, ...]:
        """The schedule of a `.poly`, `.in`, `.st`, `.cloog` or `.scop` file; the plan of a `.c` file.

        For C, `pure` names functions without effects and `assume` states facts, as on the command line.
        """
        if str(path).endswith(".c"):
            from loopwright.rewrite.plans import read_plans

            return read_plans(path, **options)
        from loopwright.read import read_schedule

        return read_schedule(path, **options)


class _Generate(ModuleType):
    def __call__(self, schedule: Schedule, **options: Any) -> Node:
        """The loops that run the schedule; the options are the fields of `generate.options.Options`."""
        from loopwright.generate import generate
        from loopwright.generate.options import Options

        return generate(schedule, Options(**options))


class _Prove(ModuleType):
    def __call__(
        self, what: Schedule | Plan | str | Path, other: Node | str | Path | None = None, **options: Any
    ) -> Verdict | LegalityVerdict | Comparison:
        """Whether a plan is legal, a program runs exactly a schedule, or two C files compute the same."""
        from loopwright.model.schedule import Schedule
        from loopwright.transform.plan import Plan

        if isinstance(what, Plan):
            from loopwright.prove.legality.plans import prove_plan

            return prove_plan(what, **options)
        if other is None:
            raise TypeError("prove(plan), prove(schedule, program) or prove('old.c', 'new.c')")
        if isinstance(what, Schedule):
            from loopwright.prove.scanning.scan import prove_scan

            return prove_scan(what, cast("Node", other), **options)
        from loopwright.prove.equivalence.files import compare_files

        return compare_files(what, cast("str", other), **options)


class _Check(ModuleType):
    def __call__(self, program: str | Path, spec: str | Path | None = None, **sizes: int) -> Report:
        """Run `program` and compare every operation with `spec`, or with the original in its comment."""
        from loopwright.check.verify import Options, check_file

        return check_file(program, spec, Options(sizes))


class _Tune(ModuleType):
    def __call__(self, path: str | Path, *, budget: float = 60.0, defines: Sequence[str] = ()) -> Tuned:
        """The fastest script for a C file with a main that `budget` seconds of trying find, proved."""
        from loopwright.tune.tuning import tune_file

        return tune_file(path, budget=budget, defines=defines)


_VERBS: dict[str, type[ModuleType]] = {
    "read": _Read,
    "generate": _Generate,
    "prove": _Prove,
    "check": _Check,
    "tune": _Tune,
}


class _Package(ModuleType):
    """This package: a room that is also a verb can be called once Python has bound it here."""

    def __setattr__(self, name: str, value: object) -> None:
        if name in _VERBS and isinstance(value, ModuleType):
            value.__class__ = _VERBS[name]
        super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        if name in _VERBS:
            return importlib.import_module(f"{self.__name__}.{name}")
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")


sys.modules[__name__].__class__ = _Package
