"""Types whose names are defined again in a block."""

import pytest

from loopwright.c.typed.file import typed_text
from loopwright.c.typed.tree import Declarator
from loopwright.c.types import CType, Pointer, Record
from loopwright.source import Source


@pytest.mark.parametrize(
    ("first", "inner"),
    [
        ("typedef double real; real first;", "typedef float real; real x;"),
        ("struct s { double v; } first;", "struct s { float v; } x;"),
        ("struct s { double v; }; struct s first;", "struct s { float v; }; struct s x;"),
        ("enum e { A = -1 } first;", "enum e { B } x;"),
    ],
)
def test_a_name_of_a_type_means_what_its_block_defines(first: str, inner: str) -> None:
    own = f"void f(void) {{ {inner} }}\n"
    assert _only_variable(f"{first}\n{own}") == _only_variable(own)


def _only_variable(text: str) -> CType:
    """The type of the only local variable of a text, after the variables of the file were looked at."""
    file = typed_text(Source("t.c", text))
    assert len(file.variables) <= 1
    (found,) = [node.declaration.type for node in file.functions[0].nodes if isinstance(node, Declarator)]
    return found


def test_a_struct_with_a_member_of_a_hidden_struct_of_its_name_has_both() -> None:
    text = "typedef struct s { double v; } T;\nvoid f(void) { struct s { T v; struct s *p; } x; }\n"
    kind = _only_variable(text)
    assert isinstance(kind, Record)
    assert kind.fields is not None
    inner, pointer = (field.type for field in kind.fields)
    assert isinstance(inner, Record)
    assert inner.fields is not None
    assert pointer == Pointer(Record("s", None))
