"""`loopwright doctor`: which optional parts are here, what they are for, and how to get the others."""

from __future__ import annotations

import argparse
import shutil
import sys
from dataclasses import asdict

from loopwright import __version__
from loopwright.cli.frame import Invocation, Printed, as_lines
from loopwright.cli.options import Verbs
from loopwright.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Part:
    """A part that may be missing: programs, any of which will do, or a Python package."""

    name: str
    purpose: str
    how: str
    programs: tuple[str, ...] = ()
    package: str = ""
    required: bool = False


@dataclass(frozen=True)
class FoundPart:
    """What was found of a part."""

    name: str
    found: str | None
    """The version, or None where it is missing."""
    purpose: str
    how: str
    required: bool


PARTS = (
    Part("islpy", "everything", "pip install islpy", package="islpy", required=True),
    Part("tree-sitter-c", "reading C", "pip install tree-sitter-c", package="tree-sitter-c", required=True),
    Part("rich", "colours", "pip install rich", package="rich", required=True),
    Part("matplotlib", "pictures: show, bench", "pip install 'loopwright[show]'", package="matplotlib"),
    Part("networkx", "pictures: show", "pip install 'loopwright[show]'", package="networkx"),
    Part("anywidget", "pictures in notebooks", "pip install 'loopwright[show]'", package="anywidget"),
    Part("starlette", "the playground: serve", "pip install 'loopwright[serve]'", package="starlette"),
    Part("shtab", "shell completion: completion", "pip install shtab", package="shtab", required=True),
    Part("cvc5", "a second prover's opinion", "pip install cvc5", package="cvc5"),
    Part("mcp", "tools for agents: mcp", "pip install 'loopwright[mcp]'", package="mcp"),
    Part("xdsl", "reading MLIR: prove, extract", "pip install 'loopwright[mlir]'", package="xdsl"),
    Part("distributed", "many machines: optimise --on", "pip install 'loopwright[fleet]'",
         package="distributed"),
    Part("gcc", "compiling, timing: bench, demo, check", "apt-get install gcc", ("gcc",)),
    Part("coqc", "machine-checked proofs", "apt-get install coq", ("coqc",)),
    Part("checker", "every result checked by a verified program",
         "python -m loopwright.prove.certificates.checker (needs ocamlopt)", ("checker",)),
    Part("barvinok", "counting: check --algorithm b", "pip install islpy-barvinok", package="islpy-barvinok"),
    Part("chromium", "tests of the report in a browser", "apt-get install chromium",
         ("chromium", "chromium-browser")),
)  # fmt: skip


EXAMPLE = ("loopwright doctor", "show which optional parts are installed")


def add_to(verbs: Verbs) -> None:
    """Add the verb and its options to the parser."""
    parser = verbs.add_parser(
        "doctor",
        help="show which optional parts are installed",
        description="Look for the programs and packages Loopwright can use, and say what each is for.",
    )
    parser.set_defaults(invocation=doctor)
    parser.add_argument("--json", action="store_true", help="print JSON")


def doctor(arguments: argparse.Namespace) -> Invocation[list[FoundPart]]:
    return Invocation(
        work=lambda progress: [examined(part) for part in PARTS],
        render=lambda found: _printed(arguments, found),
    )


def _printed(arguments: argparse.Namespace, found: list[FoundPart]) -> Printed:
    """The exit status is 0 where everything that is required is there, 2 otherwise."""
    status = 2 if any(one.required and one.found is None for one in found) else 0
    if not arguments.json:
        return Printed(_text(found), status=status)
    data = {"version": __version__, "parts": [asdict(one) for one in found]}
    return Printed(as_lines(data), status=status)


def examined(part: Part) -> FoundPart:
    if part.name == "checker":
        found = _checker()
    else:
        found = _package(part.package) if part.package else _program(part.programs)
    return FoundPart(part.name, found, part.purpose, part.how, part.required)


def _package(name: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _checker() -> str | None:
    """The verified checker, where it is built from the sources that are here."""
    from loopwright.prove.certificates.checker import checker

    built = checker()
    return None if built is None else str(built)


def _program(names: tuple[str, ...]) -> str | None:
    path = next((found for name in names if (found := shutil.which(name))), None)
    return None if path is None else _version(path)


def _version(path: str) -> str:
    """The first line it says about itself; its path where it says nothing."""
    import subprocess

    try:
        done = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return path
    lines = [line.strip() for line in done.stdout.splitlines() if line.strip()]
    return lines[0] if done.returncode == 0 and lines else path


def _text(findings: list[FoundPart]) -> str:
    lines = [f"loopwright {__version__}, Python {sys.version.split()[0]}", ""]
    for one in findings:
        mark = "ok     " if one.found is not None else "MISSING" if one.required else "absent "
        found = one.found if one.found is not None else f"get it with: {one.how}"
        lines.append(f"{mark}  {one.name:<14}  {one.purpose:<38}  {found}")
    missing = [one for one in findings if one.found is None]
    lines += ["", "nothing is missing" if not missing else _summary(missing)]
    return "".join(f"{line}\n" for line in lines)


def _summary(missing: list[FoundPart]) -> str:
    if any(one.required for one in missing):
        return "something Loopwright cannot do without is missing"
    parts = "one optional part is" if len(missing) == 1 else f"{len(missing)} optional parts are"
    return f"{parts} absent; everything else works"
