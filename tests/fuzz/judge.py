"""Runs pairs of programs on the same data for many sizes under sanitizers, and compares them bit by bit.

A size for which the old program is not defined (a sanitizer stops it, or it does not end) says nothing.  For
all others the new program must be defined too, and leave the same bits in every array.  Where a run of the
old program is stopped, static variables start again for the next one; in the new program they do so too.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

import islpy as isl

from loopwright.c.selection.choice import Choice
from loopwright.check.runtime import runtime_text
from loopwright.errors import BadInput
from loopwright.presburger.named import at_parameters
from loopwright.read.c.options import ReadOptions
from loopwright.read.c.reader import read_c
from tests.fuzz.places import old_path
from tests.fuzz.programs import EDGE, Array

Size: TypeAlias = tuple[int, int, int, int]
"""Values of n, m, u and h."""


def _size(n: int, m: int) -> Size:
    return n, m, max(m, 0), n + 1


SIZES = tuple(
    _size(n, m)
    for n, m in ((-3, 2), (0, 0), (1, 0), (0, 5), (1, 1), (2, 3), (4, 4), (3, 8), (8, 9), (9, 5), (17, 4))
)
"""Negative sizes, zero, full tiles and one more."""
USUAL = _size(6, 7)
"""What is asked for where nothing else is: loops run, and no array is left."""
NO_RUN = 0
SEEDS = (1, 2)
_ZEROS, _ONES, _GIVEN, _FAILING = 5, 6, 7, 8
LATE_SEEDS = (3, 4, _ZEROS, _ONES, _GIVEN, _FAILING)
"""For the size that a pair asks for: data that are zeros, a few ones, and what the pair gives; with the last
of them, which are these too, the programs get no memory.
"""
_LARGE, _STRANGE = 9, 10
WILD = tuple(((n, m, m + 3, h), seed) for seed in (_LARGE, _STRANGE) for n, m, h in ((4, 4, -7), (3, 8, 300)))
"""Numbers that do not fit into smaller types, and infinities, zeros with a sign, numbers that are none."""
_OVERLAPPING = 11
HOSTILE = (
    *((SIZES[k], _OVERLAPPING) for k in (5, 6, 8)),
    *((size, 1) for size in ((2147483647, 3, 3, 0), (-2147483648, 4, 4, -1), (5, 2147483647, 7, 6))),
)
"""What a text with a guard is given: one memory for all arrays of a type, and sizes at the ends of theirs."""
RUNS = len(SIZES) * len(SEEDS) + 4 * len(LATE_SEEDS) + len(WILD) + len(HOSTILE)
"""Of each pair: all sizes, the size that it asks for with three others near it, wild data, and these."""
MARGIN = 512
"""Bytes before and after an array in which the new program may read where the pair says so."""
_MALLOC = """
#include <math.h>
#include <stdlib.h>
#include <string.h>
int fails;
static void *given_memory(size_t bytes) { return fails ? NULL : malloc(bytes); }
#define malloc given_memory
"""
RACE = "data race"
NOT_COMPILED = "n = 0: does not compile"
_LAST = re.compile(r"\blastprivate\b")
_DRIVER = Path(__file__).with_name("judge.c")
_TABLES = """
struct slot { int bytes, kind, margin; void *shared; };
struct version { void (*call)(int, int, unsigned, short, void **, double *); int keeps;
                 struct slot slots[8]; };
struct cell { int pair, slot, index; double value; };
"""
"""As the driver declares them."""
_PLAIN = ("-fsanitize=address,undefined,float-cast-overflow", "-fno-sanitize-recover=all")
_THREADS = ("-fsanitize=thread", "-fopenmp")
_OPTIONS = {
    # beyond an array there is no other one; and the original loops run where memory is not to be had
    "ASAN_OPTIONS": "detect_leaks=0:symbolize=0:redzone=2048:allocator_may_return_null=1",
    "TSAN_OPTIONS": "halt_on_error=1:symbolize=0",
}
_KEPT = re.compile(r"(?m)\bstatic [^(\n]*[;=]|^(?!#)(?:\w+ )+\*?\w+(?: = [^(\n]*)?;")
"""Variables that keep what one run leaves in them for the next."""
_DEFINED = re.compile(r"(?m)^[ \t]*#[ \t]*define[ \t]+(\w+)")
_KINDS = {"double": 0, "float": 1, "unsigned": 2, "int": 3, "struct P": 3, "long": 4, "short": 5,
          "unsigned short": 6, "signed char": 7, "unsigned char": 8, "_Bool": 9}  # fmt: skip


@dataclass(frozen=True)
class Pair:
    """Two texts that define f, and their arrays; `also` is one more size to try.

    For this size some cells may be given: arrays, subscripts and numbers, with zeros in all others.
    A text promises something of the parameters that its proof assumes, as it says: n is not below 0.  Where
    it is `guarded`, it promises something of all.
    """

    old: str
    new: str
    arrays: tuple[Array, ...]
    also: Size = USUAL
    given: tuple[tuple[str, tuple[int, ...], float], ...] = ()
    guarded: bool = False
    is_hostile: bool = False
    """Whether it promises the same where arrays overlap, and for the largest sizes that there are."""
    wider: frozenset[str] = frozenset()
    """Arrays that are trusted to have the cells around them that only the new text reads."""
    from_zero: bool = False
    """Whether nothing is promised of negative sizes."""
    prelude: str = ""
    """What the text of kernels starts with: the same for all pairs that have it."""

    def is_promised(self, size: Size) -> bool:
        values = dict(zip("nmuh", size, strict=True))
        if self.from_zero and min(size[:2]) < 0:
            return False
        return self.guarded or not any(at_parameters(one, values).is_empty() for one in _assumed(self.old))

    @property
    def runs(self) -> list[tuple[Size, int]]:
        n, m = self.also[:2]
        near = [(n, m, max(m + more, 0), h) for more, h in ((-1, n), (1, m), (0, 1))]
        late = [(size, seed) for size in (self.also, *near) for seed in LATE_SEEDS]
        last = HOSTILE if self.is_hostile else ((SIZES[0], NO_RUN),) * len(HOSTILE)
        return [(size, seed) for size in SIZES for seed in SEEDS] + late + [*WILD, *last]


@dataclass(frozen=True)
class Judgement:
    """For how many runs the old program is defined, `late` of them of the size that the pair asked for,
    and for which the new program does something else.
    """

    defined: int
    wrong: tuple[str, ...]
    late: int = 0
    runs: frozenset[int] = frozenset()
    """Those for which it is defined."""


@lru_cache(maxsize=100)
def _assumed(text: str) -> tuple[isl.Set, ...]:
    """The parameters for which something is proved of a text."""
    options = ReadOptions() if "#pragma scop" in text else ReadOptions(choice=Choice(("f",)))
    try:
        programs = read_c(old_path(text), options)
    except BadInput:  # it was read in other words, of which nothing is assumed
        return ()
    found = [one.implies for program in programs for one in program.assumptions]
    return tuple(one for one in found if one is not None)


def judged(
    pairs: Sequence[Pair], *, threads: bool = False, only: Sequence[frozenset[int]] = ()
) -> list[Judgement]:
    """What running says of every pair; with `threads` OpenMP is on, and data races are wrong too.

    Where `only` some runs of each pair are given, others say nothing.
    """
    if not pairs:
        return []
    only = only or [frozenset(range(RUNS))] * len(pairs)
    with TemporaryDirectory() as name:
        folder = Path(name)
        if not _built(pairs, folder, threads=threads):
            if len(pairs) == 1:
                return [Judgement(0, (NOT_COMPILED,))]
            middle = len(pairs) // 2
            halves = slice(middle), slice(middle, None)
            return [one for half in halves for one in judged(pairs[half], threads=threads, only=only[half])]
        done = subprocess.run(
            [folder / "judge"], capture_output=True, text=True, errors="replace", check=True, env=_OPTIONS
        )
    said = re.split(r"\n@@ (\d+ \d)\n", done.stderr)
    messages = {key: text.strip() for key, text in zip(said[1::2], said[2::2], strict=True) if text.strip()}
    lines = [[int(word) for word in line.split()] for line in done.stdout.splitlines()]
    said_of = zip(pairs, only, strict=True)
    return [_judgement(number, pair, lines, messages, runs) for number, (pair, runs) in enumerate(said_of)]


def judged_with_threads(pairs: Sequence[Pair], alone: Sequence[Judgement] | None = None) -> list[Judgement]:
    """The same with OpenMP, where data races are wrong too.

    What is defined is known from the runs `alone`: here nothing tells that an access is beyond an array.
    Where a loop is empty, every thread of gcc's writes what `lastprivate` names: races are those without it.
    """
    defined = [one.runs for one in (judged(pairs) if alone is None else alone)]
    told = judged(pairs, threads=True, only=defined)
    last = [k for k, pair in enumerate(pairs) if _LAST.search(pair.new)]
    private = [replace(pairs[k], new=_LAST.sub("private", pairs[k].new)) for k in last]
    others = judged(private, threads=True, only=[defined[k] for k in last])
    for k, other in zip(last, others, strict=True):
        wrong = [one for one in told[k].wrong if RACE not in one]
        told[k] = replace(told[k], wrong=(*wrong, *(one for one in other.wrong if RACE in one)))
    return told


def _judgement(
    number: int, pair: Pair, lines: list[list[int]], messages: dict[str, str], only: frozenset[int]
) -> Judgement:
    wrong: list[str] = []
    mine = [line for line in lines if line[0] == number and line[2] == 2 and line[1] in only]
    for _, run, _, new, same in mine:
        (n, m, u, h), seed = pair.runs[run]
        not_run = new == 0  # several runs before it did not end
        if not_run or (new == 2 and same) or not pair.is_promised((n, m, u, h)):
            continue
        place = f"n = {n}, m = {m}, u = {u}, h = {h}, data {seed}"
        if new != 2:
            told = messages.get(f"{number} 1", "it does not end")
            found = re.search(r"runtime error: .*|ERROR: \w+: .*|WARNING: ThreadSanitizer: .*", told)
            wrong.append(f"{place}: {found.group() if found else told[:200]}")
        else:
            wrong.append(f"{place}: other bits")
    asked = range(len(SIZES) * len(SEEDS), len(SIZES) * len(SEEDS) + len(LATE_SEEDS))
    late = [line for line in mine if line[1] in asked]
    return Judgement(len(mine), tuple(wrong), len(late), frozenset(line[1] for line in mine))


@lru_cache(maxsize=1)
def _objects() -> TemporaryDirectory[str]:
    """A folder with what all judgements share, compiled once: the driver, and threads that tell races."""
    made = TemporaryDirectory(prefix="judge-")
    seeds = {"RUNS": RUNS, "ZEROS": _ZEROS, "ONES": _ONES, "GIVEN": _GIVEN, "FAILING": _FAILING}
    seeds |= {"LARGE": _LARGE, "STRANGE": _STRANGE, "OVERLAPPING": _OVERLAPPING}
    texts = {"driver": _DRIVER.read_text(), "team": runtime_text("team.c")}
    flags = {"driver": [f"-D{name}={value}" for name, value in seeds.items()], "team": ["-fsanitize=thread"]}
    for name, text in texts.items():
        source = Path(made.name, f"{name}.c")
        source.write_text(text)
        command = ["gcc", "-std=gnu11", "-O2", "-w", *flags[name], "-c", str(source)]
        subprocess.run([*command, "-o", str(source.with_suffix(".o"))], check=True)
    return made


def _built(pairs: Sequence[Pair], folder: Path, *, threads: bool) -> bool:
    (folder / "pairs.c").write_text(_text(pairs))
    objects = [str(Path(_objects().name, f"{name}.o")) for name in ("driver", *(["team"] if threads else []))]
    flags = ["-std=gnu11", "-O0", "-w", "-ffp-contract=off", *(_THREADS if threads else _PLAIN)]
    compiled = ["gcc", *flags, "-c", str(folder / "pairs.c"), "-o", str(folder / "pairs.o")]
    if subprocess.run(compiled, capture_output=True, check=False).returncode != 0:
        return False
    sanitizers = [_THREADS[0]] if threads else [_PLAIN[0]]  # with -fopenmp another team would be linked
    command = ["gcc", *sanitizers, str(folder / "pairs.o"), *objects, "-o", str(folder / "judge")]
    linked = subprocess.run([*command, "-lm", "-lpthread"], capture_output=True, check=False)
    return linked.returncode == 0


def _text(pairs: Sequence[Pair]) -> str:
    """All versions in one file: names at file scope get numbers, macros end with their version."""
    parts: list[str] = [_MALLOC, *dict.fromkeys(pair.prelude for pair in pairs)]
    parts[:0] = ["#include <emmintrin.h>"] if any("_mm_" in pair.new for pair in pairs) else []
    table: list[str] = []
    for number, pair in enumerate(pairs):
        row = [
            _version(text, pair, f"_{number}_{side}", parts, MARGIN * side)
            for side, text in enumerate((pair.old, pair.new))
        ]
        table.append(f"{{ {', '.join(row)} }}")
    rows = [[f"{{{', '.join(map(str, (*size, seed)))}}}" for size, seed in pair.runs] for pair in pairs]
    sizes = ",\n".join(f"{{{', '.join(row)}}}" for row in rows)
    cells = [row for number, pair in enumerate(pairs) for row in _given(number, pair)]
    parts.append(_TABLES)
    parts.append(f"const int count_of_pairs = {len(pairs)}, sizes[][{RUNS}][5] = {{{sizes}}};")
    parts.append(f"struct version versions[][2] = {{{','.join(table)}}};")
    parts.append(f"const struct cell given[] = {{{''.join(f'{row}, ' for row in cells)}{{-1, 0, 0, 0}}}};")
    return "\n".join(parts)


def _given(number: int, pair: Pair) -> Iterator[str]:
    """What a pair gives, for the driver; what is no cell of an array, such as a number, is as it is.

    A parameter that is a pointer has one subscript, whatever the rank of the array.
    """
    slots = {one.name: (slot, one.rank) for slot, one in enumerate(pair.arrays) if not one.is_struct}
    for name, subscripts, value in pair.given:
        slot, rank = slots.get(name, (0, 0))
        if rank and len(subscripts) in (1, rank) and all(0 <= k < EDGE for k in subscripts):
            index = reduce(lambda at, k: at * EDGE + k, subscripts, 0)
            yield f"{{{number}, {slot}, {index}, {float(value)!r}}}"


def _version(text: str, pair: Pair, suffix: str, parts: list[str], margin: int) -> str:
    arrays = pair.arrays
    names = dict.fromkeys(re.findall(r"(?m)^(?:static |extern )*(?:\w+ )+\*?(\w+)(?=[\[(;= ])", text))
    names |= dict.fromkeys(re.findall(r"\bloopwright_\w+|(?m:(?<=^enum \{ ))\w+", text))
    parts += [f"#define {name} {name}{suffix}" for name in names]
    parts.append(text)
    given = ", ".join(["n", "m", "u", "h", *(f"p[{k}]" for k, one in enumerate(arrays) if not one.shared)])
    parts.append(
        f"void call{suffix}(int n, int m, unsigned u, short h, void **p, double *out) {{ f({given}, out); }}"
    )
    slots = ", ".join(
        f"{{ {one.size}, {_KINDS[one.type]}, {margin if one.name in pair.wider else 0}, "
        f"{f'{one.name}{suffix}' if one.shared else 'NULL'} }}"
        for one in arrays
    )
    parts += [f"#undef {name}" for name in (*names, *_DEFINED.findall(text))]
    keeps = int(_KEPT.search(pair.old + pair.new) is not None)
    return f"{{ call{suffix}, {keeps}, {{ {slots} }} }}"
