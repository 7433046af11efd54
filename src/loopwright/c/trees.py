"""Syntax trees of C by tree-sitter, and pattern queries on them.

tree-sitter counts bytes; it gets a text with every character outside ASCII replaced by `_`, so that its
bytes are our characters.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

import tree_sitter
import tree_sitter_c

from loopwright.c.tokens import with_joined_types

RawNode = tree_sitter.Node
_LANGUAGE = tree_sitter.Language(tree_sitter_c.language())
KINDS = [_LANGUAGE.node_kind_for_id(k) or "" for k in range(_LANGUAGE.node_kind_count)]
LONG = 20_000
"""The number of characters from which a text is long."""


@cache
def _query(patterns: tuple[str, ...]) -> tree_sitter.Query:
    """A query for the nodes of each of these patterns."""
    return tree_sitter.Query(_LANGUAGE, "\n".join(f"[{one}] @f{k}" for k, one in enumerate(patterns)))


def captures(raw: RawNode, patterns: tuple[str, ...]) -> list[list[RawNode]]:
    """The matches of each pattern, in source order."""
    found = tree_sitter.QueryCursor(_query(patterns)).captures(raw)
    parts = (found.get(f"f{k}", []) for k in range(len(patterns)))
    return [sorted(one, key=lambda node: (node.start_byte, -node.end_byte)) for one in parts]


captures_of_long = lru_cache(maxsize=16)(captures)
"""The same, cached: a long text is often parsed again as part of another source."""


def parsed(text: str, known: tuple[str, int, int] | None = None) -> RawNode:
    """The root of the tree of a text; with `known`, it equals that other text between two offsets.
    """
    plain = _plain(text)
    if len(plain) <= LONG:
        return _tree(plain).root_node
    if known is None:
        return _tree_of_long(plain).root_node
    whole, start, end = known
    return _tree_of_part(plain, _plain(whole), start, end).root_node


def _plain(text: str) -> str:
    return with_joined_types(re.sub(r"[^\x00-\x7f]", "_", text))


def _tree(plain: str, old: tree_sitter.Tree | None = None) -> tree_sitter.Tree:
    parser, text = tree_sitter.Parser(_LANGUAGE), plain.encode("ascii")
    return parser.parse(text) if old is None else parser.parse(text, old)


@lru_cache(maxsize=4)
def _tree_of_long(plain: str) -> tree_sitter.Tree:
    """The tree of a long text, cached: it is a source of its own for each choice of its regions."""
    return _tree(plain)


@lru_cache(maxsize=4)
def _tree_of_part(plain: str, whole: str, start: int, end: int) -> tree_sitter.Tree:
    """The tree of a text that shares a part with another one, which is not parsed again, as in an editor."""
    before = _tree_of_long(whole)
    if len(plain) != len(whole) or plain[start:end] != whole[start:end] or before.root_node.has_error:
        return _tree_of_long(plain)
    old = before.copy()
    for first, last in ((0, start), (end, len(plain))):
        points = [
            (text.count("\n", 0, one), one - text.rfind("\n", 0, one) - 1)
            for text, one in ((plain, first), (whole, last), (plain, last))
        ]
        old.edit(first, last, last, *points)
    return _tree(plain, old)
