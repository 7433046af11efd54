"""Calls whose effects are not known: such a statement may read and write all the region touches, and more.

What is not in the region is one more array of no dimensions, `ELSEWHERE`, so that these statements keep
their order among each other, and with everything that has a value to lose or to give.  What decides which
instances run, parameters and iterators, has to be out of reach of the functions that are called.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from loopwright.c.file import CFile
from loopwright.c.functions import FunctionDefinition, own_names
from loopwright.c.liveness import is_unreachable
from loopwright.c.loops import outer_iterators
from loopwright.c.macros import definitions, mentions
from loopwright.c.references import reference_of
from loopwright.c.syntax import Node, field, identifiers, operator, refuse, walk, without_parentheses
from loopwright.errors import BadInput
from loopwright.model.program import Parameter
from loopwright.read.c.names import Setting, loops_of
from loopwright.read.c.purity import is_known_pure, why_unknown
from loopwright.source import Span

_RETURNS_TWICE = frozenset(("setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp", "vfork", "getcontext"))


def refuse_reachable(
    file: CFile, setting: Setting, block: Node, parameters: Sequence[Parameter], spots: Iterable[Span]
) -> None:
    """Raise where what decides which instances run may be changed, or seen, by what touches anything.

    `spots` are the places of what may touch anything: calls, and pointers that are not followed.
    """
    places = frozenset(spots)
    if not places:
        return
    calls = [node for node in walk(block) if node.type == "call_expression" and node.span in places]
    for call in calls:
        name = field(call, "function").text
        if name in _RETURNS_TWICE:
            raise refuse(call, f"'{name}' may return twice", "move this call out of the region")
    through = min(places - {call.span for call in calls}, default=None)
    for name in outer_iterators(loops_of(block, setting.whole)):
        _refuse_one(_Reach(file, setting, calls, through), name, name, sees=True)
    for parameter in parameters:
        for name in _names(re.sub(r"(\.|->)\s*\w+", "", parameter.text)):
            _refuse_one(_Reach(file, setting, calls, through), name, parameter.text, sees=False)
        if calls and _is_after_pointer(setting, parameter.text):
            raise _refused(calls[0].span, calls[0].text, parameter.text, "change")
    for row in setting.names.rows:
        _refuse_one(_Reach(file, setting, calls, through), row.base, row.base, sees=False)


def _is_after_pointer(setting: Setting, text: str) -> bool:
    """Whether an expression reads what a pointer leads to, or a macro that may."""
    if "->" in text or "*(" in text:
        return True
    for name in re.findall(r"([A-Za-z_]\w*)\s*\[", text):
        declared = setting.declarations.visible(name, setting.region)
        if declared is None or declared.may_alias or declared.has_row_pointers:
            return True
    bodies = [macro.body for name in _names(text) for macro in definitions(setting.macros, name)]
    return any("->" in body or "[" in body for body in bodies)


def _names(text: str) -> list[str]:
    return re.findall(r"[A-Za-z_]\w*", text)


def unfollowed(setting: Setting, block: Node, spots: Iterable[Span]) -> Iterator[BadInput]:
    """Why the calls and lvalues at these places may touch anything, in the order of the text."""
    places = frozenset(spots)
    found = [node for node in walk(block) if node.span in places] if places else []
    for node in found:
        reference = reference_of(node)
        if node.type == "call_expression":
            yield why_unknown(setting, node)
        elif reference is None and node.type not in ("expression_statement", "argument_list"):
            message = "this is not a variable or an array element"
            yield refuse(node, message, "accepted: x, A[i][j], *p, *(p + i), s.f, p->A[i]")


@dataclass(frozen=True)
class _Reach:
    """Who may touch storage that no text names: calls, and what a pointer at `through` leads to."""

    file: CFile
    setting: Setting
    calls: Sequence[Node]
    through: Span | None


def _refuse_one(reach: _Reach, name: str, text: str, *, sees: bool) -> None:
    """`name` is a variable that `text` is made of; `sees`: nor may it be read.

    A name that nothing declares is assumed to be out of reach; so are the targets of pointers, like those of
    pointers that are followed, if the file takes no address of the variable.
    """
    setting = reach.setting
    for macro in definitions(setting.macros, name):
        for word in _names(macro.body):
            if word != name and word not in (macro.parameters or ()):
                _refuse_one(reach, word, text, sees=sees)
    declared = setting.declarations.visible(name, setting.region)
    if declared is None or declared.value is not None or definitions(setting.macros, name):
        return
    if is_unreachable(reach.file, setting.region, name):
        return
    what = "see" if sees else "change"
    for call in reach.calls:
        if _may_touch(setting, field(call, "function").text, name, (), sees=sees):
            raise _refused(call.span, field(call, "function").text, text, what)
    if reach.through is not None and _has_address(reach.file.tree, name):
        raise _refused(reach.through, reach.through.text, text, what)


def _has_address(root: Node, name: str) -> bool:
    return any(
        node.type == "pointer_expression" and operator(node) == "&" and name in identifiers(node)
        for node in walk(root)
    )


def _refused(place: Span, who: str, name: str, what: str) -> BadInput:
    return refuse(
        place,
        f"'{who}' may {what} '{name}', which decides what the region runs",
        f"copy '{name}' into a variable of its own before the region",
    )


def _may_touch(
    setting: Setting, function: str, name: str, around: tuple[str, ...], *, sees: bool
) -> bool:
    """Whether a function, or one that it calls, may assign to a variable of the file, or mention it."""
    if function in around or is_known_pure(setting, function):
        return False
    known = setting.function(function)
    if known is None or _is_hidden(setting, known, name):
        return True
    if name in identifiers(known.body) if sees else _assigns(known, name):
        return True
    calls = [node for node in walk(known.body) if node.type == "call_expression"]
    names = [field(node, "function").text for node in calls]
    return any(_may_touch(setting, one, name, (*around, function), sees=sees) for one in names)


def _is_hidden(setting: Setting, function: FunctionDefinition, name: str) -> bool:
    """Whether a macro in the body mentions the variable, or the body is not only C."""
    words = set(identifiers(function.body))
    if any(macro.name in words and mentions(macro, name) for macro in setting.macros):
        return True
    return any(node.type in ("ERROR", "gnu_asm_expression") for node in walk(function.body))


def _assigns(function: FunctionDefinition, name: str) -> bool:
    """Whether the body may assign to `name`: by its name, by its address, or through a pointer to anywhere.

    A pointer that is a parameter points to what the call names, which is apart from it by assumption.
    """
    own = own_names(function)
    for node in walk(function.body):
        if node.type == "pointer_expression" and operator(node) == "&" and name in identifiers(node):
            return True
        if node.type not in ("assignment_expression", "update_expression"):
            continue
        target = without_parentheses(node.child_by_field_name("left") or field(node, "argument"))
        reference = reference_of(target)
        if reference is None or reference.root.text == name:
            return True
        through = "->" in target.text or "*" in target.text or reference.elsewhere
        if through and reference.root.text not in own:
            return True
    return False
