"""Rewrites vectors as their lanes, in equivalent C.

    __m256d v = _mm256_loadu_pd(&x[i]);     double v_lane0 = x[i], v_lane1 = x[(i) + 1], ...;
    v = _mm256_mul_pd(v, w);                v_lane0 = (v_lane0 * w_lane0); v_lane1 = ...
    _mm256_storeu_pd(y + i, v);             y[i] = v_lane0; y[(i) + 1] = v_lane1; ...
    memcpy(&v, x + i, sizeof v);            v_lane0 = x[i]; v_lane1 = x[(i) + 1]; ...

All lanes of a value are computed before one is stored, as the loads and stores may overlap.  A file is
rewritten as a whole or not at all: each use of a vector has a supported form, no macro hides one, and
pointers point to the type of the lanes.  Line numbers do not change.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from loopwright.c.declarations import declared_name, type_text
from loopwright.c.file import CFile, whole_file
from loopwright.c.macros import reachable_macros
from loopwright.c.regions import Directive
from loopwright.c.reworded.vector_expressions import NotInLanes, VectorNames, VectorVariable, lane_names
from loopwright.c.reworded.vector_statements import COPY, StatementsInLanes
from loopwright.c.reworded.vector_words import (
    HEADERS,
    REGISTERS,
    VectorType,
    are_targets,
    is_word_of_vectors,
    vector_typedef,
)
from loopwright.c.syntax import Node, walk
from loopwright.c.tokens import name_matches, names_in, without_comments
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Edit, Source, Span

_TELLING = re.compile(r"\b_mm\d*_|\b__m(?:128|256|512)|vector_size|\bfloat(?:32x4|64x2)_t\b|\bvst1q_f")
_FUSED = re.compile(r"\b_mm\d*_fn?m(?:add|sub)_|\bvfm[as]q_")
_ALIGNED = re.compile(r"\b_mm\d*_(?:load|store)_p[sd]\b")
_STRINGS = r'("[^"\n]*"(?:\s*,\s*"[^"\n]*")*)'
_TARGET = re.compile(rf"__attribute__\s*\(\(\s*(?:__)?target(?:__)?\s*\(\s*{_STRINGS}\s*\)\s*\)\)")
_PRAGMA = re.compile(rf"GCC\s+target\s*\(?\s*{_STRINGS}\s*\)?")
_WHOLE = re.compile(r"[\w.]+|\([\w\s.+\-*/%()<>?:,]*\)")
"""What a macro may expand to: a word, or an expression in parentheses."""
_WORDS = frozenset(
    re.findall(
        r"\w+",
        "auto break case char const continue default do double else enum extern float for goto if inline int"
        " long register restrict return short signed sizeof static struct switch typedef union unsigned void"
        " volatile while __attribute__ aligned may_alias target vector_size __aligned__ __may_alias__"
        " __target__ __vector_size__",
    )
)
_CALLED = frozenset(("fma", "fmaf", "sqrt", "sqrtf", COPY))
_OF_NO_MEANING = frozenset(("inline", "register", "restrict"))


@dataclass(frozen=True)
class InLanes:
    """A source without vectors, or the original and the reason why its vectors are kept."""

    source: Source
    reason: str = ""
    place: Span | None = None
    is_fused: bool = False
    """Whether products and sums are fused, with a single rounding."""
    has_vectors: bool = False
    needs_aligned: bool = False
    """Whether arrays have to begin at multiples of the size of their vectors."""


def with_lanes(source: Source, *, contracted: bool = False) -> InLanes:
    """The source with its vectors rewritten as lanes, if all of them are supported."""
    is_possible = any(word in source.text for word in ("_mm", "__m", "vector_size", "q_f"))
    if not is_possible or _TELLING.search(without_comments(source.text, literals=False)) is None:
        return InLanes(_without_headers(source))
    file = whole_file(source)
    try:
        edits = sorted(_FileInLanes(file, contracted).edits())
    except NotInLanes as failure:
        return InLanes(source, str(failure), failure.place)
    bare = without_comments(source.text, literals=False)
    is_fused, needs_aligned = (one.search(bare) is not None for one in (_FUSED, _ALIGNED))
    edited = source.edited(edits)
    return InLanes(edited, is_fused=is_fused, has_vectors=True, needs_aligned=needs_aligned)


def _without_headers(source: Source) -> Source:
    """A source without vectors, and without their headers, as one in lanes is."""
    if not any(one in source.text for one in HEADERS):
        return source
    file = _FileInLanes(whole_file(source), contracted=False)
    try:
        file.refuse_left([], REGISTERS)
        return source.edited(sorted(file.headers(needs_library=False)))
    except NotInLanes:
        return source


@dataclass(frozen=True)
class _FileInLanes:
    file: CFile
    contracted: bool

    def edits(self) -> list[Edit]:
        if self.file.possible.has_error:
            raise NotInLanes("the text is not plain C, or has macros that stand for pieces of syntax", None)
        if not _WORDS.isdisjoint(self.file.macro_names):
            raise NotInLanes("a keyword of C is defined as a macro", None)
        types = {**REGISTERS, **self.own_types()}
        found: list[Edit] = [edit for _, edit in self.typedefs()]
        rounds = copies = False
        for function in self.file.possible.of_type("function_definition"):
            names = self.names(function, types)
            if names.variables or self.words(function, names):
                self.refuse_macros(function)
                statements = StatementsInLanes(self.file, function, names)
                found += statements.edits()
                rounds |= statements.needs_library
                copies |= statements.copies
        if rounds or copies:
            self.refuse_own_library()
        found += self.targets()
        found += self.headers(needs_library=rounds)
        self.refuse_left(found, types)
        return found

    def typedefs(self) -> Iterator[tuple[tuple[str, VectorType], Edit]]:
        for node in self.file.possible.of_type("type_definition"):
            made = vector_typedef(node.text)
            if made is not None:
                yield made, node.span.reworded()

    def own_types(self) -> dict[str, VectorType]:
        found: dict[str, VectorType] = {}
        for (name, made), _ in self.typedefs():
            if name in found or name in self.file.macro_names:
                raise NotInLanes(f"the type '{name}' is defined twice", None)
            found[name] = made
        return found

    def names(self, function: Node, types: dict[str, VectorType]) -> VectorNames:
        """The variables of a function that are vectors, or arrays of them."""
        variables: dict[str, VectorVariable] = {}
        for node in function.of_type("declaration"):
            made = types.get(type_text(node, qualifiers=False))
            for declarator in node.children_by_field_name("declarator") if made is not None else ():
                known = declared_name(declarator)
                inner = [one.type for one in walk(declarator)]
                if made is None or known is None or "pointer_declarator" in inner:
                    raise NotInLanes("a pointer to vectors cannot be read", declarator.span)
                name, rank, _ = known
                variable = VectorVariable(made, rank)
                if variables.setdefault(name, variable) != variable:
                    raise NotInLanes(f"two vectors are called '{name}'", declarator.span)
        taken = {*names_in(self.file.source.text)}
        for name, variable in variables.items():
            if not taken.isdisjoint(lane_names(name, variable.type)) or name in self.file.macro_names:
                raise NotInLanes(
                    f"the file uses '{name}', or a name of its lanes, for something else", function.span
                )
        if any(re.fullmatch(r"lane\d+_\d+", one) for one in taken):
            raise NotInLanes("the file already has names such as 'lane0_1'", function.span)
        return VectorNames(types, variables, self.file.macro_names, self.contracted)

    @staticmethod
    def words(function: Node, names: VectorNames) -> bool:
        """Whether a function uses vector types or functions besides its variables."""
        return any(is_word_of_vectors(name) or name in names.types for name in names_in(function.text))

    def refuse_macros(self, function: Node) -> None:
        """Raise an error unless a function and its macros are unconditional, and macros are expressions."""
        if "\\\n" in function.text or "??" in function.text:
            raise NotInLanes("a line of this function is continued on the next one", function.span)
        depth = 0
        for line in self.file.directives:
            depth += line.name in ("if", "ifdef", "ifndef")
            depth -= line.name == "endif"
            inside = function.start <= line.place.start < function.end
            if inside and (line.name != "pragma"):
                raise NotInLanes("parts of this function are compiled conditionally", line.place)
            if line.place.start > function.start:
                break
            if line.name == "include" and not line.argument.strip().startswith("<"):
                raise NotInLanes(f"the definitions of {_text(line)} are not examined", line.place)
        if depth:
            raise NotInLanes("this function is compiled conditionally", function.span)
        for name in dict.fromkeys(names_in(function.text)):
            for macro in reachable_macros(self.file.macros, name):
                words = names_in(macro.body)
                if macro.conditional or not _WORDS.isdisjoint(words) or not is_whole(macro.body):
                    raise NotInLanes(f"the macro '{macro.name}' is not a plain expression", macro.place)
                if any(map(is_word_of_vectors, (macro.name, *words))):
                    raise NotInLanes(f"the macro '{macro.name}' contains vectors", macro.place)

    def targets(self) -> Iterator[Edit]:
        """Edits that remove attributes and pragmas that enable instructions."""
        for match in _TARGET.finditer(without_comments(self.file.source.text, literals=True)):
            if are_targets(re.findall(r'"([^"]*)"', match[1])):
                yield Span(self.file.source, *match.span()).reworded()
        for line in self.file.directives:
            said = _PRAGMA.fullmatch(_text(line)) if line.name == "pragma" else None
            if said is not None and are_targets(re.findall(r'"([^"]*)"', said[1])):
                yield line.place.start, line.place.end, ""

    def headers(self, *, needs_library: bool) -> Iterator[Edit]:
        """Edits that replace vector headers by a standard header, or by that of the functions now called."""
        lines = [one for one in self.file.directives if one.name == "include"]
        known = {one.argument.strip() for one in lines}
        needs_library = needs_library and "<math.h>" not in known
        depth = 0
        for line in self.file.directives:
            depth += (line.name in ("if", "ifdef", "ifndef")) - (line.name == "endif")
            if line.name != "include" or line.argument.strip() not in HEADERS:
                continue
            if depth:
                raise NotInLanes("a header for vectors is included conditionally", line.place)
            name = "math" if needs_library else "stdlib"
            needs_library = False
            yield line.place.start, line.place.end, f"#include <{name}.h>"
        if needs_library:
            raise NotInLanes("a function for vectors is used without its header", None)

    def refuse_own_library(self) -> None:
        """Raise an error if the functions called for lanes are not the library's."""
        nodes = self.file.possible.of_type("declaration", "function_definition", "parameter_declaration")
        for node in nodes:
            for declarator in node.children_by_field_name("declarator"):
                inner: Node | None = declarator
                while inner is not None and (below := inner.child_by_field_name("declarator")) is not None:
                    inner = below
                if inner is not None and inner.text in _CALLED:
                    raise NotInLanes(
                        "the file defines a function that has the name of one in the library", node.span
                    )
        if not _CALLED.isdisjoint(self.file.macro_names):
            raise NotInLanes("the file defines a macro that has the name of a function in the library", None)

    def refuse_left(self, edits: list[Edit], types: dict[str, VectorType]) -> None:
        """Raise an error if a vector type or function is outside of the replaced ranges."""
        text = without_comments(self.file.source.text, literals=False)
        for match in name_matches(text):
            name = match[0]
            is_edited = any(start <= match.start() and match.end() <= end for start, end, _ in edits)
            if (is_word_of_vectors(name) or name in types or "vector_size" in name) and not is_edited:
                at = self.file.source.at(match.start(), len(name))
                raise NotInLanes(f"'{name}' is used in a form that cannot be read", at)


def may_be_defined(name: str, parameters: tuple[str, ...] | None, body: str) -> bool:
    """Whether a macro of a header or an option leaves the meaning of vectors unchanged.

    A macro call next to vectors is not supported, so its expansion does not matter.
    """
    if name in _WORDS | _CALLED or is_word_of_vectors(name):
        return name in _OF_NO_MEANING
    return parameters is not None or not body or is_whole(body)


def _text(line: Directive) -> str:
    """The text after the name of a directive, including strings."""
    return line.place.text.partition(line.name)[2].strip()


def is_whole(body: str) -> bool:
    """Whether a macro body is a single operand in every context."""
    depth = 0
    for k, mark in enumerate(body):
        depth += (mark == "(") - (mark == ")")
        if depth == 0 and body[0] == "(" and k + 1 < len(body):
            return False
    return _WHOLE.fullmatch(body) is not None and "++" not in body and "--" not in body
