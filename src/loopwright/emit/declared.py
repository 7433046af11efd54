"""What the file of a region declares."""

from __future__ import annotations

from loopwright.model.source import Source
from loopwright.read.c.declarations import Declarations, declarations_of
from loopwright.read.c.regions import find_regions, without_directives
from loopwright.read.c.syntax import parse


def declared_in(source: Source) -> Declarations:
    """The declarations that can be seen from the regions of a file."""
    root = parse(without_directives(source.text))
    return declarations_of(source, root, [region.place for region in find_regions(source)])
