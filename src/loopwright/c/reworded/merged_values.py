"""Rewrites a block in which threads combine values into variables of their own, and these into shared ones.

The forms are in `guarded_sums`; here is the block with its loop, and what pragmas say of its variables.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from loopwright.c.accumulations import CALLS
from loopwright.c.declarations import Variable, is_integer_type
from loopwright.c.file import CFile
from loopwright.c.regions import Directive, Region
from loopwright.c.reworded.own_values import (
    EXTREMES,
    IDEMPOTENT,
    MergingStep,
    OfLibrary,
    begins_as_identity,
    combined_value,
    leaves_unchanged,
    step_of,
)
from loopwright.c.reworded.passages import changed_in
from loopwright.c.syntax import (
    Node,
    assigned_target,
    field,
    named_children,
    operator,
    walk,
    without_parentheses,
)
from loopwright.c.tokens import names_in, on_one_line
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Edit

_NOWAIT, _HIDDEN = re.compile(r"\bnowait\b"), re.compile(r"\b(?:volatile|_Atomic)\b")
_FLOATING = ("double", "float")
_VALUES = ("identifier", "number_literal", "subscript_expression", "parenthesized_expression")


@dataclass(frozen=True)
class MergingBlock:
    """A block that each thread runs: its first statements, a loop, and the guarded statement at its end."""

    file: CFile
    region: Region
    block: Node
    head: Directive
    divided: Directive | None
    """The directive of the loop; None where threads have their parts of it by number."""
    before: tuple[Node, ...]
    loop: Node
    last: Node
    is_of_library: OfLibrary

    def edits(self, steps: Sequence[MergingStep]) -> list[Edit]:
        """Edits that combine the values of the loop into the shared variables by clauses."""
        found = [self.merged(one) for one in steps]
        merged = [one for one in found if one is not None]
        names = {name for one in merged for name in (one.own, one.step.name)}
        if len(merged) < len(steps) or len(names) < 2 * len(steps):
            return []
        private = {one.own for one in merged if len(one.begun) == 1 and one.begun[0].type != "declaration"}
        said = without_names(self.head.argument, "private", private)
        said = without_names(said, "shared", {one.step.name for one in merged})
        gone = dict.fromkeys(node for one in merged for node in one.begun)
        declared = {name for node in gone for name in declared_values(node)}
        is_hidden = bool(private) and _HIDDEN.search(self.file.source.text) is not None
        own = {one.own for one in merged}
        if declared != own - private or not private <= _listed(self.head.argument, "private") or is_hidden:
            return []
        further = [self.after_block(one) for one in merged]
        if None in further or is_told(self.file, self.region, names, self.head, said):
            return []
        left_out = [(one.start, one.end, "\n" * one.text.count("\n")) for one in (*gone, self.last)]
        renamed = [(use.start, use.end, one.step.name) for one in merged for use in self.loop.named(one.own)]
        after = "".join(one for one in further if one is not None)
        return [*left_out, *renamed, *self.directives(said, steps), (self.block.end, self.block.end, after)]

    def directives(self, said: str, steps: Sequence[MergingStep]) -> list[Edit]:
        if self.divided is None:
            return [reworded(self.head, said, steps)]
        return [reworded(self.head, said), reworded(self.divided, self.divided.argument, steps)]

    def merged(self, step: MergingStep) -> _Merged | None:
        """The variable of each thread that a step combines, if it is one and nothing else uses the two."""
        shared = scalar(self.file, step.name, self.block)
        kind = type_of(self.file, shared)
        own = combined_value(step, kind, self.is_of_library) if kind else None
        begun = None if own is None else first_value(own, self.before)
        if own is None or begun is None or type_of(self.file, scalar(self.file, own, self.last)) != kind:
            return None
        statements, value = begun
        uses = self.loop.named(own)
        known = len(uses) + len(step.node.named(own)) + len(statements)
        is_alone = len(self.block.named(own)) == known
        from_shared = without_parentheses(value).text == step.name
        is_alone &= len(self.block.named(step.name)) == len(step.node.named(step.name)) + from_shared
        if not is_alone or not all(self.is_combined(one, own, step, kind) for one in uses):
            return None
        return _Merged(step, own, statements, value, kind)

    def is_combined(self, use: Node, own: str, last: MergingStep, kind: str) -> bool:
        """Whether a name in the loop belongs to a step that combines values as the last one does."""
        node = use.parent
        while node is not None and node is not self.loop:
            if node.type in ("expression_statement", "if_statement"):
                step = step_of(node, self.file)
                if step is not None and (step.name, step.operator) == (own, last.operator):
                    return step.operator not in EXTREMES or leaves_unchanged(step, kind, self.is_of_library)
            node = node.parent
        return False

    def after_block(self, one: _Merged) -> str | None:
        """What combines a first value into the shared variable; None if it is not known to be the same."""
        name, operation = one.step.name, one.step.operator
        if without_parentheses(one.value).text == name:
            waits = self.divided is not None and _NOWAIT.search(self.divided.argument) is None
            return "" if waits and operation in IDEMPOTENT else None
        if begins_as_identity(one.value, operation, one.kind, self.is_of_library):
            return ""
        is_inside = self.block.parent is not None and self.block.parent.type == "compound_statement"
        if operation not in IDEMPOTENT or not is_inside or not self.is_kept(one):
            return None
        value = on_one_line(one.value.text)
        if operation not in EXTREMES:
            return f" {name} {operation}= {value};"
        return f" if ({name} {'<' if operation == 'max' else '>'} {value}) {name} = {value};"

    def is_kept(self, one: _Merged) -> bool:
        """Whether a first value is the same after the block: variables and cells that it does not change."""
        shared = scalar(self.file, one.step.name, self.block)
        parts = [node for node in walk(one.value) if node.is_named]
        names = {node.text for node in parts if node.type == "identifier"}
        is_plain = all(node.type in _VALUES or _is_negative(node) for node in parts)
        if shared is None or not is_plain or not is_exact(self.file, shared, one.value):
            return False
        visible, around, here = self.file.declarations.visible, self.block.span, one.value.span
        outer = {name: visible(name, around) for name in names}
        if any(found is None or found != visible(name, here) for name, found in outer.items()):
            return False
        targets = [target for node in walk(self.loop) if (target := assigned_target(node)) is not None]
        writes = any(target.type != "identifier" for target in targets)
        is_read = any(node.type == "subscript_expression" for node in parts)
        called = {field(one, "function").text for one in self.loop.of_type("call_expression")}
        is_called = bool(names) and not called <= {*CALLS, "fabs"} - {one.name for one in self.file.functions}
        changed = {*changed_in(self.block), *self.file.macro_names}
        is_said = is_told(self.file, self.region, names, self.head, self.head.argument)
        return names.isdisjoint(changed) and not (is_read and writes) and not is_called and not is_said


@dataclass(frozen=True)
class _Merged:
    """A variable of each thread, and the step that combines it into a shared one."""

    step: MergingStep
    own: str
    begun: tuple[Node, ...]
    """The statements before the loop that declare it, or set it to its first value."""
    value: Node
    kind: str


def _is_negative(node: Node) -> bool:
    return node.type == "unary_expression" and operator(node) == "-"


def first_value(own: str, before: Sequence[Node]) -> tuple[tuple[Node, ...], Node] | None:
    """The statements that declare a variable or set it, and the value, if it gets one once."""
    statements: list[Node] = []
    values: list[Node] = []
    for one in before:
        declared, given = declared_values(one), one.only_assignment
        if own in declared:
            value = declared[own]
            values += [] if value is None else [value]
            statements.append(one)
        elif given is not None and field(given, "left").text == own:
            values.append(field(given, "right"))
            statements.append(one)
    is_known = len(values) == 1 and not values[0].mentions(own)
    return (tuple(statements), values[0]) if is_known else None


def declared_values(declaration: Node) -> dict[str, Node | None]:
    """The variables of `double own = 0, other;` with their values; none of another declaration."""
    made = declaration.children_by_field_name("declarator") if declaration.type == "declaration" else []
    if len(named_children(declaration)) != 1 + len(made):
        return {}
    found = {one.declared.text: one.child_by_field_name("value") for one in made}
    return found if all(one.declared.type == "identifier" for one in made) else {}


def is_told(file: CFile, region: Region, names: Collection[str], own: Directive, said: str) -> bool:
    """Whether a pragma names one of these, where `own` says `said`; one of another region does not."""
    others = [one.place for one in file.regions if one != region]
    texts = [said]
    for one in file.directives:
        is_far = "threadprivate" not in one.argument and any(place.contains(one.place) for place in others)
        if one.name == "pragma" and one != own and not is_far:
            texts.append(one.argument)
    return any(not {*names}.isdisjoint(names_in(one)) for one in texts)


def scalar(file: CFile, name: str, at: Node) -> Variable | None:
    """The declaration of a variable, if it is a scalar."""
    found = file.declarations.visible(name, at.span)
    return None if found is None or found.rank or name in file.macro_names else found


def type_of(file: CFile, kind: Variable | None) -> str:
    return "" if kind is None else file.declarations.resolved(kind.type)


def is_exact(file: CFile, kind: Variable, value: Node | None) -> bool:
    """Whether values are exact in the type of a variable."""
    own, visible = type_of(file, kind), file.declarations.visible
    if own in _FLOATING or not is_integer_type(own):
        return own in _FLOATING
    for node in () if value is None else walk(value):
        match node.type:
            case "identifier":
                is_integer = is_integer_type(type_of(file, visible(node.text, node.span)))
            case "number_literal":
                is_integer = node.text.isdecimal()
            case other:
                is_integer = other not in ("call_expression", "field_expression", "cast_expression")
        if not is_integer:
            return False
    return True


def _listed(argument: str, clause: str) -> set[str]:
    """The names in the clauses `clause(..)` of a pragma."""
    lists = re.findall(rf"\b{clause}\s*\(([^()]*)\)", argument)
    return {name for inside in lists for name in names_in(inside)}


def without_names(argument: str, clause: str, names: Collection[str]) -> str:
    """What a pragma says, without these names in its clauses `clause(..)`."""

    def kept(found: re.Match[str]) -> str:
        listed = names_in(found[1])
        left = [name for name in listed if name not in names]
        rest = f" {clause}({', '.join(left)})" if left else ""
        return found[0] if len(left) == len(listed) else rest

    return re.sub(rf"[\s,]*\b{clause}\s*\(([^()]*)\)", kept, argument) if names else argument


def reworded(pragma: Directive, said: str, steps: Iterable[MergingStep] = ()) -> Edit:
    """A pragma that says something else, with clauses for the variables of steps."""
    combined: dict[str, list[str]] = {}
    for one in steps:
        combined.setdefault(one.operator, []).append(one.name)
    clauses = "".join(f" reduction({sign}:{', '.join(names)})" for sign, names in combined.items())
    return pragma.place.reworded(f"#pragma{said.rstrip()}{clauses}")
