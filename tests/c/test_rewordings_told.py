"""Why a text cannot be read, where its words can: the refusal is told, not the words."""

from __future__ import annotations

import pytest

from loopwright.c.selection.choice import Choice
from loopwright.errors import BadInput
from loopwright.read.c.options import ReadOptions
from loopwright.read.c.reader import read_source
from loopwright.source import Source

PIXELS = """#include <stdlib.h>
typedef struct { int w, h; float *data; } Image;
#define PIX(m, y, x) ((m)->data[(y) * (m)->w + (x)])
void left(const Image *in, Image *out)
{
  for (int y = 0; y < out->h; y++)
    for (int x = 1; x < out->w; x++)
      PIX(out, y, x) = PIX(in, y, x - 1);
}
void both(Image *m) { left(m, m); }
"""


def test_memory_that_is_shared_is_told_of_a_macro_that_is_assigned_to() -> None:
    with pytest.raises(BadInput) as caught:
        read_source(Source("pixels.c", PIXELS), ReadOptions(choice=Choice(functions=("left",))))
    assert caught.value.message == "'out' and 'in' may be the same memory, as the call in line 10 shows"
    span = caught.value.diagnostic.span
    assert span is not None
    assert (span.line, span.column, span.text) == (8, 7, "PIX(out, y, x) = PIX(in, y, x - 1);")
