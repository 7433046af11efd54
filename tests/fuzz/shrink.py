"""Shrinks programs with the same symptom, by removing lines, blocks and parts of expressions."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace

from tests.fuzz.findings import Finding, symptom
from tests.fuzz.judge import Pair

_KEPT = re.compile(r"void f\(|#pragma (end)?scop|[{}]?$")
"""Lines that stay."""


def shrunk(text: str, holds: Callable[[str], bool], *, tries: int = 400) -> str:
    """A text from which nothing more can be left out, or the best of that many tries."""
    progress = True
    while progress and tries > 0:
        progress = False
        for smaller in _smaller(text):
            tries -= 1
            if tries <= 0:
                break
            if len(smaller) < len(text) and _compiles(smaller) and holds(smaller):
                text, progress = smaller, True
                break
    return text


def shrunk_pair(found: Finding, pair: Pair, again: Callable[[Pair], Finding | None]) -> Finding:
    """The same finding, with as little as possible of both texts of a pair."""
    wanted = symptom(found)

    def same(other: Pair) -> bool:
        nonlocal found, pair
        told = again(other)
        if told is None or symptom(told) != wanted:
            return False
        found, pair = told, other
        return True

    for _ in range(2):
        shrunk(pair.old, lambda text: same(replace(pair, old=text)), tries=150)
        shrunk(pair.new, lambda text: same(replace(pair, new=text)), tries=150)
    return found


def _compiles(text: str) -> bool:
    command = ["gcc", "-std=gnu11", "-fsyntax-only", "-w", "-x", "c", "-"]
    return subprocess.run(command, input=text, text=True, capture_output=True, check=False).returncode == 0


def _smaller(text: str) -> Iterator[str]:
    yield from _without_lines(text.split("\n"))
    yield from _with_simpler_values(text)


def _without_lines(lines: list[str]) -> Iterator[str]:
    for number, line in enumerate(lines):
        if _KEPT.match(line):
            continue
        last = _end(lines, number)
        if line.strip().startswith("} else"):
            yield _joined(lines, range(number, last))
        elif last > number:
            yield _joined(lines, range(number, last + 1))
            if not any(one.strip().startswith("} else") for one in lines[number : last + 1]):
                yield _joined(lines, (number, last))
        elif line.strip() != "}":
            yield _joined(lines, (number,))


def _joined(lines: list[str], left_out: range | tuple[int, ...]) -> str:
    return "\n".join(line for number, line in enumerate(lines) if number not in left_out)


def _end(lines: list[str], start: int) -> int:
    """The line that closes what a line opens; the line itself where it opens nothing."""
    if not lines[start].rstrip().endswith("{"):
        return start
    depth = 1
    for number in range(start + 1, len(lines)):
        depth += lines[number].count("{") - lines[number].count("}")
        if depth == 0:
            return number
    return start


def _with_simpler_values(text: str) -> Iterator[str]:
    """A group in parentheses becomes a number, or its left or right part."""
    start, end = text.find("#pragma scop"), text.find("#pragma endscop")
    for found in re.finditer(r"\([^()\n]*\)", text[:end]):
        if found.start() < start or text[: found.start()].rstrip().endswith(("for", "if")):
            continue
        inside = found.group()[1:-1]
        for value in ("1", *re.split(r" (?:[-+*/%&|^?:<>]|>>|==) ", inside)):
            yield text[: found.start()] + value.strip() + text[found.end() :]
    for found in re.finditer(r"([-+*]?)= ([^=;\n]+);", text[:end]):
        if found.start() > start:
            for value in ("1", *re.split(r" [-+*] ", found[2])):
                yield text[: found.start()] + f"= {value.strip()};" + text[found.end() :]
    for found in re.finditer(r" [-+] \d+\b", text[:end]):
        if found.start() > start:
            yield text[: found.start()] + text[found.end() :]
