"""The problem size that is checked: given, annotated, or asked of the program where the segment starts."""

from __future__ import annotations

from collections.abc import Mapping

from loopwright.c.macros import definitions
from loopwright.c.tokens import names_in
from loopwright.check.program.instrument import size_texts, with_insertions
from loopwright.check.program.reachable import ReachedCode
from loopwright.check.program.segment import Input
from loopwright.check.run.discovery import discovered
from loopwright.check.run.execute import Built, Ended, Toolchain, compile_program, run_program, workspace
from loopwright.check.runtime import runtime_text
from loopwright.errors import BadInput, Code, Crashed, GaveUp
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Span


@dataclass(frozen=True)
class Sizes:
    """The value of each parameter; `texts` are what must have that value where the segment starts."""

    values: dict[str, int]
    texts: tuple[tuple[str, str], ...]
    solved: tuple[str, ...] = ()
    """Parameters whose values the operations of the program told."""


def find_sizes(given: Input, known: ReachedCode, defined: Mapping[str, int], tools: Toolchain) -> Sizes:
    """The size of every parameter of the original, or BadInput saying which is not known."""
    for name in defined:
        _refuse_variable(given, known, name)
    annotated = dict(given.segment.sizes)
    values: dict[str, int] = {}
    asked: list[tuple[str, str]] = []
    solved: list[str] = []
    for parameter in given.original.parameters:
        stated = annotated.get(parameter.name, defined.get(parameter.name))
        if stated is not None:
            values[parameter.name] = stated
        elif _is_visible(known, parameter.text, defined):
            _refuse_other_definition(given, known, parameter.text)
            asked.append((parameter.name, parameter.text))
        else:
            solved.append(parameter.name)
    values |= _asked(given, asked, tools)
    if solved:
        values |= _solved(given, known, values, solved, tools)
    texts = tuple(
        (one.name, one.text if _is_visible(known, one.text, defined) else str(values[one.name]))
        for one in given.original.parameters
    )
    return Sizes({name: values[name] for name in given.original.params}, texts, tuple(solved))


def _refuse_variable(given: Input, known: ReachedCode, name: str) -> None:
    """`-D n=4` is a macro, which would take the place of a variable's name in its declaration, too."""
    declared = known.declarations.visible(name, given.segment.place)
    if declared is not None:
        message = f"'{name}' is a variable of the program: -D {name}=... would replace its name"
        hint = f"without -D {name} its value is asked of the program; or set it in the program"
        raise BadInput(Code.OPTION, message, span=declared.place, hint=hint)


def _refuse_other_definition(given: Input, known: ReachedCode, name: str) -> None:
    """A size that the two files define otherwise: at one size they agree, but they do not run at one size."""
    old, new = definitions(given.original.file.macros, name), definitions(known.macros, name)
    if old and new and [one.body for one in old] != [one.body for one in new]:
        value = new[-1].body
        message = f"{name} is '{old[-1].body}' in the original and '{value}' in the program"
        hint = f"define it alike, or say -D {name}={value} to compare them at that size"
        raise GaveUp(Code.UNDECIDED, message, span=new[-1].place, hint=hint)


def _solved(
    given: Input, known: ReachedCode, values: dict[str, int], open_names: list[str], tools: Toolchain
) -> dict[str, int]:
    try:
        return discovered(given, known, values, tools)
    except GaveUp as failure:
        name = open_names[0]
        hint = f"give it with -D {name}=..., or write /*@ polycheck size {name} = ... */"
        message = f"the problem size {name} is not known: {failure.message}"
        raise BadInput(
            Code.OPTION, message, span=Span.start_of(given.segment.source.path), hint=hint
        ) from None


def _is_visible(known: ReachedCode, text: str, defined: Mapping[str, int]) -> bool:
    """Whether the program can evaluate `text` where the segment starts."""
    words = names_in(text)
    macros = {macro.name for macro in known.macros} | set(defined)
    return bool(words) and all(word in macros or known.at_segment(word) is not None for word in words[:1])


def _asked(given: Input, names: list[tuple[str, str]], tools: Toolchain) -> dict[str, int]:
    """Run the program up to the segment."""
    if not names:
        return {}
    begin = f"lw_probe({len(names)}, {size_texts(names)});"
    program = with_insertions(given.segment, (), begin, "")
    built = Built(
        program, "void lw_probe(int count, const long *sizes);\n", runtime_text("probe.c"), options=("-O1",)
    )
    with workspace() as folder:
        ended = run_program(tools, compile_program(tools, built, folder, given.segment.source), folder)
    if not ended.lines:
        raise not_reached(given, ended)
    numbers = [int(word) for word in ended.lines[0].split()[1:]]
    return {name: number for (name, _), number in zip(names, numbers, strict=True)}


def not_reached(given: Input, ended: Ended) -> BadInput | Crashed:
    """The error for a program that ended, or did not, before its segment."""
    where = given.segment.place
    if ended.timed_out:
        message = "time ran out before the segment was entered"
        return Crashed(Code.CRASHED, message, span=where, hint="raise --timeout")
    hint = "does it need arguments? give them with --args"
    if ended.crashed is not None:
        message = f"the program crashed ({ended.crashed}) before the segment was entered"
        return Crashed(Code.CRASHED, message, span=where, hint=hint)
    status = f" and ends with status {ended.status}" if ended.status else ""
    return BadInput(Code.SEGMENT, f"the program never enters the segment{status}", span=where, hint=hint)
