"""Compares the code around two regions in their functions.

A proof about regions extends to functions only if these take the same parameters, do the same before and
after the region and under the same conditions, and give the same meaning to the names that the region uses.
Locals may differ if the other function does not have their names; their types must then be wide enough not to
wrap around before the original's do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from loopwright.c.file import c_file
from loopwright.c.syntax import Node, field, identifiers, named_children, operator, walk, walk_inside
from loopwright.c.tokens import names_in, on_one_line, without_comments
from loopwright.c.typed.options import CompilerOptions
from loopwright.lazy_dataclass import dataclass
from loopwright.prove.comparison.preprocessor import directive_lines, expanded_function, expansion_difference
from loopwright.source import Source, Span

_PRAGMA = re.compile(r"(?m)^[ \t]*#[ \t]*pragma\b(?!\s+(?:end)?scop\b)[^\n]*")
_DIRECTIVE = re.compile(r"(?m)^[ \t]*#(?:\\\r?\n|[^\n])*")
_WIDE = re.compile(
    r"(?:register |const )*(?:(?:signed )?(?:int|long|long int|long long|long long int)"
    r"|unsigned(?: int| long)?|size_t|ssize_t|ptrdiff_t|u?int(?:32|64)_t|float|double|long double)"
)
"""Types allowed for locals that only one of the files has."""
_RANKS = {
    "int": 0,
    "long": 1,
    "long int": 1,
    "ptrdiff_t": 1,
    "int64_t": 1,
    "long long": 1,
    "long long int": 1,
}
_TAGGED = ("struct_specifier", "union_specifier", "enum_specifier")


@dataclass(frozen=True)
class _Local:
    """A variable that a function declares outside its region: base type, declarator and initial value."""

    type: str
    shape: str
    value: Node | None

    @property
    def text(self) -> str:
        return f"{self.type} {self.shape}{'' if self.value is None else ' = ' + on_one_line(self.value.text)}"


@dataclass(frozen=True)
class _Piece:
    """A piece of a function outside its region; `declares` holds the locals that it exists for."""

    text: str
    declares: frozenset[str] = frozenset()


_REGION = _Piece("the region")


@dataclass(frozen=True)
class FunctionFrame:
    head: str
    parameters: str
    done: tuple[_Piece, ...]
    """Statements, declarations, blocks, heads of statements around the region, pragmas, in source order."""
    locals: dict[str, _Local]
    names: frozenset[str]
    """All names that the function mentions, including those in its region."""
    region: str
    node: Node
    hidden: frozenset[str] = frozenset()
    """Names that occur in the macros it uses."""


def difference_around(
    old: Span, new: Span, compiled: CompilerOptions, options: CompilerOptions, *, agree: bool = False
) -> str | None:
    """Returns how the functions around two regions differ, both as written and after preprocessing.

    `agree`: other regions in them are known to do the same, in the same order.
    """
    before, after = expanded_function(old, compiled), expanded_function(new, options)
    if before is None or after is None:
        return outside_difference(old, new, agree=agree)
    hidden = before.hidden, after.hidden
    return outside_difference(old, new, hidden=hidden, agree=agree) or expansion_difference(before, after)


def outside_difference(
    old: Span,
    new: Span,
    *,
    of_regions: bool = True,
    agree: bool = False,
    hidden: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset()),
) -> str | None:
    """Returns how the functions around two regions differ outside of them, or None if they agree.

    `of_regions`: the names that both regions use must also be declared in the same way.  `hidden`: names in
    macros.
    """
    before, after = frame_of(old, agree=agree), frame_of(new, agree=agree)
    if before is None or after is None:
        return None if before is after else "only one of the regions is in a function"
    before = replace(before, names=before.names | hidden[0], hidden=hidden[0])
    after = replace(after, names=after.names | hidden[1], hidden=hidden[1])
    if before.parameters != after.parameters:
        return f"their parameters are ({before.parameters}) and ({after.parameters})"
    if before.head != after.head:
        return f"one is declared '{_short(before.head)}' and the other '{_short(after.head)}'"
    here, there = meanings_of(old.source), meanings_of(new.source)
    common = _common_names(old, new, here, there) if of_regions else []
    pending = list(dict.fromkeys((*_words(before, after), *common)))
    seen = set(pending)
    for name in pending:
        if here.get(name) != there.get(name):
            return f"'{name}' is not declared in the same way"
        further = [word for text in here.get(name, ()) for word in names_in(text) if word not in seen]
        pending += dict.fromkeys(further)
        seen.update(further)
    return _locals_difference(before, after) or _order_difference(before, after)


def _common_names(old: Span, new: Span, here: dict[str, list[str]], there: dict[str, list[str]]) -> list[str]:
    """Functions and global variables that both regions name, possibly through a macro."""
    lines = directive_lines(without_comments(old.source.text, literals=True))
    macros = names_in(" ".join(line for line in lines if line.startswith("define")))
    words = [{*names_in(one.text), *macros} for one in (old, new)]
    return sorted(word for word in words[0] & words[1] if word in here and word in there)


def _words(before: FunctionFrame, after: FunctionFrame) -> dict[str, None]:
    """The file-scope names that the functions use outside of their regions."""
    texts = [one.text for one in before.done] + [one.text for one in before.locals.values()]
    own = before.locals.keys() | after.locals.keys()
    return dict.fromkeys(word for text in (before.head, *texts) for word in names_in(text) if word not in own)


def meanings_of(source: Source) -> dict[str, list[str]]:
    """What a file declares at its top level, by name: functions with their bodies, types, variables.

    Functions with regions are compared separately.
    """
    file = c_file(replace(source, chosen=()))
    regions = [one.place for one in c_file(source).regions]
    found: dict[str, list[str]] = {}
    pending = [*named_children(file.possible)]
    while pending:
        node = pending.pop(0)
        if node.type.startswith("preproc_") or node.type == "linkage_specification":
            pending = [*named_children(node), *pending]
        elif node.type == "declaration":
            for name, local in _declared(node):
                found.setdefault(name, []).append(local.text)
        elif node.type == "function_definition" and not any(node.span.contains(one) for one in regions):
            found.setdefault(identifiers(field(node, "declarator"))[0], []).append(on_one_line(node.text))
        if node.type in ("declaration", "type_definition", *_TAGGED):
            kind = field(node, "type") if node.type not in _TAGGED else node
            made = [part for part in walk(kind) if part.type in (*_TAGGED, "enumerator")]
            named = [part.child_by_field_name("name") for part in made]
            named += node.children_by_field_name("declarator") if node.type == "type_definition" else []
            for words in (names_in(one.text) for one in named if one is not None):
                found.setdefault(next(iter(words)), []).append(on_one_line(kind.text))
    return found


def _order_difference(before: FunctionFrame, after: FunctionFrame) -> str | None:
    """Returns where the functions do something else or in another order; locals of one alone do not count."""
    common = before.locals.keys() & after.locals.keys()
    done = [
        [one.text for one in frame.done if not one.declares or one.declares & common]
        for frame in (before, after)
    ]
    for one, other in zip((*done[0], "nothing more"), (*done[1], "nothing more"), strict=False):
        if one != other:
            return f"one has '{_short(one)}' where the other has '{_short(other)}'"
    return None


def _locals_difference(before: FunctionFrame, after: FunctionFrame) -> str | None:
    for name in sorted(before.locals.keys() & after.locals.keys()):
        one, other = before.locals[name], after.locals[name]
        widened = _RANKS.get(other.type, -1) >= _RANKS.get(one.type, 9) and one.shape == other.shape == name
        changed = (widened and one.value is other.value is None) or _is_longer(one, other)
        rank = one.shape.count("[")
        seen = changed and any(_uses(frame, name, rank) for frame in (before, after))
        if one.text != other.text and (seen or not changed):
            return f"'{name}' is '{_short(one.text)}' in one and '{_short(other.text)}' in the other"
    for name in sorted(before.locals.keys() ^ after.locals.keys()):
        here, there = (before, after) if name in before.locals else (after, before)
        local = here.locals[name]
        if name in there.names and not _is_of_the_region(there, name):
            return f"'{name}' is a local variable in one of them only"
        if here is after and re.search(r"\[[^]]*[a-z]", local.shape):
            return f"'{local.shape}' has a length that may be below 1"
        if here is after and _WIDE.fullmatch(local.type) is None and local.shape == name:
            return f"'{name}' is of type '{local.type}', which may be too narrow"
        if local.value is not None and not _is_harmless(local, here):
            return f"only one of them has '{_short(local.text)}'"
    return None


def _is_of_the_region(frame: FunctionFrame, name: str) -> bool:
    """Whether the function uses a name only inside its region, which declares it."""
    words = names_in(_DIRECTIVE.sub("", frame.node.text)).count(name)
    declarations = frame.node.of_type("declaration")
    declared = [one for one in declarations if any(own == name for own, _ in _declared(one))]
    if any(part.type == "storage_class_specifier" for one in declared for part in one.children):
        return False
    scopes = [_scope(one) for one in declared]
    inside = [use for use in frame.node.named(name) if any(scope.contains(use.span) for scope in scopes)]
    return name not in frame.hidden and len(inside) == words == names_in(frame.region).count(name)


def _scope(declaration: Node) -> Span:
    """The scope of a declaration, from the declaration to the end of its block or loop."""
    around = declaration.parent
    end = declaration.end if around is None else around.end
    return Span(declaration.source, declaration.start, end)


def _is_harmless(local: _Local, frame: FunctionFrame) -> bool:
    """Whether an initial value consists of names and literals, and its computation is defined.

    Sums and products may overflow where bounds may; that is a listed assumption.  A variable has a value if
    it is declared with one or not declared in this function; a pointer may be initialised with any element.
    """
    parts = [part for part in walk(local.value) if part.is_named] if local.value is not None else []
    is_pointer = local.shape.startswith("*")
    for part in parts:
        own = frame.locals.get(part.text) if part.type == "identifier" else None
        if part.type not in _HARMLESS and not (is_pointer and part.type in _OF_POINTERS):
            return False
        if own is not None and own.value is None and "[" not in own.shape and not _is_set(frame, part.text):
            return False
        wanted = _SECOND.get(operator(part)) if part.type == "binary_expression" else None
        if wanted is not None and re.fullmatch(wanted, field(part, "right").text) is None:
            return False
    return True


def _is_set(frame: FunctionFrame, name: str) -> bool:
    return any(re.search(rf"\b{name} ?=[^=]", one.text) for one in frame.done)


_HARMLESS = (
    *("identifier", "number_literal", "char_literal", "parenthesized_expression", "unary_expression"),
    *("binary_expression", "conditional_expression", "sizeof_expression", "comment", "initializer_list"),
)
_SECOND = {"/": "[1-9][0-9]{0,8}", "%": "[1-9][0-9]{0,8}", "<<": "[12]?[0-9]", ">>": "[12]?[0-9]"}
"""Second operands with which a division or a shift is defined."""
_OF_POINTERS = ("subscript_expression", "pointer_expression", "cast_expression", "type_descriptor")


_LENGTHS = re.compile(r"\w+((?: ?\[ ?[0-9]{1,9} ?\])+)")


def _is_longer(old: _Local, new: _Local) -> bool:
    """Whether both are arrays of the same element type, and no dimension of the new one is shorter.

    An element of the old array is then an element of the new one; only `sizeof`, and a pointer created
    outside of the regions, can observe the further elements.
    """
    shapes = [_LENGTHS.fullmatch(one.shape) for one in (old, new)]
    lengths = [[int(size) for size in re.findall("[0-9]+", one[1])] for one in shapes if one is not None]
    is_alike = old.type == new.type and old.value is new.value is None
    is_alike = is_alike and len(lengths) == 2 and len(lengths[0]) == len(lengths[1])
    return is_alike and all(mine <= theirs for mine, theirs in zip(*lengths, strict=True))


def _uses(frame: FunctionFrame, name: str, rank: int) -> bool:
    """Whether a function uses an array other than with all its subscripts inside the region."""
    texts = [one.text for one in frame.done if name not in one.declares]
    texts += [one.text for other, one in frame.locals.items() if other != name]
    elements = re.findall(rf"\b{name}(?=" + r"\s*\[[^]]*\]" * rank + ")", frame.region)
    is_whole = len(elements) < names_in(frame.region).count(name)
    return is_whole or "sizeof" in frame.names or any(name in names_in(text) for text in texts)


def frame_of(region: Span, *, agree: bool = False) -> FunctionFrame | None:
    """Returns the function around a region, without the region."""
    file = c_file(replace(region.source, chosen=()))
    for node in walk_inside(file.possible, region):
        body = node.child_by_field_name("body") if node.type == "function_definition" else None
        if body is None or not body.start <= region.start <= region.end <= body.end:
            continue
        found: dict[str, _Local] = {}
        regions = [one.place for one in c_file(region.source).regions] if agree else [region]
        done = list(_pieces(body, region, found, regions))
        done += _pragmas(node.text[: region.start - node.start])
        done += [_REGION, *_pragmas(node.text[region.end - node.start :])]
        names = names_in(_DIRECTIVE.sub("", node.text))
        head = on_one_line(node.text[: body.start - node.start])
        inside = without_comments(region.text, literals=True)
        return FunctionFrame(head, _parameters(node), tuple(done), found, frozenset(names), inside, node)
    return None


def _pragmas(text: str) -> list[_Piece]:
    found = _PRAGMA.finditer(without_comments(text, literals=True))
    return [_Piece(on_one_line(one.group())) for one in found]


def _parameters(function: Node) -> str:
    lists = [part for part in walk(field(function, "declarator")) if part.type == "parameter_list"]
    return ", ".join(on_one_line(part.text) for part in named_children(lists[0])) if lists else ""


def _pieces(node: Node, region: Span, found: dict[str, _Local], regions: Sequence[Span]) -> Iterator[_Piece]:
    """Yields what a statement around the region does outside of `regions`; adds its locals to `found`."""
    parts = named_children(node)
    meeting = [part.span for part in parts if part.start < region.end and region.start < part.end]
    # the region may end with white space after the part that contains it
    passed = set() if all(region.contains(part) for part in meeting) else {region}
    for part in parts:
        for one in regions:
            if one not in passed and (one.contains(part.span) or (one == region and part.end > one.start)):
                passed.add(one)
                yield _REGION
        if part.type == "comment" or any(one.contains(part.span) for one in passed):
            continue
        if part.type.startswith("preproc"):
            if _PRAGMA.match(part.text):
                yield _Piece(on_one_line(part.text))
        elif part.start < region.end and region.start < part.end:
            yield from _around(part, region, found, regions)
        elif part.type == "declaration" and "static" not in names_in(part.text):
            yield from _declarations(part, found)
        elif node.type == "compound_statement":
            yield _Piece(on_one_line(part.text))
    if region not in passed:
        yield _REGION


def _around(part: Node, region: Span, found: dict[str, _Local], regions: Sequence[Span]) -> Iterator[_Piece]:
    """Splits a statement around the region into what it does before and after the part with the region."""
    if part.type == "compound_statement":
        inside: dict[str, _Local] = {}
        pieces = list(_pieces(part, region, inside, regions))
        declares = frozenset(inside)
        yield from (_Piece("{", declares), *pieces, _Piece("}", declares)) if declares else pieces
        found.update(inside)
        return
    inner = [one for one in part.named_children if one.start < region.end and region.start < one.end]
    first = min((one.start for one in inner), default=part.end) - part.start
    last = max((one.end for one in inner), default=part.end) - part.start
    yield _Piece(f"{on_one_line(part.text[:first])} ...")
    yield from _pieces(part, region, found, regions)
    yield _Piece(f"... {on_one_line(part.text[last:])}")


def _declarations(part: Node, found: dict[str, _Local]) -> Iterator[_Piece]:
    """Yields where locals are declared and their values; types are compared here only for reused names."""
    declared = list(_declared(part))
    plain = sorted((one for one in declared if one[1].value is None), key=lambda one: one[0])
    for name, local in (*plain, *(one for one in declared if one[1].value is not None)):
        whole = local.text if local.value is not None or name in found else name
        yield _Piece(f"{whole};", frozenset([name]))
        found[name] = local


def _declared(node: Node) -> Iterator[tuple[str, _Local]]:
    declarators = node.children_by_field_name("declarator")
    kind = on_one_line(node.text[: declarators[0].start - node.start] if declarators else node.text)
    for one in declarators:
        shape, value = one.declared, one.child_by_field_name("value")
        named = identifiers(shape)
        yield named[0] if named else on_one_line(shape.text), _Local(kind, on_one_line(shape.text), value)


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."
