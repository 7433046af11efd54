"""Rewritings with directives of OpenMP and functions of the library: right for some loops only."""

from __future__ import annotations

from dataclasses import replace

from tests.fuzz.nests import Assign, Block, If, Loop, Words
from tests.fuzz.rewordings import Chosen, Nodes
from tests.fuzz.rewritings import OfLoop

KINDS = ("parallel for",) * 4 + ("parallel for simd", "simd", "simd safelen(2)", "simd safelen(8)")
CLAUSES = ("reduction(+:{})", "reduction(+:{})", "reduction(*:{})", "reduction(-:{})", "private({})",
           "firstprivate({})", "lastprivate({})")  # fmt: skip
SCHEDULES = ("schedule(static)", "schedule(static, 2)", "num_threads(3)", "if(n > 3)")


def marked(loop: Loop, chosen: Chosen) -> Nodes:
    """The loop with a directive; which clauses it needs is not looked into."""
    rng = chosen.rng
    words = [rng.choice(KINDS)]
    numbers = [one.name for one in chosen.arrays if one.rank == 0]
    if numbers and rng.random() < 0.5:
        words.append(rng.choice(CLAUSES).format(rng.choice(numbers)))
    if "parallel" in words[0] and rng.random() < 0.25:
        words.append(rng.choice(SCHEDULES))
    if len(loop.body) == 1 and isinstance(loop.body[0], Loop) and rng.random() < 0.4:
        words.append("collapse(2)")
    head = f"for ({loop.kind} {loop.name} = {loop.low}; {loop.name} < {loop.high}; {loop.name} += {loop.by})"
    return (Block(f"#pragma omp {' '.join(words)}\n{head}", loop.body),)


def at_once(loop: Loop, chosen: Chosen) -> Nodes | None:
    """A loop that sets or copies cells as one call, with or without what the loop says of empty ranges."""
    match loop.body:
        case (Assign(target, "=", value),) if target.endswith(f"[{loop.name}]"):
            array = target.removesuffix(f"[{loop.name}]")
        case _:
            return None
    if not array.isidentifier():
        return None
    count = chosen.rng.choice((f"({loop.high} - {loop.low})",) * 4 + (f"({loop.high})",))
    bytes_ = f"sizeof({chosen.type_of(array)}) * {count}"
    start = f"{array} + {loop.low}"
    if value == "0":
        call = Words(f"memset({start}, 0, {bytes_});")
    elif value.endswith(f"[{loop.name}]") and value.removesuffix(f"[{loop.name}]").isidentifier():
        name = chosen.rng.choice(("memcpy", "memcpy", "memmove"))
        call = Words(f"{name}({start}, {value.removesuffix(f'[{loop.name}]')} + {loop.low}, {bytes_});")
    else:
        return None
    return (If(f"{loop.low} < {loop.high}", (call,)),) if chosen.rng.random() < 0.8 else (call,)


def simple(loop: Loop, chosen: Chosen) -> Nodes:
    """The loop with one assignment that sets or copies cells."""
    rows = [one for one in chosen.arrays if one.rank == 1]
    if not rows:
        return (loop,)
    one, other = chosen.rng.choice(rows), chosen.rng.choice(rows)
    value = "0" if one == other or chosen.rng.random() < 0.5 else f"{other.name}[{loop.name}]"
    return (replace(loop, body=(Assign(f"{one.name}[{loop.name}]", "=", value),)),)


def at_a_loop(nodes: Nodes, chosen: Chosen, change: OfLoop) -> Nodes:
    """The nodes with one of their loops, or of the loops inside, changed; as they are where it cannot be."""
    loops = [k for k, node in enumerate(nodes) if isinstance(node, Loop)]
    if not loops:
        return nodes
    where = chosen.rng.choice(loops)
    loop = nodes[where]
    assert isinstance(loop, Loop)
    if any(isinstance(one, Loop) for one in loop.body) and chosen.rng.random() < 0.4:
        made: Nodes | None = (replace(loop, body=at_a_loop(loop.body, chosen, change)),)
    else:
        made = change(loop, chosen)
    return nodes if made is None else (*nodes[:where], *made, *nodes[where + 1 :])
