"""Decides whether two functions mean the same in C++, with terms for numbers, as in C.

Whatever is not known to is refused: identifiers, casts and sizes must be in lists, and calls with side
effects must be sequenced.  So only operations use numbers, and only variables of the files change.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from loopwright.c.declarations import declared_name, type_text
from loopwright.c.regions import Directive
from loopwright.c.syntax import (
    Node,
    field,
    identifiers,
    is_address,
    is_dereference,
    named_children,
    operator,
    walk,
    without_parentheses,
)
from loopwright.c.tokens import has_assignment, names_in, without_comments
from loopwright.check.values.functions import FunctionCode, FunctionPair, text_of

_FUNCTIONS = """
sqrt cbrt fabs exp exp2 log log2 log10 sin cos tan asin acos atan sinh cosh tanh floor ceil trunc round
pow fmax fmin fmod atan2 hypot
"""
_COPYING = frozenset(("memcpy", "memmove", "memset"))
_ALLOCATING = frozenset(("malloc", "calloc", "aligned_alloc"))
_NUMBERS = frozenset(("double", "float"))
_TYPES = """
int long short unsigned signed char bool _Bool size_t ptrdiff_t
int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t
"""
_INTEGERS = frozenset(_TYPES.split())
_QUALIFIERS = frozenset(("const", "restrict", "__restrict", "__restrict__"))
_KEYWORDS = """
if else for while do switch case default break continue return goto sizeof
void static inline register struct typedef define pragma scop endscop GCC unroll
NULL true false INT_MAX INT_MIN UINT_MAX LONG_MAX LONG_MIN SIZE_MAX
DBL_MAX DBL_MIN DBL_EPSILON FLT_MAX FLT_MIN FLT_EPSILON INFINITY M_PI M_E
"""
_WORDS = frozenset(
    (
        *_KEYWORDS.split(),
        *_NUMBERS,
        *_INTEGERS,
        *_QUALIFIERS,
        *(name + end for name in _FUNCTIONS.split() for end in ("", "f")),
        *_COPYING,
        *_ALLOCATING,
        "free",
    )
)
_PRAGMA = re.compile(r"^\s*#\s*pragma\b(.*)$", re.MULTILINE)
_PASTED = re.compile(r"##|%:|\?\?|\w\\\n\w")
"""Preprocessor operators that create identifiers not in the source."""
_HARMLESS = re.compile(r"\s*(scop|endscop|(GCC\s+)?unroll\b.*)\s*")
_SIZE = re.compile(r"\bsizeof\b(?:\s*\(\s*([A-Za-z_][\w\s*]*)\)|\s+([A-Za-z_]\w*))?")
"""With its operand, where that is a type or a name: 'a' and 1 == 1 have other types in C++."""
_MACRO = re.compile(r"\s*(\w+)(?:\(([^)]*)\))?(.*)", re.DOTALL)
_CAST = re.compile(r"\(\s*([A-Za-z_][\w\s]*)(\**)\s*\)")
_OPERANDS = (
    *("binary_expression", "assignment_expression", "argument_list", "subscript_expression"),
    "initializer_list",
)


def is_followed(pair: FunctionPair) -> bool:
    """Whether both functions are understood, and the new one inspects the same values as the old one."""
    if not all(_is_plain(code, {*pair.variables, *pair.extra}) for code in (pair.old, pair.new)):
        return False
    before = {*names_in(field(pair.old.function, "body").text)}
    after = {*names_in(field(pair.new.function, "body").text)}
    used = pair.new.names & {*pair.variables} | after & {*parameters(pair.new.function)}
    return not used - before  # a flag, say


def parameters(function: Node) -> list[str]:
    return [named[0] for one in _declarators(function) if (named := declared_name(one)) is not None]


def _name(function: Node) -> str:
    return field(field(function, "declarator"), "declarator").text


def _declarators(function: Node) -> list[Node]:
    inside = field(field(function, "declarator"), "parameters").named_children
    found = [one.child_by_field_name("declarator") for one in inside if one.type == "parameter_declaration"]
    return [one for one in found if one is not None]


def _has_plain_head(function: Node) -> bool:
    """Whether a function returns nothing and takes only numbers."""
    named = [declared_name(one) for one in _declarators(function)]
    return type_text(function, qualifiers=False) == "void" and all(
        one is not None and one[1] == 0 for one in named
    )


def _is_plain(code: FunctionCode, variables: set[str]) -> bool:
    if not _has_plain_head(code.function) or _PASTED.search("\n".join(map(text_of, code.parts))):
        return False
    if not all(_HARMLESS.fullmatch(one) for one in _PRAGMA.findall(code.text)):
        return False
    if any(node.type == "bitfield_clause" or _is_mixed(node) for node in code.nodes):
        return False
    numbers = _NUMBERS.union(_defined_numbers(code))
    if any(_may_be_unset(part, numbers) for part in code.parts if isinstance(part, Node)):
        return False
    types, names = {*_defined_types(code)}, {*_defined_names(code), *variables}
    words = {*names_in(without_comments(code.text, literals=True))}
    if types & names or not words <= _WORDS | types | names:
        return False
    sized = [names_in(one[1] or one[2] or "") for one in _SIZE.finditer(code.text)]
    if not all(words and {*words} <= _NUMBERS | _INTEGERS | _QUALIFIERS | variables for words in sized):
        return False
    return _has_plain_casts(code, types) and not any(_without_order(code, variables))


def _is_mixed(node: Node) -> bool:
    """Whether a structure holds numbers next to other members, from which they can be reached."""
    if node.type != "field_declaration_list":
        return False
    fields = [one for one in node.named_children if one.type == "field_declaration"]
    words = [{*names_in(type_text(one, qualifiers=False)), *("*" * ("*" in one.text))} for one in fields]
    return len({one <= _NUMBERS for one in words}) > 1


def _defined_numbers(code: FunctionCode) -> Iterator[str]:
    """Other names of `double` and `float`."""
    for node in code.nodes:
        if node.type == "type_definition" and type_text(node, qualifiers=False) in _NUMBERS:
            made = node.children_by_field_name("declarator")
            yield from (one.text for one in made if one.type == "type_identifier")


def _may_be_unset(part: Node, numbers: frozenset[str]) -> bool:
    """Whether a function has uninitialised integers or pointers other than simple variables: only simple
    variables have definite assignment.
    """
    if part.type != "function_definition":
        return False
    taken = _exposed(part)
    for node in field(part, "body").of_type("declaration"):
        words = {*names_in(type_text(node, qualifiers=False))}
        for one in node.children_by_field_name("declarator"):
            is_simple = "[" not in one.text and ("*" in one.text or words <= _INTEGERS)
            if one.type == "init_declarator" or ("*" not in one.text and words <= numbers):
                continue
            if not is_simple or taken & {*names_in(one.text)}:
                return True
    return False


def _defined_types(code: FunctionCode) -> Iterator[str]:
    """The types that the code itself defines: tags of structures, and names made by `typedef`."""
    for node in code.nodes:
        if node.type == "struct_specifier" and node.child_by_field_name("body") is not None:
            tag = node.child_by_field_name("name")
            yield from () if tag is None else (tag.text,)
        elif node.type == "type_definition":
            made = node.children_by_field_name("declarator")
            yield from (word for one in made for word in names_in(one.text))


def _defined_names(code: FunctionCode) -> Iterator[str]:
    """What the code itself defines besides types; not what it only declares, such as a function."""
    for node in code.nodes:
        match node.type:
            case "function_definition":
                yield _name(node)
            case "field_identifier" | "statement_identifier":
                yield node.text
    for name, _, _ in _variables(code):
        yield name
    for macro in code.macros:
        name, given, _ = _macro(macro)
        yield from (name, *given)


def _macro(line: Directive) -> tuple[str, tuple[str, ...], str]:
    """Name, parameters and text of a macro."""
    found = _MACRO.fullmatch(without_comments(line.argument, literals=True))
    return (found[1], names_in(found[2] or ""), found[3]) if found is not None else ("", (), line.argument)


def _variables(code: FunctionCode) -> Iterator[tuple[str, frozenset[str], int]]:
    """Name, type and rank of variables and parameters."""
    for node in code.nodes:
        if node.type in ("declaration", "parameter_declaration"):
            words = frozenset(names_in(type_text(node, qualifiers=False)))
            for declarator in node.children_by_field_name("declarator"):
                named = declared_name(declarator)
                if named is not None:
                    yield named[0], words, named[1]


def _has_plain_casts(code: FunctionCode, types: set[str]) -> bool:
    """Whether no cast accesses the bytes of a number or converts an address to a number."""
    found = [*_variables(code)]
    terms = {name for name, words, _ in found if words <= _NUMBERS}
    terms -= {name for name, words, _ in found if not words <= _NUMBERS}
    pointers = {name for name, _, rank in found if rank}
    known = _INTEGERS | _NUMBERS | _QUALIFIERS | types | {"void"}
    written = [cast for macro in code.macros for cast in _CAST.finditer(_macro(macro)[2])]
    if any({*names_in(one[1])} <= known and one[0].strip("( )") not in _NUMBERS for one in written):
        return False
    for node in (one for one in code.nodes if one.type == "cast_expression"):
        to, value = field(node, "type").text, without_parentheses(field(node, "value"))
        words = {*names_in(to)} - _QUALIFIERS
        if "*" in to and not (words <= _NUMBERS and _root(value) in terms | _ALLOCATING):
            return False
        if "*" not in to and not words <= _NUMBERS and (words - _INTEGERS or _is_address(value, pointers)):
            return False
    return "void" not in {word for one in found for word in one[1]}


def _root(node: Node) -> str | None:
    """The variable or function that a value is derived from, if it is unique."""
    node = without_parentheses(node)
    match node.type:
        case "identifier":
            return node.text
        case "subscript_expression" | "pointer_expression":
            return _root(field(node, "argument"))
        case "call_expression":
            return _root(field(node, "function"))
        case "cast_expression":
            return _root(field(node, "value"))
        case "binary_expression" if operator(node) in "+-":
            return _root(field(node, "left"))
        case _:
            return None


def _is_address(value: Node, pointers: set[str]) -> bool:
    """Whether an expression may depend on an address."""
    accessed = {field(one, "argument") for one in walk(value) if one.type == "subscript_expression"}
    named = [one for one in walk(value) if one.type == "identifier" and one not in accessed]
    takes = any(is_address(one) for one in walk(value))
    return takes or any(one.text in pointers for one in named)


def _without_order(code: FunctionCode, variables: set[str]) -> Iterator[Node]:
    """Operands that an unsequenced call in another operand may modify."""
    changing = _changing(code)
    for node in (one for one in code.nodes if one.type in _OPERANDS):
        if node.type == "binary_expression" and operator(node) in ("&&", "||", ","):
            continue
        parts = named_children(node)
        for part in parts:
            called = {*identifiers(part)}
            if called & changing:
                exposed = changing | variables | _exposed(part)
                others = [one for one in parts if one != part]
                yield from (one for one in others if _reads(one, exposed, is_target=_is_target(node, one)))


def _is_target(node: Node, part: Node) -> bool:
    return node.type == "assignment_expression" and operator(node) == "=" and part == field(node, "left")


def _exposed(part: Node) -> set[str]:
    """The variables whose addresses are taken in an expression."""
    taken = (one for one in walk(part) if is_address(one))
    return {word for one in taken for word in names_in(one.text)}


def _reads(node: Node, exposed: set[str], *, is_target: bool) -> bool:
    """Whether an operand reads memory, or one of these variables."""
    node = without_parentheses(node)
    if is_target and node.type == "identifier":
        return False
    memory = [one for one in walk(node) if one.type in ("subscript_expression", "field_expression")]
    memory += [one for one in walk(node) if is_dereference(one)]
    if is_target:
        memory = [one for one in memory if one != node]
        exposed = exposed - {_root(node)}
    named = {*identifiers(node)}
    return bool(memory) or bool(named & exposed)


def _changing(code: FunctionCode) -> set[str]:
    """The functions and macros with side effects beyond their own variables."""
    found = {*_COPYING}
    bodies = [part for part in code.parts if isinstance(part, Node) and part.type == "function_definition"]
    macros = [_macro(macro) for macro in code.macros]
    while True:
        more = {_name(one) for one in bodies if _changes(one, found)}
        more |= {name for name, _, text in macros if has_assignment(text) or found & {*names_in(text)}}
        if more <= found:
            return found
        found |= more


def _changes(function: Node, changing: set[str]) -> bool:
    """Whether a function assigns more than its own variables, or calls a function that does."""
    body = field(function, "body")
    found = (part for one in body.of_type("declaration") for part in one.children_by_field_name("declarator"))
    own = {*parameters(function), *(named[0] for one in found if (named := declared_name(one)) is not None)}
    for node in walk(body):
        if node.type in ("assignment_expression", "update_expression"):
            key = "left" if node.type == "assignment_expression" else "argument"
            target = without_parentheses(field(node, key))
            if target.type != "identifier" or target.text not in own:
                return True
        elif node.type == "identifier" and node.text in changing:
            return True
    return False
