"""Messages are for people: nothing is found out by reading one, and no finished text is taken apart.

What one part tells another about an error are the fields of its `Diagnostic`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

import pytest

from tests.test_rooms import modules, nodes

WORDS = {"message", "explanation", "summary", "hint", "witness", "headline"}
"""Fields of errors and verdicts, and variables, that hold sentences."""

RENDERED = {"as_text", "as_html", "explain", "explain_all"}
"""Functions that give finished texts, or once did."""

TAKING_APART = {
    *("count", "endswith", "find", "findall", "finditer", "fullmatch", "index", "lstrip", "match"),
    *("partition", "removeprefix", "removesuffix", "replace", "rfind", "rindex", "rpartition", "rsplit"),
    *("rstrip", "search", "split", "splitlines", "startswith", "strip", "sub"),
}
"""Methods of strings and of patterns, and functions of `re`."""

CALLED = {"cause", "error", "failure", "refused", "stopped", "wrong"}
"""What errors are called."""

FOREIGN = ("isl.Error", "Exception", "OSError", "ValueError", "VerifyException", "subprocess")
"""Errors of others have nothing but a text."""


def reading(parts: Sequence[ast.AST]) -> Iterator[tuple[int, str]]:
    """The places where a program, all of whose nodes are given, reads what is written for people."""
    foreign = _foreign(parts)
    for node in parts:
        match node:
            case ast.Call(func=ast.Name("getattr"), args=[_, ast.Constant(str()), *_]):
                yield node.lineno, ast.unparse(node)
            case ast.Call(func=ast.Attribute(value, method), args=given) if method in TAKING_APART:
                if any(_is_sentence(one, foreign) for one in (value, *given)):
                    yield node.lineno, ast.unparse(node)
            case ast.Compare(left, [ast.In() | ast.NotIn()], [right]) if _is_sentence(right, foreign):
                yield node.lineno, ast.unparse(node)
            case ast.Compare(left, [ast.Eq() | ast.NotEq()], [right]):
                sentences = [one for one in (left, right) if _is_sentence(one, foreign)]
                if sentences and any(isinstance(one, ast.Constant) for one in (left, right)):
                    yield node.lineno, ast.unparse(node)


def _foreign(parts: Sequence[ast.AST]) -> set[str]:
    """Names that are bound to errors of others, and what is made of their texts."""
    found: set[str] = set()
    for node in parts:
        match node:
            case ast.ExceptHandler(type=ast.expr() as kind, name=str(name)):
                if ast.unparse(kind).startswith(FOREIGN):
                    found.add(name)
            case ast.arg(arg=name, annotation=ast.expr() as kind) if ast.unparse(kind).startswith(FOREIGN):
                found.add(name)
    for node in parts if found else ():
        if isinstance(node, ast.Assign) and _names(node.value) & found:
            found |= {ast.unparse(target) for target in node.targets}
    return found


def _names(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def _is_sentence(node: ast.expr, foreign: set[str]) -> bool:
    """Whether an expression is the text of an error, or holds it."""
    match node:
        case ast.Name(name):
            return name in WORDS and name not in foreign
        case ast.Attribute(ast.Name(owner), name):
            return name in WORDS and owner not in foreign
        case ast.Attribute(_, name):
            return name in WORDS
        case ast.Call(func=ast.Name("str"), args=[ast.Name(name)]):
            return name not in foreign and name in CALLED
        case ast.Call(func=function):
            return ast.unparse(function).rpartition(".")[2] in RENDERED
        case _:
            return False


def test_no_message_is_read() -> None:
    found = [f"{name}:{line}: {text}" for name in modules() for line, text in reading(nodes(name))]
    assert found == []


@pytest.mark.parametrize(
    "code",
    [
        # what the command line once did
        'lines = str(getattr(error, "explanation", "")).splitlines(keepends=True)',
        'explanation = getattr(error, "explanation", error.message)',
        "for word in re.findall(pattern, message): pass",
        "_, explanation = explain_all(verdict).split(chr(10), 1)",
        'write(explanation.split("\\n\\n")[0])',
        # and other ways to the same end
        're.search("no operation", error.message)',
        're.search("no operation", str(error))',
        'PATTERN.fullmatch(failure.message)',
        'if "too large" in error.message: pass',
        'if "too large" in str(error): pass',
        'if error.message.startswith("could not decide"): pass',
        'if error.hint == "give more": pass',
        "head = as_text(error.diagnostic).partition(chr(10))",
    ],
)
def test_reading_is_seen(code: str) -> None:
    assert list(reading([*ast.walk(ast.parse(code))]))


@pytest.mark.parametrize(
    "code",
    [
        "def f(error: isl.Error):\n    message = re.sub(prefix, '', str(error))\n    return message.strip()",
        "try: pass\nexcept OSError as error: print(str(error).strip())",
        'raise BadInput(Code.FILE, f"{error.message}")',
        "value = getattr(domain, which)(k)",
    ],
)
def test_what_is_not_reading(code: str) -> None:
    assert not list(reading([*ast.walk(ast.parse(code))]))
