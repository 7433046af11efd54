"""One reading of a C file: made once, and asked by everybody who wants to know what the file says.

Nothing is preprocessed.  Each part is computed when it is first asked for; a file that has no region,
or half of one, or a region that is not C, is refused there.
"""

from __future__ import annotations

import re
from functools import cached_property, lru_cache

from loopwright.c.casts import Ambiguous, Kinds, ShownTree, parse_possible, parse_settled, settled
from loopwright.c.declarations import Declarations, declarations_of
from loopwright.c.functions import FunctionDefinition, functions_of
from loopwright.c.macros import Macro, macros_of
from loopwright.c.regions import Directive, Region, directives_of, regions_of, without_directives
from loopwright.c.syntax import Node, conditionals_without_yes, field, refuse, walk
from loopwright.c.tokens import blank, without_comments
from loopwright.errors import Code
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Source, Span

_OPENING = "void f(){"
_WHOLE = "put the pragmas around whole statements"


@lru_cache(maxsize=16)
def c_file(source: Source) -> CFile:
    """The reading of a text; the same one for the same text."""
    return CFile(source)


@dataclass(frozen=True)
class CFile:
    source: Source

    @cached_property
    def directives(self) -> tuple[Directive, ...]:
        """The preprocessor lines."""
        return directives_of(self.source)

    @cached_property
    def plain(self) -> str:
        """The text with its preprocessor lines blanked, offsets unchanged."""
        return without_directives(self.source, self.directives)

    @cached_property
    def regions(self) -> tuple[Region, ...]:
        """What lies between `#pragma scop` and `#pragma endscop`, at least one."""
        return regions_of(self.source, self.directives)

    @cached_property
    def macros(self) -> tuple[Macro, ...]:
        return macros_of(self.directives, self.plain)

    @property
    def macro_names(self) -> frozenset[str]:
        return frozenset(macro.name for macro in self.macros)

    @property
    def defined_names(self) -> frozenset[str]:
        """Macros, variables, functions and types of the file."""
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
        """The declarations that can be seen from the regions."""
        return declarations_of(self.possible, [region.place for region in self.regions])

    @cached_property
    def tree(self) -> Node:
        """The tree of the whole file, preprocessor lines left out."""
        return self.settled(self.declarations)

    @cached_property
    def functions(self) -> tuple[FunctionDefinition, ...]:
        return functions_of(self.tree)

    def settled(self, declarations: Declarations) -> Node:
        """The tree of a file in which these declarations are seen."""
        return settled(self._parsed, Kinds(declarations, self.macros, None))

    def kinds(self, at: Span) -> Kinds:
        """What names are at a place; a macro counts if it is defined before."""
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


def includes(source: Source, header: str) -> bool:
    """Whether a line of the file, under no `#if`, is `header`: `#include <name.h>`."""
    depth = 0
    for line in c_file(source).directives:
        if depth == 0 and f"#{line.name} {line.argument.strip()}" == header:
            return True
        depth += (line.name in ("if", "ifdef", "ifndef")) - (line.name == "endif")
    return False


@lru_cache(maxsize=64)
def _block(file: CFile, inside: Span) -> Node:
    """The rest of the file is blanked, so that what its macros expand to cannot confuse the parser,
    and the pragmas inside too: one may stand between a `for` and its body.
    """
    text = file.source.text
    _refuse_unbalanced(inside)
    pieces = [blank(text[: inside.start - len(_OPENING) - 1]), _OPENING, "\n"]
    position = inside.start
    for pragma in file.region(inside).pragmas:
        pieces += [text[position : pragma.place.start], blank(pragma.place.text)]
        position = pragma.place.end
    pieces += [text[position : inside.end], "}", blank(text[inside.end + 1 :])]
    try:
        root = parse_settled(file.source, "".join(pieces), file.kinds(inside))
    except Ambiguous as failure:
        name = failure.name
        hint = f"leave out the parentheses if '{name}' is a value; declare it in the file if it is a type"
        raise refuse(failure.node, f"{failure} here", hint) from None
    refuse_syntax_errors(root)
    return field(root.named_children[0], "body")


def _refuse_unbalanced(inside: Span) -> None:
    """A region is a list of whole statements: its braces match each other."""
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


def refuse_syntax_errors(root: Node) -> None:
    """Raise for the first place the grammar of C does not accept, and for names that are not UTF-8."""
    if _ESCAPED.search(root.text):
        for node in walk(root):
            if node.type.endswith("identifier") and _ESCAPED.search(node.text):
                raise refuse(node, "this name has bytes that are not UTF-8", "save the file as UTF-8")
    for node in conditionals_without_yes(root):
        raise refuse(node, "this is not C: a conditional expression has three parts", "write 'a ? a : b'")
    if not root.has_error:
        return
    for node in walk(root):
        if node.is_missing:
            missing = f"this is not C: '{node.type}' is missing here"
            raise refuse(node, missing, f"put '{node.type}' here")
        if node.type == "ERROR":
            raise refuse(node, "this is not C", _syntax_hint(node))
    raise refuse(root, "this is not C", _PLAIN)


def _syntax_hint(node: Node) -> str:
    """The usual mistake is a forgotten `;`: the text stops making sense at the end of a line."""
    rest = node.source.text[node.end :].split("\n", 1)[0].strip()
    is_statement = node.span.text.rstrip()[-1:] not in ("", ";", "{", "}", ",")
    return "is there a ';' at the end of the line?" if not rest and is_statement else _PLAIN
