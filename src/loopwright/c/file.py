"""A C file, parsed once and shared by the reader, prover, checker and emitter.

Nothing is preprocessed.  Each part is computed on first use; a file without a region, or with half of
one, or a region that is not C, raises an error then.

It includes the functions that the file defines, which can be analysed.

Such a function is pure if it assigns only to its local variables, reads besides its parameters only what the
region does not modify, and calls pure functions.  One that is a single `return` of integers can be
substituted, in subscripts and bounds too.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cached_property, lru_cache

from loopwright.c.casts import Ambiguous, Kinds, ShownTree, parse_possible, parse_settled, settled
from loopwright.c.declarations import (
    Declarations,
    declarations_of,
    declared_name,
    is_integer_type,
    type_text,
)
from loopwright.c.macros import Macro, macros_of
from loopwright.c.plain_functions import without_plain_functions
from loopwright.c.regions import Directive, Region, directives_of, regions_of, without_directives
from loopwright.c.syntax import (
    Node,
    conditionals_without_yes,
    field,
    named_children,
    parse,
    refuse,
    walk,
    without_parentheses,
)
from loopwright.c.tokens import blank, without_comments
from loopwright.c.trees import LONG
from loopwright.errors import BadInput, Code
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Source, Span


@dataclass(frozen=True, slots=True)
class FunctionDefinition:
    """`type name(parameters) body`; `is_integer` if all types in its head are wide integers."""

    type: str
    name: str
    parameters: tuple[str, ...]
    types: tuple[str, ...]
    """The types of the parameters."""
    body: Node
    value: Node | None
    """The expression e, if the body is only `return e;`."""
    is_integer: bool


def functions_of(root: Node) -> tuple[FunctionDefinition, ...]:
    """The functions that a file defines, as far as their heads can be parsed."""
    found = []
    for node in root.named_children:
        function = _function(node) if node.type == "function_definition" else None
        if function is not None:
            found.append(function)
    return tuple(found)


def _function(node: Node) -> FunctionDefinition | None:
    declarator = node.child_by_field_name("declarator")
    if declarator is None or declarator.type != "function_declarator":
        return None
    parameters = []
    types = [type_text(node, qualifiers=False)]
    for part in _parameters(declarator):
        inner = part.child_by_field_name("declarator")
        named = declared_name(inner) if inner is not None else None
        if named is None:
            return None
        parameters.append(named[0])
        types.append(type_text(part, qualifiers=False) if named[1] == 0 else "pointer")
    name = field(declarator, "declarator").text
    body = field(node, "body")
    is_integer = all(is_integer_type(kind) for kind in types)
    return FunctionDefinition(
        types[0], name, tuple(parameters), tuple(types[1:]), body, _returned(body), is_integer
    )


def _parameters(declarator: Node) -> list[Node]:
    """The declarations of the parameters; `(void)` has none."""
    found = named_children(field(declarator, "parameters"))
    return [] if len(found) == 1 and found[0].text == "void" else found


def _returned(body: Node) -> Node | None:
    statements = named_children(body)
    if len(statements) != 1 or statements[0].type != "return_statement":
        return None
    values = named_children(statements[0])
    return values[0] if len(values) == 1 else None


def keeps_to_itself(function: FunctionDefinition) -> bool:
    """Whether it assigns only to local variables or elements of local arrays."""
    own = own_names(function)
    for part in walk(function.body):
        if part.type in ("gnu_asm_expression", "ERROR"):
            return False
        if part.type == "storage_class_specifier" and part.text == "static":
            return False
        if part.type not in ("assignment_expression", "update_expression"):
            continue
        target = part.child_by_field_name("left") or field(part, "argument")
        depth, core = 0, without_parentheses(target)
        while core.type == "subscript_expression":
            depth, core = depth + 1, without_parentheses(field(core, "argument"))
        name = core.text if core.type == "identifier" else ""
        if depth != own.get(name):
            return False
    return True


def own_names(function: FunctionDefinition) -> dict[str, int]:
    """The local names of a function, and how many subscripts lead to local storage.

    A name that is also used outside the block that declares it may be another one there.
    """
    own = dict.fromkeys(function.parameters, 0)
    reaches: dict[str, list[Span]] = {}
    for part in walk(function.body):
        if part.type == "declaration" and part.parent is not None:
            for declarator in part.children_by_field_name("declarator"):
                named = declared_name(declarator)
                if named is not None:
                    own[named[0]] = len(named[2])
                    reach = Span(part.source, part.start, part.parent.end)
                    reaches.setdefault(named[0], []).append(reach)
    for part in walk(function.body):
        name = part.text if part.type == "identifier" else ""
        if name in reaches and not any(reach.contains(part.span) for reach in reaches[name]):
            own.pop(name, None)
    return own


def mentioned(function: FunctionDefinition) -> tuple[tuple[str, bool], ...]:
    """The non-local names in the body, and whether each is called."""
    own = own_names(function)
    found = []
    for part in walk(function.body):
        if part.type != "identifier" or part.text in own:
            continue
        parent = part.parent
        is_call = parent is not None and parent.type == "call_expression"
        called = is_call and parent is not None and field(parent, "function") == part
        found.append((part.text, called))
    return tuple(found)


_OPENING = "void f(){"
_WHOLE = "put the pragmas around whole statements"


@lru_cache(maxsize=16)
def c_file(source: Source) -> CFile:
    """The parsed file of a source; the same object for the same source."""
    return CFile(source)


def whole_file(source: Source) -> CFile:
    """The parsed file of a source, whatever is chosen of it."""
    return c_file(replace(source, chosen=()))


@dataclass(frozen=True)
class CFile:
    source: Source

    @cached_property
    def directives(self) -> tuple[Directive, ...]:
        """The preprocessor lines."""
        return directives_of(self.source)

    @cached_property
    def plain(self) -> str:
        """The source with its preprocessor lines blanked, offsets unchanged."""
        return without_directives(self.source, self.directives)

    @cached_property
    def regions(self) -> tuple[Region, ...]:
        """The regions between `#pragma scop` and `#pragma endscop`; at least one."""
        return regions_of(self.source, self.directives)

    @cached_property
    def macros(self) -> tuple[Macro, ...]:
        return macros_of(self.directives, self.plain)

    @property
    def macro_names(self) -> frozenset[str]:
        return frozenset(macro.name for macro in self.macros)

    @property
    def defined_names(self) -> frozenset[str]:
        """The macros, variables, functions and types of the file."""
        declared = self.declarations
        names = [*(one.name for one in declared.variables), *(one.name for one in self.functions)]
        return self.macro_names.union(names, (name for name, _ in declared.aliases))

    @cached_property
    def _parsed(self) -> ShownTree:
        return parse_possible(self.source, self.plain)

    @property
    def possible(self) -> Node:
        """The tree of the file before it is known which names are types."""
        return self._parsed.root

    @cached_property
    def declarations(self) -> Declarations:
        """The declarations that are visible from the regions."""
        parsed, plain = self._outlined
        return declarations_of(parsed.root, [region.place for region in self.regions], plain)

    @cached_property
    def _shown(self) -> tuple[str, frozenset[str]]:
        """The source without some functions outside regions, and their names; all of it if mostly regions."""
        places = [region.place for region in self.regions]
        inside = sum(place.end - place.start for place in places)
        is_most = 2 * inside > len(self.plain)
        return (self.plain, frozenset()) if is_most else without_plain_functions(self.plain, places)

    @cached_property
    def _outlined(self) -> tuple[ShownTree, frozenset[str]]:
        shown, plain = self._shown
        return (parse_possible(self.source, shown) if plain else self._parsed), plain

    def has_no_casts(self, place: Span, shown: str) -> bool:
        """Whether it is known that a place contains no cast, nor what could be one."""
        parsed, _ = self._outlined
        if len(shown) <= LONG or parsed.shown[place.start : place.end] != shown[place.start : place.end]:
            return False
        return not any(place.contains(one.span) for one in parsed.root.possible_casts())

    @property
    def outline_text(self) -> str:
        """The text that the parser gets first, if only regions are needed."""
        return self._shown[0]

    @cached_property
    def outline(self) -> Node:
        """The tree without some functions outside regions; those around regions are as in `tree`."""
        parsed, plain = self._outlined
        return settled(parsed, Kinds(self.declarations, self.macros, None)) if plain else self.tree

    @cached_property
    def tree(self) -> Node:
        """The tree of the whole file, without preprocessor lines."""
        return self.settled(self.declarations)

    @cached_property
    def functions(self) -> tuple[FunctionDefinition, ...]:
        return functions_of(self.tree)

    def function(self, name: str) -> FunctionDefinition | None:
        """The function, if the file defines one of this name, and no function in another."""
        found = [one for one in self.functions if one.name == name]
        return found[0] if len(found) == 1 and name not in self.inner_functions else None

    @cached_property
    def function_names(self) -> frozenset[str]:
        """The functions that the file defines, those in other functions too."""
        return self.inner_functions.union(one.name for one in self.functions)

    @cached_property
    def inner_functions(self) -> frozenset[str]:
        """The names in heads of functions in other functions, as GNU C has them."""
        found = [node for node in self.tree.of_type("function_definition") if node.parent != self.tree]
        heads = (walk(field(node, "declarator")) for node in found)
        return frozenset(part.text for head in heads for part in head if part.type == "identifier")

    def settled(self, declarations: Declarations) -> Node:
        """The tree of a file with these declarations visible."""
        return settled(self._parsed, Kinds(declarations, self.macros, None))

    def kinds(self, at: Span) -> Kinds:
        """The kinds of names at a place; a macro counts if it is defined before it."""
        return Kinds(self.declarations, self.macros_before(at), at)

    def macros_before(self, at: Span) -> tuple[Macro, ...]:
        return tuple(macro for macro in self.macros if macro.place.start < at.start)

    def region(self, place: Span) -> Region:
        """The region at a place; one of `regions`."""
        (found,) = [one for one in self.regions if one.place == place]
        return found

    def block(self, place: Span) -> Node:
        """The statements of the region at a place, as the block of a function."""
        return _block(self, place)


def includes(source: Source, header: str, before: Span | None = None) -> bool:
    """Whether an unconditional line of the file, `before` a place in it, is `header`: `#include <name.h>`."""
    depth = 0
    for line in c_file(source).directives:
        if before is not None and line.place.start >= before.start:
            return False
        if depth == 0 and f"#{line.name} {line.argument.strip()}" == header:
            return True
        depth += (line.name in ("if", "ifdef", "ifndef")) - (line.name == "endif")
    return False


@lru_cache(maxsize=64)
def _block(file: CFile, inside: Span) -> Node:
    """Parse a region with the rest of the file blanked, so that its macros cannot confuse the parser,
    and with the pragmas inside blanked too: one may be between a `for` and its body.
    """
    text = file.source.text
    _refuse_unbalanced(inside)
    pieces = [" " * (inside.start - len(_OPENING) - 1), _OPENING, "\n"]
    position = inside.start
    for pragma in file.region(inside).pragmas:
        pieces += [text[position : pragma.place.start], blank(pragma.place.text)]
        position = pragma.place.end
    pieces += [text[position : inside.end], "}", " " * (len(text) - inside.end - 1)]
    shown = "".join(pieces)
    try:
        if file.has_no_casts(inside, shown):
            root = parse(file.source, shown, file.outline_text, inside)
        else:
            root = parse_settled(file.source, shown, file.kinds(inside), file.outline_text, inside)
    except Ambiguous as failure:
        name = failure.name
        hint = f"leave out the parentheses if '{name}' is a value; declare it in the file if it is a type"
        raise refuse(failure.node, f"{failure} here", hint) from None
    refuse_syntax_errors(root)
    return field(root.named_children[0], "body")


def _refuse_unbalanced(inside: Span) -> None:
    """Raise unless a region consists of complete statements, with matching braces."""
    text = without_comments(inside.source.text, literals=False)
    opened: list[Span] = []
    for match in re.compile(r"[{}]").finditer(text, inside.start, inside.end):
        spot = inside.source.at(match.start())
        if match[0] == "{":
            opened.append(spot)
        elif opened:
            opened.pop()
        else:
            raise refuse(spot, "this '}' closes a block opened before the region", _WHOLE, code=Code.REGION)
    if opened:
        raise refuse(opened[-1], "this '{' is not closed before the region ends", _WHOLE, code=Code.REGION)


_ESCAPED = re.compile("[\udc80-\udcff]")
"""Bytes that are not UTF-8."""
_PLAIN = "write plain C here; macros that stand for pieces of syntax cannot be read"


class UnknownSyntax(BadInput):
    """An error for source outside the grammar of C; a compiler may know extensions or other macros."""


def _unknown(node: Node, message: str, hint: str) -> UnknownSyntax:
    return UnknownSyntax(Code.REGION_TEXT, message, span=node.span, hint=hint)


def refuse_syntax_errors(root: Node) -> None:
    """Raise for the first place that the grammar of C rejects, and for names that are not UTF-8."""
    if _ESCAPED.search(root.text):
        for node in walk(root):
            if node.type.endswith("identifier") and _ESCAPED.search(node.text):
                raise refuse(node, "this name has bytes that are not UTF-8", "save the file as UTF-8")
    for node in conditionals_without_yes(root):
        raise refuse(node, "this is not C: a conditional expression has three parts", "write 'a ? a : b'")
    if not root.has_error:
        return
    for node in walk(root):
        if node.text == "_Pragma":
            raise refuse(node, "'_Pragma' cannot be read in a region", "write it as a line, '#pragma ..'")
        if node.is_missing:
            missing = f"this is not C: '{node.type}' is missing here"
            raise _unknown(node, missing, f"put '{node.type}' here")
        if node.type == "ERROR":
            raise _unknown(node, "this is not C", _syntax_hint(node))
    raise _unknown(root, "this is not C", _PLAIN)


def _syntax_hint(node: Node) -> str:
    """A hint for the most common mistake, a missing `;`: the error is at the end of a line."""
    rest = node.source.text[node.end :].split("\n", 1)[0].strip()
    is_statement = node.span.text.rstrip()[-1:] not in ("", ";", "{", "}", ",")
    return "is there a ';' at the end of the line?" if not rest and is_statement else _PLAIN
