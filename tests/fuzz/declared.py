"""Tests whether a changed program may still compile: every name is declared, exactly once.

Answers about a program that does not compile are of little use.
"""

from __future__ import annotations

import re

from loopwright.c.trees import RawNode, parsed

_SCOPES = ("compound_statement", "for_statement", "function_definition")
_ELSEWHERE = re.compile(r"(?m)^(?:[ \t]*#.*|enum .*)$")
"""Lines whose names are known everywhere: those of directives and enumerators."""


def may_compile(text: str) -> bool:
    """Whether the text is C as far as its syntax says, and the names of its functions are known there."""
    root = parsed(text)
    known = set(re.findall(r"\w+", "\n".join(_ELSEWHERE.findall(text))))
    return not root.has_error and _are_known(root, [known])


def _are_known(node: RawNode, scopes: list[set[str]]) -> bool:
    """Whether the names in a node are among those of the scopes, to which its own declarations are added."""
    if node.type in ("preproc_include", "preproc_call", "preproc_def", "preproc_function_def"):
        return True
    if node.type == "identifier":
        return any(_word(node) in one for one in scopes)
    inner = [*scopes, set()] if node.type in _SCOPES else scopes
    for child in node.children:
        declarator = _declared(node, child)
        if declarator is not None and _word(declarator) in inner[-1]:
            return False
        if declarator is not None:
            inner[-1].add(_word(declarator))
            if node.type == "function_definition":
                scopes[-1].add(_word(declarator))
        if node.type == "call_expression" and child.type == "identifier":
            continue  # functions of the library have no declaration here
        if not _are_known(child, inner):
            return False
    return True


def _declared(node: RawNode, child: RawNode) -> RawNode | None:
    """The name that a child of a declaration declares."""
    if node.type not in ("declaration", "parameter_declaration", "function_definition"):
        return None
    found: RawNode | None = child
    while found is not None and found.type.endswith("_declarator"):
        found = found.child_by_field_name("declarator") or next(iter(found.named_children), None)
    return found if found is not None and found.type == "identifier" else None


def _word(node: RawNode) -> str:
    return (node.text or b"").decode()
