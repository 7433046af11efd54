"""Which calls are pure.

A call is accepted if its function is known to have no side effects: the C library's mathematics, functions
that the file declares with the attribute `pure` or `const`, names listed by the user, and function-like
macros.  Macros that the file defines are analysed; others are recognised by their capitals and listed as
assumptions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from loopwright.c.file import CFile, keeps_to_itself, mentioned
from loopwright.c.index_helpers import INDEX_HELPERS, is_defined_in_integers
from loopwright.c.macros import (
    Macro,
    assigns,
    definitions,
    hidden_names,
    looks_like_macro,
    reachable_macros,
    storage_of,
    suffixed,
)
from loopwright.c.references import elements_in, reference_of
from loopwright.c.syntax import Node, field, identifiers, named_children, refuse, stands_as, walk
from loopwright.c.tokens import RETURNING_TWICE, is_number, names_in
from loopwright.errors import BadInput
from loopwright.model.program import Assumption, AssumptionKind
from loopwright.read.c.names import Setting
from loopwright.source import Span

_MATHEMATICS = """
sqrt cbrt exp exp2 expm1 log log2 log10 log1p pow sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh
atanh fabs floor ceil round trunc fmod remainder fmin fmax fdim fma hypot copysign erf erfc tgamma rint
nearbyint ldexp logb ilogb scalbn nextafter lround llround lrint llrint
"""
_COMPLEX = """
cabs carg creal cimag conj cproj cexp clog cpow csqrt csin ccos ctan casin cacos catan csinh ccosh ctanh
"""
CLASSES = frozenset(("isnan", "isinf", "isfinite", "isnormal", "signbit", "fpclassify"))
"""Classifications of numbers of every type: macros, in most libraries."""
CLASSIFYING = re.compile(
    r"__(?:builtin_|inline_)?(?:is(?:nan|inf|finite|normal)|isinf_sign|finite|signbit|fpclassify)(?:[dfl]|f128)?"
)
"""The functions that these macros call."""
CHARACTERS = frozenset(
    ("isalpha", "isdigit", "isspace", "isupper", "islower", "isalnum", "toupper", "tolower")
)
"""Functions of a character as an int."""
REAL = frozenset(_MATHEMATICS.split())
"""Functions of real numbers."""
LIBRARY = CHARACTERS.union(
    CLASSES,
    ("abs", "labs", "llabs"),
    (name + suffix for name in (_MATHEMATICS + _COMPLEX).split() for suffix in ("", "f", "l")),
)
_QUIET = {"fabs", "floor", "ceil", "round", "trunc", "fmin", "fmax", "copysign", "rint", "nearbyint"}
SETTING_ERRNO = LIBRARY - CHARACTERS - CLASSES - {name + end for name in _QUIET for end in ("", "f", "l")}
"""Library functions that may set `errno`."""
_BITS = """
popcount popcountl popcountll clz clzl clzll ctz ctzl ctzll ffs ffsl ffsll parity parityl parityll
bswap16 bswap32 bswap64 expect
"""
_BUILTIN = "__builtin_"
_SPECIAL = "inf inff infl huge_val huge_valf huge_vall nan nanf nanl"
SPECIAL_NUMBERS = frozenset(_BUILTIN + name for name in _SPECIAL.split())
"""The compiler's spellings of INFINITY, HUGE_VAL and NAN."""
_PURE = "has no side effects, and its value depends on its arguments alone"
_MEANING = {
    "min": "is the smaller of its arguments",
    "imin": "is the smaller of its arguments",
    "max": "is the larger of its arguments",
    "imax": "is the larger of its arguments",
    "floord": "is the quotient rounded down",
    "ceild": "is the quotient rounded up",
}


def is_library(name: str) -> bool:
    """Whether a name is a C library function, or the compiler's name for it, a bit operation or constant."""
    plain = name.removeprefix(_BUILTIN)
    known = name in LIBRARY or plain in LIBRARY or name in SPECIAL_NUMBERS
    known = known or CLASSIFYING.fullmatch(name) is not None
    return known or (plain != name and plain in _BITS.split())


def is_known_pure(setting: Setting, name: str) -> bool:
    return (
        name in setting.pure
        or is_library(name)
        or name in INDEX_HELPERS
        or name in setting.declarations.pure_functions
    )


def is_unknown_call(setting: Setting, call: Node) -> bool:
    """Whether a call may have side effects, or read what the region modifies."""
    function = field(call, "function")
    name = function.text
    if function.type != "identifier":
        return True
    if _unsafe_call(setting, name) is not None:
        return True
    seen = None if name in setting.pure else _changing(setting, name, ())
    is_pure = definitions(setting.macros, name) or is_known_pure(setting, name)
    if is_pure and (seen is None or name not in setting.declarations.pure_functions):
        return False
    if _is_pure_definition(setting, name, ()):
        return False
    return not looks_like_macro(name) or name in setting.declarations.functions


def why_unknown(setting: Setting, call: Node) -> BadInput:
    """The reason why a call is not known to be pure."""
    function = field(call, "function")
    name = function.text
    if function.type != "identifier":
        return refuse(function, "a call through a pointer cannot be read", "call functions by their name")
    hidden = _unsafe_call(setting, name)
    if hidden is not None:
        return _refuse_hidden_call(call, *hidden)
    seen = _changing(setting, name, ())
    known = setting.function(name)
    if seen is not None and known is not None and keeps_to_itself(known):
        return refuse(
            call,
            f"'{name}' reads '{seen}', which the region changes",
            f"make '{seen}' an argument of '{name}', or write its body in the region",
        )
    is_statement = call.parent is not None and call.parent.type == "expression_statement"
    hint = f"if it is, say --pure {name}, or declare it with __attribute__((const))"
    return refuse(
        call,
        f"'{name}' is not known to be free of side effects",
        "move this call out of the region: statements of a region assign" if is_statement else hint,
    )


def _is_pure_definition(setting: Setting, name: str, around: tuple[str, ...]) -> bool:
    """Whether the file defines `name`, which modifies nothing, nor reads what the region modifies."""
    function = setting.function(name)
    if function is None or name in around or not keeps_to_itself(function):
        return False
    words = list(mentioned(function))
    for word, _ in tuple(words):
        if any(assigns(macro) for macro in reachable_macros(setting.macros, word)):
            return False
        words += [(hidden, called) for _, hidden, called in hidden_names(setting.macros, word)]
    for word, called in words:
        if called and not definitions(setting.macros, word) and not setting.kinds.is_type(word):
            if not is_known_pure(setting, word) and not _is_pure_definition(setting, word, (*around, name)):
                return False
        elif word in setting.names.written:
            return False
    return True


def _changing(setting: Setting, name: str, around: tuple[str, ...]) -> str | None:
    """A name that the region modifies and a function of the file reads, or one of its callees.

    The attribute `pure` does not promise that there is none.
    """
    function = setting.function(name)
    if function is None or name in around or name in INDEX_HELPERS:
        return None
    for word, called in mentioned(function):
        found = _changing(setting, word, (*around, name)) if called else None
        if found is not None or (not called and word in setting.names.written):
            return found or word
    return None


def refuse_hiding_macros(setting: Setting, block: Node) -> None:
    """Raise unless every macro of the file that the region uses is the value that the reader assumes."""
    names = setting.names
    bases: dict[Node, list[str]] = {}
    for call, element in elements_in(setting.kinds, block):
        bases.setdefault(field(call, "function"), []).append(element.reference.base)
    for node in walk(block):
        if node.type != "identifier":
            continue
        name = node.text
        for macro in reachable_macros(setting.macros, name):
            if assigns(macro) or not _pastes_numbers(macro, node):
                raise refuse(
                    node,
                    f"the macro '{macro.name}' is not an expression",
                    "write what it does in the region itself",
                )
        for macro, word, called in hidden_names(setting.macros, name):
            is_element = word in bases.get(node, ())
            if word in names.iterators or (word in names.written and not is_element):
                raise refuse(
                    node,
                    f"the macro '{macro.name}' hides a use of '{word}', which changes in the region",
                    f"make '{word}' an argument of the macro, or write its body in the region",
                )
            if called and not _is_safe(setting, word) and not stands_as(node, "function", "call_expression"):
                raise _refuse_hidden_call(node, macro.name, word)


def _is_safe(setting: Setting, name: str) -> bool:
    """Whether what a macro calls is pure, or no function."""
    return (
        is_known_pure(setting, name)
        or looks_like_macro(name)
        or setting.kinds.is_type(name)
        or _is_pure_definition(setting, name, ())
    )


def _unsafe_call(setting: Setting, name: str) -> tuple[str, str] | None:
    """A macro in the expansion of `name`, and the function it calls that may have side effects."""
    hidden = hidden_names(setting.macros, name)
    unsafe = ((one.name, word) for one, word, called in hidden if called and not _is_safe(setting, word))
    return next(unsafe, None)


def _refuse_hidden_call(place: Node, macro: str, function: str) -> BadInput:
    message = f"the macro '{macro}' calls '{function}', which is not known to be free of side effects"
    return refuse(place, message, f"if it is, say --pure {function}")


def _pastes_numbers(macro: Macro, name: Node) -> bool:
    """Whether `##` only pastes numbers: `SCALAR_VAL(0.5)` with `#define SCALAR_VAL(x) x##f`."""
    changed = suffixed(macro)
    call = name.parent
    if not changed:
        return True
    if call is None or call.type != "call_expression" or macro.name != name.text:
        return False
    given = [part.text for part in named_children(field(call, "arguments"))]
    if len(given) != len(macro.parameters or ()) or not changed <= set(macro.parameters or ()):
        return False
    values = dict(zip(macro.parameters or (), given, strict=True))
    return all(is_number(values[parameter]) for parameter in changed)


def refuse_storage_macros(setting: Setting, block: Node) -> None:
    """Raise unless a macro that denotes storage is the only name for it in the region."""
    words = dict.fromkeys(identifiers(block))
    texts = {word: text for word in words if (text := storage_of(setting.macros, word)) is not None}
    for node in walk(block):
        reference = reference_of(node)
        if reference is None or not definitions(setting.macros, reference.root.text):
            continue
        is_storage = reference.subscripts or reference.base in setting.names.assigned
        if is_storage and not _is_only_word(reference.root.text, texts, words):
            raise refuse(
                reference.root,
                f"'{reference.root.text}' is a macro that stands for storage",
                "write the name of the array or variable itself",
            )


def _is_only_word(name: str, texts: Mapping[str, str], words: Iterable[str]) -> bool:
    """Whether no other name in the region denotes the storage of the macro `name`, or overlaps it."""
    own = texts.get(name)
    if own is None or names_in(own)[0] in words:
        return False
    others = [text for word, text in texts.items() if word != name]
    return not any(
        f"{one}.".startswith((f"{other}.", f"{other}->")) or one == other
        for text in others
        for one, other in ((own, text), (text, own))
    )


def _is_looked_into(setting: Setting, name: str) -> bool:
    """Whether the file shows what a macro or function does, so that nothing about it is assumed."""
    macros = definitions(setting.macros, name)
    function = setting.function(name)
    if name not in INDEX_HELPERS:
        return macros != () or (function is not None and name not in setting.pure)
    return is_defined_in_integers(setting.file, name)


def purity_assumptions(setting: Setting, block: Node) -> tuple[Assumption, ...]:
    """One assumption for each function that is treated as pure without proof."""
    found: dict[str, Assumption] = {}
    for node in walk(block):
        if node.type != "call_expression":
            continue
        name = field(node, "function").text
        if is_library(name) or _is_looked_into(setting, name) or is_unknown_call(setting, node):
            continue
        place = field(node, "function").span
        found.setdefault(name, Assumption(AssumptionKind.PURE, _taken_for(name), place))
    return tuple(found.values())


def undefined_helpers(file: CFile) -> tuple[str, ...]:
    """The assumptions on helpers such as `min` that the regions call and the file does not define."""
    calls = (call for one in file.regions for call in file.block(one.place).of_type("call_expression"))
    names = dict.fromkeys(field(call, "function").text for call in calls)
    defined = file.macro_names | {one.name for one in file.functions}
    helpers = (name for name in names if INDEX_HELPERS & {name, name.lower()})
    return tuple(_taken_for(name) for name in helpers if name not in defined)


def _taken_for(name: str) -> str:
    return f"'{name}' {_MEANING.get(name.strip('_').lower(), _PURE)}"


def refuse_returning_twice(block: Node, spots: Iterable[Span]) -> None:
    """Raise if a call may return twice; `spots` are the places of code that may access anything."""
    places = frozenset(spots)
    for node in walk(block) if places else ():
        if node.type == "call_expression" and node.span in places:
            name = field(node, "function").text
            if name in RETURNING_TWICE:
                raise refuse(node, f"'{name}' may return twice", "move this call out of the region")


def unfollowed(setting: Setting, block: Node, spots: Iterable[Span]) -> Iterator[BadInput]:
    """Why the calls and lvalues at these places may access anything, in source order.

    Such a statement may read and write everything that the region accesses, and more.  Storage outside the
    region is an additional array of no dimensions, `ELSEWHERE`, so that these statements keep their order
    among each other, and with everything whose value they may read or overwrite.  `gate.calls` checks that
    they cannot modify what decides which instances run: parameters and iterators.
    """
    places = frozenset(spots)
    found = [node for node in walk(block) if node.span in places] if places else []
    for node in found:
        reference = reference_of(node)
        if node.type == "return_statement":
            message = "no code moves across this 'return'"
            yield refuse(node, message, "end the region before it if this prevents a transformation")
        elif node.type == "call_expression":
            yield why_unknown(setting, node)
        elif reference is None and node.type not in ("expression_statement", "argument_list"):
            message = "this is not a variable or an array element"
            yield refuse(node, message, "accepted: x, A[i][j], *p, *(p + i), s.f, p->A[i]")
