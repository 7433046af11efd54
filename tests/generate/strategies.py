"""Random schedules, as the texts a user would write: isl's flat inputs and schedule trees.

Every domain is bounded for given parameters and small for small ones, so that it can be
enumerated; nothing else is spared: unions, strides, existentially quantified variables,
schedules that are piecewise, not injective, not unimodular or of several values, and options.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from hypothesis import strategies as st

from loopwright.generate.context import GenerationOptions
from loopwright.model.schedule import LoopType

PARAMETERS = "[n, m]"
ITERATORS = ("i", "j", "k")
CONTEXTS = ("", "n >= 0", "n >= 1 and m >= 1", "m = n + 1", "0 <= m <= n")
Node: TypeAlias = dict[str, Any]
"""A node of isl's YAML."""
small = st.integers(-2, 3)


@dataclass(frozen=True)
class Statement:
    name: str
    iterators: tuple[str, ...]
    domain: str

    @property
    def instance(self) -> str:
        return f"{self.name}[{', '.join(self.iterators)}]"


def chance(one_in: int) -> st.SearchStrategy[bool]:
    """True once in so many times; false is simpler."""
    return st.integers(0, one_in - 1).map(lambda value: value == one_in - 1)


@st.composite
def affine(draw: st.DrawFn, names: tuple[str, ...]) -> str:
    """A sum of a few names with small coefficients and a constant."""
    terms = [f"{draw(small)}{name}" for name in names if draw(chance(2))]
    return " + ".join([*terms, str(draw(small))])


@st.composite
def constraints(draw: st.DrawFn, names: tuple[str, ...]) -> str:
    """A condition on `names` and the parameters: affine, a stride, or an existence."""
    text = draw(affine(names))
    match draw(st.integers(0, 5)):
        case 0 | 1:
            return f"{text} >= 0"
        case 2:
            return f"({text}) mod {draw(st.integers(2, 4))} = {draw(st.integers(0, 1))}"
        case 3:
            factor, least = draw(st.integers(2, 3)), draw(small)
            return f"(exists e : {text} = {factor}e and e >= {least})"
        case 4:
            return f"(exists e : {text} - 1 <= 2e <= {text} + {draw(st.integers(0, 2))})"
        case _:
            return f"{draw(st.sampled_from((*names, 'n')))} != {draw(small)}"


@st.composite
def piece(draw: st.DrawFn, iterators: tuple[str, ...]) -> str:
    """A conjunction that bounds each iterator by the parameters, constants and outer iterators."""
    parts = []
    for position, name in enumerate(iterators):
        outer = iterators[:position]
        low = draw(st.sampled_from(("0", "0", "1", "-1", "2", "n", *outer)))
        high = draw(st.sampled_from(("3", "5", "n", "n + 1", "m", *outer, *(f"{o} + 2" for o in outer))))
        parts.append(f"{low} <= {name} <= {high} and -8 <= {name} <= 9")
    extra = draw(st.lists(constraints((*iterators, "n")), max_size=2))
    return " and ".join([*parts, *extra]) or "n >= 0"


@st.composite
def statements(draw: st.DrawFn, name: str, most: int = 2) -> Statement:
    iterators = ITERATORS[: draw(st.integers(0 if most < 2 else 1, most))]
    pieces = draw(st.lists(piece(iterators), min_size=1, max_size=2))
    return Statement(name, iterators, " or ".join(f"({text})" for text in pieces))


def several_statements(most: int = 3) -> st.SearchStrategy[tuple[Statement, ...]]:
    counts = st.integers(1, most)
    return counts.flatmap(lambda count: st.tuples(*(statements(f"S{k}") for k in range(count))))


@st.composite
def time(draw: st.DrawFn, iterators: tuple[str, ...]) -> str:
    """One dimension of a schedule."""
    if not iterators:
        return str(draw(small))
    name = draw(st.sampled_from(iterators))
    match draw(st.integers(0, 7)):
        case 0 | 1:
            return name
        case 2:
            return str(draw(small))
        case 3:
            return f"{draw(st.sampled_from((-2, -1, 2, 3)))}{name} + {draw(small)}"
        case 4:
            return f"floor(({draw(affine(iterators))})/{draw(st.integers(2, 3))})"
        case 5:
            return f"({name}) mod {draw(st.integers(2, 3))}"
        case 6:
            return f"n - {name}"
        case _:
            return draw(affine(iterators))


@st.composite
def flat_maps(draw: st.DrawFn, statement: Statement, length: int) -> list[str]:
    """The schedule of one statement: one map, or two for two parts of the domain."""
    source, domain = statement.instance, f"({statement.domain})"
    if draw(chance(8)):
        first = draw(time(statement.iterators))
        rest = [draw(time(statement.iterators)) for _ in range(length - 1)]
        spread = f"{first} <= s <= {first} + {draw(st.integers(0, 1))}"
        return [f"{source} -> [{', '.join(['s', *rest])}] : {domain} and {spread}"]
    vectors = [[draw(time(statement.iterators)) for _ in range(length)] for _ in range(2)]
    shown = [f"[{', '.join(vector)}]" for vector in vectors]
    if draw(chance(4)) and statement.iterators:
        cut = f"{statement.iterators[0]} {{}} {draw(small)}"
        parts = (cut.format("<="), cut.format(">"))
        return [f"{source} -> {s} : {domain} and {c}" for s, c in zip(shown, parts, strict=True)]
    return [f"{source} -> {shown[0]} : {domain}"]


@st.composite
def flat_options(draw: st.DrawFn, length: int) -> list[str]:
    times = ", ".join(f"t{k}" for k in range(length))
    options = []
    for k in range(length):
        where = draw(st.sampled_from(("", f" : t{k} >= 1", f" : t{k} <= n")))
        match draw(st.integers(0, 6)):
            case 0:
                options.append(f"[{times}] -> separate[{k}]{where}")
            case 1:
                options.append(f"[{times}] -> atomic[{k}]{where}")
            case 2:
                options.append(f"[{times}] -> unroll[{k}] : 0 <= t{k} <= {draw(st.integers(0, 3))}")
            case 3 if k == 0:
                options.append(f"[{times}] -> separation_class[[0] -> [0]] : 1 <= t0 <= n")
            case _:
                pass
    return options


@st.composite
def flat_texts(draw: st.DrawFn) -> str:
    """A `.in` file."""
    chosen = draw(several_statements())
    length = draw(st.integers(1, 3))
    maps = [text for statement in chosen for text in draw(flat_maps(statement, length))]
    context = draw(st.sampled_from(CONTEXTS))
    options = draw(flat_options(length))
    return "\n".join(
        (
            f"{PARAMETERS} -> {{ {'; '.join(maps)} }}",
            f"{PARAMETERS} -> {{ : {context or 'true'} }}",
            f"{PARAMETERS} -> {{ {'; '.join(options)} }}",
            "",
        )
    )


@st.composite
def unbounded_texts(draw: st.DrawFn) -> str:
    """A `.in` file whose iterators have first values, but not always last ones."""
    maps: list[str] = []
    for number in range(draw(st.integers(1, 2))):
        iterators = ITERATORS[: draw(st.integers(1, 2))]
        parts = [f"{draw(st.sampled_from(('0', '1', 'n')))} <= {name}" for name in iterators]
        ending = [name for name in iterators if draw(chance(2))]
        parts += [f"{name} <= {draw(st.sampled_from(('7', 'n', 'm')))}" for name in ending]
        parts += draw(st.lists(constraints((*iterators, "n")), max_size=1))
        statement = Statement(f"S{number}", iterators, " and ".join(parts))
        maps += draw(flat_maps(statement, 2))
    return f"{PARAMETERS} -> {{ {'; '.join(maps)} }}\n{PARAMETERS} -> {{ : }}\n{{ }}\n"


@st.composite
def tree_texts(draw: st.DrawFn) -> str:
    """A `.st` file."""
    chosen = draw(several_statements())
    domain = "; ".join(f"{statement.instance} : {statement.domain}" for statement in chosen)
    tree = draw(trees(chosen, 0, 3))
    context = draw(st.sampled_from(CONTEXTS))
    if context and tree:
        tree = {"context": f"{PARAMETERS} -> {{ [] : {context} }}", "child": tree}
    whole: Node = {"domain": f"{PARAMETERS} -> {{ {domain} }}"}
    return yaml({**whole, "child": tree} if tree else whole)


def yaml(value: Any) -> str:
    """Nested dictionaries, lists and strings the way isl writes them on one line."""
    match value:
        case dict():
            return "{ " + ", ".join(f"{key}: {yaml(item)}" for key, item in value.items()) + " }"
        case list():
            return "[ " + ", ".join(map(yaml, value)) + " ]"
        case _:
            return f'"{value}"'


@st.composite
def trees(draw: st.DrawFn, chosen: tuple[Statement, ...], outer: int, depth: int) -> Node | None:
    """A tree below `outer` schedule dimensions; None is a leaf."""
    match draw(st.integers(0, 13)) if depth else 0:
        case 0 | 1:
            return None
        case 2 | 3 | 4 | 5 | 6:
            return draw(bands(chosen, outer, depth))
        case 7:
            child = draw(trees(chosen, outer, depth - 1))
            return child and {"mark": "remark", "child": child}
        case 8:
            child = draw(trees(chosen, outer, depth - 1))
            names = outer_names(outer)
            guard = f"{PARAMETERS} -> {{ [{', '.join(names)}] : {draw(affine((*names, 'n')))} >= 0 }}"
            return child and {"guard": guard, "child": child}
        case 9:
            return draw(expansions(chosen, outer, depth))
        case 10:
            return draw(extensions(chosen, outer, depth))
        case 11:
            child = draw(trees(chosen, outer, depth - 1))
            return child and {"context": draw(known(outer)), "child": child}
        case _:
            kind = draw(st.sampled_from(("sequence", "sequence", "set")))
            return {kind: draw(children(chosen, outer, depth, split=kind == "sequence"))}


def outer_names(outer: int) -> tuple[str, ...]:
    return tuple(f"o{k}" for k in range(outer))


@st.composite
def known(draw: st.DrawFn, outer: int) -> str:
    """Something true of all times, as long as the parameters are small."""
    names = outer_names(outer)
    bounds = [f"-60 <= {name} <= {draw(st.integers(60, 80))}" for name in names]
    return f"{PARAMETERS} -> {{ [{', '.join(names)}] : {' and '.join([*bounds, 'n + m <= 99'])} }}"


@st.composite
def expansions(draw: st.DrawFn, chosen: tuple[Statement, ...], outer: int, depth: int) -> Node | None:
    """Each instance replaced by two or three, told apart by a new last dimension."""
    new = f"e{depth}"
    expanded = tuple(replace(one, name=f"{one.name}x", iterators=(*one.iterators, new)) for one in chosen)
    pairs = list(zip(chosen, expanded, strict=True))
    child = draw(trees(expanded, outer, depth - 1))
    bound = f"0 <= {new} <= {draw(st.integers(1, 2))}"
    back = "; ".join(f"{many.instance} -> {one.instance}" for one, many in pairs)
    forth = "; ".join(f"{one.instance} -> {many.instance} : {bound}" for one, many in pairs)
    return child and {"contraction": f"{{ {back} }}", "expansion": f"{{ {forth} }}", "child": child}


@st.composite
def extensions(draw: st.DrawFn, chosen: tuple[Statement, ...], outer: int, depth: int) -> Node:
    """A statement that runs a few times at each time of those it is added to, or at some of these."""
    names = outer_names(outer)
    added = Statement(f"E{chosen[0].name}", (*names, "e"), "")
    some = f" and {draw(affine((*names, 'n')))} >= 0" if draw(chance(3)) else ""
    bound = f"0 <= e <= {draw(st.integers(0, 2))}{some}"
    return {
        "extension": f"{PARAMETERS} -> {{ [{', '.join(names)}] -> {added.instance} : {bound} }}",
        "child": {"sequence": draw(children((*chosen, added), outer, depth, split=False))},
    }


@st.composite
def children(
    draw: st.DrawFn, chosen: tuple[Statement, ...], outer: int, depth: int, split: bool
) -> list[Node]:
    """Filters that share out the statements, the first one perhaps in two parts."""
    parts = [(f"{statement.instance}", (statement,)) for statement in chosen]
    first = chosen[0]
    if split and first.iterators:
        cut = draw(affine(first.iterators))
        parts[:1] = [(f"{first.instance} : {cut} {sign} 0", (first,)) for sign in (">=", "<")]
    order = draw(st.permutations(parts))
    found = []
    for text, inside in order:
        child = draw(trees(inside, outer, depth - 1))
        found.append({"filter": f"{PARAMETERS} -> {{ {text} }}", **({"child": child} if child else {})})
    return found


@st.composite
def bands(draw: st.DrawFn, chosen: tuple[Statement, ...], outer: int, depth: int) -> Node:
    size = draw(st.integers(1, 2))
    dimensions = []
    for _ in range(size):
        pieces = [text for one in chosen for text in draw(band_pieces(one))]
        dimensions.append(f"{{ {'; '.join(pieces)} }}")
    band: Node = {"schedule": f"{PARAMETERS} -> [{', '.join(dimensions)}]"}
    options = draw(band_options(outer, size))
    if options:
        band["options"] = f"{PARAMETERS} -> {{ {'; '.join(options)} }}"
    child = draw(trees(chosen, outer + size, depth - 1))
    return {**band, "child": child} if child else band


@st.composite
def band_pieces(draw: st.DrawFn, statement: Statement) -> list[str]:
    """One dimension of a band for one statement, perhaps in two pieces."""
    one, other = draw(time(statement.iterators)), draw(time(statement.iterators))
    if draw(chance(5)) and statement.iterators:
        cut = f"{statement.iterators[-1]} {{}} {draw(small)}"
        low, high = cut.format("<="), cut.format(">")
        return [f"{statement.instance} -> [({one})] : {low}", f"{statement.instance} -> [({other})] : {high}"]
    return [f"{statement.instance} -> [({one})]"]


@st.composite
def band_options(draw: st.DrawFn, outer: int, size: int) -> list[str]:
    """Loop types, and sometimes an isolated part, unrolled or separated."""
    choices = ("", "", "", "separate", "separate", "atomic", "atomic", "unroll")
    kinds = [draw(st.sampled_from(choices)) for _ in range(size)]
    options = [f"{kind}[{k}]" for k, kind in enumerate(kinds) if kind]
    if draw(chance(4)):
        before = ", ".join(outer_names(outer))
        inside = ", ".join(f"t{k}" for k in range(size))
        last = draw(st.sampled_from(("3", "n")))
        options.append(f"isolate[[{before}] -> [{inside}]] : 1 <= t0 <= {last}")
        kind = draw(st.sampled_from(("", "separate", "atomic", *(["unroll"] if last == "3" else []))))
        if kind:
            options.append(f"[isolate[] -> {kind}[0]]")
    return options


generation_options: st.SearchStrategy[GenerationOptions] = st.builds(
    GenerationOptions,
    loop_type=st.sampled_from((LoopType.DEFAULT, LoopType.DEFAULT, LoopType.SEPARATE, LoopType.ATOMIC)),
    separate_from=st.sampled_from((0, 0, 1)),
    separate_depth=st.sampled_from((None, None, 0, 1)),
    single_upper_bound=st.booleans().map(lambda value: not value),
    nested_bounds=st.booleans().map(lambda value: not value),
    split_bounds=chance(3),
    dead_loops=chance(3),
)
