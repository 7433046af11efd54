"""Outlines a segment of a function into a function of its own, so that it can be compared by its terms.

    int main(void)                    static void lw_segment(void) { int i; <segment> }
    {                                 int main(void)
      int i;                  ==>     {
      <before>                          int i;
      <segment>                         <before>
      <after>                           lw_segment();
    }                                   <after>
                                      }

This preserves the meaning if the segment consists of whole statements of the function's body, is left only at
its end, and uses only variables of the file and numbers of the function that it sets before it uses them and
that are not live after it.
"""

from __future__ import annotations

import re
from itertools import pairwise

from loopwright.c.declarations import declared_name
from loopwright.c.file import CFile, c_file
from loopwright.c.liveness import is_hidden
from loopwright.c.regions import marked_places
from loopwright.c.syntax import Node, field, operator, walk
from loopwright.c.tokens import blank, names_in, without_comments
from loopwright.check.program.segment import END, START
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Source, Span

_NAME = "lw_segment"
_LEAVING = {
    *("goto", "return", "typedef", "struct", "enum", "union"),
    *("static", "extern", "auto", "register", "asm", "__label__"),
}
_STATEMENTS = (
    *("declaration", "expression_statement", "for_statement", "while_statement", "do_statement"),
    *("if_statement", "switch_statement", "compound_statement", "return_statement", "comment"),
)
_ALWAYS = (
    *("expression_statement", "compound_statement", "comma_expression", "assignment_expression"),
    *("function_definition", "translation_unit"),
)
"""Nodes that evaluate or execute all of their parts."""
_CHOOSING = ("for_statement", "while_statement", "do_statement", "if_statement", "else_clause")
_PRAGMA = re.compile(r"#\s*pragma\s+(?:end)?scop\b")
_INTEGER = re.compile(r"(?:unsigned\s+|signed\s+)?(?:int|long|long\s+long|short|char)(?:\s+int)?|size_t")


@dataclass(frozen=True)
class MarkedText:
    """A segment: the span from its first mark to its last, and the text between them."""

    source: Source
    outer: Span
    inner: str
    original: str | None = None
    """The contents of the comment that is its first mark."""


def marked_segment(source: Source) -> MarkedText | None:
    """Return the segment marked in a file by comments or by the pragmas of a region."""
    start = START.search(source.text)
    if start is None:
        regions = () if source.chosen else marked_places(source)
        return MarkedText(source, *around_region(regions[0])) if len(regions) == 1 else None
    end = END.search(source.text, start.end())
    if end is None:
        return None
    outer = Span(source, start.start(), end.end())
    return MarkedText(source, outer, source.text[start.end() : end.start()], start[2] if start[1] else None)


def around_region(region: Span) -> tuple[Span, str]:
    """A region with the lines of its pragmas, and its text."""
    lines = [one.place for one in c_file(region.source).directives if one.name == "pragma"]
    before = [one for one in lines if one.end <= region.start]
    after = [one for one in lines if one.start >= region.end]
    outer = Span(region.source, before[-1].start, after[0].end) if before and after else region
    return outer, region.text


def apart(source: Source, outer: Span, inner: str, *, is_region: bool = False) -> Source | None:
    """Return the file with `inner`, the text of the segment at `outer`, in a function of its own.

    None if that may change the meaning.  With `is_region`, the text in the new function is a region.
    """
    whole = _PRAGMA.sub(lambda match: blank(match[0]), outer.text)
    text = source.text[: outer.start] + whole + source.text[outer.end :]
    source = Source(source.path, text, ((outer.start, outer.end),))
    file, outer = c_file(source), Span(source, outer.start, outer.end)
    function = _function(file, outer)
    if function is None or _NAME in source.text or not _is_plain(file, function, inner):
        return None
    body = field(function, "body")
    parts = [one for one in body.children if one.type not in ("{", "}")]
    if any(one.type not in _STATEMENTS for one in parts) or any(_overlaps(one.span, outer) for one in parts):
        return None
    words = _words(file, inner)
    after = {*names_in(source.text[outer.end : body.end])}
    own = {name for one in parts if outer.contains(one.span) for name in _declared(one)}
    if own & after or words & {*names_in(field(field(function, "declarator"), "parameters").text)}:
        return None
    needed = _needed([one for one in parts if one.end <= outer.start], words)
    later = [one for one in parts if one.start >= outer.end]
    if needed is None or not all(
        is_hidden(file, outer, name) and _is_set_first(inner, name) and not _is_read_first(later, name)
        for name in needed
    ):
        return None
    numbers = "".join(f"{kind} {name};\n" for name, kind in needed.items())
    pragmas = ("#pragma scop\n", "#pragma endscop\n") if is_region else ("", "")
    own_text = f"static void {_NAME}(void)\n{{\n{numbers}{pragmas[0]}{inner}\n{pragmas[1]}}}\n"
    edits = [(function.start, function.start, own_text), (outer.start, outer.end, f"{_NAME}();")]
    return Source(source.path, source.edited(edits).text)


def _function(file: CFile, place: Span) -> Node | None:
    for node in file.possible.named_children:
        if node.type == "function_definition" and node.span.contains(place) and not node.has_error:
            declarator = node.child_by_field_name("declarator")
            return node if declarator is not None and declarator.type == "function_declarator" else None
    return None


def _is_plain(file: CFile, function: Node, inner: str) -> bool:
    """Whether the segment is left only at its end, and the function contains no preprocessor lines.

    Functions that run without being called are refused too.
    """
    if {"constructor", "destructor"} & {*names_in(file.source.text)}:
        return False
    lines = [one for one in file.directives if function.span.contains(one.place)]
    return all(one.name == "pragma" for one in lines) and not _words(file, inner) & _LEAVING


def _words(file: CFile, inner: str) -> set[str]:
    """The names in the segment and in its macros."""
    found: set[str] = set()
    new = {*names_in(without_comments(inner, literals=False))}
    while new:
        found |= new
        used = [one for one in file.macros if one.name in new]
        new = {word for one in used for word in names_in(one.place.text)} - found
    return found


def _overlaps(part: Span, outer: Span) -> bool:
    """Whether a statement partially overlaps the segment."""
    return not (part.end <= outer.start or outer.end <= part.start or outer.contains(part))


def _declared(part: Node) -> list[str]:
    """The names that a statement declares."""
    if part.type != "declaration":
        return []
    found = [declared_name(one) for one in part.children_by_field_name("declarator")]
    return [one[0] for one in found if one is not None]


def _needed(before: list[Node], words: set[str]) -> dict[str, str] | None:
    """The numbers of the function that the segment names, with their types; None if one is not a number."""
    found: dict[str, str] = {}
    for part in (one for one in before if one.type == "declaration"):
        kind = field(part, "type").text
        mentioned = [*names_in(part.text)]
        names = _declared(part)
        plain = [one.text for one in part.children_by_field_name("declarator") if one.type == "identifier"]
        has_plain_words = part.text.startswith(kind) and field(part, "type").type != "enum_specifier"
        for name in words & {*mentioned}:
            if name not in names:
                continue  # it is used there
            if name not in plain or not has_plain_words or not _INTEGER.fullmatch(kind) or name in found:
                return None
            found[name] = kind
        if len(names) != len(part.children_by_field_name("declarator")):
            return None
    return found


def _is_set_first(inner: str, name: str) -> bool:
    """Whether the segment sets a number before it uses it: its first mention sets it, precedes all others in
    each enclosing loop or `if`, and is not in one of several branches.
    """
    tree = c_file(Source("", f"void {_NAME}(void)\n{{\n{inner}\n}}\n")).possible
    mentions = [one for one in walk(tree) if one.type == "identifier" and one.text == name]
    set_by = mentions[0].parent if mentions else None
    if set_by is None or set_by.type != "assignment_expression" or operator(set_by) != "=":
        return False
    if field(set_by, "left") != mentions[0] or field(set_by, "right").mentions(name):
        return False
    for inside, outer in pairwise((set_by, *set_by.around())):
        is_first = outer.type == "for_statement" and outer.child_by_field_name("initializer") == inside
        is_part = outer.type in _CHOOSING and all(inside.span.contains(one.span) for one in mentions)
        if outer.type not in _ALWAYS and not is_first and not is_part:
            return False
    return True


def _is_read_first(later: list[Node], name: str) -> bool:
    """Whether statements may use the previous value of a number: the first that names it does not set it."""
    first = next((one for one in later if one.mentions(name)), None)
    if first is None:
        return False
    begun = first.child_by_field_name("initializer") if first.type == "for_statement" else first
    if begun is not None and begun.type == "expression_statement":
        begun = begun.named_children[0] if begun.named_children else None
    if begun is None or begun.type != "assignment_expression" or field(begun, "operator").type != "=":
        return True
    return field(begun, "left").text != name or field(begun, "right").mentions(name)
