"""Random operations on the statements and loops of a program, most of them plausible."""

from __future__ import annotations

import random

from loopwright.model.program import Program


def random_operation(rng: random.Random, program: Program, number: int) -> tuple[str, ...]:
    """The lines of one operation; the handles that they bind end in `number`."""
    one, other = (rng.choice(program.statements) for _ in range(2))
    loops = list(one.iterators) or ["i"]
    loop, inner = rng.choice(loops), rng.choice(loops)
    if rng.random() < 0.2:
        loop += "T"
    size = rng.choice((1, 2, 3, 4, 8))
    handle, lines = one.name, list[str]()
    if rng.random() < 0.35 and one.depth:
        handle = f"L{number}"
        lines = [f"{handle} = lift({one.name}, {rng.randrange(one.depth)})"]
    sizes = ", ".join(f"{name}={rng.choice((2, 3, 4, 8))}" for name in loops)
    operations = [
        f"interchange({handle}, {loop}, {inner})",
        f"tile({handle}, {sizes})",
        f"tile({handle}, {loop}={size})",
        f"strip_mine({handle}, {loop}, {size})",
        f"reverse({handle}, {loop})",
        f"shift({handle}, {loop}, {rng.choice((-2, -1, 1, 2))})",
        f"skew({handle}, {loop}, {inner}, {rng.choice((-1, 1, 2))})",
        f"unroll({handle}, {loop}, {size + 1})",
        f"unroll_and_jam({handle}, {loop}, {size + 1})",
        f"fuse({one.name}, {other.name})",
        "distribute()",
        f"distribute({handle})",
        f"reorder({one.name}, {other.name})",
        f"parallel({handle}, {loop})",
        f"vectorize({handle}, {loop})",
        f"separate({handle}, {loop})",
        f"isplit({one.name}, {{[{', '.join(loops)}] : {loops[-1]} < {rng.choice(('n', 'm', '3'))}}}, 0)",
        "from_zero()",
        f"sink({one.name}, {other.name}, {rng.randrange(2)})",
        f"expand({rng.choice('stw')}, {loop})",
        f"rename({rng.choice('stw')}, {one.name})",
        f"pack({rng.choice([access.array for access in one.accesses] or ['A0'])}, {one.name}, {loop})",
    ]
    chosen = rng.choice(operations)
    if chosen.startswith("isplit"):
        chosen = f"(X{number}, Y{number}) = {chosen}"
    return (*lines, chosen)
