"""Tests the command line, in this process, on damaged files of every kind: it must answer, and not fail.

An answer ends with status 0 to 3.  Status 4, an exception, or more processor time than a small file can need
is our failure, for any file.
"""

from __future__ import annotations

import contextlib
import io
import os
import random
import tempfile
from collections import Counter
from pathlib import Path

from loopwright.cli.main import main
from tests.fuzz.findings import Finding
from tests.fuzz.limits import LONGEST, Late, limited
from tests.fuzz.programs import random_program

FILES = {
    "k.poly": "param n\nstatement S(i, j)\n  domain 0 <= i < n, j < i\n  schedule i, j\noption unroll 2\n",
    "k.in": "[n] -> { S[i] -> [i, 0] : 0 <= i < n; T[i] -> [i, 1] : 2 <= i <= n }\n[n] -> { : n >= 3 }\n{}\n",
    "k.st": 'domain: "[n] -> { S[i] : 0 <= i < n }"\nchild:\n  schedule: "[n] -> [{ S[i] -> [(i)] }]"\n',
    "k.cloog": "c\n\n1 3\n1 1 0\n1\nn\n1\n1\n2 4\n1 1 0 0\n1 -1 1 -1\n0 0 0\n0\n\n0\n",
}
SCRIPTS = (
    "tile(S1, i=4)\n",
    "L = lift(S1, 0)\ninterchange(L, i, j)\nparallel(L, j)\n",
    "(A, B) = isplit(S1, {[i] : i < n/2}, 0)\n",
    "affine(S1, {[i, j] -> [j, i + 2*j]})\nunroll(S1, i, 3)\n",
    "P = pack(A0, S1, iT, transposed)\nexpand(s, i)\n",
)
WORDS = (
    "9" * 5000, str(2**63), "-9223372036854775808", "1e400f", "0x1p-3", "1e-400", "08", "0b1", "'\\'",
    '"', "/*", "*/", "//", "\\\n", "??=", "??/", "<%", "%:", "(" * 3000, "{" * 500, "[" * 500, "-" * 400,
    "!" * 400, ")", "}", "#if 0\n", "#pragma scop\n", "#pragma endscop\n", "#include __FILE__\n",
    "#define n n n\n", "\0", "\ufeff", "\u00e9", "\u2028", "\r", "\x1b[31m", "\U0001d4b3", "__LINE__",
    "sizeof(int[n])", "a->b.c", "({ 1; })", "goto x;", "x:", 'asm("")', '_Pragma("x")', "for (;;)",
    "while (1)", "i++", "i = i", "0", "-1", "<<", "?", ":", ",", ";;", "%", "/ 0", "% 0", "mod 0",
    "exists", "[n] ->", "and", "= =", "*", "floor(", "2147483648", "-2147483649", "1u", "1ull", "1.0L",
    "'ab'", "L'x'", 'u8"x"',
)  # fmt: skip


def damaged(rng: random.Random, text: str) -> bytes:
    """The text with something cut out, put in, doubled or encoded in another way."""
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        at, to = sorted(rng.randrange(len(text) + 1) for _ in range(2))
        kind = rng.randrange(9)
        if kind == 0:
            text = text[:at]
        elif kind == 1:
            text = text[:at] + text[min(to, at + rng.choice((1, 1, 2, 30))) :]
        elif kind <= 6:
            text = text[:at] + rng.choice(WORDS) + text[at:]
        elif kind == 7:
            text = text[:at] + text[at:to] * 2 + text[to:]
        else:
            text = text.replace("\n", rng.choice(("\r\n", "\r", "\n\n", "\\\n", " ")))
    data = text.encode(rng.choice(("utf-8",) * 12 + ("utf-16", "utf-8-sig")), errors="replace")
    if rng.random() < 0.1:
        at = rng.randrange(len(data) + 1)
        data = data[:at] + bytes(rng.randrange(256) for _ in range(3)) + data[at + 1 :]
    return data


def hostile_case(seed: int, outcomes: Counter[str]) -> Finding | None:
    """What is wrong with the answer to the damaged file of this number."""
    rng = random.Random(f"hostile {seed}")
    with tempfile.TemporaryDirectory() as folder:
        words, files = _command(rng, Path(folder))
        status, said = answered(words)
    outcomes[f"hostile: {status}"] += 1
    if status in ("0", "1", "2", "3") and "Traceback" not in said:
        return None
    shown = tuple((path.name, path_text) for path, path_text in files)
    command = " ".join(Path(word).name if os.sep in word else word for word in words)
    return Finding("hostile", seed, f"{command}: {status}: {said[:300]}", shown)


def _command(rng: random.Random, folder: Path) -> tuple[list[str], list[tuple[Path, str]]]:
    """A verb, and the files that it is given; one of them is damaged."""
    files: list[tuple[Path, str]] = []

    def given(name: str, text: str, *, spoil: bool) -> str:
        data = damaged(rng, text) if spoil else text.encode()
        (folder / name).write_bytes(data)
        files.append((folder / name, repr(data) if spoil else text))
        return str(folder / name)

    kind = rng.random()
    if kind < 0.35:
        name = rng.choice(sorted(FILES))
        return ["codegen", given(name, FILES[name], spoil=True)], files
    program = random_program(rng).text
    if kind < 0.7:
        verb = rng.choice(("extract", "find", "suggest", "transform"))
        return [verb, given("k.c", program, spoil=True)], files
    old = given("k.c", program, spoil=False)
    if kind < 0.85:
        return ["prove", old, given("new.c", program, spoil=True)], files
    return ["transform", old, given("k.lw", rng.choice(SCRIPTS), spoil=True)], files


def answered(words: list[str]) -> tuple[str, str]:
    """The exit status of the command line and what it says; "exception" or "late" where it does not end."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), limited(LONGEST):
        try:
            main(words)
        except SystemExit as ended:
            return str(ended.code or 0), err.getvalue()
        except Late:
            return "late", err.getvalue()
        except BaseException as failure:
            if isinstance(failure, KeyboardInterrupt):
                raise
            return "exception", f"{type(failure).__name__}: {failure}"
    return "0", err.getvalue()
