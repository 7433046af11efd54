"""Functions the segment calls that are neither in the file nor in the C library: what they do is unknown."""

from __future__ import annotations

import re

from loopwright.c.macros import definitions
from loopwright.c.syntax import field, identifiers, walk
from loopwright.c.tokens import names_in
from loopwright.check.original.specification import Specification
from loopwright.check.program.reachable import ReachedCode
from loopwright.errors import Code, GaveUp
from loopwright.read.c.purity import INDEX_HELPERS, LIBRARY

_KNOWN = re.compile(
    r"abort|abs|aligned_alloc|assert|atexit|atof|"
    r"atoi|atol|bsearch|bzero|calloc|clearenv|clock|clock_gettime|close|difftime|exit|"
    r"_Exit|_exit|fclose|feof|ferror|fflush|fgets|fopen|fprintf|fputc|fputs|fread|free|"
    r"fscanf|fseek|ftell|fwrite|getc|getchar|getenv|gettimeofday|isalnum|isalpha|isdigit|"
    r"isspace|labs|llabs|longjmp|malloc|memchr|memcmp|memcpy|memmove|memset|mmap|munmap|"
    r"nanosleep|open|perror|posix_memalign|printf|putc|putchar|puts|qsort|raise|rand|"
    r"random|read|realloc|scanf|setenv|setjmp|_setjmp|signal|sleep|snprintf|sprintf|srand|"
    r"srandom|sscanf|strcat|strchr|strcmp|strcpy|strdup|strerror|strlen|strncmp|strncpy|"
    r"strrchr|strstr|strtod|strtof|strtol|strtoll|strtoul|strtoull|time|tolower|toupper|"
    r"usleep|va_arg|va_end|va_start|vfprintf|vprintf|vsnprintf|write|"
    r"__builtin_\w+|__(atomic|sync)_\w+|omp_\w+|pthread_\w+|sem_\w+|_mm\d*_\w+|thrd_\w+|mtx_\w+"
)
"""The library of C and what comes with a compiler: the arrays reach none of these unnoticed."""


def refuse_unseen(spec: Specification, known: ReachedCode) -> None:
    """Raise for a call of a function whose text is not there; the original may call it too."""
    inside = {function.name for function in known.functions}
    stated = {word for statement in spec.statements for word in names_in(statement.place.text)}
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
                hint = f"give its text, or say --pure {name} if it changes nothing"
                message = f"'{name}' is not in this file: it may change an array, or how numbers are rounded"
                raise GaveUp(Code.UNDECIDED, message, span=node.span, hint=hint)


def _points_inside(known: ReachedCode, name: str, inside: set[str]) -> bool:
    """Whether a name is a pointer that gets functions of the file when it is declared, and nothing later."""
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
