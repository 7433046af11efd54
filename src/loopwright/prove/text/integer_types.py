"""The types of integer expressions, where they matter: in values, not in subscripts.

As integers, `i - n` is the same whatever the types of i and n.  As values of C it is not: of an
unsigned type it wraps around, and a product of two longs overflows later than one of two ints.
"""

from __future__ import annotations

from functools import reduce

from loopwright.c.macros import definitions
from loopwright.c.syntax import Node, field, named_children, operator, without_parentheses
from loopwright.c.types import INTEGERS, UNKNOWN, common, known_type, literal_type, promoted
from loopwright.prove.text.c_expressions import Words
from loopwright.source import Span

COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


def resolved_type(text: str, words: Words) -> str:
    """A type as it is known, through typedefs and macros; a name of a header stands for itself."""
    text = words.declarations.resolved(text)
    for word in text.split():
        found = definitions(words.macros, word)
        if len(found) == 1 and not found[0].conditional and found[0].parameters is None:
            text = words.declarations.resolved(text.replace(word, found[0].body))
    return known_type(text) or text


def is_signed(text: str) -> bool:
    """Whether a type is known to be signed."""
    kind = known_type(text)
    return kind in INTEGERS and INTEGERS[kind].signed


def value_type(node: Node, words: Words, at: Span) -> str | None:
    """The type of an integer expression at a place whose value as an integer is its value in C.

    None where it is not: where it is computed in an unsigned type, or in one that is not known.
    """
    return integer_type(node, words, at) if _is_faithful(node, words, at) else None


def _is_faithful(node: Node, words: Words, at: Span) -> bool:
    """Whether nothing is computed, or compared, in a type that wraps around or is not known."""
    node = without_parentheses(node)
    match node.type:
        case "identifier":
            return words.of(node) not in words.cut
        case "number_literal":
            return True
        case "cast_expression":
            inner = field(node, "value")
            kinds = integer_type(inner, words, at), integer_type(node, words, at)
            return holds(*kinds) and _is_faithful(inner, words, at)
        case "unary_expression":
            parts = [field(node, "argument")]
        case "binary_expression":
            parts = [field(node, "left"), field(node, "right")]
        case "conditional_expression":
            parts = [field(node, part) for part in ("consequence", "alternative")]
            if not _is_faithful(field(node, "condition"), words, at):
                return False
        case "call_expression":
            parts = named_children(field(node, "arguments"))
        case _:
            return False
    kind = reduce(common, [promoted(integer_type(part, words, at)) for part in parts])
    is_signed = kind in INTEGERS and INTEGERS[kind].signed
    return is_signed and all(_is_faithful(part, words, at) for part in parts)


def holds(old: str, new: str) -> bool:
    """Whether every value of one integer type is a value of the other."""
    if old not in INTEGERS or new not in INTEGERS:
        return False
    one, other = INTEGERS[old], INTEGERS[new]
    return other.least <= one.least and one.greatest <= other.greatest


def integer_type(node: Node, words: Words, at: Span) -> str:
    """The type C gives an integer expression of iterators and parameters."""
    node = without_parentheses(node)
    match node.type:
        case "number_literal":
            return literal_type(words.of(node))
        case "cast_expression":
            return resolved_type(words.of(field(node, "type")), words)
        case "unary_expression":
            inner = integer_type(field(node, "argument"), words, at)
            return "int" if operator(node) == "!" else promoted(inner)
        case "binary_expression" if operator(node) in (*COMPARISONS, "&&", "||"):
            return "int"
        case "binary_expression":
            left, right = (integer_type(field(node, side), words, at) for side in ("left", "right"))
            return promoted(left) if operator(node) in ("<<", ">>") else common(left, right)
        case "conditional_expression":
            parts = (integer_type(field(node, part), words, at) for part in ("consequence", "alternative"))
            return common(*parts)
        case "call_expression":
            kinds = [integer_type(part, words, at) for part in named_children(field(node, "arguments"))]
            return common(*kinds) if len(kinds) == 2 else UNKNOWN
        case "identifier":
            found = words.declarations.visible(words.of(node), at)
            return "int" if found is None else resolved_type(found.type, words)
        case _:
            return UNKNOWN
