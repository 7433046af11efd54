"""Loopwright: transformation of C loops with proofs.

    import loopwright as lw

    plan = lw.read("gemm.c")["Mult"].interchange("j", "k").tile(32, 32).plan
    print(lw.prove(plan).status)
    print(lw.to_c(plan))
    print(lw.suggest(plan))

    schedule = lw.read_schedule("gemm.poly")
    program = lw.generate(schedule, dead_loops=True)
    print(lw.prove(schedule, program))
    print(lw.to_c(program))
    print(lw.prove("old.c", "new.c").verdict)
    print(lw.check("new.c", "old.c", N=100).answer)
    print(lw.optimise("program.c", budget=60).script)
    Path("report.html").write_text(lw.report("gemm.c", "tile(Mult, 32, 32)").html)

docs/python.md has examples of all functions.  Errors are `LoopwrightError`s; each has a `Code`.
`flags` are compiler options of the file, such as ["-Iinclude", "-DN=100"].
"""
# Python binds a subpackage's name in its parent when it is first loaded: the rooms that share the name of a
# function, which import nothing, are loaded before the functions.

from __future__ import annotations

import loopwright.interrupts  # isort: skip
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, overload

import loopwright.check
import loopwright.generate
import loopwright.optimise
import loopwright.prove
import loopwright.read
import loopwright.report  # noqa: F401
from loopwright import arguments as given
from loopwright.display import Displayed, public
from loopwright.errors import BadArgument, BadInput, Code, GaveUp, Illegal, InternalError, LoopwrightError

if TYPE_CHECKING:
    from pathlib import Path

    from loopwright.check.run.report import Report
    from loopwright.errors import Diagnostic
    from loopwright.loops.nodes import Node
    from loopwright.model.program import Program
    from loopwright.model.schedule import LoopType, Schedule
    from loopwright.optimise.optimising import Optimised
    from loopwright.prove.comparison.texts import Comparison
    from loopwright.prove.legality.legality import LegalityVerdict
    from loopwright.prove.legality.suggest import Suggestion
    from loopwright.prove.verdict import Verdict
    from loopwright.read.c.find import Nest
    from loopwright.read.c.options import ReadOptions
    from loopwright.report.regions import HtmlReport
    from loopwright.report.widget import MovingWidget
    from loopwright.transform.handle import FluentPlan
    from loopwright.transform.plan import Plan

__version__ = "0.1.0"

__all__ = [
    "BadInput", "Code", "GaveUp", "Illegal", "InternalError", "LoopwrightError", "check", "describe",
    "find", "generate", "optimise", "prove", "read", "read_regions", "read_schedule", "report", "suggest",
    "to_c", "widget",
]


def __dir__() -> list[str]:
    """The public functions and errors, without the packages that happen to be loaded."""
    return [*__all__, "__doc__", "__version__"]


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        raise AttributeError(given.advice(name), name=name)


@public
def read(
    path: str | Path,
    *,
    pure: Iterable[str] = (), assume: Sequence[str] = (), flags: Sequence[str] = (),
    function: str | Sequence[str] | None = None, loop: int | str | Sequence[int | str] | None = None,
) -> FluentPlan:
    """Read the region of a C file as a plan.

    `pure` names functions without side effects and `assume` states facts about the parameters, as
    `--pure` and `--assume` do on the command line.  `function` and `loop`, a line or "file:line", choose
    what is read where no pragma marks it.  A file with several regions is `BadInput`: `read_regions`
    reads it.
    """
    from loopwright.read.schedules import SUFFIXES

    if str(path).endswith(SUFFIXES):
        from loopwright.source import Span

        message = "this is the name of a description of a schedule, not of a C file"
        hint = "loopwright.read_schedule reads it"
        raise BadInput(Code.FILE, message, span=Span.start_of(str(path)), hint=hint)
    first, *others = read_regions(path, pure=pure, assume=assume, function=function, loop=loop, flags=flags)
    if others:
        program = others[0].original
        message = f"this file has {1 + len(others)} regions, and one is expected"
        hint = "loopwright.read_regions gives all of them; function and loop choose one"
        raise BadInput(Code.REGION, message, span=program.region, hint=hint)
    return first


@public
def read_regions(
    path: str | Path,
    *,
    pure: Iterable[str] = (), assume: Sequence[str] = (), flags: Sequence[str] = (),
    function: str | Sequence[str] | None = None, loop: int | str | Sequence[int | str] | None = None,
) -> tuple[FluentPlan, ...]:
    """Read all regions of a C file, or the selected ones, as plans in source order; at least one."""
    from loopwright.read.c.reader import read_c
    from loopwright.transform import plan_of

    return tuple(map(plan_of, read_c(path, _reading(pure, assume, flags, function, loop))))


def _reading(
    pure: Iterable[str] = (), assume: Iterable[str] = (), flags: Sequence[str] = (),
    function: str | Sequence[str] | None = None, loop: int | str | Sequence[int | str] | None = None,
) -> ReadOptions:
    from loopwright.c.selection.choice import choice
    from loopwright.c.typed.options import CompilerOptions
    from loopwright.read.c.options import ReadOptions

    compiled = CompilerOptions(given.compiler_flags(flags))
    return ReadOptions(given.pure_names(pure), given.facts(assume), choice(function, loop), compiled=compiled)


@public
def find(
    path: str | Path, *, pure: Iterable[str] = (), assume: Sequence[str] = (), flags: Sequence[str] = ()
) -> tuple[Nest, ...]:
    """List the loops of a C file, with the options that select them or why they cannot be read."""
    from loopwright.read.c.find import nests_of
    from loopwright.read.c.reader import load_c

    return nests_of(load_c(path), _reading(pure, assume, flags=flags))


@public
def read_schedule(path: str | Path) -> Schedule:
    """Read a schedule from a `.poly`, `.in`, `.st`, `.cloog` or `.scop` file."""
    from loopwright.read.schedules import read_schedule

    return read_schedule(given.file_named(path))


@public
def generate(
    schedule: Schedule,
    *,
    loop_type: LoopType | str = "default",
    separate_from: int = 0,
    separate_depth: int | None = None,
    single_upper_bound: bool = True,
    nested_bounds: bool = True,
    split_bounds: bool = False,
    dead_loops: bool = False,
    max_statements: int | None = None,
    max_unroll: int = 100_000,
) -> Node:
    """Generate loops that execute the schedule; the options are those of `loopwright codegen`."""
    from loopwright.generate.context import GenerationOptions
    from loopwright.generate.program import generate
    from loopwright.model.schedule import LoopType, Schedule

    given.expected(schedule, Schedule, "a schedule", "lw.generate(lw.read_schedule('file.poly'))")
    given.one_of(loop_type, [*LoopType, *(one.value for one in LoopType)], "type of loops")
    options = GenerationOptions(
        loop_type=LoopType(loop_type),
        separate_from=separate_from,
        separate_depth=separate_depth,
        single_upper_bound=single_upper_bound,
        nested_bounds=nested_bounds,
        split_bounds=split_bounds,
        dead_loops=dead_loops,
        max_statements=max_statements,
        max_unroll=max_unroll,
    )
    return generate(schedule, options)


@overload
def prove(what: Plan, *, allow_reassociation: bool = False) -> LegalityVerdict: ...
@overload
def prove(what: Schedule, other: Node) -> Verdict: ...
@overload
def prove(
    what: str | Path,
    other: str | Path,
    *,
    pure: Sequence[str] = (), assume: Sequence[str] = (), flags: Sequence[str] = (),
    function: str | Sequence[str] | None = None, loop: int | str | Sequence[int | str] | None = None,
    allow_reassociation: bool = False,
) -> Comparison: ...
@public
def prove(
    what: Plan | Schedule | str | Path,
    other: Node | str | Path | None = None,
    *,
    pure: Sequence[str] = (), assume: Sequence[str] = (), flags: Sequence[str] = (),
    function: str | Sequence[str] | None = None, loop: int | str | Sequence[int | str] | None = None,
    allow_reassociation: bool = False,
) -> LegalityVerdict | Verdict | Comparison:
    """Prove a plan legal, a program correct for its schedule, or two C files equivalent."""
    from pathlib import Path

    from loopwright.model.schedule import Schedule
    from loopwright.transform.plan import Plan

    match what, other:
        case Plan(), None:
            from loopwright.prove.legality.plans import prove_plan

            return prove_plan(what, allow_reassociation=allow_reassociation)
        case str() | Path(), str() | Path():
            from loopwright.prove.comparison.files import compare_files
            from loopwright.prove.comparison.texts import ComparisonOptions

            reading = _reading(pure, assume, flags, function, loop)
            options = ComparisonOptions(reading, allow_reassociation=allow_reassociation)
            return compare_files(what, other, options)
        case Schedule(), program if program is not None and not isinstance(program, str | Path):
            from loopwright.loops.nodes import Node
            from loopwright.prove.scanning.scan import prove_scan

            given.expected(program, Node, "a program", "lw.prove(schedule, program)")
            return prove_scan(what, program)
        case _:
            ways = "write prove(plan), prove(schedule, program) or prove('old.c', 'new.c')"
            raise BadArgument(Code.ARGUMENTS, "these values cannot be proved together", hint=ways)


@public
def check(
    program: str | Path,
    spec: str | Path | None = None,
    *,
    function: str | Sequence[str] | None = None, loop: int | str | Sequence[int | str] | None = None,
    flags: Sequence[str] = (),
    **sizes: int,
) -> Report:
    """Run `program` and check every operation against `spec`, or against the original in its comment."""
    from loopwright.check.run.execute import Toolchain
    from loopwright.check.verify import CheckOptions, check_file

    numbers = given.problem_sizes(sizes, "lw.check('new.c', 'old.c', N=100)")
    reading = _reading(function=function, loop=loop, flags=flags)
    tools = Toolchain(options=reading.compiled.arguments)
    return check_file(program, spec, CheckOptions(numbers, tools=tools, reading=reading))


@public
def optimise(
    path: str | Path,
    *,
    budget: float = 60.0,
    model: bool = False,
    function: str | Sequence[str] | None = None, loop: int | str | Sequence[int | str] | None = None,
    flags: Sequence[str] = (),
    **sizes: int,
) -> Optimised:
    """Search `budget` seconds for the fastest script and prove it; with `model`, run no programs."""
    from loopwright.optimise.optimising import Search, optimise_file

    numbers = given.problem_sizes(sizes, "lw.optimise('program.c', budget=60, N=100)")
    allowed = given.seconds(budget, "lw.optimise('program.c', budget=60)")
    search = Search(allowed, model, defines=tuple(f"{name}={size}" for name, size in numbers.items()))
    return optimise_file(path, search, _reading(function=function, loop=loop, flags=flags))


@public
def suggest(plan: Plan) -> tuple[Suggestion, ...]:
    """List transformations of the original loops, each proved legal."""
    from loopwright.optimise.pricing import priced_suggestions
    from loopwright.transform.plan import Plan

    given.expected(plan, Plan, "a plan", "lw.suggest(lw.read('file.c'))")
    return tuple(one for one in priced_suggestions(plan) if one.legal)


@overload
def to_c(
    program: Node, *, standalone: bool = False, parameters: Sequence[str] = (), openmp: bool = False
) -> str: ...
@overload
def to_c(
    program: Plan | Sequence[Plan],
    *,
    openmp: bool = False,
    allow_reassociation: bool = False,
    guard: bool = False,
) -> str: ...
@public
def to_c(
    program: Node | Plan | Sequence[Plan],
    *,
    standalone: bool = False,
    parameters: Sequence[str] = (),
    openmp: bool = False,
    allow_reassociation: bool = False,
    guard: bool = False,
) -> str:
    """Generate C; `standalone` makes it a file that compiles by itself.

    A plan, or the plans of a file's regions in source order, gives the C file with its new loops, after
    the proofs of `loopwright transform`.  A region without a plan stays as it is.  With `guard`,
    unproved assumptions are tested at run time, before the new loops.
    """
    from loopwright.transform.plan import Plan

    usage = "lw.to_c(plan), lw.to_c([plan, ...]) or lw.to_c(program)"
    if not isinstance(program, Plan | Sequence):
        from loopwright.emit.c import to_c
        from loopwright.loops.nodes import Node

        given.expected(program, Node, "a plan or a program", usage)
        return to_c(program, standalone=standalone, parameters=given.texts(parameters, usage), openmp=openmp)
    from loopwright.progress import silent
    from loopwright.rewrite.pipeline import rewritten
    from loopwright.rewrite.request import RewriteOptions

    plans = [program] if isinstance(program, Plan) else program
    given.one_file([one.written.region if isinstance(one, Plan) else one for one in plans], usage)
    options = RewriteOptions(openmp=openmp, allow_reassociation=allow_reassociation, guard=guard)
    return rewritten(plans, options, silent).source.text


@public
def describe(what: Plan | Program) -> str:
    """Describe the model of a region as `loopwright extract` does: domains, accesses, dependences."""
    from loopwright.model.dependences import dependences
    from loopwright.model.program import Program
    from loopwright.report.program_text import as_text
    from loopwright.transform.plan import Plan

    given.expected(what, (Plan, Program), "a plan or a program", "lw.describe(lw.read('file.c'))")
    program = what.program if isinstance(what, Plan) else what
    return as_text(program, dependences(program))


@public
def report(
    path: str | Path,
    script: str | None = None,
    *,
    pure: Sequence[str] = (), assume: Sequence[str] = (), flags: Sequence[str] = (),
    function: str | Sequence[str] | None = None, loop: int | str | Sequence[int | str] | None = None,
    openmp: bool = False,
    allow_reassociation: bool = False,
) -> HtmlReport:
    """Make the page of `loopwright show`, which explains the effect of a script on a C file."""
    from dataclasses import replace

    from loopwright.report.regions import report_on
    from loopwright.rewrite.request import Request

    file, reading = str(given.file_named(path)), _reading(pure, assume, flags, function, loop)
    request = Request(file=file, script=script, reading=reading, openmp=openmp)
    return report_on(replace(request, allow_reassociation=allow_reassociation))


@public
def widget(plan: Plan, *, allow_reassociation: bool = False) -> MovingWidget:
    """Make an animation of a plan for a notebook, with controls for steps, rotation and sizes."""
    try:
        from loopwright.report.widget import MovingWidget
    except ModuleNotFoundError as missing:
        if missing.name not in ("anywidget", "traitlets"):
            raise
        hint = "pip install 'loopwright[show]'"
        raise BadInput(Code.MISSING_PART, "a widget needs anywidget", hint=hint) from None
    return MovingWidget(plan, allow_reassociation=allow_reassociation)


def _html(value: object) -> str:
    """The HTML that a notebook shows for a value."""
    from loopwright.report.notebook import html

    return html(value)


def _words(diagnostic: Diagnostic) -> str:
    """The text of an error for callers from Python."""
    from loopwright.report.diagnostics import as_text

    return as_text(diagnostic, more=True)


Displayed.render = _html
LoopwrightError.render = _words
