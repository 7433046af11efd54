"""Finding regions in files as people write them, and refusing what is not a region."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.errors import BadInput
from loopwright.model.program import AssumptionKind, Program
from loopwright.read.c.reader import parse_c, read_c
from loopwright.source import Source
from tests.c.support import instances, refusal, region, underlined

LOOP = "for (int i = 0; i < n; i++) a[i] = 0;"
REGION = f"#pragma scop\n{LOOP}\n#pragma endscop\n"


def read(text: str) -> tuple[Program, ...]:
    return parse_c(Source("t.c", text))


def refused(text: str) -> BadInput:
    with pytest.raises(BadInput) as caught:
        read(text)
    return caught.value


def test_a_region_lies_between_its_pragma_lines() -> None:
    (program,) = read("int n;\n" + REGION + "int m;\n")
    assert program.region.text == LOOP + "\n"


def test_several_regions_are_several_programs() -> None:
    text = "void f(int n) {\n" + REGION + "g();\n" + REGION.replace("a[i]", "b[i]") + "}\n"
    first, second = read(text)
    assert first.arrays[0].name == "a" and second.arrays[0].name == "b"
    assert first.statements[0].name == second.statements[0].name == "S1"


def test_line_ends_of_windows_and_characters_of_the_world() -> None:
    text = "/* größer */\r\n" + REGION.replace("\n", "\r\n") + 'char *s = "→";\r\n'
    (program,) = read(text)
    assert program.source.encode() == text.encode()
    assert program.statements[0].body.place.text == "a[i] = 0;"
    error = refused(text.replace("a[i] = 0", "ä[i] = &(ö)"))
    assert error.span is not None and (error.span.line, error.span.column) == (3, 36)
    assert error.span.excerpt == "for (int i = 0; i < n; i++) ä[i] = &(ö);"


def test_bytes_that_are_not_utf8_come_back_as_they_were(tmp_path: Path) -> None:
    data = b"/* caf\xe9 */\n" + REGION.encode() + b"// \xff\n"
    file = tmp_path / "k.c"
    file.write_bytes(data)
    (program,) = read_c(file)
    assert program.source.encode() == data


def test_tabs_count_as_one_column() -> None:
    error = refusal("\t\tfor (i = 0; i < n; i++)\n\t\t\ta[i] = f(i);")
    assert error.span is not None and (error.span.line, error.span.column) == (5, 11)


def test_pragmas_in_comments_and_strings_do_not_count() -> None:
    text = '// #pragma scop\n/*\n#pragma scop\n*/\nchar *s = "\\\n#pragma scop";\n' + REGION
    (program,) = read(text)
    assert len(program.statements) == 1


def test_a_pragma_between_a_loop_and_its_body_is_dropped_and_listed() -> None:
    program = region("for (i = 0; i < n; i++)\n#pragma omp simd \\\n  safelen(4)\n  a[i] = 0;")
    assert [point for _, point in instances(program, {"n": 2})] == [(0,), (1,)]
    listed = [entry for entry in program.assumptions if entry.kind is AssumptionKind.PRAGMA]
    assert len(listed) == 1 and "omp simd" in listed[0].text


def test_comments_stay_with_their_statements() -> None:
    program = region(
        "/* all of it */\nfor (i = 0; i < n; i++) { // rows\n  // first\n  a[i] = 0; /* zero */\n"
        "  b[i] = /* inside */ 1;\n} // end\n// last\na[0] = 2;"
    )
    shown = [([c.text for c in s.body.leading], s.body.trailing) for s in program.statements]
    first, second, third = shown
    assert first[0] == ["/* all of it */", "// rows", "// first"]
    assert first[1] is not None and first[1].text == "/* zero */"
    assert second == ([], None)
    assert third == (["// last"], None)


@pytest.mark.parametrize("directive", ["#if 1", "#ifdef X", "#define Y 1", '#include "x.h"', "#endif"])
def test_other_preprocessor_lines_in_a_region_are_refused(directive: str) -> None:
    error = refusal(f"a[0] = 1;\n{directive}\na[1] = 1;")
    assert "no place in the new loops" in error.message and error.hint
    assert error.span is not None and (error.span.line, error.span.column) == (5, 1)


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("", "the file is empty", 1),
        ("int main(void) { return 0; }\n", "no region", 1),
        ("\n#pragma scop\na[0] = 1;\n", "does not end", 2),
        ("\n\n#pragma endscop\n", "no '#pragma scop' before it", 3),
        ("#pragma scop\n#pragma scop\n#pragma endscop\n", "inside a region", 2),
        ("#pragma scop\nfor for for\n#pragma endscop\n", "not C", 2),
        ("#pragma scop\na[0] = ;\n#pragma endscop\n", "not C", 2),
        ("#pragma scop\na[0] = (1;\n#pragma endscop\n", "')' is missing here", 2),
        ("#pragma scop\n}\n#pragma endscop\n", "closes a block opened before", 2),
        ("#pragma scop\n{ a[0] = 1;\n#pragma endscop\n", "not closed before the region ends", 2),
        ("#pragma scop\nwhile (n) a[0] = 1;\n#pragma endscop\n", "a 'while' loop", 2),
        ("#pragma scop\ngoto L;\n#pragma endscop\n", "a 'goto'", 2),
        ("#pragma scop\ndo a[0]++; while (n);\n#pragma endscop\n", "a 'do' loop", 2),
        ("#pragma scop\nswitch (n) { case 1: a[0] = 1; }\n#pragma endscop\n", "a 'switch'", 2),
        ("#pragma scop\nif (n) break;\n#pragma endscop\n", "a 'break'", 2),
        ("#pragma scop\nif (n) continue;\n#pragma endscop\n", "a 'continue'", 2),
        ('#pragma scop\nasm("nop");\n#pragma endscop\n', "cannot be read", 2),
        ("a\0b", "not a text file", 1),
    ],
)
def test_what_is_not_a_region_is_refused(text: str, message: str, line: int) -> None:
    error = refused(text)
    assert message in error.message
    assert error.span is not None and error.span.line == line


def test_a_forgotten_semicolon_is_guessed() -> None:
    error = refused("#pragma scop\na[0] = 1\nb[0] = 2;\n#pragma endscop\n")
    assert error.span is not None and error.span.line == 2
    assert error.hint == "is there a ';' at the end of the line?"


def test_excessive_nesting_is_refused() -> None:
    long_sum = " + ".join(["x"] * 200)
    assert region(f"a[0] = {long_sum};").statements
    for text in ("a[0] = " + "(" * 5000 + "1" + ")" * 5000 + ";", "{" * 900 + "a[0] = 1;" + "}" * 900):
        assert "nested too deeply" in refusal(text).message
    assert "nested too deeply" in refusal("a[0] = " + "x + " * 3000 + "x;").message
    assert "nested too deeply" in refusal("a[" + "i + " * 3000 + "0] = 1;").message


def test_an_empty_region_has_no_statements() -> None:
    (program,) = read("#pragma scop\n#pragma endscop\n")
    assert program.statements == () and program.domain().is_empty()


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path / "absent.c", tmp_path):
        with pytest.raises(BadInput, match="cannot be read"):
            read_c(path)
    large = tmp_path / "large.c"
    large.write_bytes(b" " * (9 << 20))
    with pytest.raises(BadInput, match="more than 4 MiB"):
        read_c(large)


def test_the_rest_of_the_file_does_not_matter() -> None:
    text = "WEIRD { ( macro soup\n#ifdef X\nvoid f(\n#else\nvoid g(\n#endif\n" + REGION + "}}}"
    assert len(read(text)[0].statements) == 1


def test_only_pointers_and_undeclared_arrays_may_share_memory() -> None:
    def shared(head: str, text: str) -> list[str]:
        found = region(text, head=head).assumptions
        return [entry.text.split(":")[0] for entry in found if entry.kind is AssumptionKind.ALIASING]

    apart = "static double p[9], q[9]; double (*restrict r); extern double s;"
    assert shared(apart, "for (i = 0; i < n; i++) p[i] = q[i] + r[i] * s;") == []
    assert shared(apart, "for (i = 0; i < n; i++) p[i] = a[i] + A[i][0] + z;") == ["a, A, z"]
    assert shared("", "for (int i = 0; i < 9; i++) a[i] = a[i + 1];") == []


ASSUME = "for (i = 0; i != n; i++) a[i] = 0;"


def test_assumptions_come_from_pragmas_in_scope() -> None:
    inside = region("#pragma loopwright assume n >= 0\n" + ASSUME)
    assert str(inside.context) == "[n] -> {  : n >= 0 }"
    assert inside.assumptions[0].kind is AssumptionKind.USER and inside.assumptions[0].text == "n >= 0"
    assert str(region(ASSUME, head="#pragma loopwright assume n >= 0").context).endswith("n >= 0 }")
    elsewhere = "void g(int n) {\n#pragma loopwright assume n >= 0\n}"
    assert "not known to end" in refusal(ASSUME, head=elsewhere).message


def test_assumptions_that_contradict_each_other_are_refused() -> None:
    error = refusal("for (i = 0; i < n; i++) a[i] = 0;", assume=["n > 1", "n < 1"])
    assert "contradict each other" in error.message
    scaled = "for (i = 0; i < n; i++) a[i * T] = 0;"
    assert "contradict" in refusal(scaled, head="#define T 4", assume=["T > 4"]).message


@pytest.mark.parametrize(
    ("option", "message", "where"),
    [
        ("n >=", "not a condition", "n >="),
        ("", "not a condition", ""),
        ("1 <= n <= m", "does not chain", "1 <= n <= m"),
        ("n * m > 0", "must be affine", "n * m"),
        ("n > 1 and n < 1", "never true", "n > 1 and n < 1"),
        ("zeal > 1", "no 'zeal' in t.c", "zeal > 1"),
    ],
)
def test_assumptions_that_are_refused(option: str, message: str, where: str) -> None:
    error = refusal("for (i = 0; i < n; i++) a[i] = 0;", assume=[option])
    assert message in error.message
    assert error.span is not None and error.span.file == "--assume"
    assert underlined(error) == where


def test_parentheses_that_close_nothing_are_no_c() -> None:
    """Where more close than open before them, what is left of the text is refused as such."""
    with pytest.raises(BadInput) as caught:
        parse_c(Source("k.c", "void f { int n;\n#pragma scop\n  a = n]) + -a[5][5]));\n#pragma endscop\n}\n"))
    assert caught.value.span is not None
