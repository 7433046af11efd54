"""Whether a function computes what its original computes, by operations of any kind in any storage.

Both programs are compiled with numbers that are codes of terms (`runtime/terms.h`), and run: where the
function starts, the variables of the file get terms of their own, and where it ends they must have the terms
that they have in the original.  The control of the run is that of all data, since a decision by the value of
a number is seen: the text shows that the program looks at numbers in no other way.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from loopwright.c.declarations import declared_name, type_text
from loopwright.c.syntax import Node, field
from loopwright.c.tokens import names_in
from loopwright.check.original.specification import specification
from loopwright.check.program.doubts import unseen_in
from loopwright.check.program.reachable import ReachedCode, reached
from loopwright.check.program.segment import Segment
from loopwright.check.run.execute import Ended, Toolchain, compile_only, run_program, workspace
from loopwright.check.run.report import Answer, Report
from loopwright.check.run.undefined import is_clean
from loopwright.check.runtime import TERMS, runtime_text
from loopwright.check.values.functions import FunctionPair, paired
from loopwright.errors import BadInput, GaveUp
from loopwright.lazy_dataclass import dataclass
from loopwright.model.program import Parameter, Program
from loopwright.read.c.options import ReadOptions
from loopwright.read.c.reader import read_c
from loopwright.source import Source, Span

_COMPILER = "g++"
_OPTIONS = (
    *("-std=gnu++17", "-O1", "-w", "-fpermissive", "-fno-operator-names"),
    "-ftrivial-auto-var-init=pattern",
)
_SEEDS = ("1", "7919")
_SECONDS = 20.0
"""For each run."""
_FUNCTIONS = """
sqrt cbrt fabs exp exp2 log log2 log10 sin cos tan asin acos atan sinh cosh tanh floor ceil trunc round
pow fmax fmin fmod atan2 hypot
"""
_MATHEMATICS = {name + end for name in _FUNCTIONS.split() for end in ("", "f")}
_MEMORY = {"memcpy", "memmove", "memset", "malloc", "calloc", "aligned_alloc", "free"}
_KEYWORDS = {
    *("if", "for", "while", "switch", "do", "else", "return", "sizeof", "case", "goto"),
    *("double", "float", "int", "long", "short", "unsigned", "signed", "char", "void", "const", "static"),
}
_TYPES = frozenset(
    ("double", "float", "int", "long", "short", "unsigned", "signed", "char", "const", "size_t")
)
_REFUSED = {
    *("union", "asm", "__asm", "__asm__", "_Pragma", "__attribute__", "_Generic", "setjmp", "_Complex"),
    *("__cplusplus", "__LINE__", "__FILE__", "__func__", "__COUNTER__", "volatile", "_Atomic", "alloca"),
}
_CALLED = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
_PRAGMA = re.compile(r"^\s*#\s*pragma\b(.*)$", re.MULTILINE)
_HARMLESS = re.compile(r"\s*(scop|endscop|(GCC\s+)?unroll\b.*)\s*")
_INTEGERS = r"(unsigned|signed|int|long|short|char|size_t|\w*int\w*_t)"
_BYTES = re.compile(rf"\bvoid\s*\*|\(\s*(const\s+)?{_INTEGERS}\b[\w\s]*\*")
"""Pointers that any object can be seen through."""


_SIZE = re.compile(r"\bsizeof\b(?:\s*\(\s*([A-Za-z_][\w\s*]*)\)|\s+([A-Za-z_]\w*))?")
"""With its operand, where that is a type or a name: 'a' and 1 == 1 have other types in C++."""
_COPIES = re.compile(r"\bmem(set|cpy|move)\s*\(")


def may_be_valid(report: Report, reading: ReadOptions) -> bool:
    """Whether the program of a report that is not "valid" may compute the same in another way.

    It may, if it has operations that the original lacks, or if more than the segment was chosen.
    """
    if report.answer is not Answer.VIOLATION:
        return report.answer is Answer.GAVE_UP
    other = any(not site.candidates for site in report.sites)
    return other or bool(reading.choice.functions) or _COPIES.search(report.source.text) is not None


def compared_by_terms(
    source: Source, spec: str | Path, reading: ReadOptions, tools: Toolchain
) -> Report | None:
    """`same_terms` with the original of a file."""
    try:
        originals = read_c(spec, reading)
    except BadInput:  # the first error says what is wrong
        return None
    return same_terms(originals[0], source, tools, reading.pure) if len(originals) == 1 else None


def same_terms(original: Program, new: Source, tools: Toolchain, pure: Sequence[str]) -> Report | None:
    """The report that the function computes what the original computes; None where that is not shown."""
    if shutil.which(_COMPILER) is None or tools.openmp:
        return None
    pair = paired(original.region, new)
    if pair is None or not _is_followed(pair):
        return None
    try:
        known = _known(original, pair.new, pure)
        visible = {*pair.variables, *_parameters(pair.old)}
        data = [one.name for one in original.arrays if one.name in visible]
        first = _run(pair.old, pair.variables, tools, original.parameters, data)
        second = _run(pair.new, pair.variables, tools, forgotten=(pair.extra, pair.lasting))
        if first is None or second != replace(first, sizes=()):
            return None
        if unseen_in(known) is not None or not is_clean(known, tools):
            return None
        spec = specification(original, dict(first.sizes))
    except (BadInput, GaveUp):
        return None
    because = "the program has other operations than the original, and computes the same values by them"
    notes = ("'restrict' is believed",) if "restrict" in names_in(pair.reached) else ()
    entries = len(first.states) // (2 * len(_SEEDS))
    if entries > 1:
        notes = (*notes, f"the function was entered {entries} times")
    return Report(Answer.VALID, spec, (), new, "terms", because, None, notes=notes, by_values=True)


def _is_followed(pair: FunctionPair) -> bool:
    """Whether numbers are used by operations alone, and nothing but variables of the files changes."""
    words = {*names_in(pair.reached)}
    if words & _REFUSED or _BYTES.search(pair.reached):
        return False
    if not all(_HARMLESS.fullmatch(one) for one in _PRAGMA.findall(pair.reached)):
        return False
    sized = [names_in(one[1] or one[2] or "") for one in _SIZE.finditer(pair.reached)]
    known = _TYPES.union(pair.variables, pair.extra)
    if not all(words and known.issuperset(words) for words in sized):
        return False
    own = {*_names_of(pair.new), *re.findall(r"#\s*define\s+(\w+)", pair.reached)}
    own |= {*re.findall(r"\b(\w+)\s*\([^()]*\)\s*\{", pair.reached)}
    if not {*_CALLED.findall(pair.reached)} <= own | _MATHEMATICS | _MEMORY | _KEYWORDS:
        return False
    return _uses_what_old_uses(pair) and all(_has_plain_head(one) for one in (pair.old, pair.new))


def _uses_what_old_uses(pair: FunctionPair) -> bool:
    """Whether the new function looks at no variable that the old one leaves alone: a flag, say."""
    before, after = ({*names_in(field(one, "body").text)} for one in (pair.old, pair.new))
    return not ((pair.names & {*pair.variables} | after & {*_parameters(pair.new)}) - before)


def _names_of(function: Node) -> tuple[str, ...]:
    return (field(field(function, "declarator"), "declarator").text,)


def _has_plain_head(function: Node) -> bool:
    """Whether a function returns nothing, and takes numbers alone."""
    named = [declared_name(one) for one in _declarators(function)]
    return type_text(function, qualifiers=False) == "void" and all(
        one is not None and one[1] == 0 for one in named
    )


def _parameters(function: Node) -> list[str]:
    return [named[0] for one in _declarators(function) if (named := declared_name(one)) is not None]


def _declarators(function: Node) -> list[Node]:
    inside = field(field(function, "declarator"), "parameters").named_children
    found = [one.child_by_field_name("declarator") for one in inside if one.type == "parameter_declaration"]
    return [one for one in found if one is not None]


def _known(original: Program, function: Node, pure: Sequence[str]) -> ReachedCode:
    """The code of a function; BadInput where it cannot be read."""
    body = field(function, "body")
    place = Span(function.source, body.start + 1, body.end - 1)
    ranks = {array.name: array.rank for array in original.arrays}
    return reached(Segment(function.source, place, ()), ranks, pure)


@dataclass(frozen=True)
class _Computed:
    """The codes of all variables where the function starts and ends, in each run and each time."""

    states: tuple[str, ...]
    sizes: tuple[tuple[str, int], ...] = ()


def _run(
    function: Node,
    variables: Sequence[str],
    tools: Toolchain,
    sizes: Sequence[Parameter] = (),
    data: Sequence[str] = (),
    forgotten: tuple[Sequence[str], Sequence[Span]] = ((), ()),
) -> _Computed | None:
    """What a program computes; None where data decide or are integers, or a number is not set.

    Variables, and those with these words `static`, are `forgotten` at each call.
    """
    states: list[str] = []
    found: dict[str, int] = {}
    with workspace() as folder:
        checks = [f' lw_size("{one.name}", (long long)({one.text}));' for one in sizes]
        checks += [f" lw_data({name});" for name in data]
        checks += [f" lw_forget({name});" for name in forgotten[0]]
        text = _instrumented(function, variables, checks, forgotten[1])
        if not _compiled(text, function.source.path, tools, folder):
            return None
        limited = replace(tools, timeout=min(tools.timeout, _SECONDS))
        for seed in _SEEDS:
            given = {"LOOPWRIGHT_SEED": seed, "MALLOC_PERTURB_": "1"}
            ended = run_program(limited, folder / "program", folder, given)
            if not _has_left(ended):
                return None
            for line in ended.lines:
                if line.startswith("size "):
                    name, _, value = line.removeprefix("size ").partition("=")
                    if found.setdefault(name, int(value)) != int(value):
                        return None
                else:
                    states.append(line)
    return _Computed(tuple(states), tuple(found.items()))


def _has_left(ended: Ended) -> bool:
    """Whether the function was entered, left as often, and neither data nor unset numbers decided."""
    if ended.timed_out or ended.crashed is not None:
        return False
    entered = [line for line in ended.lines if line.startswith("enter ")]
    left = [line for line in ended.lines if line.startswith("leave ")]
    return 0 < len(entered) == len(left) and all(line.endswith(" 0 0") for line in left)


def _instrumented(
    function: Node, variables: Sequence[str], checks: Sequence[str], lasting: Sequence[Span]
) -> str:
    """The text that tells the terms of variables; what is `lasting` in it is of one call."""
    source = function.source
    start = field(function, "body").start + 1
    visited = (f' lw_visit(false, "{name}", {name});' for name in _parameters(function))
    inserted = "".join(("lw_scope lw_here;", *visited, *checks))
    edits = sorted([(start, start, inserted), *((one.start, one.end, "") for one in lasting)])
    visits = "".join(f'lw_visit(ends, "{name}", {name});' for name in variables)
    return source.edited(edits).text + f"\nstatic void lw_visit_all(bool ends) {{ {visits} }}\n"


def _compiled(text: str, path: str, tools: Toolchain, folder: Path) -> bool:
    (folder / TERMS).write_text(runtime_text(TERMS))
    (folder / "program.cc").write_text(text, "utf-8", "surrogateescape")
    around = ("-iquote", str(Path(path).resolve().parent))
    header = ("-include", str(folder / TERMS))
    given = [one for one in compile_only(tools.options) if one.startswith(("-D", "-U", "-I"))]
    files = [str(folder / "program.cc"), "-o", str(folder / "program")]
    done = replace(tools, compiler=_COMPILER).compile([*_OPTIONS, *header, *around, *given, *files, "-lm"])
    return done.returncode == 0
