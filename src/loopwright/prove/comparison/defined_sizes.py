"""Answers that hold only for the sizes that both files define as the same numbers.

A macro that is a number is treated as a size like any other, so an answer holds for all its values.  A source
that is unrolled without a remainder is correct for the defined number only: if the answer for all sizes is
no, the comparison is repeated with `N == 1000`, as both files define it.  A macro under `#ifndef`, or one
that a header or an option changes, has no number of its own.

The module also detects sources that contradict an assumption about the sign of sizes:

    if (n >= 0 || m >= 0) return;
    for (t = 0; t < n * m; t++) B

is not equivalent to loops to n and to m, because those never run.  No answer is given if a statement never
runs under the tests around it and after those that return.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from loopwright.c.file import c_file
from loopwright.c.macros import constant_macro
from loopwright.c.reworded.final_values import integer_type
from loopwright.c.reworded.numbers_for_sizes import functions_around
from loopwright.c.reworded.passages import changed_in
from loopwright.c.syntax import Node, field, identifiers, named_children
from loopwright.c.tokens import names_in, on_one_line
from loopwright.c.typed.preprocess import preprocess
from loopwright.errors import BadInput
from loopwright.presburger.points import values_text
from loopwright.prove.comparison.acceptable import Compiled
from loopwright.prove.comparison.texts import Comparison, ComparisonOptions
from loopwright.prove.equivalence.answer import OnlyFor
from loopwright.prove.verdict import Proved, Refuted, Undecided
from loopwright.read.c.assume import is_assume
from loopwright.read.c.options import ReadOptions
from loopwright.read.c.reader import parse_c
from loopwright.source import Source, Span

_ENDING = ("abort", "exit", "__builtin_unreachable", "__builtin_trap")
_PLAIN = re.compile(r"[\w\s()+\-*<>=!&|]+")


def never_run(texts: tuple[Source, Source], asked: ComparisonOptions) -> str | None:
    """Returns why sources with one loop per size allow no answer: a statement in them never runs."""
    for text, options in zip(texts, (asked.of_old, asked.reading), strict=True):
        if any(_has_unreached(one, options) for one in (text, *_under_tests(text))):
            return "its loops over products of sizes also run for negative sizes"
    return None


def _has_unreached(text: Source, options: ReadOptions) -> bool:
    try:
        programs = parse_c(text, options)
    except BadInput:  # the variant with tests cannot be read, so it shows nothing
        return False
    statements = ((one, program.context) for program in programs for one in program.statements)
    return any(one.domain.intersect_params(context).is_empty() for one, context in statements)


def _under_tests(text: Source) -> Iterator[Source]:
    """Yields the source with the tests that guard each region copied into the region."""
    file = c_file(text)
    for function in functions_around(file):
        body = field(function, "body")
        changed = changed_in(body)
        for region in file.regions:
            place = region.place
            found = [*_tests(body, place)] if function.span.contains(place) else []
            tests = [
                f"{words}({on_one_line(test.text)})"
                for words, test in found
                if _PLAIN.fullmatch(test.text)
                and all(
                    changed.count(name) <= 1 and integer_type(name, file.declarations, test) is not None
                    for name in (*names_in(words), *identifiers(test))
                )
            ]
            if tests:
                head = f"if ({' && '.join(tests)}) {{\n"
                inside = f"{head}{place.text}\n}}\n"
                whole = f"{text.text[: place.start]}{inside}{text.text[place.end :]}"
                yield replace(text, text=whole, chosen=((place.start, place.start + len(inside)),))


def _tests(block: Node, place: Span) -> Iterator[tuple[str, Node]]:
    """Conditions that hold at a place: tests, after `!` if they fail there, and values after `name ==`."""
    for one in named_children(block):
        if one.end <= place.start:
            yield from _known_after(one)
        elif one.span.contains(place):
            if block.type == "if_statement" and one.span == field(block, "consequence").span:
                yield "", field(block, "condition")
            elif block.type == "if_statement":
                yield "!", field(block, "condition")
            yield from _tests(one, place)


def _known_after(statement: Node) -> Iterator[tuple[str, Node]]:
    """Conditions that hold after an early exit, an assertion, an assignment or an initialised declaration."""
    core, given = statement.only_expression, statement.only_assignment
    if statement.type == "if_statement":
        if statement.child_by_field_name("alternative") is None and _leaves(field(statement, "consequence")):
            yield "!", field(statement, "condition")
    elif given is not None:
        yield f"{field(given, 'left').text} == ", field(given, "right")
    elif core is not None and core.type == "call_expression" and field(core, "function").text == "assert":
        yield "", field(core, "arguments")
    elif statement.type == "declaration":
        for one in statement.children_by_field_name("declarator"):
            if one.type == "init_declarator":
                yield f"{field(one, 'declarator').text} == ", field(one, "value")


def _leaves(inside: Node) -> bool:
    while inside.type == "compound_statement" and named_children(inside):
        inside = named_children(inside)[-1]
    call = inside.only_expression
    is_call = call is not None and call.type == "call_expression"
    is_end = call is not None and is_call and field(call, "function").text in _ENDING
    return is_end or inside.type == "return_statement"


_LARGEST = (1 << 31) - 1
"""The maximum of `int`; the type of larger literals depends on how they are written."""


def as_defined(
    found: Comparison,
    files: tuple[Compiled, Compiled],
    options: ComparisonOptions,
    compared: Callable[[ComparisonOptions], Comparison],
) -> Comparison:
    """Returns `found` if it is proved; otherwise the comparison for the sizes that the files define."""
    match found.verdict:
        case Refuted(parameters=sizes) | Undecided(sizes=sizes):
            numbers = _defined_numbers(sizes, files, options)
        case Proved():
            return found
    if all(sizes[name] == value for name, value in numbers.items()):
        return found
    stated = tuple(f"{name} == {value}" for name, value in numbers.items())
    reading = replace(options.reading, assume=(*options.reading.assume, *stated))
    try:
        again = compared(replace(options, reading=reading))
    except BadInput as failure:
        return found.with_remark(f"both files define {values_text(numbers)}, for which {failure.message}")
    listed = values_text(numbers)
    match again.verdict:
        case Proved():
            wrong = sizes if isinstance(found.verdict, Refuted) else {}
            trusted = tuple(text for text in again.trusted if text not in stated)
            return replace(again, trusted=trusted, only_for=OnlyFor(numbers, wrong))
        case Refuted():
            return found.with_remark(f"both files define {listed}, for which they differ too")
        case Undecided():
            return found.with_remark(f"both files define {listed}, for which it was not decided")


def _defined_numbers(
    names: Iterable[str], files: tuple[Compiled, Compiled], options: ComparisonOptions
) -> dict[str, int]:
    """The macros among `names` that both files define as the same number, whatever the compiler options.

    A name with a stated assumption is left out: its user treats it as a size.
    """
    stated = set(names_in(" ".join((*options.reading.assume, *map(_stated_in, files)))))
    numbers = {name: {_number(name, one) for one in files} for name in sorted({*names} - stated)}
    return {name: value for name, (value, *others) in numbers.items() if value is not None and not others}


def _stated_in(file: Compiled) -> str:
    lines = c_file(file.source).directives
    return " ".join(one.argument for one in lines if is_assume(one))


def _number(name: str, file: Compiled) -> int | None:
    """The value of a macro that the file defines once and nothing else changes."""
    value = constant_macro(c_file(file.source).macros, name)
    if value is None or not 0 <= value <= _LARGEST:
        return None
    changes = preprocess(file.source, file.options).changes
    return value if len(changes.get(name, ())) == 1 else None
