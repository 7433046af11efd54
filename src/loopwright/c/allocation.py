"""Storage that a region allocates itself: the C code for it, written and recognised.

    {
      void *x_memory = n > 0 && m > 0 && <n m elements have a size> ? malloc(<their size> + 63) : NULL;
      if (x_memory != NULL) {
        double (*restrict x)[m] = (void *)((char *)x_memory + (64 - (size_t)x_memory % 64) % 64);
        ... the loops that use x
      } else {
        ... loops that do not need it
      }
      free(x_memory);
    }

The array starts at a multiple of 64 bytes.  If a size is not positive, if the number of bytes does not fit
into `size_t`, or if there is no memory, the other loops run; `free` has no effect then.  Source is
recognised as this form only if every token of the frame is what this module writes for the names, types and
sizes in it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from loopwright.c.declarations import declared_name, type_text
from loopwright.c.file import c_file, includes
from loopwright.c.macros import Macro, looks_like_macro
from loopwright.c.regions import Region
from loopwright.c.syntax import Node, field, named_children
from loopwright.c.tokens import bracketed, names_in, operand, spelled
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Edit, Source, Span

HEADER = "#include <stdlib.h>"
ALIGNMENT = 64
MOST_MACROS = 8
"""The maximum depth of macros in a size."""
NEEDED = ("malloc", "free", "NULL", "size_t", "void", "char", "sizeof", "restrict", "if", "else")
"""Names used by the form, which no file may declare or define otherwise."""


@dataclass(frozen=True, slots=True)
class AllocatedArray:
    """`type name[extent]...`, allocated under the name `memory`."""

    name: str
    memory: str
    element_type: str
    extents: tuple[str, ...]

    @property
    def declaration(self) -> str:
        """The same array as a variable of a block."""
        return f"{self.element_type} {self.name}{bracketed(self.extents)};"

    @property
    def allocation(self) -> tuple[str, str]:
        sizes = [operand(extent) for extent in self.extents]
        size = f"sizeof({self.element_type})"
        limit = f"((size_t)-1 - {ALIGNMENT - 1}) / {size}"
        limit += "".join(f" / (size_t){one}" for one in sizes[1:])
        positive = "".join(f"{one} > 0 && " for one in dict.fromkeys(sizes) if not one.isdigit())
        length = " * ".join([*(f"(size_t){one}" for one in sizes), size])
        return (
            f"void *{self.memory} = {positive}(size_t){sizes[0]} <= {limit}",
            f"  ? malloc({length} + {ALIGNMENT - 1}) : NULL;",
        )

    @property
    def pointer(self) -> str:
        rows = bracketed(self.extents[1:])
        name = f"(*restrict {self.name}){rows}" if rows else f"*restrict {self.name}"
        skipped = f"({ALIGNMENT} - (size_t){self.memory} % {ALIGNMENT}) % {ALIGNMENT}"
        return f"{self.element_type} {name} = (void *)((char *){self.memory} + {skipped});"

    @property
    def release(self) -> str:
        return f"free({self.memory});"


def allocating(
    arrays: Sequence[AllocatedArray], inner: Sequence[str], other: Sequence[str], step: str
) -> list[str]:
    """The lines of `inner` with the arrays allocated, and those of `other` if that is not possible."""
    there = " && ".join(f"{one.memory} != NULL" for one in arrays)
    body = [
        *(line for one in arrays for line in one.allocation),
        f"if ({there}) {{",
        *(step + one.pointer for one in arrays),
        *(step + line if line else line for line in inner),
        "} else {",
        *(step + line if line else line for line in other),
        "}",
        *(one.release for one in arrays),
    ]
    return ["{", *(step + line if line else line for line in body), "}"]


@dataclass(frozen=True, slots=True)
class Allocation:
    """A region of this form: its arrays, and the branches with and without them."""

    arrays: tuple[AllocatedArray, ...]
    inner: Span
    other: Span


def allocation_of(source: Source, region: Region) -> Allocation | None:
    """The region in the form above, or None if it does not have that form."""
    if not includes(source, HEADER, region.place) or redefined(source):
        return None
    parts = named_children(c_file(source).block(region.place))
    if len(parts) != 1 or parts[0].type != "compound_statement":
        return None
    statements = named_children(parts[0])
    count = next((k for k, one in enumerate(statements) if one.type != "declaration"), 0)
    if count == 0 or statements[count].type != "if_statement" or len(statements) != 2 * count + 1:
        return None
    chosen = statements[count]
    alternative = chosen.child_by_field_name("alternative")
    then = field(chosen, "consequence")
    if alternative is None or then.type != "compound_statement":
        return None
    other = named_children(alternative)[-1]
    pointers = named_children(then)[:count]
    if other.type != "compound_statement" or len(pointers) != count:
        return None
    arrays = tuple(_array(one, pointer) for one, pointer in zip(statements[:count], pointers, strict=True))
    if any(one is None for one in arrays):
        return None
    found = tuple(one for one in arrays if one is not None)
    inner = Span(source, pointers[-1].end, then.end - 1)
    outer = Span(source, other.start + 1, other.end - 1)
    ends = ((parts[0].start, inner.start), (inner.end, outer.start), (outer.end, parts[0].end))
    frame = "".join(source.text[start:end] for start, end in ends)
    expected = " ".join(allocating(found, (), (), ""))
    hidden = {one.memory for one in found}
    used = {*names_in(inner.text), *names_in(outer.text)}
    same = spelled(frame) == spelled(expected)
    macros = c_file(source).macros
    sizes = all(_is_size(extent, macros) for one in found for extent in one.extents)
    types = all(_is_type(one.element_type, macros) for one in found)
    is_frame = same and sizes and types and not hidden & used
    return Allocation(found, inner, outer) if is_frame else None


def redefined(source: Source) -> list[str]:
    """Names needed by the form that the file defines differently from the header."""
    own = c_file(source).defined_names
    return [name for name in NEEDED if name in own]


def _is_size(extent: str, macros: Sequence[Macro], depth: int = 0) -> bool:
    """Whether a size is a sum of names, numbers and macros of these, without side effects.

    Parts of it may be divided by a number, as in the size of a loop over tiles.
    """
    extent = re.sub(r"/\s*[1-9]\d*(?![\w.])", "", extent)
    calls = re.findall(r"(\w+)\s*\(", extent)
    plain = re.fullmatch(r"[\w\s+*,().-]*(->[\w\s+*,().-]*)*", extent) is not None
    plain = plain and "++" not in extent and "--" not in extent and all(map(looks_like_macro, calls))
    bodies = [macro.body for macro in macros if macro.name in names_in(extent)]
    return plain and depth < MOST_MACROS and all(_is_size(body, macros, depth + 1) for body in bodies)


def _is_type(text: str, macros: Sequence[Macro]) -> bool:
    """Whether a type consists of words only, also in macros of the file."""
    bodies = [macro.body for macro in macros if macro.name in names_in(text)]
    return all(re.fullmatch(r"[\w\s]*", one) is not None for one in (text, *bodies))


def _array(allocated: Node, pointer: Node) -> AllocatedArray | None:
    """The names, type and sizes in two declarations; writing them again shows that nothing is left out."""
    if pointer.type != "declaration":
        return None
    declarators = [node.child_by_field_name("declarator") for node in (pointer, allocated)]
    found = [None if one is None else declared_name(one) for one in declarators]
    outer = re.search(r"\(size_t\)((?:(?!\(size_t\)).)*?)<=", allocated.text, re.DOTALL)
    if found[0] is None or found[1] is None or outer is None:
        return None
    extents = (" ".join(_inside(outer[1]).split()), *found[0][2])
    return AllocatedArray(found[0][0], found[1][0], type_text(pointer, qualifiers=True), extents)


def _inside(text: str) -> str:
    text = text.strip()
    return text[1:-1] if text.startswith("(") and text.endswith(")") else text


def with_local_arrays(source: Source, *, allocated: bool) -> tuple[Source, dict[int, Allocation]]:
    """The source with one branch of each such region, with the arrays as variables or without them; line
    numbers do not change.

    Also returns the regions of this form by their numbers.
    """
    found: dict[int, Allocation] = {}
    edits: list[Edit] = []
    for number, region in enumerate(c_file(source).regions):
        allocation = allocation_of(source, region)
        if allocation is None:
            continue
        found[number] = allocation
        declared = " ".join(one.declaration for one in allocation.arrays)
        part, front = (allocation.inner, f"{{ {declared}") if allocated else (allocation.other, "{")
        before = source.text[region.place.start : part.start].count("\n")
        after = source.text[part.end : region.place.end].count("\n")
        text = "".join(["\n" * before, front, part.text, "}", "\n" * after])
        edits.append((region.place.start, region.place.end, text))
    return (source.edited(edits) if found else source), found
