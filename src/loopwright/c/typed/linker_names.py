"""Names that may be aliases for the linker, by assembler labels, pragmas, and attributes.

double g(double) __asm__("h");          #pragma redefine_extname g h
extern double z[9] __attribute__((alias("a")));          __asm__(".set g, h");
"""

from __future__ import annotations

from collections.abc import Iterable

from loopwright.c.tokens import names_in
from loopwright.c.typed import tree
from loopwright.c.typed.file import TypedFile, TypedFunction

_OTHERS = {"ifunc", "alias", "weakref"}


def is_renamed(callee: tree.Declaration, file: TypedFile) -> bool:
    """Whether this name may denote another function; system headers give labels to their functions too."""
    labels = {name for one in callee.attributes if one.startswith("asm(") for name in names_in(one)}
    is_labelled = bool(labels) and not file.text.is_of_system(callee.offset)
    is_seen = any(file.functions_named(name) for name in labels)
    is_another = bool(_OTHERS & _words(callee.attributes))
    return is_labelled or is_seen or is_another or callee.name in file.text.renamed


def may_be_replaced(callee: tree.Declaration, function: TypedFunction, file: TypedFile) -> bool:
    """Whether the linker may choose another definition than the one in the file."""
    words = _words((*callee.attributes, *function.declaration.attributes))
    return bool(words & {"weak", *_OTHERS}) or callee.name in file.text.weak


def is_another(function: TypedFunction, file: TypedFile) -> bool:
    """Whether a call by the name of this function may run another one."""
    declared = function.declaration
    return is_renamed(declared, file) or may_be_replaced(declared, function, file)


def _words(attributes: Iterable[str]) -> set[str]:
    return {word.split("(")[0].strip("_ ") for word in attributes}
