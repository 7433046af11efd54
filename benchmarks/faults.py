"""Faults planted in what a loop optimiser printed: whether `loopwright prove` refuses them.

    python -m benchmarks.faults [--peers FOLDER] [--count N] [--seed K] [--jobs J] [--seconds S]

Each is one change (`benchmarks.planting`), the kinds in turn over all files.  Every text is also compiled
and run beside the original, for sizes up to 40 and two kinds of inputs: a fault that shows there has to be
refused within 2 s of processor time, and none that shows may be proved.  `--quiet` lists the others only.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from benchmarks.judge import PEERS, ROOT, WRONG, Judged, judged
from benchmarks.planting import KINDS, Fault, planted

SIZES = ((1, 1), (2, 1), (3, 3), (5, 4), (9, 17), (33, 20), (21, 34), (40, 40))
"""Of the sizes in turn; that of time steps is not larger than these."""
SOON = 2.0
GRACE = 20.0
"""Seconds for what was begun in time."""
Sizes = tuple[tuple[str, int], ...]
MAIN = """
static uint64_t total = 14695981039346656037u;
#define ADD(A, T) for (size_t k = 0; k < sizeof(A) / sizeof(T); k++) {{ T one = ((T *)&(A))[k]; \\
  if (one != one) one = 77; \\
  for (size_t b = 0; b < sizeof one; b++) total = (total ^ ((unsigned char *)&one)[b]) * 1099511628211u; }}
#define FILL(A, T) for (size_t k = 0; k < sizeof(A) / sizeof(T); k++) \\
  ((T *)&(A))[k] = (T)((T)0.5 ? 0.5 + (double)((k * 2654435761u >> 7) % 1024) / 1000 : (k * 40503u >> 3) % 7);
int main(int argc, char **argv) {{
  (void)argv;
  initialise();
  if (argc > 1) {{ {fills} }}
  kernel();
  {adds}
  printf("%llx\\n", (unsigned long long)total);
}}
"""


@dataclass(frozen=True)
class Answered:
    """A fault, what `prove` said, and what running showed: None where all runs agree."""

    name: str
    fault: Fault
    found: Judged
    differs_at: str | None

    @property
    def verdict(self) -> str:
        is_different = self.differs_at is not None or self.fault.is_race
        match self.found.answer:
            case "refused":
                return "refused" if is_different else "refused, runs agree"
            case "proved":
                return "WRONGLY PROVED" if is_different else "equivalent"
            case other:
                return other if is_different else f"{other}, runs agree"

    @property
    def is_refused_soon(self) -> bool:
        return self.verdict == "refused" and self.found.seconds <= SOON

    @property
    def line(self) -> str:
        told = f"{self.fault.kind:10} {self.verdict:22} {self.found.seconds:6.2f} s"
        return f"{self.name:22} {told}  line {self.fault.line}: {self.fault.was[:60]}  {self.found.said[:90]}"


def program(text: str) -> str:
    """The program, with a `main` that looks at all arrays and scalars of the file."""
    head = text[: text.index("\nstatic const struct")]
    if "#define ceild" in head:
        head = head.replace("#include <math.h>\n", "", 1)
    variables = [
        (kind, name)
        for kind, names in re.findall(r"^static (double|float|int|char) ([^(;]*);", head, re.MULTILINE)
        for name in re.findall(r"(\w+)(?:\[[^,]*)?(?: = [^,]*)?(?:,|$)", names)
    ]
    arrays = set(re.findall(r"(\w+)\[", head))
    fills = " ".join(f"FILL({name}, {kind})" for kind, name in variables if name in arrays)
    adds = "\n  ".join(f"ADD({name}, {kind})" for kind, name in variables)
    return head + MAIN.format(fills=fills, adds=adds)


def sizes_of(text: str, sizes: tuple[int, int]) -> Sizes:
    """These two for the sizes of a program in turn; few time steps."""
    names = sorted(set(re.findall(r"#ifndef (\w+)\n#define \1 \d+", text)) - {"CLOCK"})
    return tuple(
        (name, min(sizes[k % 2], 9) if "STEP" in name or name == "TMAX" else sizes[k % 2])
        for k, name in enumerate(names)
    )


def results(text: str, sizes: Sizes) -> tuple[str, ...]:
    """What a program computes from its own inputs, and from others."""
    given = [f"-D{name}={size}" for name, size in sizes]
    checks = ["-fsanitize=bounds", "-fsanitize-undefined-trap-on-error"]
    with tempfile.TemporaryDirectory() as folder:
        source, binary = Path(folder) / "one.c", Path(folder) / "one"
        source.write_text(program(text))
        flags = ["-O0", "-w", "-ffp-contract=off", *checks, *given]
        subprocess.run(["gcc", *flags, "-o", binary, source, "-lm"], check=True, capture_output=True)
        found = []
        for words in ([], ["other"]):
            try:
                done = subprocess.run([binary, *words], stdout=subprocess.PIPE, check=False, timeout=20)
                found.append(done.stdout.decode() or f"signal {done.returncode}")
            except subprocess.TimeoutExpired:
                found.append("no end")
    return tuple(found)


@cache
def expected(kernel: str, sizes: Sizes) -> tuple[str, ...]:
    return results((ROOT / "kernels" / f"{kernel}.c").read_text(), sizes)


def difference(kernel: str, text: str, said: str) -> str | None:
    """Sizes at which a text does not compute what the kernel does; those of a witness are tried first."""
    tried = [sizes_of(text, one) for one in SIZES]
    told = re.match(r"witness: ((?:\w+ = \d+(?:, )?)+):", said)
    if told is not None:
        pairs = re.findall(r"(\w+) = (\d+)", told[1])
        tried.insert(0, tuple((name, int(size)) for name, size in sorted(pairs)))
    for sizes in tried:
        if results(text, sizes) != expected(kernel, sizes):
            return ", ".join(f"{name} = {size}" for name, size in sizes)
    return None


def answered(file: Path, fault: Fault, limit: float) -> Answered:
    """What is said of a fault, and whether it is one."""
    with tempfile.TemporaryDirectory() as name:
        new = Path(name) / file.name
        new.write_text(fault.text)
        found = judged(new, limit)
    return Answered(file.stem, fault, found, difference(file.name.split(".")[0], fault.runs_as, found.said))


def faults(files: list[Path], kinds: list[str], seed: int, count: int) -> list[tuple[Path, Fault]]:
    """So many different ones: the files in a random order again and again, the kinds in turn."""
    pick = random.Random(seed)
    found: list[tuple[Path, Fault]] = []
    seen: set[str] = set()
    turn = 0
    while len(found) < count and turn < 20 * count:
        if turn % len(files) == 0:
            pick.shuffle(files)
        file = files[turn % len(files)]
        turn += 1
        fault = planted(file.read_text(), pick.choice(kinds), pick)
        if fault is not None and fault.text not in seen:
            seen.add(fault.text)
            found.append((file, fault))
    return found


def main() -> int:
    """Print what became of the faults; the exit status says whether the answers are right."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", type=Path, default=PEERS)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=[""], metavar="NAME")
    parser.add_argument("--kinds", nargs="*", default=list(KINDS), choices=list(KINDS))
    parser.add_argument("--limit", type=float, default=20.0, help="seconds for each")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1e6, help="no fault is begun after that")
    parser.add_argument("--quiet", action="store_true", help="not those refused soon")
    parser.add_argument("--keep", type=Path, help="a folder for the faults that were not refused soon")
    arguments = parser.parse_args()
    files = [one for one in sorted(arguments.peers.glob("*.c")) if one.stem not in WRONG]
    files = [one for one in files if any(name in one.name for name in arguments.only)]
    end = time.monotonic() + arguments.seconds
    todo = faults(files, arguments.kinds, arguments.seed, arguments.count) if files else []
    print(f"{len(todo)} faults in {len(files)} files of {arguments.peers}", flush=True)

    def work(one: tuple[Path, Fault]) -> Answered | None:
        return None if time.monotonic() > end else answered(*one, arguments.limit)

    found: list[Answered] = []
    pool = ThreadPoolExecutor(arguments.jobs)
    try:
        for future in as_completed([pool.submit(work, one) for one in todo], arguments.seconds + GRACE):
            done = future.result()
            if done is None:
                continue
            found.append(done)
            if not arguments.quiet or not done.is_refused_soon:
                print(done.line, flush=True)
            if arguments.keep is not None and not done.is_refused_soon:
                arguments.keep.mkdir(parents=True, exist_ok=True)
                fault = done.fault
                (arguments.keep / f"{done.name}.{fault.kind}.{fault.line}.c").write_text(fault.text)
    except TimeoutError:
        print("the last ones are left out: no time")
    code = report(found)
    sys.stdout.flush()
    os._exit(code)  # what still runs is not waited for


def report(found: list[Answered]) -> int:
    counts = Counter(one.verdict for one in found)
    told = ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())
    print(f"{len(found)} faults: {told}")
    real = [one for one in found if one.differs_at is not None or one.fault.is_race]
    refused = [one for one in real if one.verdict == "refused"]
    if not refused:
        return 1
    times = sorted(one.found.seconds for one in refused)
    share = len(refused) / len(real)
    print(f"refused {len(refused)} of the {len(real)} that show ({share:.1%})")
    for kind in KINDS:
        own = [one for one in real if one.fault.kind == kind]
        print(f"    {kind:10} {sum(one.verdict == 'refused' for one in own)} of {len(own)}")
    slow = sum(one > SOON for one in times)
    middle = statistics.median(times)
    print(f"median {middle:.2f} s, at most {times[-1]:.2f} s; {slow} in more than {SOON:.0f} s")
    return 0 if share >= 0.95 and not counts["WRONGLY PROVED"] else 1


if __name__ == "__main__":
    sys.exit(main())
