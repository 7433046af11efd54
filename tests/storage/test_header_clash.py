"""Names of <stdlib.h> in the file itself: a new text that allocates storage would not compile."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.errors import GaveUp
from tests.storage.test_expand import PRODUCT, REORDER, result


@pytest.mark.parametrize(
    "own", ["typedef struct { int quot, rem; } div_t;", "static int random(void) { return 4; }"]
)
def test_a_name_of_the_header_in_the_file_is_named(own: str, tmp_path: Path) -> None:
    with pytest.raises(GaveUp, match="this file contradicts") as caught:
        result(tmp_path, f"{own}\n{PRODUCT}", f"expand(acc, i, j)\n{REORDER}")
    diagnostic = caught.value.diagnostic
    assert diagnostic.span is not None and diagnostic.span.line == 1
    assert diagnostic.hint == "give it another name in the file"
