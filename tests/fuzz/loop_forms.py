"""Forms in which people rewrite whole loops: one loop over a table, tables in one row, parts for threads,
exchanged pointers, sums in parts; and what `prove` says of all forms, which is run.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from loopwright.c.typed.options import CompilerOptions
from loopwright.prove.comparison.texts import ComparisonOptions
from loopwright.read.c.options import ReadOptions
from tests.fuzz.findings import Finding
from tests.fuzz.forms import KINDS, Form, allocated, around, in_structs, made, rows, with_options
from tests.fuzz.judge import Pair
from tests.fuzz.mutants import Mutant, mutated, said_of
from tests.fuzz.programs import EDGE, PARAMETERS

TOGETHER = 2
"""Numbers that have one form; of these but one a token of the result is changed."""
TURNED = 0.2
"""How often the result is the original."""
WIDE = ("int", "int", "int", "long", "unsigned long", "unsigned", "short")
GUARDS = ("",) * 5 + ("if (n < 1 || m < 1) return;", "if (n <= 0) return;", "if (m > n) return;")
THREADS = "#include <omp.h>"
MIN = "#define MIN(a, b) ((a) < (b) ? (a) : (b))"


def one_loop(rng: random.Random) -> Form:
    """A loop over n * m numbers for two loops."""
    kind = rng.choice(KINDS)
    extent = rng.choice((f"[{EDGE}][{EDGE}]", f"[{EDGE}][{EDGE}]", "[n][m]", "[][m]"))
    declared = ", ".join(f"{kind} A{k}{extent}" for k in range(2))
    cells = (
        f"A0{rng.choice(('[i][j]',) * 6 + ('[j][i]', '[0][j]'))}",
        f"A1[i][j{rng.choice(('', '', '', ' + 1'))}]",
    )
    body = made(rng, *cells, "i", "j", "m")
    guard = rng.choice(GUARDS)
    first = rng.choice(("0", "0", "0", "1"))
    old = f"{guard}\nfor (int i = {first}; i < n; i++) {{\nfor (int j = 0; j < m; j++) {{\n{body}\n}}\n}}"
    counter, bound = (
        rng.choice(WIDE),
        rng.choice(("n * m",) * 4 + ("(long)n * m", "m * n", "n * m - 1", "n * n")),
    )
    row = rng.choice(("t / m",) * 6 + ("t / n", "t % n", "(unsigned)t / m"))
    column = rng.choice(("t % m",) * 4 + ("t - i * m", "t - i * m", "t % n", "(t + 1) % m"))
    start = {"0": "0", "1": rng.choice(("m", "m", "1"))}[first]
    before = ""
    if rng.random() < 0.3:
        before, bound = f"{rng.choice(('const ', ''))}{rng.choice(WIDE)} all = {bound};\n", "all"
    mark = rng.choice(
        ("",) * 3 + ("#pragma omp parallel for\n", "#pragma omp parallel for schedule(static)\n")
    )
    new = f"{guard}\n{before}{mark}for ({counter} t = {start}; t < {bound}; t++) {{\n"
    new += f"{rng.choice(('int', 'int', 'const int', 'long'))} i = {row};\nint j = {column};\n{body}\n}}"
    return Form(old, new, declared, rows(2, 2, kind))


def table(rng: random.Random) -> Form:
    """A table in one row: rows by pointers, one loop, loops in another order, in blocks."""
    kind = rng.choice(KINDS)
    restrict = rng.choice(("restrict ", "restrict ", ""))
    declared = ", ".join(f"{kind} *{restrict}A{k}" for k in range(2))
    pitch = rng.choice(("m", "m", "m", "(m + 1)", str(EDGE), "n"))
    at = f"i * {pitch} + j"
    near = rng.choice((at, at, at, f"(i + 1) * {pitch} + j", f"{at} + 1", f"i * {pitch}", "j"))
    body = made(rng, f"A0[{at}]", f"A1[{near}]", "i", "j", "n")
    guard = rng.choice(GUARDS)
    heads = "for (int i = 0; i < n; i++)", "for (int j = 0; j < m; j++)"
    old = f"{guard}\n{heads[0]} {{\n{heads[1]} {{\n{body}\n}}\n}}"
    other = rng.choice((pitch,) * 6 + ("n", "m"))
    match rng.randrange(5):
        case 0:
            whole = body.replace(at, "t").replace(f"(i + 1) * {pitch} + j", f"t + {pitch}")
            wide = rng.choice(WIDE)
            end = rng.choice(("n * m",) * 4 + ("(long)n * m", "n * m + 1"))
            new = around(f"for ({wide} t = 0; t < {end}; t++)", whole)
        case 1:
            lines = body.replace(f"A0[{at}]", "p[j]").replace(f"A1[{at}]", "q[j]")
            base = rng.choice((f"i * {other}", f"(long)i * {other}", f"(unsigned long)i * {other}"))
            inner = around(heads[1], lines)
            new = around(heads[0], f"{kind} *p = A0 + {base};", f"{kind} *q = A1 + {base};", inner)
        case 2:
            new = f"{heads[1]} {{\n{heads[0]} {{\n{body}\n}}\n}}"
        case 3:
            size = rng.choice((2, 3, 4))
            new = f"for (int b = 0; b < m; b += {size}) {{\n{heads[0]} {{\n"
            new += f"for (int j = b; j < b + {size} && j < m; j++) {{\n{body}\n}}\n}}\n}}"
        case _:
            moved = body.replace(at, "c")
            new = f"int c = 0;\n{heads[0]} {{\n{heads[1]} {{\n{moved}\nc++;\n}}\n"
            new += f"{'' if pitch == 'm' else f'c += {pitch} - m;'}\n}}"
    return Form(old, f"{guard}\n{new}", declared, rows(2, 2, kind))


def parts(rng: random.Random) -> Form:
    """Parts of a loop that each thread has by its number, or each iteration of a loop around."""
    kind = rng.choice(KINDS)
    declared = ", ".join(f"{kind} A{k}[{EDGE}]" for k in range(2))
    first, last = rng.choice((("0", "n"),) * 4 + (("1", "n"), ("0", "m"), ("m", "n"), ("1", "n - 1")))
    body = made(rng, f"A0[i{rng.choice(('',) * 7 + (' + 1',))}]", f"A{rng.choice('1110')}[i]", "i", "n")
    old = f"for (int i = {first}; i < {last}; i++) {{\n{body}\n}}"
    whole = last if first == "0" else f"({last} - {first})"
    start = "" if first == "0" else f"{first} + "
    numbers = "T = omp_get_thread_num(), P = omp_get_num_threads()"
    of_threads = rng.random() < 0.7
    if not of_threads:
        count = rng.choice((2, 3, 4, 8))
        numbers = f"P = {count}"
    wide = rng.choice(WIDE)
    lo, c = (
        f"{start}T * c",
        rng.choice((f"({whole} + P - 1) / P",) * 4 + (f"{whole} / P + 1", f"{whole} / P")),
    )
    ends = [f"MIN(lo + c, {last})", f"(lo + c < {last} ? lo + c : {last})", "lo + c"]
    head = "lo; i < hi; i++"
    match rng.randrange(4):
        case 0 | 1:
            own = f"{wide} c = {c};\n{wide} lo = {lo};\n{wide} hi = {rng.choice(ends[:2] * 4 + ends[2:])};\n"
        case 2:
            c = rng.choice((f"{whole} / P",) * 4 + (f"({whole} + P - 1) / P",))
            is_last = rng.choice(("T == P - 1",) * 5 + ("T == P", "T >= P - 1"))
            own = f"{wide} c = {c};\n{wide} lo = {lo};\n{wide} hi = {is_last} ? {last} : lo + c;\n"
        case _:
            cast = rng.choice(("", "(long)"))
            cut = [
                f"{start}{cast}{whole} * {one} / P"
                for one in ("T", rng.choice(("(T + 1)",) * 5 + ("T + 1",)))
            ]
            own = f"{wide} lo = {cut[0]};\n{wide} hi = {cut[1]};\n"
            if rng.random() < 0.3 and of_threads:
                own, head = "", f"{start}T; i < {last}; i += P"
    loop = f"for ({rng.choice(('int', 'int', wide))} i = {head}) {{\n{body}\n}}"
    if of_threads:
        asked = rng.choice(("", "", " num_threads(2)", " num_threads(3)", " default(shared)"))
        new = f"#pragma omp parallel{asked}\n{{\nint {numbers};\n{own}{loop}\n}}"
    else:
        mark = rng.choice(("", "#pragma omp parallel for\n"))
        new = f"const int {numbers};\n{mark}for (int T = 0; T < P; T++) {{\n{own}{loop}\n}}"
    return Form(old, new, declared, rows(2, 1, kind), f"{THREADS}\n{MIN}")


def exchange(rng: random.Random) -> Form:
    """Steps between two buffers whose pointers change places."""
    kind = rng.choice(KINDS)
    declared = ", ".join(f"{kind} *A{k}" for k in range(2))
    near = rng.choice(
        ("f[i - 1] + f[i + 1]", "f[i - 1] + f[i]", "f[i] * 2", "f[i + 1] - f[i] + 1", "f[i] + k")
    )
    inner = rng.choice(("for (int i = 1; i < n - 1; i++)",) * 3 + ("for (int i = 1; i < n; i++)",))

    def step(source: str, target: str) -> str:
        return around(inner, f"{target}[i] = {near.replace('f[', f'{source}[')};")

    low, high = rng.choice((("0", "m"),) * 4 + (("1", "m"), ("0", "4"), ("0", "2 * h")))
    head = f"for (int k = {low}; k < {high}; k++)"
    start = f"{kind} *f = A0, *g = A1;\n#pragma scop"
    change = f"{kind} *p = f; f = g; g = p;"
    read = rng.choice(("", "", "out[0] = f[1];", "out[0] = g[2];", "out[0] = A0[1]; out[1] = A1[1];"))
    read = f"#pragma endscop\n{read}"
    there, back = step("f", "g"), step("g", "f")
    old = f"{start}\n{head} {{\n{there}\n{change}\n}}\n{read}"
    direct = [step(f"A{k}", f"A{1 - k}") for k in range(2)]
    match rng.choice((0, 1, 2, 3, 3, 3, 3, 4)):
        case 0:
            parity = rng.choice((f"k % 2 == {low}",) * 4 + ("k % 2 == 1", "k & 1", f"(k - {low}) % 2 == 0"))
            new = (
                f"{start}\n{head} {{\nif ({parity}) {{\n{direct[0]}\n}} else {{\n{direct[1]}\n}}\n}}\n{read}"
            )
        case 1:
            new = f"{start}\nint k = {low};\nfor (; k + 1 < {high}; k += 2) {{\n{there}\n"
            new += f"{back.replace('+ k', '+ (k + 1)')}\n}}\n"
            new += f"if (k < {high}) {{\n{there}\n{rng.choice((change, change, ''))}\n}}\n{read}"
        case 2:
            copied = f"{inner} {{\nA0[i] = A1[i];\n}}"
            new = f"{start}\n{head} {{\n{direct[0]}\n{copied}\n}}\n{read}"
        case 3:
            new = f"{start}\n{head} {{\n{there}\n{change}\n}}\n{read}"
            new = new.replace(inner, inner.replace("1; i", "1; i", 1))
            down = inner.replace("int i = 1; i < ", "int i = ").replace("; i++", " - 1; i >= 1; i--")
            new = new.replace(inner, down, 1)
        case _:
            first = rng.random() < 0.5
            new = f"{start}\n{head} {{\n{change}\n{back if first else there}\n}}\n{read}"
    return Form(old, new, declared, rows(2, 1, kind))


def sums(rng: random.Random) -> Form:
    """A sum, a product or a maximum in several variables, blocks, or another order."""
    kind = rng.choice((*KINDS, "int", "unsigned", "long", "unsigned"))
    own = rng.choice((kind, kind, kind, "int", "unsigned", "long", "double"))
    declared = ", ".join(f"{kind} A{k}[{EDGE}]" for k in range(2))
    value = rng.choice(("A0[i]", "A0[i]", "A0[i] * A1[i]", "A0[i] + 1", "A0[i] * i"))
    sign, zero = rng.choice((("+", "0"),) * 5 + (("*", "1"), ("-", "0"), ("^", "0"), ("|", "0")))
    sign, zero = ("+", "0") if "double" in (kind, own) or kind == "float" else (sign, zero)
    low, high = rng.choice((("0", "n"),) * 3 + (("1", "n"), ("0", "m")))
    begun = rng.choice((zero, zero, zero, "3", "h"))
    last = f"out[0] = s;{rng.choice(('', ' A1[0] = s;'))}"
    old = f"{own} s = {begun};\nfor (int i = {low}; i < {high}; i++) {{\ns {sign}= {value};\n}}\n{last}"
    join = "+" if sign == "-" else sign
    other = rng.choice((own, own, own, "int", "unsigned"))
    match rng.randrange(4):
        case 0:
            up = value.replace("[i]", "[i + 1]").replace("* i", "* (i + 1)")
            new = f"{other} s0 = {begun}, s1 = {rng.choice((zero, zero, zero, begun))};\nint i = {low};\n"
            new += f"for (; i + 1 < {high}; i += 2) {{\ns0 {sign}= {value};\ns1 {sign}= {up};\n}}\n"
            new += f"if (i < {high}) s0 {sign}= {value};\n{own} s = s0 {join} s1;\n{last}"
        case 1:
            down = around(f"for (int i = {high} - 1; i >= {low}; i--)", f"s {sign}= {value};")
            new = f"{own} s = {begun};\n{down}\n{last}"
        case 2:
            size = rng.choice((2, 3, 4))
            part = around(f"for (int i = b; i < {high} && i < b + {size}; i++)", f"q {sign}= {value};")
            inner = f"{other} q = {zero};", part, f"s {join}= q;"
            blocks = around(f"for (int b = {low}; b < {high}; b += {size})", *inner)
            new = f"{own} s = {begun};\n{blocks}\n{last}"
        case _:
            clause = rng.choice((f"reduction({join}:s)",) * 3 + ("reduction(+:s)", "private(s)"))
            mark = rng.choice(("parallel for", "parallel for", "simd"))
            new = old.replace("for (int i", f"#pragma omp {mark} {clause}\nfor (int i", 1)
    return Form(old, new, declared, rows(2, 1, kind))


FORMS: tuple[Callable[[random.Random], Form], ...] = (
    one_loop, table, parts, parts, exchange, sums, allocated, in_structs, with_options,
)  # fmt: skip


def form_of(seed: int) -> tuple[Pair, tuple[str, ...]]:
    """The pair of a number as `prove` gets it, and the options of its command line.

    The next numbers may have the same pair, with a token changed: what is known of the original is there.
    """
    rng = random.Random(f"form {seed // TOGETHER}")
    form = rng.choice(FORMS)(rng)
    texts = [_text(form, body) for body in (form.old, form.new)]
    if rng.random() < TURNED:
        texts.reverse()
    if seed % TOGETHER:
        texts[1] = mutated(random.Random(f"form {seed}"), texts[1])
    return Pair(texts[0], texts[1], form.arrays), form.options


def _text(form: Form, body: str) -> str:
    head = f"{form.head}\n" if form.head else ""
    return f"{head}void f({PARAMETERS}, {form.declared}, double *out)\n{{\n{body}\n}}\n"


def form_case(seed: int, outcomes: Counter[str]) -> Mutant | Finding | None:
    """What `prove` says of a form; None where it does not decide.  Running has the options in the text."""
    pair, options = form_of(seed)
    said = said_of(seed, pair, outcomes, "form", options=_options(options))
    if not options or not isinstance(said, Mutant):
        return said
    defined = "".join(f"#define {one.removeprefix('-D').replace('=', ' ', 1)}\n" for one in options)
    old, new = defined + said.pair.old, defined + said.pair.new
    return replace(said, pair=replace(said.pair, old=old, new=new))


def _options(words: tuple[str, ...]) -> ComparisonOptions:
    return ComparisonOptions(ReadOptions(compiled=CompilerOptions(words)))
