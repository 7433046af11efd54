"""Every error carries its code from where it is raised, and every code is used and explained."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

import pytest

from loopwright.cli.main import main
from loopwright.errors import Code
from loopwright.report.manual import code_pages
from tests.test_rooms import last_name, modules, nodes

CLASSES = {"BadInput": 2, "Misuse": 2, "Illegal": 1, "GaveUp": 3, "InternalError": 4, "Crashed": 4}
"""The errors that are raised, with their exit status."""


def calls(module: str) -> Iterator[tuple[str, ast.Call]]:
    """The calls of the error classes; `case BadInput():` is a pattern, not a call."""
    for node in nodes(module):
        if isinstance(node, ast.Call) and (name := last_name(node.func)) in CLASSES:
            yield name, node


def codes(parts: Iterable[ast.AST]) -> Iterator[Code]:
    """The members of `Code` that are named in parts of code."""
    for one in parts:
        if isinstance(one, ast.Attribute) and last_name(one.value) == "Code":
            assert one.attr in Code.__members__, one.attr
            yield Code[one.attr]


def test_every_error_is_made_with_a_code_of_its_class() -> None:
    made = 0
    for module in modules():
        for name, call in calls(module):
            where = f"{module}:{call.lineno}"
            assert call.args, f"{where}: {name} without a code"
            code = ast.unparse(call.args[0])
            carried = code.rpartition(".")[2] in ("code", "_code(found)")
            assert carried or "Code." in code, f"{where}: the first argument of {name} is {code}"
            for one in codes(ast.walk(call.args[0])):
                assert one.value[2] == str(CLASSES[name]), f"{where}: {name} with {one}"
            made += 1
    assert made > 150


def test_every_code_is_used() -> None:
    used = {code for module in modules() for code in codes(nodes(module))}
    assert used == set(Code) == set(code_pages())


@pytest.mark.parametrize("code", list(Code), ids=lambda code: code.value)
def test_every_code_has_a_page(code: Code, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(("explain", code.value))
    out = capsys.readouterr().out
    assert not ended.value.code
    assert out.startswith(f"{code.value}: {code_pages()[code].title}\n")
    assert code_pages()[code].remedy.split()[0] in out
