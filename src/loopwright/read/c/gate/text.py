"""The gate for sources whose loops are followed statement by statement, as written (`prove.descent`).

Such a source has no model to compare with its typed reading.  Its statements are those of a program
that passed the gate, so only the meaning of its names can be misread: iterators that wrap around, variables
of another type, functions of another kind, volatile storage.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from loopwright.c.tokens import ASSIGNING, is_name, lexemes
from loopwright.c.typed import tree
from loopwright.c.typed.file import TypedFile, TypedRegion, typed_file
from loopwright.c.typed.liveness import read_after
from loopwright.c.typed.options import CompilerOptions
from loopwright.c.typed.prepare import Located
from loopwright.c.types import INT, LONG, Integer, holds, unqualified
from loopwright.errors import BadInput
from loopwright.model.program import Program
from loopwright.read.c.gate.types import element_type, refuse_storage
from loopwright.source import Source, Span


def reads_as_written(
    old: Sequence[Program], source: Source, old_options: CompilerOptions, options: CompilerOptions
) -> bool:
    """Whether the compiler gives the names in the regions of `source` the same meanings as in `old`."""
    known = {region.place: region for region in typed_file(old[0].source, old_options).regions}
    after = typed_file(source, options)
    return len(after.located) == len(old) and all(
        _reads_as_written(known.get(program.region), after, k, {one.name for one in program.arrays})
        for k, program in enumerate(old)
    )


def _reads_as_written(old: object, new: TypedFile, number: int, stored: set[str]) -> bool:
    """`stored` are the variables of the original; nothing else that is modified may be live-out."""
    if not isinstance(old, TypedRegion):
        return False
    place, spot = new.located[number]
    names = _plain_names(new, spot, place.place) if isinstance(spot, Located) else None
    if names is not None and isinstance(spot, Located):
        changed = _changed(spot.texts) - stored
        if ")" not in changed and all(new.mentions_around(spot, name) == 1 for name in changed):
            return _mean_the_same(old, *names)
    region = new.regions[number]
    if not isinstance(region, TypedRegion) or not _means_the_same(old, region):
        return False
    targets = (
        node.target for one in region.statements for node in tree.walk(one) if isinstance(node, tree.Assign)
    )
    counters = {one.declaration.offset: one.declaration for one in targets if isinstance(one, tree.Name)}
    return not any(one.name not in stored and read_after(new, region, one) for one in counters.values())


def _changed(tokens: Sequence[str]) -> set[str]:
    """The names that plain tokens assign to, and `)` if one is in parentheses.

    The token after `i++` is not modified: a name or a parenthesis follows only in `++i` or `++(i)`.
    """
    pairs = {*pairwise(tokens)}
    after = {one for one, two in pairs if two in ASSIGNING and (is_name(one) or one == ")")}
    before = {two for one, two in pairs if one in ("++", "--")}
    return after | {")" if one == "(" else one for one in before if is_name(one) or one == "("}


def _means_the_same(old: TypedRegion, new: TypedRegion) -> bool:
    after = [*tree.walk_all(new.statements)]
    counted = {one.offset: one for one in map(_counted, after) if one is not None}
    return (
        not any(token.follows_place for token in new.tokens)
        and all(node.callee is not None for node in after if isinstance(node, tree.CallExpression))
        and not any(
            _wraps(tree.without_casts(node.index)) for node in after if isinstance(node, tree.Subscript)
        )
        and not any(
            isinstance(node, tree.SizeOf) or (isinstance(node, tree.Cast) and _cuts(node)) for node in after
        )
        and not _decides_unsigned(after)
        and _mean_the_same(old, after, counted)
    )


def counts_signed(source: Source, options: CompilerOptions) -> bool:
    """Whether unsigned numbers, including those of macros, do not affect what the regions run."""
    read = (one for one in typed_file(source, options).regions if isinstance(one, TypedRegion))
    return not any(_decides_unsigned([*tree.walk(statement)]) for one in read for statement in one.statements)


def _decides_unsigned(nodes: Sequence[tree.Node]) -> bool:
    return any(_is_unsigned(part) for node in nodes for head in _deciding(node) for part in tree.walk(head))


def _deciding(node: tree.Node) -> tuple[tree.Node, ...]:
    """The expressions that decide which statements run: heads of loops, conditions, values of variables."""
    match node:
        case tree.ForStatement(first=first, test=test, step=step):
            return tuple(one for one in (first, test, step) if one is not None)
        case tree.IfStatement(test=test):
            return (test,)
        case tree.Assign(target=tree.Name(type=kind), value=value) if isinstance(unqualified(kind), Integer):
            return (value,)
    return ()


def _is_unsigned(node: tree.Node) -> bool:
    """Whether an operation is on unsigned numbers, whose values may differ from those before conversion."""
    if not isinstance(node, tree.Binary | tree.Unary):
        return False
    operand = node.left if isinstance(node, tree.Binary) else node.operand
    kind = unqualified(operand.type)
    return isinstance(kind, Integer) and not kind.signed


def _cuts(node: tree.Cast) -> bool:
    """Whether an explicit cast converts an integer to a type that does not hold all its values."""
    given, kind = unqualified(node.operand.type), unqualified(node.type)
    are_integers = isinstance(given, Integer) and isinstance(kind, Integer)
    return not node.is_implicit and are_integers and not holds(kind, given)


def _wraps(index: tree.Node) -> bool:
    """Whether a subscript is computed in an unsigned type narrower than a pointer."""
    parts = [
        node
        for node in tree.walk(index)
        if isinstance(node, tree.Binary | tree.Unary | tree.Cast | tree.Conditional)
    ]
    return any(map(_is_narrow, parts))


def _is_narrow(node: tree.Binary | tree.Unary | tree.Cast | tree.Conditional | tree.Name) -> bool:
    kind = unqualified(node.type)
    return isinstance(kind, Integer) and not kind.signed and kind.bits < LONG.bits


def _mean_the_same(
    old: TypedRegion, after: Sequence[tree.Node], counted: Mapping[int, tree.Declaration]
) -> bool:
    """Whether the names in `after` allow loops over `counted` to be followed as written."""
    before = [*tree.walk_all(old.statements)]
    try:
        refuse_storage([*after])
    except BadInput:
        return False
    types = [unqualified(one.type) for one in map(_counted, before) if one is not None]
    least = max(32, min((kind.bits for kind in types if isinstance(kind, Integer)), default=32))
    names = [node for node in after if isinstance(node, tree.Name) and node.declaration.offset not in counted]
    read = [unqualified(node.type) for node in names]
    if not any(isinstance(kind, Integer) and kind.bits > INT.bits for kind in read):
        least = INT.bits  # no size is beyond an int
    return all(_is_wide(one, least) for one in counted.values()) and _same_names(before, after, set(counted))


_WORDS = ("for", "if", "else")
_PUNCTUATION = frozenset(
    (*"()[]{};,=+-*/%<>!?:", *("+=", "-=", "*=", "/=", "<=", ">=", "==", "!=", "&&", "||", "++", "--"))
)
_ENDS = ("{", "}", ";")
_OPENING = {")": "(", "]": "[", "}": "{"}
_CLOSED = frozenset(_OPENING.values())
_BRACKETS = _CLOSED | {*_OPENING}


def _plain_names(
    file: TypedFile, spot: Located, region: Span
) -> tuple[list[tree.Node], dict[int, tree.Declaration]] | None:
    """The names of a region without declarations, casts and members, and the iterators of its loops.

    In such a region, which the compiler accepts, a name has everywhere the meaning of its first occurrence:
    no tree is needed to resolve its names.  None if there are other kinds of tokens.
    """
    tokens = spot.texts
    text = file.text.text
    around = (
        lexemes(text, max(0, spot.start - 400), spot.start)[-1:],
        lexemes(text, spot.end, spot.end + 400)[:1],
    )
    if spot.follows_place or not file.accepts(spot) or not tokens or not _is_plain(tokens):
        return None
    if not around[0] or around[0][0].text not in _ENDS or (around[1] and around[1][0].text == "else"):
        return None
    places = dict(zip(reversed(tokens), reversed(range(len(tokens))), strict=True))
    first = {name: k for name, k in places.items() if is_name(name) and name not in _WORDS}
    declared = {name: _named(file, spot, name) for name in first}
    heads = [k + 2 for k, token in enumerate(tokens) if token == "for" and tokens[k + 2] != ";"]
    if any(not _is_single(tokens, k) or tokens[k] not in declared for k in heads):
        return None
    nodes: list[tree.Node] = []
    for name, one in declared.items():
        if one is None or one.name != name:
            return None
        nodes.append(tree.Name(tree.TokenRange(first[name], first[name] + 1, region), one.type, one))
    if any(isinstance(node, tree.Name) and _is_narrow(node) for node in nodes):
        return None
    counted = [one for k in heads if (one := declared[tokens[k]]) is not None]
    return nodes, {one.offset: one for one in counted}


def _named(file: TypedFile, spot: Located, name: str) -> tree.Declaration | None:
    """The declaration of a name at its first occurrence in a region without strings and members."""
    word = re.compile(rf"(?<![\w$.]){re.escape(name)}(?![\w$])")
    found = word.search(file.text.text, spot.start, spot.end)
    return None if found is None else file.named_at(found.start())


def _is_known(text: str) -> bool:
    """Whether it is a name, a number that is not unsigned, or punctuation of expressions and loops."""
    is_number = text[0].isdigit() and "u" not in text.lower()
    return is_name(text) or is_number or text in _PUNCTUATION


def _is_plain(texts: Sequence[str]) -> bool:
    """Whether these tokens are complete statements with only loops, conditions and expressions."""
    if not all(_is_known(text) for text in {*texts}):
        return False
    if any(two == "(" and (one in (")", "]") or one[0].isdigit()) for one, two in {*pairwise(texts)}):
        return False
    opened: list[str] = []
    for text in filter(_BRACKETS.__contains__, texts):
        if text in _CLOSED:
            opened.append(text)
        elif not opened or opened.pop() != _OPENING[text]:
            return False
    is_label = ":" in texts and any(
        two == ":" and is_name(one) and zero in (*_ENDS, ")")
        for zero, one, two in zip((";", *texts), texts, texts[1:], strict=False)
    )
    return not opened and not is_label and texts[-1] in _ENDS


def _is_single(tokens: Sequence[str], start: int) -> bool:
    """Whether a loop head begins with `name = value;`, a single assignment."""
    depth = 0
    if not is_name(tokens[start]) or tokens[start + 1] != "=":
        return False
    for k in range(start + 2, len(tokens)):
        text = tokens[k]
        depth += (text in ("(", "[")) - (text in (")", "]"))
        if text == ";" or (text in (",", "=") and not depth):
            return text == ";"
    return False


def _counted(node: tree.Node) -> tree.Declaration | None:
    """The variable that a loop initialises."""
    match node:
        case tree.ForStatement(first=tree.Assign(target=tree.Name(declaration=declared))):
            return declared
        case tree.ForStatement(first=tree.Declare(variables=(variable, *_))):
            return variable.declaration
    return None


def _is_wide(declared: tree.Declaration, bits: int) -> bool:
    """Whether an iterator wraps around no earlier than a signed one of this width."""
    kind = unqualified(declared.type)
    return isinstance(kind, Integer) and kind.signed and kind.bits >= bits


def _same_names(before: Sequence[tree.Node], after: Sequence[tree.Node], counted: set[int]) -> bool:
    """Whether the names in both are variables of the same type, or functions, and new ones are integers."""
    known = {node.declaration.name: node.declaration for node in before if isinstance(node, tree.Name)}
    for node in after:
        if not isinstance(node, tree.Name) or node.declaration.offset in counted:
            continue
        theirs, mine = node.declaration, known.get(node.declaration.name)
        if mine is None:
            is_integer = isinstance(unqualified(theirs.type), Integer)
            if not is_integer and theirs.storage is not tree.Storage.FUNCTION:
                return False
        elif element_type(mine.type) != element_type(theirs.type):
            return False
    return True
