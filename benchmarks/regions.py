"""Measures how much public C is read and proved, and the cost: `python -m benchmarks.regions [--jobs N]`.

Each region of the corpus through `loopwright transform FILE.c -I HEADERS -o NEW.c`.  Printed are the regions
of each suite that are proved, and of the others why not, the most frequent reasons first.  An exit status of
3 or 4 on any of them is a failure.  Then a region in a file of thousands of lines, beside the same alone.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.latency import command

CORPUS = Path(os.environ.get("LOOPWRIGHT_CORPUS", "../shared/corpus")) / "c"
LIMIT = 120
"""Seconds for a region."""
LINES = 4100


@dataclass(frozen=True)
class Answer:
    """What was said of a region."""

    suite: str
    name: str
    status: int
    said: str


def regions(only: str | None) -> Iterator[Path]:
    for path in sorted(CORPUS.glob("*/*.c")):
        if path.parent.name != "include" and (only is None or only in str(path)):
            yield path


def ask(path: Path, folder: str) -> Answer:
    suite = path.parent.name
    new = Path(folder) / f"{suite}-{path.name}"
    words = [sys.executable, "-m", "loopwright", "transform", str(path), "-o", str(new)]
    words += ["-I", str(CORPUS / "include" / suite)]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return Answer(suite, path.name, 3, f"no answer after {LIMIT} s")
    lines = (done.stderr or done.stdout).strip().splitlines()
    return Answer(suite, path.name, done.returncode, lines[0] if lines else "")


def reason(said: str) -> str:
    """A message without its place, and without the names in it."""
    return re.sub(r"'[^']*'", "'..'", re.sub(r"^\S+: error: ", "", said))


def in_a_long_file() -> tuple[float, float]:
    """Processor time of a region alone, and at the end of a file of thousands of lines."""
    own = "void f(int n, double *x) {\n#pragma scop\nfor (int i = 1; i < n; i++) x[i] = x[i - 1];\n"
    own += "#pragma endscop\n}\n"
    one = "static double g{k}(double y) {{\n  double z = y * {k};\n  if (z > 1)\n    z -= y;\n"
    one += "  return z;\n}}\n\n"
    rest = "".join(one.format(k=k) for k in range(LINES // one.count("\n")))
    with TemporaryDirectory() as folder:
        texts = {"alone.c": own, "long.c": rest + own}
        for name, text in texts.items():
            Path(folder, name).write_text(text)
        new = str(Path(folder, "new.c"))
        words = [("-m", "loopwright", "transform", str(Path(folder, name)), "-o", new) for name in texts]
        alone, inside = (min(command(*one) for _ in range(3)) for one in words)
    return alone, inside


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", help="paths with this in them")
    parser.add_argument("--each", type=Path, help="where to write the answer about each region")
    options = parser.parse_args()
    alone, inside = in_a_long_file()
    print(f"a region alone {alone:.2f} s, in a file of {LINES} lines {inside:.2f} s of processor time")
    with TemporaryDirectory() as folder, ThreadPoolExecutor(options.jobs) as pool:
        answers = list(pool.map(partial(ask, folder=folder), regions(options.only)))
    if options.each is not None:
        rows = [f"{one.suite}\t{one.name}\t{one.status}\t{one.said}\n" for one in answers]
        options.each.write_text("".join(rows))
    for suite in dict.fromkeys(one.suite for one in answers):
        own = [one.status for one in answers if one.suite == suite]
        print(f"{suite}: {own.count(0)} of {len(own)}")
    for text, count in Counter(reason(one.said) for one in answers if one.status).most_common():
        print(f"{count:4}  {text}")
    proved = sum(one.status == 0 for one in answers)
    print(f"{proved} of {len(answers)} regions are proved")
    return int(any(one.status not in (0, 1, 2) for one in answers))


if __name__ == "__main__":
    sys.exit(main())
