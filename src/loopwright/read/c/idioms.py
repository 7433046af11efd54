"""Two ways of writing loops that need no analysis, only recognition.

    for (i = n; i-- > 0;) body          runs body for i = n - 1, ..., 0
    for (...) { A; if (c) continue; B }     is    for (...) { A; if (!c) B }
"""

from __future__ import annotations

from tree_sitter import Node

from loopwright.read.c.syntax import field, named_children, operator, without_parentheses


def countdown_limit(loop: Node) -> Node | None:
    """e of a loop whose test is `i-- > e`, and that has no update."""
    test = loop.child_by_field_name("condition")
    if loop.child_by_field_name("update") is not None or test is None:
        return None
    core = without_parentheses(test)
    if core.type != "binary_expression" or operator(core) != ">":
        return None
    counted = without_parentheses(field(core, "left"))
    is_postfix = counted.type == "update_expression" and counted.children[0] == field(counted, "argument")
    return field(core, "right") if is_postfix and operator(counted) == "--" else None


def countdown_name(loop: Node) -> Node:
    """i of a loop whose test is `i-- > e`."""
    core = without_parentheses(field(loop, "condition"))
    return without_parentheses(field(without_parentheses(field(core, "left")), "argument"))


def skip_condition(node: Node) -> Node | None:
    """c, where `node` is `if (c) continue;` at the top of the body of a loop."""
    if node.type != "if_statement" or node.child_by_field_name("alternative") is not None:
        return None
    inside = field(node, "consequence")
    while inside.type == "compound_statement" and len(named_children(inside)) == 1:
        inside = named_children(inside)[0]
    block = node.parent
    around = block.parent if block is not None and block.type == "compound_statement" else None
    is_top = around is not None and around.type == "for_statement"
    return field(node, "condition") if is_top and inside.type == "continue_statement" else None
