"""The table of a comparison: totals, geometric means, the worst ten, and the figures to reach."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from loopwright.loops.traverse import Size

SLOW_S = 5.0
WORST = 10


@dataclass
class Row:
    """One file: what each generator made of it and what that costs."""

    name: str
    generate_s: float = 0.0
    prove_s: float = 0.0
    peer_s: float = 0.0
    ours: Size | None = None
    peers: Size | None = None
    values: dict[str, int] | None = None
    executions: int = 0
    ours_run: int | None = None
    """Instructions or operations of a run of our program."""
    peers_run: int | None = None
    failure: str = ""
    """Why there is no proved program."""
    note: str = ""
    """Why there is nothing to compare with."""


@dataclass(frozen=True)
class Quantity:
    """Something compared: ours, the peer's, and how it is shown."""

    title: str
    ours: Callable[[Row], float | None]
    peers: Callable[[Row], float | None]
    shown: Callable[[float], str] = field(default=lambda value: f"{value:,.0f}")


def _size(name: str) -> Quantity:
    def of(which: str) -> Callable[[Row], float | None]:
        def count(row: Row) -> float | None:
            found = getattr(row, which)
            return None if found is None else getattr(found, name)

        return count

    return Quantity(name, of("ours"), of("peers"))


def _seconds(value: float) -> str:
    return f"{value:.3f}"


def _per_instance(run: int | None, row: Row) -> float | None:
    return None if run is None else run / max(row.executions, 1)


TIMES = (
    Quantity("generate s", lambda r: r.generate_s, lambda r: r.peer_s, _seconds),
    Quantity("prove s", lambda r: r.prove_s, lambda r: r.peer_s, _seconds),
)
SIZES = tuple(map(_size, ("loops", "ifs", "calls", "min_max")))


def runs(how: str) -> Quantity:
    title = "instructions/instance" if how == "callgrind" else "operations/instance"
    return Quantity(
        title,
        lambda r: _per_instance(r.ours_run, r),
        lambda r: _per_instance(r.peers_run, r),
        lambda value: f"{value:.2f}",
    )


def failures(rows: Iterable[Row]) -> list[str]:
    """What must not happen: no proved program, or one that was long in coming."""
    found = []
    for row in rows:
        if row.failure:
            found.append(f"{row.name}: {row.failure}")
        elif row.generate_s + row.prove_s > SLOW_S:
            found.append(f"{row.name}: {row.generate_s:.1f} s to generate and {row.prove_s:.1f} s to prove")
    return found


def print_report(rows: Sequence[Row], how: str) -> None:
    compared = [row for row in rows if row.ours is not None and row.peers is not None and not row.failure]
    proved = sum(row.ours is not None and not row.failure for row in rows)
    print(f"{len(rows)} files, {proved} proved, {len(compared)} compared with isl\n")
    quantities = [*TIMES, *SIZES, *([runs(how)] if how != "none" else [])]
    print(f"{'':24}{'ours':>14}{'isl':>14}{'ratio':>9}{'geo. mean':>11}{'worst':>8}")
    for quantity in quantities:
        _print_totals(quantity, compared)
    _print_list("Figures to reach:", _figures(compared, quantities))
    for quantity in quantities:
        _print_worst(quantity, compared)
    _print_list("Not proved, or more than 5 s:", failures(rows))
    _print_list("Not compared:", [f"{row.name}: {row.note}" for row in rows if row.note])


def _pairs(quantity: Quantity, rows: Iterable[Row]) -> list[tuple[Row, float, float]]:
    found = ((row, quantity.ours(row), quantity.peers(row)) for row in rows)
    return [(row, ours, peers) for row, ours, peers in found if ours is not None and peers is not None]


def _ratio(ours: float, peers: float) -> float:
    """The ratio; for counts of which one is zero, that of both with one added."""
    return ours / peers if ours and peers else (ours + 1) / (peers + 1)


@dataclass(frozen=True)
class Totals:
    """A quantity over all files."""

    ours: float
    peers: float
    ratio: float
    mean: float
    """The geometric mean of the files' ratios."""
    worst: float


def totals(quantity: Quantity, rows: Sequence[Row]) -> Totals | None:
    pairs = _pairs(quantity, rows)
    if not pairs:
        return None
    ours, peers = sum(a for _, a, _ in pairs), sum(b for _, _, b in pairs)
    ratios = [_ratio(a, b) for _, a, b in pairs]
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    return Totals(ours, peers, _ratio(ours, peers), mean, max(ratios))


def _print_totals(quantity: Quantity, rows: Sequence[Row]) -> None:
    found = totals(quantity, rows)
    if found is None:
        return
    sums = f"{quantity.shown(found.ours):>14}{quantity.shown(found.peers):>14}{found.ratio:>9.3f}"
    print(f"{quantity.title:24}{sums}{found.mean:>11.3f}{found.worst:>8.2f}")


def _figures(rows: Sequence[Row], quantities: Iterable[Quantity]) -> list[str]:
    """What the generator is to reach against isl's, and whether it does."""
    by_title = {quantity.title: totals(quantity, rows) for quantity in quantities}
    wanted: list[tuple[str, float, float]] = []
    for title, found in by_title.items():
        if found is None:
            continue
        if title == "generate s":
            wanted.append(("time to generate, in total, against isl's", found.ratio, 3))
        elif title == "prove s":
            generated = by_title["generate s"]
            assert generated is not None
            wanted.append(("time to prove against time to generate", found.ours / generated.ours, 1))
        elif title in ("loops", "calls"):
            wanted.append((f"{title}, in total", found.ratio, 1.05))
        elif title.endswith("/instance"):
            wanted.append((f"{title}, geometric mean", found.mean, 1))
            wanted.append((f"{title}, worst file", found.worst, 1.5))
    return [f"{'met' if value <= most else 'MISSED':8}{value:8.3f} <= {most:<5} {what}"
            for what, value, most in wanted]


def _print_worst(quantity: Quantity, rows: Sequence[Row]) -> None:
    pairs = sorted(_pairs(quantity, rows), key=lambda p: (-_ratio(p[1], p[2]), p[0].name))
    lines = [
        f"{_ratio(a, b):8.2f}  {quantity.shown(a):>12} {quantity.shown(b):>12}  {row.name}"
        for row, a, b in pairs[:WORST]
        if _ratio(a, b) > 1
    ]
    _print_list(f"Worst by {quantity.title} (ratio, ours, isl):", lines)


def _print_list(title: str, lines: Sequence[str]) -> None:
    if lines:
        print(f"\n{title}")
        for line in lines:
            print(f"  {line}")
