"""What a file does outside of its functions without being named by them.

A constructor runs before `main`, assembler code and attributes for the linker give names other meanings, a
pragma in a macro or `_Pragma` changes how the rest of the file is compiled, and a definition with the name of
a function of the C library takes its place.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from loopwright.c.file import c_file, whole_file
from loopwright.c.syntax import Node, field, identifiers, named_children
from loopwright.c.tokens import names_in, on_one_line, without_comments
from loopwright.prove.comparison.function_frame import short
from loopwright.source import Source, Span

_ATTRIBUTES = frozenset(
    ("constructor", "destructor", "ifunc", "alias", "weakref", "section", "symver", "init_priority")
)
_ACTING = _ATTRIBUTES | {"asm", "_Pragma", "__pragma"}
_NAME = re.compile(r"[A-Za-z_]\w*")


def difference_unasked(old: Source, new: Source) -> str | None:
    """Returns what only one of two files does without being named, or None."""
    done = [Counter(_acting(one)) for one in (old, new)]
    for text in (done[0] - done[1]) + (done[1] - done[0]):
        return f"only one file has '{short(text)}'"
    replaced = [{name for name in _defined(one) if _is_reserved(name)} for one in (old, new)]
    for name in sorted(replaced[0] ^ replaced[1]):
        return f"only one file defines '{name}', which the system defines"
    return None


def names_acting(source: Source) -> frozenset[str]:
    """The names that the parts of a file mention which act without being named."""
    return frozenset(name for text in _acting(source) for name in _NAME.findall(text))


def _acting(source: Source) -> Iterator[str]:
    """The declarations, functions and lines of macros that act, besides functions with regions."""
    text = without_comments(source.text, literals=True)
    if not any(word in text for word in _ACTING):
        return
    file = whole_file(source)
    macros = {one.name: f"#define {one.name} {on_one_line(one.body)}" for one in file.macros}
    words = {*_ACTING}
    for _ in macros:
        further = {name for name, line in macros.items() if name not in words and _mentions(line, words)}
        if not further:
            break
        words |= further
    for node in _outside(source):
        body = node.child_by_field_name("body") if node.type == "function_definition" else None
        head = node.text if body is None else node.text[: body.start - node.start]
        if _mentions(head, words if _is_attribute(head) else words - _ATTRIBUTES):
            yield on_one_line(node.text)
            yield from (macros[name] for name in names_in(head) if name in words and name in macros)


def _is_attribute(text: str) -> bool:
    """Whether a text has attributes: their names may be those of variables."""
    return "attribute" in text or "[[" in text


def _mentions(text: str, words: set[str]) -> bool:
    found = names_in(without_comments(text, literals=False))
    return any(name in words or name.strip("_") in words for name in found)


def _outside(source: Source) -> Iterator[Node]:
    """What is at the top level of a file, besides functions with regions."""
    regions: list[Span] = [one.place for one in c_file(source).regions]
    pending = [*whole_file(source).possible.children]
    while pending:
        node = pending.pop(0)
        if node.type.startswith("preproc_if") or node.type in ("preproc_else", "linkage_specification"):
            pending = [*named_children(node), *pending]
        elif not node.type.startswith("preproc_") and not any(node.span.contains(one) for one in regions):
            yield node


def _defined(source: Source) -> set[str]:
    """The functions and variables with external linkage that a file defines."""
    found: set[str] = set()
    for node in _outside(source):
        head = node.text.partition("{")[0].partition("=")[0]
        if "static" in names_in(head) or "extern" in names_in(head):
            continue
        if node.type == "function_definition":
            found.update(identifiers(field(node, "declarator"))[:1])
        elif node.type == "declaration":
            for one in node.children_by_field_name("declarator"):
                named = identifiers(one.declared)
                if named and not one.of_type("function_declarator"):
                    found.add(named[0])
    return found


_C: dict[str, str] = {
    "complex": """
        acos asin atan cos sin tan acosh asinh atanh cosh sinh tanh exp log abs pow sqrt arg
        imag proj real
    """,
    "ctype": "alnum alpha blank cntrl digit graph lower print punct space upper xdigit",
    "fenv": """
        feclearexcept fegetexceptflag feraiseexcept fesetexceptflag fetestexcept fegetround
        fesetround fegetenv feholdexcept fesetenv feupdateenv fegetmode fesetmode fesetexcept
    """,
    "inttypes": "imaxabs imaxdiv strtoimax strtoumax wcstoimax wcstoumax",
    "locale": "localeconv setlocale",
    "math": """
        acos asin atan atan2 cos sin tan acosh asinh atanh cosh sinh tanh exp exp2 exp10 expm1
        frexp ilogb ldexp llogb log log10 log1p log2 logb modf scalbn scalbln cbrt fabs hypot
        pow pown powr rootn rsqrt sqrt erf erfc lgamma tgamma ceil floor nearbyint rint lrint
        llrint round roundeven lround llround trunc fmod remainder remquo copysign nan nextafter
        nexttoward nextup nextdown fdim fmax fmin fma fmaximum fminimum compoundn canonicalize
        sinpi cospi tanpi asinpi acospi atanpi atan2pi
    """,
    "setjmp": "setjmp longjmp",
    "signal": "signal raise",
    "stdatomic": """
        atomic_thread_fence atomic_signal_fence atomic_flag_test_and_set atomic_flag_clear
        atomic_flag_test_and_set_explicit atomic_flag_clear_explicit
    """,
    "stdio": """
        stdin stdout stderr remove rename tmpfile tmpnam fclose fflush fopen freopen setbuf
        setvbuf fprintf fscanf printf scanf snprintf sprintf sscanf vfprintf vfscanf vprintf
        vscanf vsnprintf vsprintf vsscanf fgetc fgets fputc fputs getc getchar gets putc putchar
        puts ungetc fread fwrite fgetpos fseek fsetpos ftell rewind clearerr feof ferror perror
    """,
    "stdlib": """
        atof atoi atol atoll strtod strtof strtold strtol strtoll strtoul strtoull rand srand
        aligned_alloc calloc free free_sized free_aligned_sized malloc realloc abort atexit
        at_quick_exit exit getenv quick_exit system bsearch qsort abs labs llabs div ldiv lldiv
        mblen mbtowc wctomb mbstowcs wcstombs strfromd strfromf strfroml memalignment
    """,
    "string": """
        memcpy memccpy memmove strcpy strncpy strdup strndup strcat strncat memcmp strcmp
        strcoll strncmp strxfrm memchr strchr strcspn strpbrk strrchr strspn strstr strtok
        memset memset_explicit strerror strlen
    """,
    "threads": """
        call_once cnd_broadcast cnd_destroy cnd_init cnd_signal cnd_timedwait cnd_wait
        mtx_destroy mtx_init mtx_lock mtx_timedlock mtx_trylock mtx_unlock thrd_create
        thrd_current thrd_detach thrd_equal thrd_exit thrd_join thrd_sleep thrd_yield tss_create
        tss_delete tss_get tss_set
    """,
    "time": """
        clock difftime mktime time timegm asctime ctime gmtime gmtime_r localtime localtime_r
        strftime timespec_get timespec_getres
    """,
    "uchar": "mbrtoc8 c8rtomb mbrtoc16 c16rtomb mbrtoc32 c32rtomb",
    "wchar": """
        fwprintf fwscanf swprintf swscanf vfwprintf vfwscanf vswprintf vswscanf vwprintf vwscanf
        wprintf wscanf fgetwc fgetws fputwc fputws fwide getwc getwchar putwc putwchar ungetwc
        wcstod wcstof wcstold wcstol wcstoll wcstoul wcstoull wcscpy wcsncpy wmemcpy wmemmove
        wcscat wcsncat wcscmp wcscoll wcsncmp wcsxfrm wmemcmp wcschr wcscspn wcspbrk wcsrchr
        wcsspn wcsstr wcstok wmemchr wcslen wmemset wcsftime btowc wctob mbsinit mbrlen mbrtowc
        wcrtomb mbsrtowcs wcsrtombs
    """,
    "wctype": "wctrans towctrans wctype iswctype",
}
_SYSTEM = """
access alarm bcmp bcopy brk bzero chdir chmod chown clock_getres clock_gettime clock_nanosleep close
connect creat dlclose dlerror dlopen dlsym dup dup2 endpwent environ execl execle execlp execv execve
execvp fchmod fcntl fdopen ffs fileno flock fork fstat fsync ftruncate getcwd getdelim getegid geteuid
getgid getline getopt getpagesize getpid getppid getpwnam getpwuid getrlimit getrusage gettimeofday
getuid index ioctl isatty kill killpg link listen lseek lstat madvise memalign mincore mkdir mkstemp
mlock mmap mprotect msync munmap munlock nanosleep nice open openat optarg opterr optind optopt pause
pclose pipe poll popen posix_memalign pread putenv pwrite random rand_r read readlink recv rename rindex
rmdir sbrk sched_getaffinity sched_setaffinity sched_yield select sem_destroy sem_init sem_post sem_wait
send setenv setgid setitimer setpgid setrlimit setsid setuid sigaction sigaddset sigaltstack sigdelset
sigemptyset sigfillset siglongjmp sigprocmask sigsetjmp sigsuspend sigwait sleep socket srandom stat
strcasecmp strncasecmp strnlen strsep strsignal strtok_r symlink sync syscall sysconf tcgetattr
tcsetattr truncate ttyname tzset umask uname unlink unsetenv usleep utime valloc vfork wait waitpid
write drand48 erand48 lrand48 srand48 j0 j1 jn y0 y1 yn signgam gamma drem finite significand
"""
_FORMS = {
    "complex": ("c{}", "c{}f", "c{}l"),
    "ctype": ("is{}", "isw{}"),
    "math": ("{}", "{}f", "{}l"),
}
_OTHERS = """
conj conjf conjl tolower toupper towlower towupper errno isnan isinf isfinite isnormal signbit fpclassify
"""
NAMES = frozenset(f"{_SYSTEM} {_OTHERS}".split()).union(
    form.format(name)
    for header, names in _C.items()
    for name in names.split()
    for form in _FORMS.get(header, ("{}",))
)
_FAMILIES = re.compile(
    r"_[A-Z_]\w*|_(?:exit|init|fini|start|end|edata|etext)|(?:pthread|omp|ompt|kmp|GOMP|GOACC)_\w+"
)


def _is_reserved(name: str) -> bool:
    """Whether the system may define this name."""
    return name in NAMES or _FAMILIES.fullmatch(name) is not None
