"""The programs that `benchmarks.gpu` times, with their scripts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STENCILS = "GStencil/s"


@dataclass(frozen=True)
class Program:
    """`small` and `large` are the -D options of a check and of timed runs."""

    name: str
    source: str
    script: str
    small: tuple[str, ...]
    large: tuple[tuple[str, ...], ...]
    unit: str
    prove: bool = True
    """Whether the proof ends within minutes; what is made without one is said to be so."""

    def work(self, options: tuple[str, ...]) -> float:
        values = {name: int(value) for name, value in (one[2:].split("=") for one in options)}
        match self.unit:
            case unit if unit == STENCILS:
                return float((values["N"] - 2) ** (3 if "3d" in self.name else 2) * values["STEPS"])
            case _:
                return float(operations(self.name, values))


def operations(name: str, values: dict[str, int]) -> int:
    """Floating-point operations of the linear algebra, points and steps of the others."""
    match name:
        case "gemm":
            return 2 * values["NI"] * values["NJ"] * values["NK"]
        case "2mm":
            return 2 * values["NI"] * values["NJ"] * (values["NK"] + values["NL"])
        case "correlation":
            return values["M"] ** 2 * values["N"]
        case "jacobi-2d":
            return 2 * 5 * values["N"] ** 2 * values["TSTEPS"]
        case _:
            return 11 * values["NX"] * values["NY"] * values["TMAX"]


HEAT = """\
/* The heat equation, STEPS half steps between two arrays. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef REAL real;
static real *a, *b;
#define CELLS ((size_t)N{cells})

static void initialise(void)
{{
  if (!a) {{
    a = malloc(sizeof(real) * CELLS);
    b = malloc(sizeof(real) * CELLS);
  }}
  uint32_t state = 1;
  for (size_t k = 0; k < CELLS; k++) {{
    state = state * 1664525u + 1013904223u;
    a[k] = b[k] = (real)(state >> 8) / 16777216;
  }}
}}

static void run(long n, long steps, real A[n]{extents}, real B[n]{extents})
{{
#pragma scop
  for (long t = 0; t < steps; t++) {{
{first}
{second}
  }}
#pragma endscop
}}

static void kernel(void)
{{
  run(N, STEPS / 2, (void *)a, (void *)b);
}}

static uint64_t checksum(void)
{{
  uint64_t sum = 14695981039346656037u;
  for (size_t k = 0; k < sizeof(real) * CELLS; k++)
    sum = (sum ^ ((const unsigned char *)a)[k]) * 1099511628211u;
  return sum;
}}

int main(void)
{{
  initialise();
  kernel();
  printf("%016llx\\n", (unsigned long long)checksum());
  return 0;
}}
"""

def heat(dimensions: int, real: str) -> str:
    """The program in two or three dimensions, with numbers of type `real`."""
    names = ("i", "j", "k")[:dimensions]
    suffix = "f" if real == "float" else ""

    def cell(array: str, moved: str = "", by: str = "") -> str:
        return array + "".join(f"[{name}{by if name == moved else ''}]" for name in names)

    def nest(label: str, new: str, old: str) -> str:
        terms = " + ".join(
            f"0.125{suffix} * ({cell(old, one, ' + 1')} - 2.0{suffix} * {cell(old)}"
            f" + {cell(old, one, ' - 1')})"
            for one in names
        )
        lines = [
            "    " + "  " * depth + f"for (long {one} = 1; {one} < n - 1; {one}++)"
            for depth, one in enumerate(names)
        ]
        return "\n".join([*lines, f"          {label}: {cell(new)} = {terms} + {cell(old)};"])

    return HEAT.format(
        cells=" * N" * (dimensions - 1),
        extents="[n]" * (dimensions - 1),
        first=nest("LoopB", "B", "A"),
        second=nest("LoopA", "A", "B"),
    ).replace("REAL", real)


def mapped(rows: int, **sizes: int) -> str:
    """Both halves of a time step; a thread computes `rows` neighbours along i, which share what they read."""
    names = list(sizes)
    lines: list[str] = []
    for loop in ("LoopB", "LoopA"):
        tiles = ", ".join(f"{name}={rows * size if name == 'i' else size}" for name, size in sizes.items())
        blocks = ", ".join(f"{name}T" for name in names)
        if rows == 1:
            lines += [f"tile({loop}, {tiles})", f"block({loop}, {blocks})", f"thread({loop}, {tiles})"]
            continue
        inner = ["iT1", *names[1:], "i"]
        order = ", ".join(["t", *(f"{name}T" for name in names), *inner])
        threads = ", ".join(f"{'iT1' if name == 'i' else name}={size}" for name, size in sizes.items())
        lines += [f"shift({loop}, i, -1)", f"tile({loop}, {tiles})", f"tile({loop}, i={rows})"]
        lines += [f"interchange({loop}, [{order}])", f"unroll({loop}, i, {rows})"]
        lines += [f"block({loop}, {blocks})", f"thread({loop}, {threads})"]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Overlapped:
    """Whole tiles of `steps` steps of two halves, in shared memory; a thread has `rows` rows of a column."""

    steps: int
    i: int
    j: int
    rows: int
    threads: tuple[int, int]

    @property
    def name(self) -> str:
        return f"overlap-{'x'.join(map(str, (self.steps, self.i, self.j, self.rows, *self.threads)))}"

    @property
    def script(self) -> str:
        y, x = self.threads
        lines = ["Time = lift(LoopB, 1)"]
        lines += [f"(Tiles, Copies) = overlap(Time, t={self.steps}, i={self.i}, j={self.j}, whole)"]
        halo = 2 * self.steps
        for number in (1, 2):
            for loop, margin in (("LoopB", halo - 1), ("LoopA", halo - 2)):
                lines += self._strips(f"{loop}_{number}", margin, "[tT, iT, jT, t, iT1, j, i]")
            for copy, margin in (("A_load", halo), ("A_store", 0)):
                lines += self._strips(f"{copy}_{number}", margin, "[tT, iT, jT, iT1, j, i]")
        lines += ["block(Tiles, iT, jT)"]
        strips = ("LoopB", "LoopA", "A_load_1", "A_load_2", "A_store_1", "A_store_2")
        lines += [f"thread({one}, iT1={y}, j={x})" for one in strips]
        others = ("B_load_1", "B_load_2", "B_store_1", "B_store_2")
        lines += [f"thread({one}, i={y}, j={x})" for one in others]
        return "\n".join(lines) + "\n"

    def _strips(self, loop: str, margin: int, order: str) -> list[str]:
        moved = [f"shift({loop}, i, {margin})"] if margin else []
        return [*moved, f"tile({loop}, i={self.rows})", f"interchange({loop}, {order})"]


@dataclass(frozen=True)
class Hexagonal:
    """Hexagonal tiles in shared memory, by the options of [Grosser2015, table I].

    `steps`, `width` and `others` are the sizes of `hexagon`; a block has `threads`, along j or along j and k
    inside of those along i.  Unrolled copies and tiles give a thread `rows` neighbours along i.
    """

    steps: int
    width: int
    others: tuple[int, ...]
    rows: int
    threads: tuple[int, ...]

    @property
    def name(self) -> str:
        sizes = (self.steps, self.width, *self.others, self.rows, *self.threads)
        return f"hexagon-{'x'.join(map(str, sizes))}"

    def script(self, options: tuple[str, ...]) -> str:
        names = ("i", "j", "k")[: len(self.others) + 1]
        given = zip(names, (self.width, *self.others), strict=True)
        sizes = ", ".join(f"{name}={size}" for name, size in given)
        lines = ["Time = lift(LoopB, 1)", f"(First, Second) = hexagon(Time, t={self.steps}, {sizes}, staged)"]
        for phase in (1, 2):
            lines += [f"Load{phase} = fuse(A_load_{phase}, B_load_{phase})"]
            lines += [f"Store{phase} = fuse(A_store_{phase}, B_store_{phase})"]
        kinds = ("Load", "Store", "LoopB_", "LoopA_")
        parts = {f"{one}{phase}": (phase, one) for phase in (1, 2) for one in kinds}
        for part, (phase, kind) in parts.items():
            if ("tiles" if "Loop" in kind else "copies") in options:
                lines += self._strips(part, phase, kind, names)
        lines += ["block(First, iT)", "block(Second, iT)"]
        if "isolated" in options:
            strip, inner = "iT1, " if "tiles" in options else "", ", ".join(names)
            lines += [f"isolate(Time_{phase}, {names[-1]}T, [t, {strip}{inner}])" for phase in (1, 2)]
            strip = "iT1, " if "copies" in options else ""
            copies = [part for part, (_, kind) in parts.items() if "Loop" not in kind]
            lines += [f"isolate({part}, {names[-1]}T, [{strip}{inner}])" for part in copies]
        if "tiles" in options:
            lines += [f"unroll(Time_{phase}, t)" for phase in (1, 2)]
        for part, (_, kind) in parts.items():
            strips = ("tiles" if "Loop" in kind else "copies") in options
            counts = zip(("iT1" if strips else "i", *names[1:]), self.threads, strict=True)
            lines += [f"thread({part}, {', '.join(f'{name}={count}' for name, count in counts)})"]
        return "\n".join(lines) + "\n"

    def _strips(self, part: str, phase: int, kind: str, names: tuple[str, ...]) -> list[str]:
        """`rows` iterations of i inside the loops over threads, beginning with the first row of the tile."""
        half = self.steps - 1
        first = (-half if phase == 1 else self.width) - (kind == "Load")
        time = ["t"] if "Loop" in kind else []
        order = ", ".join(["tT", *(f"{name}T" for name in names), *time, "iT1", *names[1:], "i"])
        lines = [f"shift({part}, i, {-first})", f"tile({part}, i={self.rows})"]
        unrolled = [] if time else [f"unroll({part}, i)"]
        return [*lines, f"interchange({part}, [{order}])", *unrolled]


@dataclass(frozen=True)
class Streamed:
    """Tiles of `steps` steps of two halves in the registers of a warp, or of `warps`.

    `sizes` are the rows or planes that it marches along, in three dimensions the rows of a plane, and the
    columns of a lane; `trimmed` ones have no halos beyond the ends of arrays.
    """

    steps: int
    sizes: tuple[int, ...]
    fetch: int = 0
    warps: int = 0
    trimmed: bool = False

    @property
    def name(self) -> str:
        sizes = "x".join(map(str, (self.steps, *self.sizes)))
        warps = f"-warps-{self.warps}" if self.warps else ""
        fetch = f"-fetch-{self.fetch}" if self.fetch else ""
        return f"stream-{sizes}{warps}{fetch}{'-trimmed' * self.trimmed}"

    @property
    def script(self) -> str:
        names = ("i", "j", "k")[: len(self.sizes)]
        given = zip(("t", *names), (self.steps, *self.sizes), strict=True)
        sizes = ", ".join(f"{name}={size}" for name, size in given)
        sizes += f", warps={self.warps}" if self.warps else ""
        sizes += (f", fetch={self.fetch}" if self.fetch else "") + ", trimmed" * self.trimmed
        threads = f"w={self.warps}, x=32" if self.warps else "x=32"
        lines = ["Time = lift(LoopB, 1)", f"(Tiles, March, Clear) = stream(Time, {sizes})"]
        lines += [f"block(Tiles, {', '.join(f'{name}T' for name in names)})"]
        lines += [f"thread(March, {threads})", f"thread(Clear, {threads})"]
        for loop in ("Kept", "Back", "LoopB_rest", "LoopA_rest"):
            lines += [f"block({loop}, {', '.join(names[:-1])})", f"thread({loop}, {names[-1]}=256)"]
        return "\n".join(lines) + "\n"


PLANE = (("-DN=3072", "-DSTEPS=512"), ("-DN=16384", "-DSTEPS=200"))
SPACE = (("-DN=384", "-DSTEPS=128"), ("-DN=512", "-DSTEPS=100"))
SHAPES: dict[str, tuple[dict[str, int], ...]] = {
    "2d-float": ({"rows": 1, "i": 4, "j": 64}, {"rows": 4, "i": 1, "j": 256}, {"rows": 8, "i": 1, "j": 256}),
    "2d-double": ({"rows": 4, "i": 1, "j": 256}, {"rows": 8, "i": 1, "j": 256}),
    "3d-float": (
        {"rows": 1, "i": 1, "j": 4, "k": 64},
        {"rows": 16, "i": 1, "j": 4, "k": 32},
        {"rows": 16, "i": 1, "j": 2, "k": 64},
        {"rows": 16, "i": 1, "j": 8, "k": 32},
        {"rows": 32, "i": 1, "j": 4, "k": 32},
    ),
    "3d-double": ({"rows": 8, "i": 1, "j": 4, "k": 32},),
}
TILES: dict[str, tuple[Overlapped | Streamed, ...]] = {
    "2d-float": (
        Overlapped(2, 56, 88, 8, (8, 32)),
        Overlapped(3, 48, 84, 8, (8, 32)),
        Streamed(4, (32, 4), fetch=1),
        Streamed(5, (256, 4), fetch=2),
    ),
    "2d-double": (
        Overlapped(2, 40, 56, 8, (6, 64)),
        Streamed(4, (54, 2), fetch=2),
        Streamed(5, (256, 3), fetch=2),
    ),
    "3d-float": (Streamed(2, (77, 4, 2), warps=16), Streamed(2, (64, 4, 2), warps=16, trimmed=True)),
    "3d-double": (Streamed(2, (64, 3, 2), warps=12),),
}
TABLE = {
    "2d-float": (
        Hexagonal(4, 9, (256,), 3, (3, 256)),
        Hexagonal(4, 13, (192,), 4, (3, 192)),
        Hexagonal(8, 9, (160,), 4, (6, 160)),
    ),
    "2d-double": (Hexagonal(4, 9, (64,), 3, (6, 64)),),
    "3d-float": (Hexagonal(2, 1, (8, 32), 2, (3, 8, 32)), Hexagonal(2, 3, (8, 32), 2, (3, 8, 32))),
}
"""Table I is of the first shape in float: none of the options, each alone, all but one, all."""
OPTIONS = ("isolated", "copies", "tiles")
ROWS = ((), *((one,) for one in OPTIONS), *combinations(OPTIONS, 2), OPTIONS)
LARGE = {
    "jacobi-2d": ("-DN=4000", "-DTSTEPS=100"),
    "fdtd-2d": ("-DNX=4000", "-DNY=4000", "-DTMAX=100"),
    "correlation": ("-DM=2000", "-DN=2000"),
    "gemm": ("-DNI=4096", "-DNJ=4096", "-DNK=4096"),
    "2mm": ("-DNI=2048", "-DNJ=2048", "-DNK=2048", "-DNL=2048"),
}
SMALL = {
    "jacobi-2d": ("-DN=301", "-DTSTEPS=7"),
    "fdtd-2d": ("-DNX=301", "-DNY=203", "-DTMAX=7"),
    "correlation": ("-DM=130", "-DN=175"),
    "gemm": ("-DNI=197", "-DNJ=301", "-DNK=90"),
    "2mm": ("-DNI=197", "-DNJ=301", "-DNK=90", "-DNL=270"),
}


def programs() -> Iterator[Program]:
    """Heat with several shapes of blocks, and the kernels with the scripts that are shipped."""
    for dimensions, large in ((2, PLANE), (3, SPACE)):
        for real in ("float", "double"):
            kind, source = f"{dimensions}d-{real}", heat(dimensions, real)
            # Two pairs of passes of the longest tiles, and steps that are left over.
            small = ("-DN=301", "-DSTEPS=46") if dimensions == 2 else ("-DN=131", "-DSTEPS=20")
            named = [("x".join(map(str, shape.values())), mapped(**shape)) for shape in SHAPES[kind]]
            named += [(one.name, one.script) for one in TILES.get(kind, ())]
            for shape, script in named:
                yield Program(f"heat-{kind}-{shape}", source, script, small, large, STENCILS)
            for place, tiles in enumerate(TABLE.get(kind, ())):
                for row in ROWS if place == 0 and real == "float" else ROWS[-1:]:
                    name = f"heat-{kind}-{tiles.name}-{'-'.join(row) or 'none'}"
                    sizes = large if row == OPTIONS else large[:1]
                    yield Program(name, source, tiles.script(row), small, sizes, STENCILS)
    for name in LARGE:
        source = (ROOT / "kernels" / f"{name}.c").read_text()
        script = (ROOT / "kernels" / "gpu" / f"{name}.lw").read_text()
        yield Program(name, source, script, SMALL[name], (LARGE[name],), "GFLOP/s")
