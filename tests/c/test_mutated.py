"""Law: whatever is done to a text, the reader returns programs or a precise refusal, nothing else."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from loopwright.errors import BadInput
from loopwright.read.c.reader import parse_c
from loopwright.source import Source
from tests.c.support import KERNELS
from tests.conftest import examples

SOURCES = {path.stem: path.read_text() for path in sorted(KERNELS.glob("*.c"))}
WORDS = (
    "( ) [ ] { } ; , = == += ++ -- * & && ! ? : < > % / - + . -> if else for while return break int double "
    "const static struct sizeof i j k n A[i] x 0 1 2 -1 1.5 0x \" ' /* */ // #if #pragma\\n L: goto f(i) (X) "
    "N \\n"
)
INSERTED = [word.replace("\\n", "\n") for word in WORDS.split(" ")]


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A kernel whose region lost, gained or exchanged a few words."""
    text = SOURCES[draw(st.sampled_from(sorted(SOURCES)))]
    start = text.index("\n", text.index("#pragma scop"))
    end = text.index("#pragma endscop")
    words = re.findall(r"\s+|\w+|[^\w\s]", text[start:end])
    for _ in range(draw(st.integers(1, 3))):
        position = draw(st.integers(0, len(words) - 1))
        match draw(st.sampled_from(("delete", "insert", "replace", "repeat"))):
            case "delete":
                del words[position]
            case "insert":
                words.insert(position, draw(st.sampled_from(INSERTED)))
            case "replace":
                words[position] = draw(st.sampled_from(INSERTED))
            case "repeat":
                words.insert(position, words[position])
    return text[:start] + "".join(words) + text[end:]


@settings(max_examples=examples(150))
@given(mutated())
def test_a_mutated_kernel_is_read_or_refused(text: str) -> None:
    try:
        programs = parse_c(Source("m.c", text))
    except BadInput as error:
        span = error.span
        assert span is not None and error.hint
        assert 1 <= span.line <= text.count("\n") + 1
        line = text.split("\n")[span.line - 1]
        assert span.excerpt == line and 1 <= span.column <= len(line) + 1
    else:
        assert all(statement.schedule for program in programs for statement in program.statements)
