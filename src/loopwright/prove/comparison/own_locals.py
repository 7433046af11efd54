"""Whether a local variable that only one of two functions declares has no effect.

Its type, its lengths and its first value are judged with all macros expanded.  An attribute may call a
function when the variable's lifetime ends, a length and the operand of `typeof` are evaluated, and the tags
and enumerators of a type hide others of the same name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from loopwright.c.syntax import Node, field, identifiers, named_children, operator, parse, walk
from loopwright.c.tokens import KEYWORDS, names_in, spelled
from loopwright.c.typed.expansion import expanded_words
from loopwright.lazy_dataclass import dataclass
from loopwright.prove.comparison.function_frame import FrameLocal, FunctionFrame, declared_in, short
from loopwright.prove.comparison.meanings import meanings_of, with_what_they_mention
from loopwright.source import Source

_WIDE = re.compile(
    r"(?:register |const )*(?:(?:signed )?(?:int|long|long int|long long|long long int)"
    r"|unsigned(?: int| long)?|size_t|ssize_t|ptrdiff_t|u?int(?:32|64)_t|float|double|long double)"
)
"""Types allowed for locals that only NEW has."""
_PASSIVE = re.compile(
    r"__attribute__ ?\( ?\( ?_*(?:aligned|unused|vector_size|may_alias|packed)_*(?: ?\([\w *]*\))? ?\) ?\)"
    r"|_Alignas ?\([\w ]*\)"
)
"""Attributes that do nothing."""
_OBSERVED = re.compile(r"\b(?:volatile|__volatile__|__volatile|_Atomic)\b")
_ACTIVE = re.compile(rf"{_OBSERVED.pattern}|\b_*(?:attribute|asm|typeof|typeof_unqual)_*\b")


def effect_of(local: FrameLocal, frame: FunctionFrame, other: FunctionFrame, *, is_new: bool) -> str | None:
    """Returns what the declaration of a local may do that is seen without its name, or None."""
    name = local.name
    if is_new and re.search(r"\[[^]]*[a-z]", local.shape):
        return f"'{local.shape}' has a length that may be below 1"
    if is_new and _WIDE.fullmatch(local.type) is None and local.shape == name:
        return f"'{name}' is of type '{local.type}', which may be too narrow"
    found = _Declared.of(local, frame)
    if found is None or not _is_passive(found, other):
        return f"the declaration of '{name}' may do something: '{short(local.text)}'"
    values = _Expressions(frame, is_pointer=local.shape.startswith("*"), is_new=is_new)
    lengths = [field(part, "size") for part in walk(found.declarator) if _has_length(part)]
    if not all(map(values.are_harmless, lengths)) or (is_new and any(map(values.vary, lengths))):
        return f"'{local.shape}' has a length that may be below 1"
    if found.value is not None and not values.are_harmless(found.value):
        return f"only one of them has '{short(local.text)}'"
    return None


@dataclass(frozen=True)
class _Declared:
    """A declaration with its macros expanded."""

    kind: str
    declarator: Node
    value: Node | None

    @classmethod
    def of(cls, local: FrameLocal, frame: FunctionFrame) -> _Declared | None:
        words = expanded_words(spelled(local.text), frame.macro)
        tree = None if words is None else parse(Source("", f"{' '.join(words)};"))
        parts = [] if tree is None else tree.named_children
        if len(parts) != 1 or parts[0].type != "declaration" or parts[0].has_error:
            return None
        (kind, name) = next(((one.type, name) for name, one in declared_in(parts[0])), ("", ""))
        declarators = parts[0].children_by_field_name("declarator")
        if len(declarators) != 1 or name != local.name:
            return None
        return cls(kind, declarators[0].declared, declarators[0].child_by_field_name("value"))


def _is_passive(found: _Declared, other: FunctionFrame) -> bool:
    """Whether a type and a declarator have no effect, and define nothing that the other function names."""
    kind, shape = (_PASSIVE.sub(" ", text) for text in (found.kind, found.declarator.text))
    if _ACTIVE.search(f"{kind} {shape}") is not None:
        return False
    if "{" in kind:
        return "(" not in kind and other.names.isdisjoint(set(names_in(kind)) - KEYWORDS)
    return re.fullmatch(r"[\w\s]+", kind) is not None


def _has_length(part: Node) -> bool:
    return part.type == "array_declarator" and part.child_by_field_name("size") is not None


@dataclass(frozen=True)
class _Expressions:
    """Expressions in the declaration of a local."""

    frame: FunctionFrame
    is_pointer: bool
    is_new: bool

    def are_harmless(self, value: Node) -> bool:
        """Whether an expression consists of names and literals, and its computation is defined.

        Sums and products may overflow where bounds may; that is a listed assumption.  A variable has a value
        if it is declared with one or not declared in this function; a pointer may be initialised with any
        element.
        """
        return all(self._is_harmless(part) for part in walk(value) if part.is_named)

    def vary(self, value: Node) -> bool:
        """Whether an expression may depend on a variable."""
        variables = (self.frame.variable(name) for name in identifiers(value))
        return any(one is None or one.value is None for one in variables)

    def _is_harmless(self, part: Node) -> bool:
        if part.type not in _HARMLESS and not (self.is_pointer and part.type in _OF_POINTERS):
            return False
        if part.type == "identifier":
            return self._has_value(part.text)
        if part.type in ("subscript_expression", "pointer_expression"):
            return not self.is_new or not self._loads(part)
        wanted = _SECOND.get(operator(part)) if part.type == "binary_expression" else None
        return wanted is None or re.fullmatch(wanted, field(part, "right").text) is not None

    def _has_value(self, name: str) -> bool:
        """Whether a name can be read, and its reading is not seen."""
        own, variable = self.frame.locals.get(name), self.frame.variable(name)
        if own is not None and own.value is None and "[" not in own.shape and not self._is_set(name):
            return False
        if variable is None:
            return name in self.frame.declarations.functions
        kinds = with_what_they_mention(names_in(variable.type), meanings_of(self.frame.place.source))
        said = (variable.type, *(text for texts in kinds.values() for text in texts))
        return not any(_OBSERVED.search(text) for text in said)

    def _is_set(self, name: str) -> bool:
        return any(re.search(rf"\b{name} ?=[^=]", one.text) for one in self.frame.done)

    def _loads(self, part: Node) -> bool:
        """Whether an element is read, which need not exist: not by `&a[i]`, nor by `a[i]`, a row."""
        around = part.parent
        if around is not None and around.type in ("subscript_expression", "pointer_expression"):
            return False
        steps = list(_steps(part))
        base = steps[-1]
        variable = self.frame.variable(base.text) if base.type == "identifier" else None
        taken = sum(map(_step, steps[:-1]))
        if variable is None:
            return taken > 0
        return taken > 0 if variable.has_row_pointers else taken >= variable.rank


def _steps(part: Node) -> Iterator[Node]:
    """A subscript or dereference, and what it is applied to, down to the variable."""
    yield part
    if part.type in ("subscript_expression", "pointer_expression", "parenthesized_expression"):
        inner = part.child_by_field_name("argument")
        yield from _steps(named_children(part)[0] if inner is None else inner)


def _step(part: Node) -> int:
    """How many elements deeper a subscript or a dereference leads; an address leads back."""
    is_address = part.type == "pointer_expression" and operator(part) == "&"
    return -1 if is_address else int(part.type != "parenthesized_expression")


_HARMLESS = (
    *("identifier", "number_literal", "char_literal", "parenthesized_expression", "unary_expression"),
    *("binary_expression", "conditional_expression", "sizeof_expression", "comment", "initializer_list"),
)
_SECOND = {"/": "[1-9][0-9]{0,8}", "%": "[1-9][0-9]{0,8}", "<<": "[12]?[0-9]", ">>": "[12]?[0-9]"}
"""Second operands with which a division or a shift is defined."""
_OF_POINTERS = ("subscript_expression", "pointer_expression", "cast_expression", "type_descriptor")
