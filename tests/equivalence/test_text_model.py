"""Loops read from the text alone are those the C reader finds; where that is in doubt, the reader reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.presburger.sets import IN
from loopwright.prove.text.text_model import read_text
from loopwright.read.c.reader import parse_c
from loopwright.source import Source
from tests.conftest import ROOT
from tests.equivalence.right import COPY, RIGHT
from tests.equivalence.support import NAMES, wrapped

KERNELS = sorted((ROOT / "kernels").glob("*.c"))


@pytest.mark.parametrize("path", KERNELS[::3], ids=lambda path: path.stem)
def test_domains_and_order_are_those_of_the_reader(path: Path) -> None:
    source = Source.decode(str(path), path.read_bytes())
    read = parse_c(source)
    (text,), (model,) = read_text(source, read) or (None,), read
    assert text is not None
    for one, other in zip(text.statements, model.statements, strict=True):
        domain = other.domain.intersect_params(model.context)
        assert one.domain.is_equal(domain)
        for second, same in zip(text.statements, model.statements, strict=True):
            before = one.schedule.lex_lt_map(second.schedule)
            wanted = other.schedule.lex_lt_map(same.schedule)
            wanted = wanted.intersect_domain(domain).intersect_range(same.domain)
            assert before.is_equal(wanted.intersect_params(model.context))
        assert one.schedule.dim(IN) == one.depth


@pytest.mark.parametrize("name", list(RIGHT)[::4])
def test_what_people_write_is_read(name: str) -> None:
    old, new = (Source(path, wrapped(text)) for path, text in zip(("o.c", "n.c"), RIGHT[name], strict=True))
    (text,), (model,) = read_text(new, parse_c(old)) or (None,), parse_c(new)
    if text is not None:
        for one, other in zip(text.statements, model.statements, strict=True):
            assert one.domain.is_equal(other.domain.align_params(one.domain.get_space()))


LEFT_TO_THE_READER = {
    "a loop that may not end": "for (i = 0; i != n; i++) a[i] = b[i] + 1;",
    "an iterator that wraps around": "for (unsigned x = 0; x < n; x++) a[x] = b[x] + 1;",
    "a promise": "#pragma omp parallel for\n" + COPY,
    "an assumption": "#pragma assume n >= 10\n" + COPY,
    "a bound that is data": "for (i = 0; i < b[0]; i++) a[i] = b[i] + 1;",
    "a parameter of its own": "for (i = 0; i < n && i < m; i++) a[i] = b[i] + 1;",
}


@pytest.mark.parametrize("name", LEFT_TO_THE_READER)
def test_what_is_in_doubt_is_left_to_the_reader(name: str) -> None:
    originals = parse_c(Source("o.c", wrapped(COPY, names=NAMES)))
    assert read_text(Source("n.c", wrapped(LEFT_TO_THE_READER[name])), originals) is None
