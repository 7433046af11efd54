"""Values of variables at the start of a region: what its function computes before it, for given sizes.

A refutation is about a run of the function.  The code before the region is executed in order, as far as it
computes numbers from numbers: `m = n / 2;`, `if (n < 1) return;`.  A value that was loaded, or returned by an
unknown function, may be anything, and so may what loops leave in arrays.  A number that is computed but not
known, and cells that statements outside of loops have set, are not inputs of a witness.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field as field_of
from dataclasses import replace
from functools import cached_property

from loopwright.c.declarations import unqualified
from loopwright.c.file import CFile
from loopwright.c.liveness import function_around
from loopwright.c.loops import LEAVING, LOOPS
from loopwright.c.syntax import Node, assigned_target, field, identifiers, named_children, operator, walk
from loopwright.c.syntax import without_parentheses as core_of
from loopwright.c.tokens import names_in
from loopwright.c.typed.options import CompilerOptions
from loopwright.c.types import DOUBLE, FLOAT, Integer
from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import Program
from loopwright.prove.equivalence.known_numbers import (
    ENDING,
    EXACT,
    LARGEST,
    AssumedCondition,
    Beginning,
    KnownNumbers,
    LoadedValue,
    changing_macros,
    literal_number,
    macro_of_headers,
    macros_of_file,
    may_not_return,
    open_names,
    standard_headers,
)
from loopwright.source import Span

OTHERWISE = 5
"""The value assumed for an int parameter that is not a size of the region."""
_FILLERS = ("memset", "memcpy", "memmove", "bzero")


class RegionNotReached(Exception):
    """The region is not reached."""


@dataclass(frozen=True)
class EnclosingFunction:
    """The function around a region."""

    file: CFile
    node: Node
    region: Span
    constants: Mapping[str, float]
    """Macros of headers that are numbers, with their values."""
    options: CompilerOptions

    def beginning(self, sizes: Mapping[str, int]) -> Beginning | None:
        """What is known at the start of the region for given sizes; None if the region is not reached."""
        given = {name: sizes.get(name, OTHERWISE) for name in self.parameters}
        run = _Prelude(self, {**self._constants, **self.constants, **given}, set())
        try:
            run.until(field(self.node, "body"))
        except RegionNotReached:
            return None
        values = run.values | dict.fromkeys(self._reached_by_pointers)
        return Beginning(values, frozenset(run.cells), tuple(run.assumed), tuple(run.loaded.values()))

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The integer parameters."""
        lists = [one for one in walk(field(self.node, "declarator")) if one.type == "parameter_declaration"]
        plain = [one for one in lists if one.text.split()[:-1] in (["int"], ["long"], ["const", "int"])]
        return tuple(one.text.split()[-1] for one in plain if one.text.split()[-1].isidentifier())

    @cached_property
    def _before(self) -> tuple[Node, ...]:
        return tuple(node for node in walk(self.node) if node.start < self.region.start)

    @cached_property
    def _reached_by_pointers(self) -> tuple[str, ...]:
        """Variables whose addresses are taken before the region, other than as call arguments."""
        taken = [one for one in self._before if one.type == "pointer_expression" and operator(one) == "&"]
        kept = [one for one in taken if one.parent is None or one.parent.type != "argument_list"]
        kept += [one for one in self._before if "asm" in one.type]
        return tuple(name for one in kept for name in identifiers(one))

    @cached_property
    def _constants(self) -> dict[str, float | None]:
        """File-scope static variables that nothing changes, with their initial values."""
        found: dict[str, float | None] = {}
        for node in named_children(self.file.tree):
            if node.type == "declaration" and node.text.startswith("static ") and "(" not in node.text:
                for one in (part for part in named_children(node) if part.type == "init_declarator"):
                    name, value = field(one, "declarator"), core_of(field(one, "value"))
                    number = literal_number(value.text)
                    if name.type == "identifier" and number is not None and not self._changes(name.text):
                        found[name.text] = number
        return found

    def _changes(self, name: str) -> bool:
        for node in walk(self.file.tree):
            is_taken = node.type == "pointer_expression" or "asm" in node.type
            changed = node if is_taken else assigned_target(node)
            if changed is not None and name in identifiers(changed):
                return True
        return False

    @cached_property
    def fixed(self) -> frozenset[str]:
        """Names that no input sets: macros, enumerators, and variables that nothing changes."""
        found = {one.name for one in self.file.declarations.variables if one.value is not None}
        for node in (one for one in named_children(self.file.tree) if one.type == "declaration"):
            words = node.text.split()
            for one in node.children_by_field_name("declarator"):
                kinds, name = {part.type for part in walk(one)}, identifiers(one)[:1]
                is_static = "static" in words and not kinds & {"array_declarator", "function_declarator"}
                if not name or "pointer_declarator" in kinds:
                    continue
                if "const" in words or (is_static and not self._changes(name[0])):
                    found.add(name[0])
        return frozenset(found) | macros_of_file(self.file.source, self.options)

    @cached_property
    def ending(self) -> frozenset[str]:
        """Functions that do not return, or may not."""
        found = [one for one in self.file.functions if not ENDING.isdisjoint(names_in(one.body.text))]
        said = [one for one in named_children(self.file.tree) if "oreturn" in one.text]
        return ENDING | {one.name for one in found} | {name for one in said for name in identifiers(one)}

    @cached_property
    def hides_changes(self) -> bool:
        """Whether a macro before the region may assign, take an address, or leave the function."""
        words = set(names_in(self.node.source.text[self.node.start : self.region.start]))
        return any(name in words for name in changing_macros(self.file.source, self.options))


def function_of(program: Program) -> EnclosingFunction | None:
    """The function around a region, or None."""
    file, node = program.file, function_around(program.file, program.region)
    if node is None:
        return None
    headers, options = standard_headers(file), program.compiled.for_file(file.source.path)
    numbers = [(name, macro_of_headers(headers, name, options)) for name in open_names(program)]
    known = {name: value for name, value in numbers if value is not None}
    return EnclosingFunction(file, node, program.region, known, options)


@dataclass
class _Prelude:
    """What is known so far.  A name that is not in `values` may have any value."""

    function: EnclosingFunction
    values: dict[str, float | None]
    cells: set[str]
    assumed: list[AssumedCondition] = field_of(default_factory=list)
    loaded: dict[str, LoadedValue] = field_of(default_factory=dict)

    @property
    def numbers(self) -> KnownNumbers:
        function = self.function
        return KnownNumbers(function.file, function.region, self.values, function.fixed)

    def value(self, node: Node) -> float | None:
        """The value of an expression, if known."""
        return self.numbers.value(node)

    def until(self, node: Node) -> None:
        """Executes the part of a statement before the region."""
        region = self.function.region
        match node.type:
            case "switch_statement":
                self.leave_unless_open(field(node, "condition"))
                body = field(node, "body")
                self.forget(body)
                for one in named_children(body):
                    if one.start <= region.start < one.end:
                        self.until(one)
            case "compound_statement" | "labeled_statement" | "case_statement":
                for one in named_children(node):
                    if one.end <= region.start:
                        self.run(one)
                    elif one.start < region.start:
                        self.until(one)
            case "if_statement" | "else_clause":
                test = node.child_by_field_name("condition")
                for one in named_children(node):
                    if one.start <= region.start < one.end and one != test:
                        self.demand(test, is_true=one.type != "else_clause")
                        self.until(one)
            case "for_statement":
                first = node.child_by_field_name("initializer")
                if first is not None:
                    self.run(first)
                self.demand(node.child_by_field_name("condition"), is_true=True)
                self.until(field(node, "body"))
            case "while_statement":
                self.demand(node.child_by_field_name("condition"), is_true=True)
                self.until(field(node, "body"))
            case "do_statement":
                self.until(field(node, "body"))

    def demand(self, test: Node | None, *, is_true: bool) -> None:
        if test is not None and not self.assume(test, is_true=is_true):
            raise RegionNotReached

    def assume(self, test: Node, *, is_true: bool) -> bool:
        """Whether inputs can give a condition this outcome; if so, assumes it."""
        numbers = self.numbers
        if numbers.value(test) is None:
            known = replace(numbers, values=dict(self.values))
            self.assumed.append(AssumedCondition(test, is_true, known))
        return numbers.can_be(test, is_true=is_true)

    def leave_unless_open(self, node: Node) -> None:
        """Raises RegionNotReached if known values may decide the branch: they may skip the region."""
        if any(name in self.values or name in self.function.fixed for name in identifiers(node)):
            raise RegionNotReached

    def run(self, node: Node) -> None:
        """Executes a statement before the region, or an expression."""
        match node.type:
            case "compound_statement":
                before = dict(self.values)
                for one in named_children(node):
                    self.run(one)
                declared = [one for one in named_children(node) if one.type == "declaration"]
                own = [name for one in declared for name in identifiers(one)]
                self.values |= {name: before.get(name) for name in own}
            case "declaration":
                for one in named_children(node):
                    if one.type == "init_declarator":
                        self.declare(one, is_static="static" in node.text.split())
                        self.forget(field(one, "value"))
            case "expression_statement" | "else_clause":
                for one in named_children(node):
                    self.run(one)
            case "assignment_expression" | "update_expression":
                self.assign(node)
            case "if_statement":
                if may_not_return(node, self.function.file):
                    self.demand(field(node, "condition"), is_true=False)
                value = self.value(field(node, "condition"))
                self.forget(field(node, "condition"))
                branch = node.child_by_field_name("consequence" if value else "alternative")
                if value is None:
                    self.forget(node)
                elif branch is not None:
                    self.run(branch)
            case "call_expression":
                self.call(node)
            case kind if kind in LEAVING:
                raise RegionNotReached
            case _:
                self.forget(node)

    def call(self, node: Node) -> None:
        """Executes a call: `assert` imposes a condition; other calls may set variables passed by address."""
        given = named_children(field(node, "arguments"))
        name = field(node, "function").text
        if name in self.function.ending:
            raise RegionNotReached
        for part in (part for one in given for part in walk(one)):
            if assigned_target(part) is not None:
                self.forget(part)
        if name == "assert" and len(given) == 1:
            self.demand(given[0], is_true=True)
        for one in (part for part in walk(node) if part.type == "pointer_expression"):
            for taken in identifiers(one):
                self.values.pop(taken, None)
                self.values |= {taken: None} if name in _FILLERS else {}

    def declare(self, node: Node, *, is_static: bool) -> None:
        target, value = field(node, "declarator"), field(node, "value")
        if target.type == "identifier":
            self.set(target.text, None if is_static else self.given(value, target.text))
        elif target.type == "array_declarator" or "&" in value.text:
            self.cells |= set(identifiers(target)[:1])

    def assign(self, node: Node) -> None:
        target = assigned_target(node)
        core = None if target is None else core_of(target)
        if core is None or core.type != "identifier":
            self.forget(node)
            return
        sign = operator(node)
        if node.type == "assignment_expression":
            self.forget(field(node, "right"))
        if node.type == "assignment_expression" and sign == "=":
            self.set(core.text, self.given(field(node, "right"), core.text))
            return
        before = self.value(core)
        added = 1 if node.type == "update_expression" else self.value(field(node, "right"))
        exact = EXACT.get(sign[0]) if sign[0] in "+-*" else None
        if before is None or added is None or exact is None:
            self.values[core.text] = None
        else:
            self.set(core.text, exact(before, added))

    def set(self, name: str, value: float | Node | None) -> None:
        """Sets a variable to a number, to any value (a load or a call), or to unknown (None)."""
        before = self.loaded.pop(name, None)
        if not isinstance(value, Node):
            self.values[name] = self.as_declared(name, value)
            return
        self.values.pop(name, None)
        if value.text == name and before is not None:
            self.loaded[name] = before
        else:
            self.loaded[name] = self.load(name, value)

    def load(self, name: str, value: Node) -> LoadedValue:
        """What a variable holds that is set to a load or a call, or to a variable that holds one."""
        if value.text in self.loaded:
            return replace(self.loaded[value.text], name=name)
        return LoadedValue(name, value, replace(self.numbers, values=dict(self.values)))

    def as_declared(self, name: str, value: float | None) -> float | None:
        """A number as stored in a variable; None if storing changes it, or if that is not known."""
        file = self.function.file
        declared = file.declarations.visible(name, self.function.region)
        if value is None or declared is None or declared.rank:
            return None
        kind = file.kinds(self.function.region).written_type(declared.type, certain=True)
        if kind == DOUBLE:
            return float(value)
        is_small = abs(value) <= (2**24 if kind == FLOAT else LARGEST)
        if kind == FLOAT and is_small and value == int(value):
            return float(value)
        if not isinstance(kind, Integer) or not isinstance(value, int) or not is_small:
            return None
        return value if kind.least <= value <= kind.greatest else None

    def given(self, node: Node, target: str) -> float | Node | None:
        """The value of an expression; a load of the target's type, or a call, which may give any value."""
        core = core_of(node)
        value = self.value(core)
        if value is not None:
            return value
        while core.type == "cast_expression":
            core = core_of(field(core, "value"))
        if core.type == "call_expression":
            self.call(core)
            names = {one.name for one in self.function.file.functions} | self.function.fixed
            return None if field(core, "function").text in names else core
        is_load = core.type in ("subscript_expression", "field_expression", "pointer_expression")
        is_open = core.type == "identifier" and core.text not in self.values
        is_set = bool((self.cells | self.function.fixed) & set(identifiers(core)[:1])) or "&" in core.text
        declared, both = self.function.file.declarations, (target, *identifiers(core)[:1])
        found = (declared.visible(one, self.function.region) for one in both)
        is_other = len({unqualified(one.type) for one in found if one is not None}) > 1
        return core if (is_load or is_open) and not is_set and not is_other else None

    def forget(self, node: Node) -> None:
        """Marks as unknown what a statement changes: variables, and cells set outside of loops."""
        in_loop = node.type in LOOPS
        self.refuse_leaving(node)
        for part in walk(node):
            target = assigned_target(part)
            core = None if target is None else core_of(target)
            if core is not None and core.type == "identifier":
                self.values[core.text] = None
            elif core is not None and not in_loop:
                self.cells |= set(identifiers(core)[:1])
            ends = part.type == "call_expression" and field(part, "function").text in self.function.ending
            if part.type == "call_expression" and part != node and not ends:
                self.call(part)

    def refuse_leaving(self, node: Node) -> None:
        """Assumes that a statement that is not followed stays in the function, or raises an error."""
        for part in walk(node):
            jumps = part.type in ("return_statement", "goto_statement")
            is_call = part.type == "call_expression"
            if not jumps and not (is_call and field(part, "function").text in self.function.ending):
                continue
            below, above = part, part.parent
            while above is not None and below != node:
                if above.type == "if_statement" and below != above.child_by_field_name("condition"):
                    is_yes = below == above.child_by_field_name("consequence")
                    if self.assume(field(above, "condition"), is_true=not is_yes):
                        break
                below, above = above, above.parent
            else:
                raise RegionNotReached
