"""Faults planted in what a loop optimiser printed: whether `loopwright prove` refuses them.

    python -m benchmarks.faults [--peers FOLDER] [--count N] [--seed K] [--only NAME ...] [--kinds KIND ...]

Each is one change: a bound, a condition, a subscript, the order of two statements, or a clause.  A fault that
is not refused is compiled and run beside the original for a few sizes: only one that changes nothing may be
proved, and one that changes something should not be undecided.
"""

from __future__ import annotations

import argparse
import random
import re
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from benchmarks.judge import PEERS, ROOT, WRONG, judged

SIZES = ((3, 3), (5, 4), (9, 17), (20, 33), (34, 21), (40, 40), (66, 35))


def region(text: str) -> tuple[int, int]:
    """The body of `kernel`, which is what was rewritten."""
    start = re.search(r"kernel\w*\([^)]*\)\s*\{", text)
    assert start is not None, "a kernel has a function of that name"
    end = text.index("\nstatic const struct", start.end()) if "\nstatic const struct" in text else len(text)
    return start.end(), end


def _number(lines: list[str], pick: random.Random, wanted: Callable[[str], bool], inside: str) -> bool:
    """Changes an integer by one in a line of a kind."""
    digits = re.compile(r"(?<![\w.])\d+(?![\w.])")
    places = [
        (k, match)
        for k, line in enumerate(lines)
        if wanted(line)
        for part in re.finditer(inside, line)
        for match in digits.finditer(line, part.start(), part.end())
    ]
    if not places:
        return False
    k, match = pick.choice(places)
    value = int(match[0]) + pick.choice((1, -1))
    lines[k] = f"{lines[k][: match.start()]}{value}{lines[k][match.end() :]}"
    return True


def _bound(lines: list[str], pick: random.Random) -> bool:
    heads = [k for k, line in enumerate(lines) if "for (" in line or re.match(r"\s*[lu]b[vp]=", line)]
    if pick.random() < 0.3 and heads:
        k = pick.choice(heads)
        new = lines[k].replace("<=", "<", 1) if "<=" in lines[k] else lines[k].replace("min(", "max(", 1)
        if new != lines[k]:
            lines[k] = new
            return True
    return _number(lines, pick, lambda line: "for (" in line or "bv=" in line or "bp=" in line, r".+")


def _condition(lines: list[str], pick: random.Random) -> bool:
    return _number(lines, pick, lambda line: re.match(r"\s*if ", line) is not None, r".+")


def _subscript(lines: list[str], pick: random.Random) -> bool:
    return _number(lines, pick, lambda line: ";;" in line, r"\[[^\]]*\]")


def _order(lines: list[str], pick: random.Random) -> bool:
    places = [
        k
        for k in range(len(lines) - 1)
        if ";;" in lines[k] and ";;" in lines[k + 1] and lines[k] != lines[k + 1]
    ]
    if not places:
        return False
    k = pick.choice(places)
    lines[k], lines[k + 1] = lines[k + 1], lines[k]
    return True


def _clause(lines: list[str], pick: random.Random) -> bool:
    places = [k for k, line in enumerate(lines) if "private(" in line]
    if not places:
        return False
    k = pick.choice(places)
    names = re.search(r"private\(([^)]*)\)", lines[k])
    assert names is not None
    kept = names[1].split(",")
    kept.remove(pick.choice(kept))
    lines[k] = lines[k].replace(names[0], f"private({','.join(kept)})" if kept else "")
    return True


FAULTS = {
    "bound": _bound,
    "condition": _condition,
    "subscript": _subscript,
    "order": _order,
    "clause": _clause,
}


def planted(text: str, kind: str, pick: random.Random) -> str | None:
    """The text with one fault, if it has a place for one of the kind."""
    start, end = region(text)
    lines = text[start:end].split("\n")
    done = FAULTS[kind](lines, pick)
    return text[:start] + "\n".join(lines) + text[end:] if done else None


def is_harmless(old: Path, new: Path, folder: Path, kind: str) -> bool:
    """Whether both compute the same for all sizes tried; a change of a clause cannot be seen so."""
    names = sorted(set(re.findall(r"#ifndef (\w+)\n#define \1 \d+", old.read_text())))
    for turn, sizes in enumerate(SIZES):
        given = [f"-D{name}={sizes[(k + turn) % 2]}" for k, name in enumerate(names) if name != "CLOCK"]
        sums = []
        for k, file in enumerate((old, new)):
            program = folder / f"run{k}"
            flags = ["gcc", "-O1", "-w", "-ffp-contract=off", *given, "-o", str(program), str(file), "-lm"]
            if subprocess.run(flags, capture_output=True, check=False).returncode:
                return False
            done = subprocess.run([str(program), "--checksum"], capture_output=True, check=False, timeout=60)
            sums.append((done.returncode, done.stdout))
        if sums[0] != sums[1]:
            return False
    return kind != "clause"


def main() -> int:
    """Print what became of the faults; the exit status says whether none of them was proved."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", type=Path, default=PEERS)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=[""], metavar="NAME")
    parser.add_argument("--kinds", nargs="*", default=list(FAULTS), choices=list(FAULTS))
    parser.add_argument("--limit", type=float, default=20.0, help="seconds for each")
    parser.add_argument("--keep", type=Path, help="a folder for the faults that were not refused")
    arguments = parser.parse_args()
    pick = random.Random(arguments.seed)
    files = [one for one in sorted(arguments.peers.glob("*.c")) if one.stem not in WRONG]
    files = [one for one in files if any(name in one.name for name in arguments.only)]
    counts: Counter[str] = Counter()
    times: list[float] = []
    wrong = 0
    while sum(counts.values()) < arguments.count:
        file, kind = pick.choice(files), pick.choice(arguments.kinds)
        text = planted(file.read_text(), kind, pick)
        if text is None:
            continue
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            new = folder / file.name
            new.write_text(text)
            found = judged(new, arguments.limit)
            answer = found.answer
            old = ROOT / "kernels" / f"{file.name.split('.')[0]}.c"
            if answer == "proved":
                answer = "equivalent" if is_harmless(old, new, folder, kind) else "WRONGLY PROVED"
            elif answer != "refused" and kind != "clause" and is_harmless(old, new, folder, kind):
                answer = "undecided, equivalent"
        counts[answer] += 1
        times += [found.seconds] if answer == "refused" else []
        wrong += answer == "WRONGLY PROVED"
        print(f"{file.stem:24} {kind:10} {answer:22} {found.seconds:6.2f} s  {found.said[:90]}", flush=True)
        if arguments.keep is not None and answer != "refused":
            arguments.keep.mkdir(parents=True, exist_ok=True)
            (arguments.keep / f"{file.stem}.{sum(counts.values())}.{kind}.c").write_text(text)
    real = sum(counts.values()) - counts["equivalent"] - counts["undecided, equivalent"]
    print(dict(counts), f"refused {counts['refused']} of {real}")
    if times:
        slow = sum(one > 2 for one in times)
        middle = statistics.median(times)
        print(f"refused in {middle:.2f} s, at most {max(times):.2f} s; {slow} in more than 2 s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
