"""Loopwright: loop transformation that is proved, not hoped.

    import loopwright as lw

    schedule = lw.read("gemm.poly")
    program = lw.generate(schedule, dead_loops=True)
    print(lw.prove(schedule, program))
    print(lw.to_c(program))

    plan = lw.read("gemm.c")["Mult"].interchange("j", "k").tile(32, 32).plan
    print(lw.prove(plan).status)
    print(lw.to_c(plan))

`read`, `generate` and `prove` are rooms of this package as well as verbs, so their modules are
made callable when they are imported.  Nothing heavy is loaded before it is used.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from loopwright.loops.nodes import Node
    from loopwright.model.schedule import Schedule
    from loopwright.prove.legality.legality import LegalityVerdict
    from loopwright.prove.verdict import Verdict
    from loopwright.transform.plan import Plan

__version__ = "0.1.0"


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


if TYPE_CHECKING:

    def read(path: str | Path, *, pure: Iterable[str] = (), assume: Sequence[str] = ()) -> Any: ...
    def generate(schedule: Schedule, **options: Any) -> Node: ...
    def prove(what: Schedule | Plan, node: Node | None = None) -> Verdict | LegalityVerdict: ...


class _Read(ModuleType):
    def __call__(self, path: str | Path, **options: Any) -> Schedule | Plan | tuple[Plan, ...]:
        """The schedule described by a `.poly`, `.in`, `.st` or `.cloog` file; the plan of a `.c` file.

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
    def __call__(self, what: Schedule | Plan, node: Node | None = None) -> Verdict | LegalityVerdict:
        """Whether the program runs exactly the schedule, or whether the plan is legal; for all sizes."""
        from loopwright.model.schedule import Schedule

        if isinstance(what, Schedule):
            from loopwright.prove.scanning.scan import prove_scan

            if node is None:
                raise TypeError("a schedule is proved of a program: prove(schedule, program)")
            return prove_scan(what, node)
        from loopwright.prove.legality.plans import prove_plan

        return prove_plan(what)


_VERBS: dict[str, type[ModuleType]] = {"read": _Read, "generate": _Generate, "prove": _Prove}


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


def _display_in_notebooks() -> None:
    """Programs, plans, schedules and violations display themselves where IPython is running."""
    running = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if running is None:
        return
    html = running.display_formatter.formatters["text/html"]
    for module, name, shown in _DISPLAYED:

        def display(value: Any, shown: str = shown) -> str:
            return str(getattr(importlib.import_module("loopwright.show.notebook"), shown)(value))

        html.for_type_by_name(module, name, display)


_DISPLAYED = (
    ("loopwright.model.program", "Program", "program_html"),
    ("loopwright.transform.plan", "Plan", "plan_html"),
    ("loopwright.model.schedule", "Schedule", "schedule_html"),
    ("loopwright.prove.legality.violation", "Violation", "violation_html"),
)

_display_in_notebooks()
