"""Functions the segment calls that are neither in the file nor in the C library: what they do is unknown."""

from __future__ import annotations

import re

from loopwright.c.macros import definitions
from loopwright.c.syntax import field, walk
from loopwright.check.program.reachable import ReachedCode
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


def unseen_functions(known: ReachedCode) -> tuple[str, ...]:
    """The names of functions whose text is not there, in the order of the text."""
    inside = {function.name for function in known.functions}
    found: dict[str, None] = {}
    for body in known.bodies:
        for node in walk(body):
            if node.type != "call_expression" or field(node, "function").type != "identifier":
                continue
            name = field(node, "function").text
            is_pure = name in known.pure or name in known.declarations.pure_functions
            is_library = name in LIBRARY or name in INDEX_HELPERS or _KNOWN.fullmatch(name) is not None
            is_variable = known.declarations.visible(name, node.span) is not None
            is_macro = bool(definitions(known.macros, name))
            if not (name in inside or is_pure or is_library or is_variable or is_macro):
                found[name] = None
    return tuple(found)
