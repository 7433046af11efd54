"""The rules of docs/architecture.md, from the import statements alone.

Imports inside functions and under TYPE_CHECKING count like all others, and so do calls of `import_module`
and its kin, whose names have to be literal.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

import networkx
import pytest

from tests.conftest import ROOT

SOURCES = ROOT / "src"
PACKAGE = "loopwright"
LONGEST = 400
LONGEST_FUNCTION = 46
"""A function does one thing, and is seen on one screen."""


@dataclass(frozen=True)
class Import:
    """`line` of the module `importer` imports the module `imported`."""

    importer: str
    imported: str
    line: int

    def __str__(self) -> str:
        return f"{self.importer}:{self.line} imports {self.imported}"


@cache
def modules() -> dict[str, Path]:
    found = {}
    for path in sorted((SOURCES / PACKAGE).rglob("*.py")):
        parts = path.relative_to(SOURCES).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def nodes(module: str) -> tuple[ast.AST, ...]:
    """All nodes of its syntax tree."""
    path = modules()[module]
    return tuple(ast.walk(ast.parse(path.read_text(), str(path))))


@cache
def imports() -> tuple[Import, ...]:
    """Everything of the package that a module of the package imports."""
    return tuple(one for name in modules() for one in _imports(name, nodes(name)))


def _imports(importer: str, tree: Iterable[ast.AST]) -> Iterator[Import]:
    for node in tree:
        targets: list[str] = []
        if isinstance(node, ast.Import | ast.ImportFrom):
            targets = _targets(node)
        elif isinstance(node, ast.Call):
            targets = [str(one.value) for one in _loaded(node) if isinstance(one, ast.Constant)]
        for target in targets:
            if target in modules() and target != importer:
                assert isinstance(node, ast.stmt | ast.expr)
                yield Import(importer, target, node.lineno)


LOADERS = {"import_module", "__import__", "find_spec", "run_module", "resolve_name"}
"""Functions that load the module whose name they are given, or look for it."""


def _loaded(node: ast.Call) -> list[ast.expr]:
    """The names of modules that a call loads, however it spells the function."""
    given = [*node.args[:1], *(one.value for one in node.keywords)]
    return given if last_name(node.func) in LOADERS else []


def last_name(expression: ast.expr) -> str:
    """`f` of `f` and of `a.b.f`."""
    match expression:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def _targets(node: ast.Import | ast.ImportFrom) -> list[str]:
    """The modules an import statement names; `from a import b` is a.b where that is a module."""
    if isinstance(node, ast.Import):
        return [one.name for one in node.names]
    assert node.module is not None and node.level == 0, "imports are absolute"
    inner = [f"{node.module}.{one.name}" for one in node.names]
    return [name if name in modules() else node.module for name in inner]


def listed() -> list[str]:
    """The rooms, as the table of the page has them, the first at the top."""
    page = (ROOT / "docs" / "architecture.md").read_text()
    return re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)


def listed_parts() -> dict[str, list[str]]:
    """The sub-rooms by room, as the tables of the page have them: `| `check.original` |`."""
    page = (ROOT / "docs" / "architecture.md").read_text()
    found: dict[str, list[str]] = {}
    for outer, inner in re.findall(r"^\| `(\w+)\.(\w+)` \|", page, re.MULTILINE):
        found.setdefault(outer, []).append(inner)
    return found


@cache
def room(module: str) -> str | None:
    """The room a module is in; None for the modules beside the rooms."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and (SOURCES / PACKAGE / parts[1]).is_dir() else None


def test_every_room_is_on_the_page() -> None:
    rooms = {path.parent.name for path in (SOURCES / PACKAGE).glob("*/__init__.py")}
    assert rooms == set(listed())
    assert len(imports()) > 500


def test_a_room_imports_only_rooms_above_it() -> None:
    order = {name: place for place, name in enumerate(listed())}
    wrong = []
    for one in imports():
        here, there = room(one.importer), room(one.imported)
        if here is not None and there is not None and order[there] > order[here]:
            wrong.append(str(one))
    assert wrong == []


@pytest.mark.parametrize(
    ("outer", "beside"), [("c", "above"), ("optimise", "below"), ("check", "below"), ("prove", "below")]
)
def test_a_sub_room_imports_only_those_above_it(outer: str, beside: str) -> None:
    """Files beside the sub-rooms of a room are above all of them, or below."""
    parts = listed_parts()[outer]
    assert {path.parent.name for path in (SOURCES / PACKAGE / outer).glob("*/__init__.py")} <= set(parts)
    assert {f"{PACKAGE}.{outer}.{part}" for part in parts} <= set(modules())
    prefix = f"{PACKAGE}.{outer}."
    order = {f"{prefix}{name}": number for number, name in enumerate(parts)}
    other = -1 if beside == "above" else len(parts)
    wrong, seen = [], 0
    for one in imports():
        if not (one.importer.startswith(prefix) and one.imported.startswith(prefix)):
            continue
        here, there = (".".join(name.split(".")[:3]) for name in (one.importer, one.imported))
        seen += here != there
        if order.get(there, other) > order.get(here, other):
            wrong.append(str(one))
    assert wrong == [] and seen > 20


def test_rooms_do_not_import_the_package_itself() -> None:
    """The package itself and `python -m` import the rooms, not the other way round."""
    beside = {PACKAGE, f"{PACKAGE}.__main__"}
    found = [one for one in imports() if one.imported in beside and room(one.importer) not in ("cli", None)]
    assert [str(one) for one in found] == []


def test_the_prover_does_not_know_the_generator() -> None:
    found = [one for one in imports() if room(one.importer) == "prove" and room(one.imported) == "generate"]
    assert [str(one) for one in found] == []


def test_nothing_imports_the_command_line() -> None:
    found = [one for one in imports() if room(one.imported) == "cli" and room(one.importer) != "cli"]
    assert [one.importer for one in found] == [f"{PACKAGE}.__main__"]


def test_every_import_can_be_seen() -> None:
    """A module that is loaded by name is loaded by a name that stands there."""
    calls = [(name, node) for name in modules() for node in nodes(name) if isinstance(node, ast.Call)]
    unseen = [
        f"{name}:{call.lineno}"
        for name, call in calls
        for one in _loaded(call)
        if not isinstance(one, ast.Constant)
    ]
    assert unseen == []


def test_an_import_by_a_call_is_seen() -> None:
    for call in ('importlib.import_module("loopwright.show.draw")', '__import__("loopwright.show.draw")'):
        tree = ast.walk(ast.parse(f"import importlib\n{call}\n"))
        expected = Import("loopwright.model.low", "loopwright.show.draw", 2)
        assert list(_imports("loopwright.model.low", tree)) == [expected]


def test_no_circles() -> None:
    """Also inside a room: no module imports itself, directly or through others."""
    arrows = {(one.importer, one.imported) for one in imports()}
    assert circles(arrows) == []


def circles(arrows: Iterable[tuple[str, str]]) -> list[list[str]]:
    """The groups of modules that import each other."""
    groups = networkx.strongly_connected_components(networkx.DiGraph(arrows))
    return sorted(sorted(group) for group in groups if len(group) > 1)


def test_a_circle_is_seen() -> None:
    assert circles([("a", "b"), ("b", "c"), ("c", "b"), ("c", "d")]) == [["b", "c"]]


def test_a_file_is_one_idea() -> None:
    files = [path for folder in ("src", "tests", "benchmarks") for path in (ROOT / folder).rglob("*.py")]
    lengths = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in files}
    assert len(lengths) > 300
    assert {name: length for name, length in lengths.items() if length > LONGEST} == {}


def test_a_function_fits_on_a_screen() -> None:
    functions = [
        (f"{module}:{node.name}", (node.end_lineno or 0) - node.lineno + 1)
        for module in modules()
        for node in nodes(module)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    assert len(functions) > 5000
    assert [one for one in functions if one[1] > LONGEST_FUNCTION] == []


COUNTED = 8
"""Calls outside of `presburger` whose reader has to know what dimension 1, 2 or 3 is."""


def test_few_dimensions_are_known_by_their_numbers() -> None:
    """`order_lt(OUT, 0, OUT, 2)`; `add_dims` is given how many."""
    found = [
        f"{module}:{node.lineno}"
        for module in modules()
        if room(module) != "presburger"
        for node in nodes(module)
        if isinstance(node, ast.Call) and last_name(node.func) != "add_dims" and _is_numbered(node)
    ]
    assert 0 < len(found) <= COUNTED, found


def _is_numbered(call: ast.Call) -> bool:
    kinds = ("IN", "OUT", "DIM", "PARAM", "set", "in_", "out", "param")
    return any(
        last_name(kind) in kinds and isinstance(number, ast.Constant) and number.value in (1, 2, 3)
        for kind, number in pairwise(call.args)
    )


def test_a_class_has_a_name_of_its_own() -> None:
    """Of two classes with one name, a reader has to look for the import to know which is meant."""
    places: dict[str, list[str]] = {}
    for module in modules():
        for node in nodes(module):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(f"{module}:{node.lineno}")
    assert len(places) > 500
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def outside_packages(module: str) -> set[str]:
    """The packages that a module imports and that are not ours."""
    plain = [alias.name for node in nodes(module) if isinstance(node, ast.Import) for alias in node.names]
    named = [node.module for node in nodes(module) if isinstance(node, ast.ImportFrom) and node.module]
    return {name.split(".")[0] for name in (*plain, *named)}


def test_one_module_parses_c() -> None:
    """Everyone else asks `c` for syntax trees, and matches the nodes of `c.syntax`."""
    parsers = {"tree_sitter", "tree_sitter_c"}
    assert [name for name in modules() if parsers & outside_packages(name)] == [f"{PACKAGE}.c.trees"]


def test_c_knows_neither_isl_nor_the_model() -> None:
    own = [name for name in modules() if room(name) == "c"]
    assert len(own) > 15 and [name for name in own if "islpy" in outside_packages(name)] == []
    allowed = {"c", None}
    strangers = [one for one in imports() if room(one.importer) == "c" and room(one.imported) not in allowed]
    assert [str(one) for one in strangers] == []


def test_isls_generator_is_a_peer_only() -> None:
    """Not one mention of it: programs are made here, and isl's are for benchmarks.

    The options of its schedule trees are read, as an input format.
    """
    words = re.compile(r"AstBuild|ast_build(?!_options)|AstNode|AstExpr")
    assert [name for name, path in modules().items() if words.search(path.read_text())] == []


def test_functions_that_the_page_names_are_where_it_says() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    named = re.findall(r"`(\w+)` in `([\w/]+\.py)`", page)
    absent = [
        f"{name} in {path}"
        for name, path in named
        if not re.search(rf"^(?:def|class) {name}\b", (SOURCES / PACKAGE / path).read_text(), re.MULTILINE)
    ]
    assert absent == [] and len(named) > 10


def test_files_that_the_page_names_are_there() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    names = {path.name for path in modules().values()} | {Path(__file__).name}
    assert [name for name in re.findall(r"`(?:[\w{},]+/)*(\w+\.py)`", page) if name not in names] == []
