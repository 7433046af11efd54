"""Reads the new file again, as a file of unknown origin.

Only regions with new source are read: the rest of the file must be unchanged, byte for byte, except for the
definitions of the helper macros.

The new file is also compared as the user's compiler reads it.

Equal bytes outside the regions do not imply equal meaning: a helper macro may change the expansion of a
header's macro, and a name of a new loop may be a macro of a header.  So both files are preprocessed and
compared, and the compiler must accept the new one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from loopwright.c.allocation import HEADER, Allocation, with_local_arrays
from loopwright.c.declarations import declared_name, type_text
from loopwright.c.file import CFile, c_file, includes, whole_file
from loopwright.c.guard import ADDRESS_HEADER, GuardedRegion
from loopwright.c.liveness import functions_around
from loopwright.c.regions import without_hint
from loopwright.c.syntax import Node, named_children
from loopwright.c.tokens import names_in, spelled, without_comments
from loopwright.c.typed.expansion import Definition, are_alike, definition
from loopwright.c.typed.file import typed_file
from loopwright.c.typed.options import CompilerOptions
from loopwright.c.typed.preprocess import Preprocessed, preprocess
from loopwright.c.typed.refusals import compiler_errors, is_in_block
from loopwright.emit.helpers import DEFINITIONS
from loopwright.errors import BadInput, Code, GaveUp, InternalError
from loopwright.model.program import Assumption, AssumptionKind, MemorySpace, Program
from loopwright.prove.reading.c_expressions import Unreadable
from loopwright.prove.text.guards import tokens_without_labels, unguarded
from loopwright.prove.text.text_model import outlined, unfolded
from loopwright.read.c.options import ReadOptions
from loopwright.read.c.reader import parse_c
from loopwright.source import Source, Span


class Unlike(Exception):
    """The file is not the original with new text in these regions; the message says why."""


def read_again(
    new: Source, originals: Sequence[Program], written: Sequence[Program], guarded: Collection[int] = ()
) -> tuple[tuple[Program, ...], dict[int, GuardedRegion]]:
    """The statements of the rewritten regions; the proof determines the meaning of their loops.

    `written` are the programs of the old file, `originals` the same with the storage of the new source.  If a
    region allocates storage, its fallback is the old source.  Regions under a guard, those with the numbers
    `guarded` among `written`, include it; their fallback is the old source too.
    """
    try:
        plain, guards = unguarded(new, written, guarded)
        return read_regions(plain, originals, written), guards
    except Unlike as failure:
        if isinstance(failure.__cause__, Unreadable):
            raise GaveUp(Code.UNDECIDED, f"could not decide: the new text {failure}") from failure
        raise InternalError(Code.OWN_MISTAKE, f"the new text {failure}") from failure


def read_regions(
    new: Source, originals: Sequence[Program], written: Sequence[Program] | None = None
) -> tuple[Program, ...]:
    """The same for a file of any origin; raises Unlike if it differs in other ways."""
    written = originals if written is None else written
    new, allocations = with_local_arrays(new, allocated=True)
    before = [region.place for region in written[0].file.regions]
    after = [region.place for region in c_file(new).regions]
    rewritten = [before.index(program.region) for program in written]
    if len(before) != len(after) or not _same_outside(written, new, [after[k] for k in rewritten]):
        raise Unlike("differs outside its regions")
    for number, program in zip(rewritten, written, strict=True):
        other = allocations[number].other.text if number in allocations else None
        if other is not None and spelled(other) != tokens_without_labels(program):
            raise Unlike("does something else where there is no memory")
    for number, program in zip(rewritten, written, strict=True):
        _refuse_other_counters(c_file(new).block(after[number]), program)
    programs = dict(zip(rewritten, originals, strict=True))
    try:
        outline, whole = outlined(new, programs)
        found = parse_c(outline, ReadOptions(tuple(sorted(_called(originals)))), whole)
    except BadInput as failure:
        line = failure.span.excerpt.strip() if failure.span else ""
        raise Unlike(f"cannot be read back: {failure.message}: {line}") from failure
    except Unreadable as failure:
        raise Unlike(f"cannot be read back: {failure}") from failure
    return tuple(
        _with_spaces(unfolded(found[k], new, program), allocations.get(k)) for k, program in programs.items()
    )


_COUNTERS = ("int", "long", "long long")
"""The iterator types of new loops; `prove.text` proves that they do not overflow."""


def _refuse_other_counters(block: Node, written: Program) -> None:
    """Raise if the type of an iterator is neither one of these nor its type in the old file.

    The iterator of a `while` loop is declared separately before it.  What new storage declares is not known:
    nothing has shown yet that its loops stay within their types.
    """
    known = set(_declared(written.syntax, written.file))
    of_block = _counters(block, written.file)
    other = next((one for one in of_block if one[0] not in _COUNTERS and one not in known), None)
    if other is not None:
        raise Unlike(f"counts '{other[1]}' in the type '{other[0]}'")


def _counters(block: Node, file: CFile) -> Iterator[tuple[str, str | None]]:
    """The types and names declared in loop heads, with typedef names resolved."""
    for loop in block.of_type("for_statement"):
        start = loop.child_by_field_name("initializer")
        if start is not None and start.type == "declaration":
            kind = file.declarations.resolved(type_text(start, qualifiers=True))
            names = map(declared_name, start.children_by_field_name("declarator"))
            yield from ((kind, None if one is None else one[0]) for one in names)


def _declared(block: Node, file: CFile) -> Iterator[tuple[str, str | None]]:
    """The types and names of all declarations."""
    for node in block.of_type("declaration"):
        for named in map(declared_name, node.children_by_field_name("declarator")):
            if named is not None:
                yield file.declarations.resolved(type_text(node, qualifiers=True)), named[0]


def is_parted(new: Source, written: Sequence[Program]) -> bool:
    """Whether an `if`, a loop or a label before a region applies to only a part of its new source."""
    before = [region.place for region in written[0].file.regions]
    after = [region.place for region in c_file(new).regions]
    places = ((program, before.index(program.region)) for program in written)
    for program, number in places:
        if not is_in_block(program.region, program.compiled) and number < len(after):
            parts = named_children(c_file(new).block(after[number]))
            if len(parts) > 1 or not all(map(_is_closed, parts)):
                return True
    return False


def _is_closed(statement: Node) -> bool:
    """Whether no `else` after a statement can bind to it."""
    if statement.type == "if_statement":
        other = statement.child_by_field_name("alternative")
        return other is not None and _is_closed(named_children(other)[-1])
    return statement.type == "compound_statement"


def _with_spaces(program: Program, allocation: Allocation | None) -> Program:
    """Mark allocated storage: it cannot be privatised."""
    names = [] if allocation is None else [one.name for one in allocation.arrays]
    arrays = (replace(one, space=MemorySpace.HEAP) if one.name in names else one for one in program.arrays)
    return replace(program, arrays=tuple(arrays))


def _called(programs: Sequence[Program]) -> set[str]:
    """Names that may be those of functions.

    Their purity was checked when the original was read, and the calls of the new source are proved to be
    those of the original, operation by operation.
    """
    return {name for program in programs for name in re.findall(r"([A-Za-z_]\w*)\s*\(", program.region.text)}


def _same_outside(originals: Sequence[Program], new: Source, places: Sequence[Span]) -> bool:
    old = _lines_outside(originals[0].source, [program.region for program in originals])
    return old == _lines_outside(new, places)


def _lines_outside(source: Source, places: Sequence[Span]) -> list[str]:
    text, position = "", 0
    for place in places:
        text += source.text[position : place.start]
        position = place.end
    lines = without_hint(text + source.text[position:]).splitlines(keepends=True)
    return [line for line in lines if line.strip() not in (*DEFINITIONS.values(), HEADER, ADDRESS_HEADER)]


OTHER_LINES = "code after a region uses __LINE__, whose value may change"
NULL_POINTERS = ("((void*)0)", "(void*)0", "0", "0L")
"""The definitions of `NULL` in standard headers; the source from `c.allocation` compares with it."""
_REGION = re.compile(r"(?s)#pragma scop\b.*?#pragma endscop\b")
_MARK = re.compile(r"#pragma scop\b")


def refuse_other_meaning(new: Source, written: Sequence[Program]) -> tuple[Assumption, ...]:
    """Raise if the new file differs in meaning from the old one around the regions `written`, or its compiler
    rejects it; return the remaining assumptions otherwise."""
    old, compiled = written[0].source, written[0].compiled
    if is_parted(new, written):
        message = "the new source has statements that the pragma before their region does not apply to"
        raise InternalError(Code.OWN_MISTAKE, message, span=written[0].region)
    file = typed_file(old, compiled)
    options = compiled.for_file(old.path)
    options = replace(options, arguments=(*(f"-D{name}" for name in file.assumed), *options.arguments))
    after = preprocess(new, options)
    _refuse_macros(new, after, old)
    is_same = _same_around(old, new, (preprocess(old, options), after))
    believed = () if is_same else _other_lines(old, new, options)
    is_part = file.missing or file.undeclared or file.own_errors or file.text.errors
    if not is_part and all(_is_in_function(one) for one in written):
        _refuse_errors(old, new, compiled, file.assumed)
    if file.own_errors and not file.missing:
        text, line = file.own_errors[0]
        told = f"the file compiles, though the front end says of line {line}: {text}"
        believed = (*believed, Assumption(AssumptionKind.DESCRIPTION, told))
    return believed


def _is_in_function(program: Program) -> bool:
    """Whether a region is in a function; compilers reject bare snippets."""
    return bool(functions_around(whole_file(program.source).possible, program.region))


def _refuse_macros(new: Source, text: Preprocessed, old: Source) -> None:
    """Refuse names of new loops that are macros, except for the helpers."""
    known = set(names_in(old.text))
    places = [one.start() for one in _MARK.finditer(text.text)]
    for region, at in zip(c_file(new).regions, places, strict=False):
        for name in dict.fromkeys(names_in(without_comments(region.place.text, literals=True))):
            found = None if name in known else text.definition(name, at)
            own = DEFINITIONS.get(name)
            if found is None or (name == "NULL" and _written(found) in NULL_POINTERS):
                continue
            if own is None or not are_alike(found, definition(own)):
                message = f"the new loops use the name '{name}', which is a macro of a header"
                raise GaveUp(Code.UNDECIDED, message, span=region.place)


def _written(macro: Definition) -> str:
    return "".join(word.text for word in macro.body)


def _same_around(old: Source, new: Source, texts: tuple[Preprocessed, Preprocessed]) -> bool:
    """Whether two files are the same after preprocessing, except for their regions; if the new one includes
    another header, the source of the files is compared."""
    old_top, new_top = (c_file(one).regions[0].place for one in (old, new))
    headers = (HEADER, ADDRESS_HEADER)
    added = any(includes(new, one, new_top) and not includes(old, one, old_top) for one in headers)
    before, after = (_REGION.sub(" ", _own_text(one) if added else one.text).split() for one in texts)
    return before == after


def _own_text(text: Preprocessed) -> str:
    ends = (*text.starts[1:], len(text.text))
    pieces = zip(text.starts, ends, text.lines, strict=True)
    return " ".join(text.text[start:end] for start, end, line in pieces if line)


def _other_lines(old: Source, new: Source, options: CompilerOptions) -> tuple[Assumption, ...]:
    """Return that only line numbers differ; raises if more does."""
    numbered = replace(options, arguments=("-D__LINE__=0", *options.arguments))
    texts = (preprocess(old, numbered), preprocess(new, numbered))
    tests = [line.argument for line in c_file(old).directives if line.name in ("if", "elif")]
    tested = any("__LINE__" in one for one in tests)
    if tested or not _same_around(old, new, texts):
        message = "code outside the regions would change its meaning, because a macro changes there"
        raise GaveUp(Code.UNDECIDED, message, span=c_file(old).regions[0].place)
    return (Assumption(AssumptionKind.DESCRIPTION, OTHER_LINES),)


def _refuse_errors(old: Source, new: Source, compiled: CompilerOptions, assumed: Sequence[str]) -> None:
    """Refuse errors of the user's compiler: the front end is a different one, and ignores pragmas."""
    own = compiler_errors(old, compiled, assumed)
    if own:
        place = old.at(old.offset(own[0].line, 1))
        hint = "give the compiler options of the file, or set CC to another compiler"
        raise BadInput(Code.DOES_NOT_COMPILE, f"this file does not compile: {own[0]}", span=place, hint=hint)
    errors = compiler_errors(new, compiled, assumed)
    if not errors:
        return
    _refuse_clash(old, new, compiled, assumed)
    place = c_file(old).regions[0].place
    raise GaveUp(Code.UNDECIDED, f"the new source does not compile: {errors[0]}", span=place)


def _refuse_clash(old: Source, new: Source, compiled: CompilerOptions, assumed: Sequence[str]) -> None:
    """Refuse a file that declares a name of a header otherwise which the new source includes."""
    for header in (HEADER, ADDRESS_HEADER):
        if header not in new.text or header in old.text:
            continue
        with_header = replace(old, text=f"{header}\n{old.text}")
        clash = next(iter(compiler_errors(with_header, compiled, assumed)), None)
        if clash is not None and clash.line > 1:
            message = f"the new source needs {header}, which this file contradicts: {clash.text}"
            place, hint = old.at(old.offset(clash.line - 1, 1)), "give it another name in the file"
            raise GaveUp(Code.UNDECIDED, message, span=place, hint=hint)
