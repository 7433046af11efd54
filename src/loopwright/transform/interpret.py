"""Running a script: each line an operation on the plan, each mistake at its place in the script."""

from __future__ import annotations

from loopwright.errors import BadInput, Code
from loopwright.model.program import Program
from loopwright.read.script import Operation, parse_script
from loopwright.source import Source, Span
from loopwright.transform.arguments import Arguments
from loopwright.transform.operations import OPERATIONS, SYNONYMS
from loopwright.transform.plan import Component, Misuse, Plan, close_to, plan_of


def transform(program: Program, script: str, filename: str = "<script>") -> Plan:
    """The plan that a script makes of a program."""
    return continued(plan_of(program), script, filename)


def continued(plan: Plan, script: str, filename: str) -> Plan:
    """The plan after the operations of a script."""
    parsed = parse_script(script, filename)
    for operation in parsed.operations:
        plan = performed(plan, operation, parsed.source)
    return plan


def performed(plan: Plan, operation: Operation, source: Source) -> Plan:
    """The plan after one operation, which is remembered as a step."""
    run = OPERATIONS.get(operation.name.text)
    if run is None:
        raise _unknown(operation)
    try:
        result = run(plan, Arguments(plan, operation, source))
    except Misuse as misuse:
        span = _blamed(operation, misuse.argument)
        raise BadInput(misuse.code, misuse.message, span=span, hint=misuse.hint) from None
    after = _bound(result.plan, result.handles, operation, source)
    return after.remember(operation.place.text, operation.place)


def _bound(plan: Plan, handles: tuple[Component, ...], operation: Operation, source: Source) -> Plan:
    """The plan with the operation's results under the names left of `=`."""
    targets = operation.targets
    if targets and len(targets) != len(handles):
        given = {0: "no handle", 1: "one handle"}.get(len(handles), f"{len(handles)} handles")
        place = Span(source, targets[0].place.start, targets[-1].place.end)
        raise BadInput(
            Code.ARGUMENTS,
            f"{operation.name.text} gives {given}, not {len(targets)}",
            span=place,
        )
    for target, component in zip(targets, handles, strict=False):
        plan = plan.named(target.text, component)
    return plan


def _unknown(operation: Operation) -> BadInput:
    name = operation.name.text
    near = SYNONYMS.get(name.lower()) or close_to(name, OPERATIONS)
    hint = f"did you mean {near}?" if near else f"the operations are {', '.join(sorted(OPERATIONS))}"
    span = operation.name.place
    return BadInput(Code.NO_OPERATION, f"no operation is called {operation.name.text}", span=span, hint=hint)


def _blamed(operation: Operation, argument: int | None) -> Span:
    if argument is None or argument >= len(operation.arguments):
        return operation.place
    return operation.arguments[argument].place
