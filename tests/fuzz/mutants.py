"""Tests `prove` on results of `transform` with one token changed, by running them.

A mutant that is called proved and computes something else, or is not defined where the original is, is a
wrong yes.  A mutant that is refuted with sizes for which it computes the same is a wrong no.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from dataclasses import dataclass, replace

from loopwright.c.reworded.flat_loops import SIZES
from loopwright.errors import BadInput, GaveUp, Illegal
from loopwright.prove.comparison.files import compare_files
from loopwright.prove.comparison.texts import PLAINLY, ComparisonOptions
from loopwright.prove.verdict import Proved, Refuted, Undecided
from tests.fuzz.declared import may_compile
from tests.fuzz.findings import Finding
from tests.fuzz.judge import LATE_SEEDS, NOT_COMPILED, Judgement, Pair, Size, judged
from tests.fuzz.limits import Late, limited
from tests.fuzz.places import new_path, old_path
from tests.fuzz.programs import EDGE
from tests.fuzz.shrink import shrunk_pair
from tests.fuzz.tally import NOT_RUN
from tests.fuzz.transforms import Case

_TOKEN = re.compile(
    r"[A-Za-z_]\w*|\d+\.?\d*\w*|<<=?|>>=?|[-+*/%&|^<>=!]=|&&|\|\||\+\+|--|[-+*/%&|^<>=!~?:;,(){}\[\].]"
)
_CAST = re.compile(r"\((?:(?:un)?signed )?(?:int|unsigned|long|short|char|float|double|_Bool)\)(?=[\w(])")
_LOCAL = re.compile(r"(?m)^\s+((?:un)?(?:signed )?\w+) x = ")
_TYPES = ("int", "unsigned", "long", "short", "char", "float", "double", "_Bool")
_GROUPS = (
    ("+", "-", "*"),
    ("<", "<=", ">", ">=", "==", "!="),
    ("+=", "-=", "*=", "="),
    ("++", "--"),
    ("&&", "||"),
    ("&", "|", "^", "%", "/"),
    _TYPES,
    ("n", "m", "u", "h"),
    ("i", "j", "k", "iT", "jT", "kT", "c0", "c1"),
    ("s", "t", "w"),
    ("A0", "A1", "A2", "A3", "A4"),
    ("half", "least", "narrow", "near"),
)
_LARGEST = 17
_SIZES = ("n", "m", "u", "h")
_LOCALS = ("s", "t", "w", "v", "c")
"""Variables of the function: a run has the values that it gives them, and a witness may have no others."""
_SET_BY_OTHERS = re.compile(r"#pragma scop[^#]*\bg\b")
"""A region with the global variable: a witness may ask for any value of it, and runs begin with one."""


@dataclass(frozen=True)
class Mutant:
    """An original, a changed text, and what was said of it."""

    kind: str
    seed: int
    pair: Pair
    said: str
    yes: bool


def mutated(rng: random.Random, text: str) -> str:
    """The text with one token of its function changed, or two lines, or a directive; most may compile."""
    made = text
    for _ in range(1 if rng.random() < 0.05 else 6):
        made = _mutated(rng, text)
        if made != text and may_compile(made):
            break
    return made


def _mutated(rng: random.Random, text: str) -> str:
    start = text.index("void f(")
    if "#pragma omp" in text and rng.random() < 0.2:
        return _other_directive(rng, text)
    if rng.random() < 0.15:
        return text[:start] + _other_lines(rng, text[start:])
    if rng.random() < 0.35 and (other := without_a_cast(rng, text)) != text:
        return other
    found = [one for one in _TOKEN.finditer(text, start) if one.start() > text.index("{", start)]
    # min and max without a definition are what everybody means by them: definitions stay
    found = [one for one in found if not text[: one.start()].rsplit("\n", 1)[-1].startswith("#")]
    names = {one.group() for one in found}
    if "#pragma scop" in text and rng.random() < 0.88:
        region = range(text.index("#pragma scop"), text.index("#pragma endscop"))
        found = [one for one in found if one.start() in region] or found
    while True:
        one = rng.choice(found)
        word = other_token(rng, one.group(), names)
        if word != one.group():
            return text[: one.start()] + word + text[one.end() :]


def without_a_cast(rng: random.Random, text: str) -> str:
    """The text with one cast of its function left out; as it is where there is none."""
    casts = list(_CAST.finditer(text, text.index("void f(")))
    if not casts:
        return text
    one = rng.choice(casts)
    return text[: one.start()] + text[one.end() :]


def with_another_type(rng: random.Random, text: str) -> str:
    """The text without a cast, or where it has none with another type of the local x."""
    other, declared = without_a_cast(rng, text), _LOCAL.search(text)
    if other != text or declared is None:
        return other
    kind = rng.choice([one for one in _TYPES if one != declared[1]])
    return text[: declared.start(1)] + kind + text[declared.end(1) :]


def tokens(text: str) -> list[re.Match[str]]:
    """The tokens of a text, but for those of directives."""
    found = _TOKEN.finditer(text)
    return [one for one in found if not text[: one.start()].rsplit("\n", 1)[-1].startswith("#")]


def _other_directive(rng: random.Random, text: str) -> str:
    """The text with a clause left out, or with another one."""
    found = rng.choice(list(re.finditer(r"#pragma omp .*", text)))
    clauses = re.findall(r" \w+\([^()]*\)", found.group())
    if clauses and rng.random() < 0.5:
        words = found.group().replace(rng.choice(clauses), "", 1)
    else:
        clause = rng.choice(("private", "firstprivate", "lastprivate", "reduction"))
        name = rng.choice(("s", "t", "w"))
        words = f"{found.group()} {clause}({'+:' if clause == 'reduction' else ''}{name})"
    return text[: found.start()] + words + text[found.end() :]


def other_token(rng: random.Random, token: str, names: set[str]) -> str:
    """Another token of the same kind; names are names that the text has."""
    if re.fullmatch(r"\d+", token):
        if rng.random() < 0.25:
            return token + rng.choice(("u", "L", "ul", ".0", ".0f"))
        return str(max(0, int(token) + rng.choice((-1, 1, 1, 2, 30))))
    if token in "ijknmuh" and rng.random() < 0.15:
        return f"({rng.choice(_TYPES)}){token}"
    choices = [group for group in _GROUPS if token in group]
    if choices:
        word = rng.choice(rng.choice(choices))
        return word if word in names or not word.isidentifier() or token in _TYPES else token
    if rng.random() < 0.9:
        return token
    return rng.choice(("", f"{token} {token}", f"({token})", f"-{token}", f"{token} + 1"))


def _other_lines(rng: random.Random, text: str) -> str:
    lines = text.split("\n")
    inside = [k for k, line in enumerate(lines) if line.rstrip().endswith(";")]
    if not inside:
        return text
    one, other = rng.choice(inside), rng.choice(inside)
    kind = rng.randrange(3)
    if kind == 0:
        lines[one], lines[other] = lines[other], lines[one]
    elif kind == 1:
        lines.insert(other, lines[one])
    else:
        del lines[one]
    return "\n".join(lines)


def mutants_of(case: Case, end: int, outcomes: Counter[str], *, first: int = 0) -> list[Mutant | Finding]:
    """What `prove` says of changed texts; those that it cannot decide or read are left out."""
    found: list[Mutant | Finding] = []
    for number in range(first, end):
        rng = random.Random(f"{case.seed}/{number}")
        text = case.new if number % 2 == 0 else case.program.text  # both kinds of text have faults in them
        promised = replace(case.pair, guarded=False, is_hostile=False)  # `prove` says what it takes on trust
        pair = replace(promised, new=mutated(rng, text))
        one = said_of(case.seed * 100 + number, pair, outcomes)
        found += [] if one is None else [one]
    return found


def said_of(
    seed: int,
    pair: Pair,
    outcomes: Counter[str],
    kind: str = "mutant",
    options: ComparisonOptions = PLAINLY,
) -> Mutant | Finding | None:
    """What `prove` says of a pair; None where it cannot decide."""
    try:
        with limited():
            compared = compare_files(old_path(pair.old), new_path(pair.new), options)
    except (BadInput, Illegal, GaveUp) as failure:
        outcomes[f"{kind}: {type(failure).__name__}"] += 1
        return None
    except Exception as failure:
        texts = (("program", pair.old), ("new", pair.new))
        return Finding(kind, seed, f"{type(failure).__name__}: {failure}", texts)
    except Late:
        outcomes[f"{kind}: late"] += 1
        return None
    verdict = compared.verdict
    outcomes[f"{kind}: {type(verdict).__name__}"] += 1
    match verdict:
        case Undecided():
            return None
        case Proved():
            told = re.findall(r"(?m)^'(\w+)' has all cells that NEW", "\n".join(compared.trusted))
            asked = replace(pair, wider=_arrays(pair, set(told)), from_zero=SIZES in compared.trusted)
            return Mutant(kind, seed, asked, "proved", yes=True)
        case Refuted(message=message, witness=witness, parameters=sizes, inputs=inputs):
            chosen = {name: int(value) for name, at, value in inputs if not at and name in _SIZES}
            size = _witness(sizes | chosen)
            given = {*_SIZES, *_LOCALS, *(one.name for one in pair.arrays)}
            cannot_be_given = any(
                name not in given or not all(0 <= k < EDGE for k in at) for name, at, _ in inputs
            )
            cannot_be_given |= _SET_BY_OTHERS.search(pair.old + pair.new) is not None
            is_parallel = _is_parallel(pair.old) or _is_parallel(pair.new)  # threads that race need not tell
            if size is None or cannot_be_given or is_parallel:
                outcomes[f"{kind}: {NOT_RUN}"] += 1
                return None
            asked = replace(pair, also=size, given=inputs, guarded=True)  # a no is told without assumptions
            return Mutant(kind, seed, asked, f"{message} ({witness})", yes=False)


def _arrays(pair: Pair, names: set[str]) -> frozenset[str]:
    """The arrays of these names; a pointer may be one into any."""
    all_of_them = {one.name for one in pair.arrays}
    return frozenset(names if names <= all_of_them else all_of_them)


def _is_parallel(text: str) -> bool:
    return "#pragma omp" in text or "#pragma GCC ivdep" in text


def _witness(sizes: dict[str, int]) -> Size | None:
    """The sizes of a refutation; None where they are too large to be run here, or are of something else.

    Numbers that decide nothing but values are not among them; witnesses have 0 for these.
    """
    if any(abs(value) > _LARGEST for value in sizes.values()) or not set(sizes) <= {*_SIZES, *_LOCALS}:
        return None
    return sizes.get("n", 4), sizes.get("m", 5), sizes.get("u", 0), sizes.get("h", 0)


def wrong_mutant(one: Mutant, told: Judgement) -> Finding | None:
    """An answer that running does not confirm."""
    texts = (("program", one.pair.old), ("new", one.pair.new))
    if one.kind == "stage" and told.wrong == (NOT_COMPILED,):
        return None  # a mistake that was planted, and that compilers see
    if one.yes and told.wrong:
        return Finding(one.kind, one.seed, f"proved, but {told.wrong[0]}", texts)
    if not one.yes and not told.wrong and told.late == len(LATE_SEEDS):
        return Finding(one.kind, one.seed, f"a no that no run confirms: {one.said}", texts)
    return None


def small_mutant(pair: Pair, one: Mutant | Finding) -> Finding | None:
    """What is wrong with a mutant, with as little as possible of the program and of the mutant."""
    found = _wrong(one)
    if found is None:
        return None
    texts = dict(found.texts)
    pair = replace(pair, old=texts["program"], new=texts["new"])
    kind = found.kind

    def again(other: Pair) -> Finding | None:
        said = said_of(one.seed, other, Counter(), kind)
        return None if said is None else _wrong(said)

    return shrunk_pair(found, pair, again)


def _wrong(one: Mutant | Finding) -> Finding | None:
    return one if isinstance(one, Finding) else wrong_mutant(one, *judged([one.pair]))
