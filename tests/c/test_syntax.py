"""Nodes of a kind are found below every node, whether or not what is around it was asked before."""

from __future__ import annotations

import re
import time

import pytest

from loopwright.c.file import c_file
from loopwright.c.syntax import conditionals_without_yes, field, parse, walk
from loopwright.c.tokens import spelled, whole_word
from loopwright.source import Source

TEXT = """void f(int n) { int i; for (i = 0; i < n; i++) if (i) { for (;;) ; x = (y = i); } else { i++; }
  { { n = 0; } } again: { for (;;) n--; } }
void g(void) { for (;;) { h(); } }
"""
KINDS = (
    ("for_statement",),
    ("compound_statement",),
    ("assignment_expression", "update_expression"),
    ("expression_statement", "if_statement", "labeled_statement"),
)


def test_nodes_of_a_kind_below_a_node() -> None:
    root = parse(Source("f.c", TEXT))
    for kinds in KINDS:
        assert root.of_type(*kinds)
        for node in walk(root):
            expected = [one for one in walk(node) if one.type in kinds]
            assert list(node.of_type(*kinds)) == expected, (node.type, node.text)


def test_trees_of_one_text_are_views_of_their_own() -> None:
    text = TEXT + "/* " + "x" * 30_000 + " */"
    one, other = (parse(Source(name, text)) for name in ("one.c", "other.c"))
    found = [node.of_type("for_statement") for node in (one, other)]
    assert [node.start for node in found[0]] == [node.start for node in found[1]]
    assert {node.source.path for node in found[1]} == {"other.c"}


def test_nodes_of_a_long_text_are_those_of_a_short_one() -> None:
    """Whichever node is asked first: a long function asks what is around it."""
    body = "for (i = 0; i < n; i++) a[i] = f(i);\n" * 600
    text = f"int g;\nvoid k(int n, int *a) {{ int i;\n{body}}}\nint last(void) {{ return g; }}\n"
    for first in ("function_definition", "compound_statement", "translation_unit"):
        root = parse(Source("t.c", text))
        asked = next(node for node in walk(root) if node.type == first)
        for node in (asked, root):
            for kinds in (("for_statement", "declaration"), ("function_definition",), *KINDS[1:3]):
                expected = [one for one in walk(node) if one.type in kinds]
                assert list(node.of_type(*kinds)) == expected


@pytest.mark.parametrize("between", ("", " ", "\n", "/* yes */", " // yes\n", "\\\n"))
def test_conditionals_without_yes_are_found(between: str) -> None:
    text = f"int f(int a, int b) {{ return (a ? a : b) + (a ?{between}: b); }}\n"
    assert len(conditionals_without_yes(parse(Source("t.c", text)))) == 1


def test_words_are_found_whole() -> None:
    text = "a_a a $a a$ aa 1a a1 a.a -a(a) ab b ba b"
    assert [one.start() for one in whole_word("a").finditer(text)] == [4, 21, 23, 26, 28]
    assert [one.start() for one in whole_word("a").finditer(text, 5, 22)] == [21]
    assert whole_word("ab", "b").findall(text) == ["ab", "b", "b"]
    assert whole_word("a").search("aa", 1) is None


def test_a_word_has_letters_digits_dollars_and_what_is_not_ascii() -> None:
    for code in range(0x20, 0x7F):
        letter = chr(code)
        assert (spelled(f"x{letter}1") == [f"x{letter}1"]) == (letter.isalnum() or letter in "_$"), letter
    assert spelled("für $1 \N{EM DASH}x 1") == ["für", "$1", "\N{EM DASH}x", "1"]


PARTS = (
    "if (n > {k}) {{ for (i = {k}; i < n; i++) a[i] = (double)i * n - {k}; }}\n",
    "x = {k};\n#pragma omp parallel for\nfor (i = 0; i <= min(n, {k}); i++) {{ a[i] += x ? 1 : {k}; }}\n",
    "/* }} */ y{k}: while (n--) {{ a[n] = f(n, {k})[2].z; }} // {{\n",
)


def test_a_region_of_a_long_text_is_parsed_as_if_alone() -> None:
    """What is known of the whole text is used for its region: the tree is the same."""
    body = "".join(PARTS[k % 3].format(k=k) for k in range(400))
    head = "typedef double T;\n#define BODY {\nstatic double a[100], x;\nint g(int i, int n) {\n"
    text = f"{head}#pragma scop\n{body}#pragma endscop\nreturn i; }}\nint h(void) {{ return 1; }}\n"
    file = c_file(Source("long.c", text))
    block = file.block(file.regions[0].place)
    root = block
    while root.parent is not None:
        root = root.parent
    start, end = file.regions[0].place.start, file.regions[0].place.end
    shown = re.sub(r"#pragma.*", lambda one: " " * len(one[0]), text)
    opened = "void f(){"
    alone = (
        " " * (start - len(opened) - 1) + opened + "\n" + shown[start:end] + "}" + " " * (len(text) - end - 1)
    )
    fresh = parse(Source("long.c", alone))
    (other,) = fresh.of_type("function_definition")
    found, wanted = (
        [(one.type, one.start, one.end) for one in walk(each)] for each in (block, field(other, "body"))
    )
    assert len(text) > 20_000 and len(found) > 5_000 and found[1:] == wanted[1:]


def test_thousands_of_macros_are_read_at_once() -> None:
    """Whether a name stands before its definition is looked up, not searched for."""
    lines = "".join(f"int y{k};\n#define m{k} {k}\n" for k in range(6000))
    file = c_file(Source("many.c", f"int m5999;\n{lines}"))
    started = time.process_time()
    assert [one.name for one in file.macros if one.conditional] == ["m5999"] and len(file.macros) == 6000
    assert time.process_time() - started < 3
