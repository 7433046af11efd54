"""Random operations on the statements and loops of a program, most of them plausible."""

from __future__ import annotations

import random

from loopwright.model.program import Program, Statement
from tests.fuzz.stencils import STEPS, tiles_of_steps


def random_operation(rng: random.Random, program: Program, number: int) -> tuple[str, ...]:
    """The lines of one operation; the handles that they bind end in `number`."""
    one, other = (rng.choice(program.statements) for _ in range(2))
    setting = [each for each in program.statements if _sets_a_local(each)]
    if setting and rng.random() < 0.5:
        one = rng.choice(setting)
    if one.iterators[:1] == (STEPS,) and rng.random() < 0.6:
        return tiles_of_steps(rng, number)
    if rng.random() < 0.05:
        return storage_operation(rng, program, number) + marked_loop(rng, program, number)
    has_temporary = one in setting
    if rng.random() < (0.3 if has_temporary else 0.08):
        return marked_loop(rng, program, number)
    if has_temporary and one.depth and rng.random() < 0.55:  # what it holds after the loop is that of another
        at = rng.randrange(one.depth)
        return f"L{number} = lift({one.name}, {at})", f"reverse(L{number}, {one.iterators[at]})"
    loops = list(one.iterators) or ["i"]
    loop, inner = rng.choice(loops), rng.choice(loops)
    if number and rng.random() < 0.15:
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
        f"affine({one.name}, {{[{', '.join(loops)}] -> [{', '.join(_turned(rng, loops))}]}})",
        f"isolate({handle}, {loop}T, [{inner}])",
    ]
    kind = rng.random()
    if rng.random() < 0.35:  # what dependences decide on
        operations = operations[:1] + operations[4:5] + operations[6:7] + operations[9:14] + operations[13:15]
    elif kind < 0.01:
        operations = ["widen()"]
    elif kind < 0.25:
        operations = _on_storage(rng, program, one, loop)
    elif kind < 0.33:
        threads = f"thread({handle}, {inner}={rng.choice((1, 3, 4))})"
        operations = [f"block({handle}, {loop})"] + ([threads] if loop != inner else [])
        return (*lines, *operations)
    chosen = rng.choice(operations)
    if chosen.startswith("isplit"):
        chosen = f"(X{number}, Y{number}) = {chosen}"
    return (*lines, chosen)


def _sets_a_local(one: Statement) -> bool:
    """Whether a statement sets a variable or a row of the function."""
    return any(access.is_write and access.array in ("s", "t", "v") for access in one.accesses)


def storage_operation(rng: random.Random, program: Program, number: int) -> tuple[str, ...]:
    """One operation on storage."""
    one = rng.choice(program.statements)
    return (rng.choice(_on_storage(rng, program, one, rng.choice(one.iterators or ("i",)))),)


def marked_loop(rng: random.Random, program: Program, number: int) -> tuple[str, ...]:
    """A loop whose iterations are to be independent, with all that is in it."""
    one = rng.choice(program.statements)
    loops = one.iterators or ("i",)
    at = rng.randrange(len(loops))
    word = rng.choice(("parallel", "parallel", "parallel", "vectorize"))
    return (f"L{number} = lift({one.name}, {at})", f"{word}(L{number}, {loops[at]})")


def mapped_loops(rng: random.Random, program: Program, number: int) -> tuple[str, ...]:
    """Loops that blocks and threads of a device divide."""
    one = rng.choice(program.statements)
    loops = one.iterators or ("i",)
    handle = f"L{number}"
    lines = [f"{handle} = lift({one.name}, 0)", f"block({handle}, {loops[0]})"]
    if len(loops) > 1 and rng.random() < 0.6:
        lines.append(f"thread({handle}, {loops[1]}={rng.choice((1, 3, 4))})")
    elif rng.random() < 0.5:
        lines[1:] = [f"tile({handle}, {loops[0]}=4)", f"block({handle}, {loops[0]}T)",
                     f"thread({handle}, {loops[0]}=4)"]  # fmt: skip
    return tuple(lines)


def _turned(rng: random.Random, loops: list[str]) -> list[str]:
    """Other iterators: a permutation, some of them with another one added."""
    mixed = rng.sample(loops, len(loops))
    at = rng.randrange(len(mixed))
    other = rng.choice(loops)
    return [f"{one} + {rng.choice((1, 2))}*{other}" if k == at and one != other else one
            for k, one in enumerate(mixed)]  # fmt: skip


def _on_storage(rng: random.Random, program: Program, one: Statement, loop: str) -> list[str]:
    """Operations on a variable of the program, or on an array that a statement uses."""
    scalars = [array.name for array in program.arrays if array.name in ("s", "t", "w")] or ["s"]
    local = [array.name for array in program.arrays if array.name in ("v", "s", "t", "w")] or ["v"]
    variable = rng.choice(local)
    used = rng.choice([access.array for access in one.accesses] or ["A0"])
    where = rng.choice(("", f", {loop}", f", {loop}", f", {loop}T"))
    how = rng.choice(("", "", ", written", ", transposed", ", scaled", ", transposed, written", ", reused"))
    both = ", ".join(one.iterators[:2]) or loop
    return [
        f"expand({variable}, {loop})",
        f"expand({rng.choice(scalars)}, {loop})",
        f"expand({variable}, {both})",
        f"rename({variable}, {one.name})",
        f"pack({used}, {one.name}{where}{how})",
        f"pack({used}, {one.name}{where}{how})",
        rng.choice(("contract(v)", "contract(v, 1)", "contract(v, 2, ring)", "contract(v, 4, ring)")),
        f"pad(v, {rng.choice((1, 3))})",
    ]
