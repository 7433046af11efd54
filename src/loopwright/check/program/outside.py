"""Finds the side effects of the segment besides the operations of the original.

Functions that are neither in the file nor in the C library may do anything.  Variables that the original does
not write are not compared: a segment that may modify one of them is not known to be correct.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import pairwise

from loopwright.c.declarations import Variable, is_floating_type, is_integer_type
from loopwright.c.index_helpers import INDEX_HELPERS
from loopwright.c.loops import LOOPS, loop_iterator
from loopwright.c.macros import constant_macro, definitions
from loopwright.c.references import reference_of
from loopwright.c.reworded.final_values import is_alone, is_assigned, loop_count
from loopwright.c.reworded.passages import Passage, changed_names
from loopwright.c.syntax import Node, assigned_target, field, identifiers, named_children, stands_as, walk
from loopwright.c.tokens import names_in
from loopwright.c.typed.expansion import definition
from loopwright.c.typed.preprocess import Preprocessed
from loopwright.c.typed.redefined import redefined
from loopwright.c.types import INT, Floating, Integer, named_type
from loopwright.check.original.specification import Specification
from loopwright.check.program.reachable import Function, ReachedCode
from loopwright.errors import Code, GaveUp
from loopwright.model.program import Program
from loopwright.read.c.purity import LIBRARY
from loopwright.source import Span

_KNOWN = re.compile(
    r"abort|abs|aligned_alloc|assert|atof|atoi|atol|bsearch|bzero|calloc|clearenv|clock|clock_gettime|"
    r"close|difftime|exit|_Exit|_exit|fclose|feof|ferror|fflush|fgets|fopen|fprintf|fputc|fputs|fread|free|"
    r"fscanf|fseek|ftell|fwrite|getc|getchar|getenv|gettimeofday|isalnum|isalpha|isdigit|isspace|labs|"
    r"llabs|longjmp|malloc|memchr|memcmp|memcpy|memmove|memset|mmap|munmap|nanosleep|open|perror|"
    r"posix_memalign|printf|putc|putchar|puts|qsort|raise|rand|random|read|realloc|scanf|setenv|setjmp|"
    r"_setjmp|signal|sleep|snprintf|sprintf|srand|srandom|sscanf|strcat|strchr|strcmp|strcpy|strdup|"
    r"strerror|strlen|strncmp|strncpy|strrchr|strstr|strtod|strtof|strtol|strtoll|strtoul|strtoull|time|"
    r"tolower|toupper|usleep|va_arg|va_end|va_start|vfprintf|vprintf|vsnprintf|write|"
    r"__builtin_(?!ia32_ldmxcsr|ia32_fx|ia32_xr)\w+|__(atomic|sync)_\w+|omp_\w+|pthread_\w+|sem_\w+|"
    r"_mm\d*_(?!setcsr)\w+|thrd_\w+|mtx_\w+"
)
"""Headers of the C library and the compiler: no array reaches their functions unnoticed."""


def refuse_unseen(spec: Specification, known: ReachedCode) -> None:
    """Raise for a call of a function without a definition, unless the original may call it too."""
    inside = {function.name for function in known.functions}
    stated = _stated(spec)
    for body in known.bodies:
        for node in walk(body):
            if node.type != "call_expression" or field(node, "function").type != "identifier":
                continue
            name = field(node, "function").text
            is_pure = name in known.pure or name in known.declarations.pure_functions
            is_library = name in LIBRARY or name in INDEX_HELPERS or _KNOWN.fullmatch(name) is not None
            is_variable = known.declarations.visible(name, node.span) is not None
            is_macro = bool(definitions(known.macros, name))
            is_seen = name in inside | stated or _points_inside(known, name, inside)
            if not (is_seen or is_pure or is_library or is_variable or is_macro):
                hint = f"define it in this file, or say --pure {name} if it has no side effects"
                message = f"'{name}' is not defined in this file: it may change an array or the rounding mode"
                raise GaveUp(Code.UNDECIDED, message, span=node.span, hint=hint)


def refuse_hidden(known: ReachedCode, text: Preprocessed) -> None:
    """Raise for a macro of a header that may have side effects: its body is in no checked source."""
    own = {macro.name: macro.body for macro in known.macros}
    pending = [body.text for body in known.bodies]
    again = redefined([name for one in pending for name in names_in(one)], known.macros, text)
    if again:
        message = f"'{again[0]}' is defined in the file, and again or otherwise by a header or an option"
        raise GaveUp(Code.UNDECIDED, message, hint="include the header before the definition")
    seen: set[str] = set()
    while pending:
        for name in names_in(pending.pop()):
            if name in seen:
                continue
            seen.add(name)
            if name in own:
                pending.append(own[name])
            elif name in text.changes and _may_change(text, name, frozenset()):
                message = f"'{name}' is a macro of a header that may change something, or jump"
                raise GaveUp(Code.UNDECIDED, message, hint="replace it by its definition")


def refuse_other_sizes(
    spec: Specification, given: Collection[str], old: Preprocessed, new: Preprocessed
) -> None:
    """Raise for a size that is a macro of the original and may have another value in the program.

    Headers define macros, too.  A `given` size has that value in both.
    """
    for name, value in spec.sizes:
        here, there = (_history(text, name) for text in (old, new))
        if name in given or name not in here or here == there:
            continue
        number = None if len(here[name]) > 1 else definition(here[name][0])
        words = [] if number is None else [one.text for one in number.body if one.text not in "()"]
        if name in there or words != [str(value)]:
            hint = f"define it alike, or say -D {name}={value} to compare them at that size"
            message = f"the macro '{name}' is not known to be the same number in the original and here"
            raise GaveUp(Code.UNDECIDED, message, hint=hint)


def _history(text: Preprocessed, name: str) -> dict[str, list[str]]:
    """All definitions of a macro, and of the macros that it expands to."""
    found: dict[str, list[str]] = {}
    pending = [name]
    for one in pending:
        if one in text.changes and one not in found:
            found[one] = [line for _, line in text.changes[one]]
            pending += [word for line in found[one] for word in names_in(line)]
    return found


_CHANGING = frozenset(("++", "--", "##", "goto", "break", "continue", "return", "asm", "__asm__", "__asm"))


def _may_change(text: Preprocessed, name: str, around: frozenset[str]) -> bool:
    """Whether a macro definition assigns, jumps, or calls a function not known to be free of side effects."""
    for _, line in text.changes.get(name, ()):
        macro = definition(line)
        words = [] if macro is None else [one.text for one in macro.body]
        known = {name, *around, *((macro.parameters or ()) if macro is not None else ())}
        for word, after in pairwise([*words, ""]):
            if word in _CHANGING or (word.endswith("=") and word not in ("==", "!=", "<=", ">=")):
                return True
            if word in text.changes and word not in known:
                if _may_change(text, word, frozenset((*around, name))):
                    return True
            elif after == "(" and word.isidentifier() and not _is_known_call(word, known):
                return True
    return False


_BEFORE_PARENTHESES = frozenset(("sizeof", "_Alignof", "_Generic", "if", "else", "for", "while", "switch"))


def _is_known_call(name: str, known: Collection[str]) -> bool:
    is_word = name in known or name in _BEFORE_PARENTHESES or name.startswith("__")
    return is_word or name in LIBRARY or name in INDEX_HELPERS or _KNOWN.fullmatch(name) is not None


def other_writes(spec: Specification, known: ReachedCode) -> tuple[str, ...]:
    """The variables of both files that the segment may modify and the original does not."""
    found: dict[str, None] = {}
    own = own_names(spec.program)
    for node in (node for body in known.bodies for node in walk(body)):
        written = assigned_target(node)
        target = None if written is None else reference_of(written)
        changed = [] if target is None else [target.root, *_pointed(known, target.root.text)]
        if node.type == "call_expression":
            words = [one for one in walk(field(node, "arguments")) if one.type == "identifier"]
            changed = [one for one in words if not stands_as(one, "argument", "subscript_expression")]
        for one in changed:
            is_hidden = target is not None and one is target.root and _is_of_a_header(spec, known, one)
            is_changed = is_hidden or _is_left_alone(spec, known, one, is_written=target is not None)
            if one.text not in own and is_changed:
                found[one.text] = None
    return tuple(found)


def other_effect(spec: Specification, known: ReachedCode) -> str | None:
    """Return why a segment with the operations of the original may still have a later effect."""
    changed = other_writes(spec, known)
    found = [one for one in changed if is_looked_at(known, one) or _is_given(known, one)]
    if found:
        return f"changed by the segment but not by the original, and used elsewhere: {', '.join(found)}"
    calls = [name for name in _called(known) if name not in _stated(spec) and _is_noticed(known, name)]
    if calls:
        return f"only the segment calls these functions, whose effects are visible: {', '.join(calls)}"
    lasting = [one.name for one in known.functions if _has_static(one) and _is_used_elsewhere(known, one)]
    if lasting:
        return f"called in the segment and elsewhere, with static variables: {', '.join(lasting)}"
    compared = left_iterators(spec, known)
    left = [one for one in _iterators(spec.program) if one not in compared and _is_left_to_others(known, one)]
    if left:
        return f"used after the segment, and perhaps not as the original leaves it: {', '.join(left)}"
    return None


def _is_given(known: ReachedCode, name: str) -> bool:
    """Whether a variable is of another file or a header, or a parameter that may reach the caller's
    memory."""
    here = known.at_segment(name)
    if here is None or _is_of_another_file(here):
        return True
    around = known.around
    if around is None or not around.node.span.contains(here.place) or around.body.span.contains(here.place):
        return False
    kind = known.declarations.resolved(here.type)
    return here.rank > 0 or not (is_integer_type(kind) or is_floating_type(kind))


def _is_of_another_file(variable: Variable) -> bool:
    text = variable.place.source.text
    start = 1 + max(text.rfind(mark, 0, variable.place.start) for mark in ";{}(")
    return "extern" in names_in(text[start : variable.place.start])


def _called(known: ReachedCode) -> dict[str, None]:
    """The functions that the segment calls by name."""
    nodes = (node for body in known.bodies for node in walk(body) if node.type == "call_expression")
    return dict.fromkeys(field(node, "function").text for node in nodes)


def _is_noticed(known: ReachedCode, name: str) -> bool:
    """Whether a library call is observable, immediately or in calls outside the segment."""
    states = [one for one in _STATES if one.fullmatch(name)]
    if _OUTPUT.fullmatch(name) or not states:
        return _OUTPUT.fullmatch(name) is not None
    return _is_named_outside(known, states[0], [body.span for body in known.bodies])


def _is_named_outside(known: ReachedCode, names: re.Pattern[str], places: Sequence[Span]) -> bool:
    """Whether the file uses a function, rather than only declaring it, outside these places."""
    return any(
        not any(place.contains(one.span) for place in places)
        for one in known.file.of_type("identifier")
        if names.fullmatch(one.text) and (one.parent is None or one.parent.type != "function_declarator")
    )


def _stated(spec: Specification) -> set[str]:
    return {word for statement in spec.statements for word in names_in(statement.place.text)}


def _has_static(function: Function) -> bool:
    return any(node.text == "static" for node in function.body.of_type("storage_class_specifier"))


def _is_used_elsewhere(known: ReachedCode, function: Function) -> bool:
    """Whether a function that the segment reaches is named outside the segment and the code it reaches."""
    if any(function.name in names_in(macro.body) for macro in known.macros):
        return True
    places = [*(body.span for body in known.bodies), function.node.span]
    return _is_named_outside(known, re.compile(re.escape(function.name)), places)


def _iterators(program: Program) -> tuple[str, ...]:
    """The iterators of the original whose lifetime exceeds its loops."""
    names = dict.fromkeys(iterator for one in program.statements for iterator in one.iterators)
    return tuple(one for one in names if program.file.declarations.visible(one, program.region) is not None)


def left_iterators(spec: Specification, known: ReachedCode) -> dict[str, str]:
    """Live-out iterators, with the values that the original leaves in them where known."""
    names = [one for one in _iterators(spec.program) if _is_left_to_others(known, one)]
    values = {one: left_in(spec.program, known, one) for one in names}
    return {name: value for name, value in values.items() if value is not None}


def _is_left_to_others(known: ReachedCode, name: str) -> bool:
    """Whether code after the segment, or another function, reads the value it leaves in a variable."""
    here = known.at_segment(name)
    if here is None or not is_looked_at(known, name):
        return False
    around, end = known.around, known.segment.place.end
    if around is None or not around.node.span.contains(here.place):
        return True
    loops = [loop.span for loop in known.file.of_type("for_statement") if loop_iterator(loop) == name]
    later = [use.span for use in around.node.named(name) if use.start >= end]
    again = any(loop.span.contains(known.segment.place) for loop in around.node.of_type(*LOOPS))
    return again or any(not any(loop.contains(one) for loop in loops) for one in later)


_OUTPUT = re.compile(r"v?f?printf|puts|putchar|putc|fputc|fputs|fwrite|write|perror|signal")
"""Functions whose effects other code can observe."""
_STATES = tuple(
    re.compile(one)
    for one in (
        r"s?rand|s?random|rand_r|drand48",
        r"(?:set|put|clear|get)env|system|exec\w+",
        r"fopen|fclose|freopen|open|close|read|fread|fgets|getc|getchar|f?scanf|fseek|" + _OUTPUT.pattern,
    )
)
"""Calls of each kind share state: the next number of `rand`, the position in a file."""


def own_names(program: Program) -> set[str]:
    """The arrays and iterators of a program; `i` too, where it is called `i__1`."""
    names = {array.name for array in program.arrays}
    names |= {iterator for statement in program.statements for iterator in statement.iterators}
    return names | {name[: found.start()] for name in names for found in re.finditer("(?=__)", name)}


def _pointed(known: ReachedCode, name: str) -> list[Node]:
    """The names in the values of a pointer of the function around; no 32-bit number holds an address."""
    declared = known.at_segment(name)
    kind = None if declared is None else named_type(known.declarations.resolved(declared.type))
    is_number = isinstance(kind, Floating) or (isinstance(kind, Integer) and kind.bits <= INT.bits)
    if known.around is None or (declared is not None and declared.rank == 0 and is_number):
        return []
    nodes = [node for node in walk(known.around.body) if node.type in _GIVING]
    given = [
        field(node, value)
        for node in nodes
        for left, value in [_GIVING[node.type]]
        if name in identifiers(field(node, left))[:1]
        and ("pointer" in field(node, left).type or field(node, left).text == name)
    ]
    found = [one for value in given for one in walk(value) if one.type == "identifier"]
    return [one for one in found if _leads_somewhere(known, one)]


def _leads_somewhere(known: ReachedCode, node: Node) -> bool:
    """Whether a name in the value of a pointer is an array, a pointer, or an operand of `&`."""
    declared, outer = known.declarations.visible(node.text, node.span), node.parent
    is_taken = outer is not None and outer.type == "pointer_expression"
    return is_taken or declared is None or declared.rank > 0


_GIVING = {"init_declarator": ("declarator", "value"), "assignment_expression": ("left", "right")}


def _is_of_a_header(spec: Specification, known: ReachedCode, node: Node) -> bool:
    """Whether a variable is declared in neither file: errno, optind."""
    there = spec.program.file.declarations.visible(node.text, spec.program.region)
    return known.declarations.visible(node.text, node.span) is None and there is None


def _is_left_alone(spec: Specification, known: ReachedCode, node: Node, *, is_written: bool) -> bool:
    """Whether a variable belongs to both files, and not only to the segment or the original."""
    program, name = spec.program, node.text
    here = known.declarations.visible(name, node.span)
    there = program.file.declarations.visible(name, program.region)
    if here is None or there is None or program.region.contains(there.place):
        return False
    return here.scope.contains(known.segment.place) and (is_written or there.rank > 0)


def is_looked_at(known: ReachedCode, name: str) -> bool:
    """Whether the file uses a variable outside the segment and the functions it calls.

    Loops that initialise it do not count as uses; they do not depend on its earlier value.
    """
    if any(name in names_in(macro.body) for macro in known.macros):
        return True
    loops = known.file.of_type("for_statement")
    places = [one.place for one in known.declarations.variables if one.name == name]
    places += [loop.span for loop in loops if loop_iterator(loop) == name]
    places += [body.span for body in known.bodies]
    found = (node.span for node in known.file.of_type("identifier") if node.text == name)
    return not all(any(place.contains(one) for place in places) for one in found)


def _points_inside(known: ReachedCode, name: str, inside: set[str]) -> bool:
    """Whether a name is a pointer initialised with functions of the file and never assigned later."""
    nodes = [node for body in known.bodies for node in walk(body)]
    given = [
        field(node, "value").text
        for node in nodes
        if node.type == "init_declarator" and name in identifiers(field(node, "declarator"))[:1]
    ]
    uses = [node for node in nodes if node.type == "identifier" and node.text == name]
    called = [
        node for node in nodes if node.type == "call_expression" and field(node, "function").text == name
    ]
    return bool(given) and set(given) <= inside and len(uses) == len(given) + len(called)


def left_in(program: Program, known: ReachedCode, name: str) -> str | None:
    """An expression for the value the original leaves in an iterator, evaluated at the segment's start.

    It is known if the last loop that names it is outermost, with bounds that are numbers, macros for numbers,
    and ints that the segment does not modify.
    """
    here = known.at_segment(name)
    if here is None or here.rank or known.declarations.resolved(here.type) != "int":
        return None
    file = program.file
    passage = Passage(file, file.region(program.region), file.block(program.region))
    named = [one for one in named_children(passage.block) if name in identifiers(one)]
    loop = named[-1] if named else None
    if loop is None or loop.type != "for_statement" or loop_iterator(loop) != name or not is_assigned(loop):
        return None
    if (count := loop_count(loop, name)) is None or not is_alone(loop, name, passage) or name in count.names:
        return None
    nodes = [*walk(passage.block), *(node for body in known.bodies for node in walk(body))]
    changed = {word for node in nodes for word in changed_names(node)}
    if count.names & changed or not all(_is_number(program, known, word) for word in count.names):
        return None
    return f"({count.test}) ? ({count.last}) : ({count.first})"


def _is_number(program: Program, known: ReachedCode, name: str) -> bool:
    """Whether a name is an int in both files, or a macro for the same number in both."""
    file = program.file
    there, here = file.declarations.visible(name, program.region), known.at_segment(name)
    if there is None or here is None:
        values = constant_macro(file.macros, name), constant_macro(known.macros, name)
        return there is here and values[0] is not None and values[0] == values[1]
    if definitions(file.macros, name) or definitions(known.macros, name):
        return False
    kinds = file.declarations.resolved(there.type), known.declarations.resolved(here.type)
    return not there.rank and not here.rank and kinds == ("int", "int")
