"""Counts the instructions that compiled loops execute, with valgrind's callgrind.

Each statement is empty assembly with its arguments in registers, so the count covers control flow and the
computation of the arguments.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

from benchmarks.valuation import Valuation
from loopwright.emit.c import to_c
from loopwright.emit.helpers import FUNCTIONS
from loopwright.emit.names import readable_names
from loopwright.errors import Code, InternalError
from loopwright.loops.nodes import Block, Call, For, If, Let, Node, Remarked
from loopwright.loops.traverse import subprograms

SECONDS = 10
"""Longer than this, a program counts as endless."""

MAIN = r"""
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
void loops(const long *lw_values);
long lw_executions, lw_limit;
int main(int argc, char **argv)
{
  long p[64] = { 0 };
  lw_limit = atol(argv[1]);
  alarm(SECONDS);
  for (int i = 2; i < argc; i++)
    p[i - 2] = atol(argv[i]);
  loops(p);
  printf("%ld\n", lw_executions);
  return 0;
}
"""


def can_count_instructions() -> bool:
    return all(shutil.which(tool) for tool in ("gcc", "valgrind"))


class Compiled:
    """A program of LOOP, compiled to be run and counted."""

    def __init__(self, node: Node, names: tuple[str, ...], folder: Path, label: str) -> None:
        self.names = names
        self.folder = folder
        self.counting = _build(node, names, folder, f"{label}-count", counting=True)
        self.plain = _build(node, names, folder, label, counting=False)

    def executions(self, values: Valuation, limit: int) -> int | None:
        """How many statements run; None for more than `limit`, or if it takes too long."""
        done = subprocess.run(
            [self.counting, str(limit), *self._arguments(values)], capture_output=True, text=True, check=False
        )
        return int(done.stdout) if done.returncode == 0 else None

    def instructions(self, values: Valuation) -> int:
        """How many instructions the loops take."""
        output = f"--callgrind-out-file={self.folder / 'callgrind.out'}"
        tool = ["valgrind", "--tool=callgrind", "--toggle-collect=loops", output]
        done = subprocess.run(
            [*tool, self.plain, "0", *self._arguments(values)], capture_output=True, text=True, check=False
        )
        found = re.search(r"Collected\s*:\s*(\d+)", done.stderr)
        if found is None:
            raise InternalError(Code.INTERNAL, f"callgrind counted nothing: {done.stderr[-300:]}")
        return int(found[1])

    def _arguments(self, values: Valuation) -> list[str]:
        return [str(values[name]) for name in self.names]


def _build(node: Node, names: tuple[str, ...], folder: Path, label: str, *, counting: bool) -> Path:
    program = _with_uses(node)
    spelled = readable_names(program, names).variables
    arities = sorted({len(part.arguments) for part in subprograms(program) if isinstance(part, Call)})
    source = [
        "#include <unistd.h>",
        "extern long lw_executions, lw_limit;",
        *(_use(arity, counting=counting) for arity in arities),
        *FUNCTIONS.values(),
        "__attribute__((noinline)) void loops(const long *lw_values)\n{",
        *(f"  long {spelled[name]} = lw_values[{k}];" for k, name in enumerate(names)),
        to_c(program, parameters=names, iterator_type="long"),
        "}",
    ]
    path = folder / f"{label}.c"
    path.write_text("\n".join(source))
    (folder / "main.c").write_text(MAIN.replace("SECONDS", str(SECONDS * (1 if counting else 60))))
    built = folder / f"{label}.exe"
    command = ["gcc", "-std=gnu11", "-O2", "-w", str(path), str(folder / "main.c"), "-o", str(built)]
    subprocess.run(command, check=True)
    return built


def _use(arity: int, *, counting: bool) -> str:
    names = [f"x{k}" for k in range(arity)]
    consumed = [f'__asm__ volatile("" :: "r"((long)({name})));' for name in names]
    counted = ["if (++lw_executions > lw_limit) _exit(3);"] if counting else []
    body = " ".join([*counted, *(consumed or ['__asm__ volatile("");'])])
    return f"#define USE{arity}({', '.join(names)}) do {{ {body} }} while (0)"


def _with_uses(node: Node) -> Node:
    """`node` with each call replaced by a use of its arguments, whatever the statement."""
    match node:
        case Call(_, arguments):
            return Call(f"USE{len(arguments)}", arguments)
        case Block(children):
            return Block(tuple(_with_uses(child) for child in children))
        case If(test, then, orelse):
            return If(test, _with_uses(then), None if orelse is None else _with_uses(orelse))
        case For(body=body):
            return replace(node, body=_with_uses(body))
        case Let(name, value, body):
            return Let(name, value, _with_uses(body))
        case Remarked(_, body):
            return _with_uses(body)
