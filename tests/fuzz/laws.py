"""Pairs of equal expressions or statements, by laws of arithmetic that hold only for some types of C."""

from __future__ import annotations

import random

from tests.fuzz.nests import Block, Loop, Node, Words
from tests.fuzz.programs import FLOATING, INTEGERS, Array

SMALL = ("unsigned char", "signed char", "short", "unsigned short", "_Bool")
WORDS = ("int", "unsigned", "long")
VALUES = (
    ("{x}", "({t}){x}"),
    ("{x}", "({own})({t}){x}"),
    *((("{x}", "({own})(float){x}"), ("{x}", "({own})(double){x}")) * 3),
    ("{x} + {y}", "({t})({x} + {y})"),
    ("{x} * {y}", "({t})({x} * {y})"),
    ("{x} + {k}", "({t})({x} + {k})"),
    ("{x} + {y}", "({t}){x} + {y}"),
    ("{x} / {k}", "({t}){x} / {k}"),
    ("{x} > {y}", "({t}){x} > {y}"),
    ("{x} * (i - 5)", "({t}){x} * (i - 5)"),
    ("-{x}", "({t})-{x}"),
    ("~{x}", "({t})~{x}"),
    ("{x} - {y}", "-{y} + {x}"),
    ("{x} + {y}", "{y} + {x}"),
    ("({x} + {y}) + {k}", "{x} + ({y} + {k})"),
    ("{x} - {y} + {k}", "{x} + ({k} - {y})"),
    ("({x} - {k}) * 2", "{x} * 2 - {k} * 2"),
    ("{x} * ({y} + {k})", "{x} * {y} + {x} * {k}"),
    ("{x} + {x}", "2 * {x}"),
    ("{x} * 3", "{x} + {x} + {x}"),
    ("{x} - {k}", "{x} + (256 - {k})"),
    ("{x} - {k}", "{x} + (65536 - {k})"),
    ("{x} - {k}", "{x} + (4294967296 - {k})"),
    ("{x} - {k}u", "{x} - {k}"),
    *((("{x} + {y}", "(int)({x} + {y})"), ("{x} > {y}", "(int){x} > {y}")) * 2),
    ("({x} + {y}) / 2", "((int){x} + (int){y}) / 2"),
    ("{x} + {k}u", "{x} + {k}"),
    ("{x} / 2", "{x} >> 1"),
    ("{x} % 8", "{x} & 7"),
    ("{x} * 4", "{x} << 2"),
    ("{x} - {y} < 0", "{x} < {y}"),
    ("{x} + {k} > {y}", "{x} > {y} - {k}"),
    ("!({x} < {y})", "{x} >= {y}"),
    ("{x} != {y}", "{x} - {y}"),
    ("{x} != 0", "(_Bool){x}"),
    ("-(-{x})", "{x}"),
    ("{x} / {k} * {k} + {x} % {k}", "{x}"),
    ("({x} < {y} ? {x} : {y})", "({y} > {x} ? {x} : {y})"),
    ("({x} < 0 ? -{x} : {x})", "({x} > 0 ? {x} : -{x})"),
    ("{x} * 0.5", "{x} / 2"),
    ("{x} * 1.0f", "{x}"),
    ("{x} + 0.0", "{x}"),
    ("{x} ^ {y}", "({x} | {y}) - ({x} & {y})"),
)
"""Two values of two cells and a small number, in a type or another."""
STATEMENTS = (
    ("if ({x} != 0) {z} = {k} / {x};", "{{ {t} v = {k} / {x}; if ({x} != 0) {z} = v; }}"),
    ("if ({x} != 0) {z} = {y} / {x};", "{z} = {x} != 0 ? {y} / {x} : {z};"),
    ("if ({x} > 0) {z} = {k} / {x};", "if ({x} >= 0) {z} = {k} / {x};"),
    ("{z} = {x} != 0 ? {k} / {x} : 1;", "{{ int v = {k} / {x}; {z} = {x} != 0 ? v : 1; }}"),
    ("if ({x} >= 0 && {x} < 8) {z} = 1 << {x};", "{{ int v = 1 << {x}; if ({x} >= 0 && {x} < 8) {z} = v; }}"),
    (
        "if ({x} < 99 && {x} > -99) {z} = (int){x};",
        "{{ int v = (int){x}; if ({x} < 99 && {x} > -99) {z} = v; }}",
    ),
    ("if ({x} >= 0 && {x} < 24) {z} = A0[(int){x}];", "if ({x} < 24) {z} = A0[(int){x}];"),
    *(
        (
            f"if (({{own}})({kind}){{x}} != {{k}}) {{z}} = {{x}};",
            f"if (({{own}})({kind}){{x}} != {{k}}) {{z}} = ({{own}})({kind}){{x}};",
        )
        for kind in ("float", "float", "double", "{t}")
    ),
    ("{{ {t} v = {x}; {z} = v; }}", "{z} = {x};"),
    ("{{ {t} v = {x} + {k}; {z} = v * 2; }}", "{z} = ({x} + {k}) * 2;"),
    ("if ({x} < {y}) {z} = {x}; else {z} = {y};", "{z} = {x} < {y} ? {x} : {y};"),
    ("if ({x} < {y}) {z} = {k};", "if (!({x} >= {y})) {z} = {k};"),
    ("{z} += {x}; {z} += {y};", "{z} += {x} + {y};"),
    ("{z} = {x}; {z} += {y};", "{z} = {x} + {y};"),
    ("{z} = {x}; {z} = {y};", "{z} = {y};"),
    ("{z} -= {x};", "{z} += -{x};"),
    ("{z} *= {k}; {z} *= 2;", "{z} *= 2 * {k};"),
    ("{z} = {x} + 1;", "{z} = {x}; {z}++;"),
)
"""Two statements that set a third one."""
PLACES = ("{z} = {e};", "{z} = {e};", "{z} += {e};", "if ({e}) {z} = {k};", "{z} = {k} * ({e});")


def by_a_law(rng: random.Random) -> tuple[tuple[Array, ...], tuple[Node, ...], tuple[Node, ...]]:
    """A loop over cells, and the same with one value or statement written in another way."""
    types = SMALL + WORDS * 2 + FLOATING + INTEGERS
    arrays = tuple(Array(f"A{k}", rng.choice(types), 1) for k in range(rng.choice((2, 3))))
    if rng.random() < 0.3:  # of the types whose sums are of the other one's
        mixed = rng.sample(("int", "unsigned", "long", "unsigned", "int"), len(arrays))
        arrays = tuple(Array(one.name, kind, 1) for one, kind in zip(arrays, mixed, strict=True))
    elif rng.random() < 0.6:  # of one type
        arrays = tuple(Array(one.name, arrays[0].type, 1) for one in arrays)
    one, other = rng.choice(arrays), rng.choice(arrays)
    words = {
        "x": f"{one.name}[i]",
        "y": f"{other.name}[i{rng.choice(('', ' + 1'))}]",
        "z": f"{arrays[-1].name}[i]",
        "k": str(rng.choice((1, 2, 3, 7, 100, 200))),
        "t": rng.choice(types),
        "own": one.type,
    }
    if rng.random() < 0.3:
        sides = rng.choice(STATEMENTS)
    else:
        place = rng.choice(PLACES)
        first, second = rng.choice(VALUES)
        sides = place.replace("{e}", first), place.replace("{e}", second)
    texts = [side.format(**words) for side in sides]
    if rng.random() < 0.4:
        texts.reverse()
    low, high = rng.choice(("0", "1")), rng.choice(("n", "m", "10"))
    old, new = (Loop("i", low, high, (Block("", (Words(text),)),)) for text in texts)
    return arrays, (old,), (new,)
