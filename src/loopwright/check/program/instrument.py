"""Inserts checks into the source of the program; nothing else changes, not even line numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from loopwright.c.references import is_subtracted
from loopwright.c.syntax import Node, field, is_atomic
from loopwright.check.original.structure import Decoded, Observed, assignment_of
from loopwright.check.program.segment import Segment
from loopwright.check.program.sites import Site, Sites
from loopwright.check.runtime import PROGRAM_HEADER
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Source, with_edits


@dataclass(frozen=True)
class Insertion:
    """`text` before the character at `offset`; of several at one place, `rank` orders them.

    The next `dropped` characters of the program are removed.
    """

    offset: int
    rank: int
    text: str
    dropped: int = 0


CallOf = Callable[[Site, Sequence[str]], str]
"""The call that checks a site, from the texts of its observations."""


def instrumented(sites: Sites, call: CallOf, begin: str, end: str) -> str:
    """Return the program with `call` before every site and the two statements around its segment."""
    return with_insertions(sites.known.segment, around_sites(sites, sites.sites, call), begin, end)


def around_sites(
    sites: Sites, some: Iterable[Site], call: CallOf, *, only_checks: bool = False
) -> list[Insertion]:
    """Insert checks before sites; for `a = c = b`, first those of `c = b`, then those of a, before the whole.

    With `only_checks`, statements that are sites are replaced by their calls [Bao2016, section 6.4].
    """
    at = {site.assignment.node: site for site in sites.sites}
    inside = {node for site in sites.sites if (node := _inner(site)) is not None}
    return [
        insertion
        for site in some
        if site.assignment.node not in inside
        for insertion in _around(_chain(site, at), call, only_checks=only_checks)
    ]


def _inner(site: Site) -> Node | None:
    """`c = b` of a site `a = c = b`."""
    written = assignment_of(site.assignment.node)
    return None if written is None or written.inner is None else written.inner.node


def _chain(site: Site, at: dict[Node, Site]) -> list[Site]:
    """The sites of `a = c = b`, that of a first."""
    chain = [site]
    while (node := _inner(chain[-1])) is not None and node in at:
        chain.append(at[node])
    return chain


def with_insertions(segment: Segment, marks: Iterable[Insertion], begin: str, end: str) -> str:
    """The program with its checks, after the header they need."""
    opening = f'#include "{PROGRAM_HEADER}"\n#line 1 "{_file(segment.source)}"\n'
    return opening + inserted(segment, marks, begin, end)


def inserted(segment: Segment, marks: Iterable[Insertion], begin: str, end: str) -> str:
    """The program with insertions, and two statements around its segment."""
    place = segment.place
    both = (
        Insertion(place.start, -1, _statement(segment.source, place.start, begin)),
        Insertion(place.end, 1 << 30, _statement(segment.source, place.end, end)),
    )
    ordered = sorted((*marks, *both), key=lambda one: (one.offset, one.rank))
    edits = ((one.offset, one.offset + one.dropped, one.text) for one in ordered)
    return with_edits(segment.source.text, edits)


def _statement(source: Source, offset: int, statement: str) -> str:
    """`statement` for insertion at `offset`: on a line of its own if a preprocessor line follows."""
    if source.text[offset:].lstrip(" \t")[:1] != "#":
        return f"{statement} "
    return f"{statement}\n#line {source.line_of(offset)}\n"


def _file(source: Source) -> str:
    return source.path.replace("\\", "\\\\").replace('"', '\\"')


def _around(chain: list[Site], call: CallOf, *, only_checks: bool) -> list[Insertion]:
    calls = [call(one, [observed_text(part) for part in one.observed]) for one in reversed(chain)]
    text, site = ", ".join(calls), chain[0]
    node = site.assignment.node
    parent = node.parent
    if node.type == "init_declarator":
        node = field(node, "value")
    elif parent is not None and parent.type == "expression_statement":
        if only_checks:
            return [Insertion(node.start, site.number, text, node.end - node.start)]
        return [Insertion(node.start, site.number, f"{text}, ")]
    # insertions that end here come before those that start here, and inner sites close first
    return [Insertion(node.start, site.number, f"({text}, "), Insertion(node.end, -2 - site.number, ")")]


def observed_text(subscript: Observed) -> str:
    """The sum of the terms of a subscript, or the subscript computed from the address of an element."""
    if isinstance(subscript, Decoded):
        block, address = f"&lw_block_{subscript.array}", f"&({subscript.node.text})"
        return f"lw_subscript({block}, {subscript.dimension}, {address})"
    texts = [
        ("-" if is_subtracted(term) else "") + (term.text if is_atomic(term) else f"({term.text})")
        for term in subscript
    ]
    if len(texts) == 1 and not is_subtracted(subscript[0]):
        return subscript[0].text
    return " + ".join(texts) if texts else "0"


def size_texts(names: Sequence[tuple[str, str]]) -> str:
    """The values of the sizes where the segment starts, as a C array; `names` are texts or numbers."""
    values = [f"(long)({text})" for _, text in names]
    return f"(const long[]){{{', '.join(values) or '0'}}}"


def precise_call(site: Site, observed: Sequence[str]) -> str:
    """The call of Algorithm A, with the site and all observations."""
    return f"lw_operation({site.number}, (const long[]){{{', '.join(observed) or '0'}}})"
