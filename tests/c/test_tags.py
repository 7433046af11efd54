"""Labels as handles on loop components [Namjoshi2016, sections 3.1 and 3.2]."""

from __future__ import annotations

from tests.c.support import refusal, region, underlined

NEST = """\
for (i = 0; i < n; i++) {
  for (j = 0; j < n; j++) {
    L1: a[i] = 0;
        b[i] = 1;
  }
}
for (i = 0; i < n; i++) {
  for (j = 0; j < n; j++) {
    L2: a[i] = 2;
        b[i] = 3;
  }
  for (j = 0; j < n; j++) {
    L3: a[i] = 4;
        b[i] = 5;
  }
}"""


def positions(body: str) -> dict[str, list[int]]:
    """The position vector of each statement: every other entry of its schedule."""
    program = region(body)
    found = {}
    for statement in program.statements:
        text = str(statement.schedule)
        entries = text[text.rindex("[") + 1 : text.rindex("]")].split(", ")
        found[statement.name] = [int(entry) for entry in entries[::2]]
    return found


def test_figure_4a() -> None:
    program = region(NEST)
    assert [(tag.name, tag.statements, tag.depth) for tag in program.tags] == [
        ("L1", ("S1", "S2"), 2),
        ("L2", ("S3", "S4"), 2),
        ("L3", ("S5", "S6"), 2),
    ]
    assert positions(NEST) == {
        "S1": [0, 0, 0],
        "S2": [0, 0, 1],
        "S3": [1, 0, 0],
        "S4": [1, 0, 1],
        "S5": [1, 1, 0],
        "S6": [1, 1, 1],
    }


def test_figure_1a_without_dummy_loops() -> None:
    """A bare statement in front of a labelled loop has a tag of its own."""
    program = region(
        "for (i = 0; i < n; i++)\n for (j = 0; j < n; j++) {\n"
        "  Init: A[i][j] = 0;\n  for (k = 0; k < n; k++)\n   Mult: A[i][j] += B[i][k] * C[k][j];\n }"
    )
    assert [(tag.name, tag.statements, tag.depth) for tag in program.tags] == [
        ("Init", ("S1",), 2),
        ("Mult", ("S2",), 3),
    ]
    init, mult = program.statements
    assert str(init.schedule).endswith("{ S1[i, j] -> [0, i, 0, j, 0, 0, 0] }")
    assert str(mult.schedule).endswith("{ S2[i, j, k] -> [0, i, 0, j, 1, k, 0] }")


def test_labels_on_loops_blocks_and_later_statements() -> None:
    program = region(
        "Outer: for (i = 0; i < n; i++) { a[i] = 0; Late: b[i] = 1; Block: { a[i] = 2; b[i] = 3; } }\n"
        "One: Two: a[0] = 4;"
    )
    found = {tag.name: (tag.statements, tag.depth) for tag in program.tags}
    assert found == {
        "Outer": (("S1", "S2", "S3", "S4"), 0),
        "Late": (("S2",), 1),
        "Block": (("S3", "S4"), 1),
        "One": (("S5",), 0),
        "Two": (("S5",), 0),
    }


def test_a_label_on_the_first_statement_skips_plain_declarations() -> None:
    program = region("for (i = 0; i < n; i++) { double t; L: t = 1; a[i] = t; }")
    assert program.tags[0].statements == ("S1", "S2")


def test_the_region_itself_is_not_a_block() -> None:
    program = region("L: a[0] = 1; a[1] = 2;")
    assert program.tags[0].statements == ("S1",)


def test_the_text_of_a_labelled_statement_is_without_the_label() -> None:
    program = region("L: a[0] = 1;")
    assert program.statements[0].body.place.text == "a[0] = 1;"


def test_a_label_twice_is_refused() -> None:
    error = refusal("L: a[0] = 1;\nL: a[1] = 2;")
    assert "'L' is used twice (line 4)" in error.message
    assert error.span is not None and (error.span.line, error.span.column) == (5, 1)
    assert underlined(error) == "L"


def test_a_label_on_nothing_is_refused() -> None:
    assert "has no statement after it" in refusal("a[0] = 1; L: ;").message


def test_a_label_inside_a_statement_is_refused() -> None:
    """A test of data and what it guards are one statement."""
    error = refusal("for (i = 0; i < n; i++) if (a[i] > 0) { L: a[i] = 1; }")
    assert "'L' is inside a statement" in error.message and underlined(error) == "L"
