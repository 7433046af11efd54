"""What two programs share: their parameters, and the storage on which they must agree.

Parameters: a model has only those on which something depends.  The source may mention more, in loops that
never execute, and is read a second time here.

Storage: a local of the region does not outlive it.  A local of the function that nothing after the region
mentions is not observable.  A variable that the other file does not have is assumed to be a temporary, and
that is listed. Everything else is live-out.

Aliases: `double *p = a;`, where OLD has p[i] and NEW has a[i].  A refutation is about a run in which arrays
do not overlap.  Arrays that one source names do not, by its assumptions; one that only OLD names and one that
only NEW names may alias, unless the function gets both from outside, or allocates one of them.
"""

from __future__ import annotations

import re
from dataclasses import replace

import islpy as isl

from loopwright.c.declarations import is_integer_type, known_constant
from loopwright.c.file import c_file
from loopwright.c.loops import loop_iterator
from loopwright.c.macros import constant_macro, definitions, looks_like_macro
from loopwright.c.syntax import Node, assigned_target, identifiers, operator, walk, without_parentheses
from loopwright.lazy_dataclass import dataclass
from loopwright.model.parameters import Parameter
from loopwright.model.program import Array, Program
from loopwright.presburger.named import at_parameters, parameter_names, parameter_space
from loopwright.source import Span


def with_common_parameters(old: Program, new: Program) -> tuple[Program, Program]:
    """Both programs with the parameters and contexts of both."""
    known = {
        parameter.name: parameter
        for program in (old, new)
        for parameter in (*program.parameters, *_only_mentioned(program))
    }
    space = parameter_space(tuple(known))
    contexts = [of_small_types(one).align_params(space) for one in (old, new)]
    context = contexts[0].intersect(contexts[1])
    for name, value in (*_written_out(old, new), *_written_out(new, old)):
        context = at_parameters(context, {name: value})
    parameters = tuple(known[name] for name in parameter_names(context))
    return _aligned(old, parameters, context), _aligned(new, parameters, context)


def of_small_types(program: Program) -> isl.Set:
    """The context, restricted to the ranges of types below 32 bits: other values show no difference.

    A macro or a constant that is one number stays a size, for which everything is proved.
    """
    ranges = {one: one.values for one in program.parameters if one.values is not None}
    small = [one for one, (least, greatest) in ranges.items() if least < greatest < 1 << 16]
    possible = replace(program, parameters=tuple(small)).possible
    return program.context.intersect(possible.align_params(program.context.get_space()))


def _written_out(program: Program, other: Program) -> list[tuple[str, int]]:
    """Parameters that are macros of one value and that the other region does not mention: it has the number.

    One that both mention stays a size, for which everything is proved; an enumerator is never another number.
    """
    macros, declared = program.file.macros, program.file.declarations
    there = other.syntax
    values = {name: constant_macro(macros, name) for name in program.params if not there.mentions(name)}
    enumerators = [name for name in program.params if not definitions(macros, name)]
    values |= {name: known_constant(declared, name) for name in enumerators}
    return [(name, value) for name, value in values.items() if value is not None]


def _only_mentioned(program: Program) -> list[Parameter]:
    """The integers in the source on which nothing in the model depends, except locals of the region."""
    block = program.syntax
    nodes = list(walk(block))
    taken = {array.name for array in program.arrays} | set(program.params)
    taken |= {loop_iterator(node) or "" for node in nodes if node.type == "for_statement"}
    declared = program.file.declarations
    macros = program.file.macros
    own = [one.place for one in declared.variables if program.region.contains(one.place)]
    names = {spot.start for spot in own}
    found: dict[str, None] = {}
    for node in nodes:
        name = node.text if node.type == "identifier" else ""
        if not name or name in taken or definitions(macros, name) or name in declared.functions:
            continue
        variable = declared.visible(name, node.span)
        if node.span.start in names or (variable is not None and variable.place in own):
            continue
        if variable is None:
            is_parameter = looks_like_macro(name) and not _is_called(node.parent, name)
        else:
            is_parameter = variable.rank == 0 and is_integer_type(declared.resolved(variable.type))
        if is_parameter:
            found[name] = None
    return [Parameter(name, name) for name in found]


def _is_called(outer: Node | None, name: str) -> bool:
    if outer is None or outer.type != "call_expression":
        return False
    function = outer.child_by_field_name("function")
    return function is not None and function.text == name


def _aligned(program: Program, parameters: tuple[Parameter, ...], context: isl.Set) -> Program:
    space = context.get_space()
    statements = tuple(
        replace(
            statement,
            domain=statement.domain.align_params(space),
            schedule=statement.schedule.align_params(space),
            accesses=tuple(
                replace(access, relation=access.relation.align_params(space)) for access in statement.accesses
            ),
        )
        for statement in program.statements
    )
    return replace(program, parameters=parameters, context=context, statements=statements)


@dataclass(frozen=True)
class Outputs:
    """The live-out arrays, and the assumptions about the others."""

    arrays: tuple[str, ...]
    trusted: tuple[str, ...]


def other_rows(old: Program, new: Program) -> str | None:
    """Returns an array of one dimension that both programs read in rows, but not of the same lengths."""
    rows = {array.name: array.rows for array in old.arrays if not array.local}
    others = (array for array in new.arrays if not array.local)
    return next((one.name for one in others if rows.get(one.name, one.rows) != one.rows), None)


def outputs(old: Program, new: Program) -> Outputs:
    """The storage that both files have and that is observable after the region."""
    own = [(program, {one.name: one for one in program.arrays if not one.local}) for program in (old, new)]
    arrays: list[str] = []
    trusted: list[str] = []
    for name in sorted({name for _, known in own for name in known}):
        users = [(program, known[name]) for program, known in own if name in known]
        dead = [program for program, array in users if program.is_dead_after(array)]
        others = [program for program, known in own if name not in known]
        missing = [program for program in others if not _is_declared(program, name)]
        if len(dead) == len(users):
            continue
        if missing or dead:
            where = (missing or dead)[0].source.path
            how = "does not have" if missing else "keeps to itself"
            trusted.append(f"'{name}', which {where} {how}, is not looked at after the region")
        else:
            arrays.append(name)
    return Outputs(tuple(arrays), tuple(trusted))


def _is_declared(program: Program, name: str) -> bool:
    declarations = program.file.declarations
    return any(declarations.visible(one, program.region) for one in (name, name.split("__")[0]))


def with_known_constants(old: Program, new: Program) -> Program:
    """`old` restricted to the values of its parameters that are numbers in one of the files."""
    context = of_small_types(old)
    for name, value in (*_written_out(old, new), *_written_out(new, old)):
        context = at_parameters(context, {name: value})
    return replace(old, context=context)


def with_statics_seen(program: Program) -> Program:
    """The program with its static variables assumed to be read afterwards, like those of a declaration."""
    arrays = tuple(
        replace(one, observed=True) if one.observed is False and not program.is_private(one) else one
        for one in program.arrays
    )
    return replace(program, arrays=arrays)


def declared_in(program: Program, region: Span) -> Program:
    """The program as if its statements were in another region, with the variables declared there."""
    declarations = c_file(region.source).declarations
    arrays: list[Array] = []
    for array in program.arrays:
        found = declarations.visible(array.name, region)
        arrays.append(
            Array(array.name, array.rank)
            if found is None
            else Array(
                array.name, found.rank, found.type, local=False, extents=found.extents, rows=array.rows
            )
        )
    return replace(program, region=region, arrays=tuple(arrays))


def names_of_one_memory(old: Program, new: Program) -> tuple[str, str] | None:
    """Returns an array of OLD and one of NEW, each named in one source only, that may alias."""
    first, second = ({one.name for one in program.arrays if not one.local} for program in (old, new))
    for one in sorted(first - second):
        for other in sorted(second - first):
            if _is_set(one, old) or _is_set(other, new):
                return one, other
    return None


def _is_set(name: str, program: Program) -> bool:
    """Whether the file makes a pointer point to memory that it has not just allocated."""
    if name not in {one.name for one in program.arrays if one.rank}:
        return False
    return not name.isidentifier() or any(_sets(node, name) for node in walk(program.file.tree))


def _sets(node: Node, name: str) -> bool:
    """Whether a declaration or an assignment sets a pointer of this name; arrays are not pointers."""
    target, value = _given(node)
    if target is None or name not in identifiers(target) or _allocates(value):
        return False
    if node.type != "init_declarator":
        return without_parentheses(target).text == name
    is_pointer = any(part.type == "pointer_declarator" for part in walk(target))
    return is_pointer or target.type != "array_declarator"


def _given(node: Node) -> tuple[Node | None, Node | None]:
    """The target and value of a declaration or assignment; of `&x` in a call, x and the call."""
    match node.type:
        case "init_declarator":
            return node.child_by_field_name("declarator"), node.child_by_field_name("value")
        case "assignment_expression":
            return assigned_target(node), node.child_by_field_name("right")
        case "pointer_expression" if operator(node) == "&":
            return node.child_by_field_name("argument"), node.beyond("cast_expression", "argument_list")
    return None, None


def _allocates(value: Node | None) -> bool:
    core = None if value is None else without_parentheses(value)
    while core is not None and core.type == "cast_expression":
        inner = core.child_by_field_name("value")
        core = None if inner is None else without_parentheses(inner)
    callee = core.child_by_field_name("function") if core is not None else None
    return callee is not None and re.search("alloc|memalign", callee.text) is not None
