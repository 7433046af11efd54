"""Diagnostic codes: a number for each kind of error, and what to know about it.

The hundreds are exit statuses: 1xx the answer is no, 2xx the input is wrong, 3xx a budget ran out, 4xx
internal.  An error may carry its `code`; otherwise its class and its message tell which it is, and the
last code of its hundred is for the rest.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from loopwright.errors import BadInput, GaveUp, Illegal, LoopwrightError


@dataclass(frozen=True)
class Code:
    """`pattern` is found in the message of every error with this code."""

    code: str
    title: str
    pattern: str
    meaning: str
    remedy: str
    example: str = ""


NO: tuple[Code, ...] = (
    Code(
        "LW101",
        "a value is read before it is written",
        r"read before it is written|read at the very time",
        "The script moves a read in front of the write that made its value (a flow dependence). The message "
        "names the smallest case: parameter values, both executions and the memory cell.",
        "Find the operation the caret is under. Often statements have to be taken apart first, so that all "
        "writes come before the reads, or the loops have to be skewed.",
        "distribute(Init, Mult)        # before: interchange(Mult, j, k) alone",
    ),
    Code(
        "LW102",
        "a value is overwritten before it is read",
        r"overwritten before it is read|overwritten at the very time",
        "The script moves a write in front of a read that needed the old value (an anti dependence).",
        "Keep the order of the two statements, or skew the loops so that the read comes first.",
    ),
    Code(
        "LW103",
        "two writes of one cell end in the wrong order",
        r"two writes of one cell|one cell is written twice",
        "Both executions write the same cell, and the one that should be last is not (an output dependence).",
        "Keep the order of the two statements.",
    ),
    Code(
        "LW104",
        "a parallel loop has iterations that depend on each other",
        r"is marked parallel, but its iterations",
        "'parallel' and 'vectorize' are promises that the iterations can run in any order. The message shows "
        "two iterations that cannot.",
        "Mark another loop ('loopwright suggest FILE' lists those that can be), or skew first. If it is a "
        "sum or a product and rounding may change, --allow-reassociation permits it.",
        "parallel(Mult, i)             # before: parallel(Mult, k)",
    ),
    Code(
        "LW105",
        "the schedule is not one-to-one",
        r"not one-to-one",
        "An 'affine' or 'isplit' of the script gives two executions the same time, or one of them none or "
        "two.",
        "Make the map reversible: every iterator has to be found again in what it maps to.",
        "affine(S, {[i, j] -> [i + j, j]})   # before: {[i, j] -> [i + j]}",
    ),
    Code(
        "LW106",
        "two programs are not equivalent",
        r"not equivalent",
        "'loopwright prove OLD NEW' found an execution that one of them has and the other has not, or has at "
        "another place in the order of those that touch the same cell.",
        "Compare the two programs at the executions the message names.",
    ),
    Code(
        "LW199",
        "the answer is no",
        r"",
        "What was asked does not hold; the message has the smallest example that shows it.",
        "Look at the witness: it is small enough to follow by hand. 'loopwright show' draws it.",
    ),
)

BAD_INPUT: tuple[Code, ...] = (
    Code(
        "LW201",
        "a file cannot be read or written",
        r"cannot be read: |cannot read this file|cannot be written|is a directory|is not a text file"
        r"|the file is empty|UTF-8|does not belong in a text file|there is no file|has no ending"
        r"|no reader for files|input itself",
        "The file is not there, may not be opened, is no text, or has an ending that says nothing.",
        "Check the path. Loopwright reads .c, .lw, .poly, .in, .st and .cloog files.",
    ),
    Code(
        "LW202",
        "no region, or a broken one",
        r"no region in this file|pragma (end)?scop|region does not end|region starts inside|before the region"
        r"|before the region ends|another number of regions|has \d+ regions",
        "Loopwright looks only at what is between '#pragma scop' and '#pragma endscop'.",
        "Put the two pragmas on lines of their own around whole loops.",
        "#pragma scop\n  for (i = 0; i < n; i++) ...\n#pragma endscop",
    ),
    Code(
        "LW203",
        "not affine",
        r"(must be|is not|not be) affine|divides by zero|a division by|product of two",
        "Bounds, conditions and subscripts have to be sums of iterators and parameters with constant "
        "factors; division and remainder by constants are fine. i * j and a[b[i]] are not affine.",
        "Give the expression a name outside the region, or keep it out of bounds and conditions.",
        "for (j = 0; j < i + 2 * n; j++)     # before: j < i * n",
    ),
    Code(
        "LW204",
        "no operation has this name",
        r"no operation is called",
        "The script names an operation that does not exist.",
        "The hint has the nearest name; docs/operations has a page on each.",
        "interchange(Mult, j, k)       # before: interchnge(Mult, j, k)",
    ),
    Code(
        "LW205",
        "no loop component has this name",
        r"no loop component|names loops of different regions|belongs to several regions",
        "A handle is a label in the C file, a statement's name (S1, S2, ... in the order of the text), or a "
        "name given by '=' earlier in the script.",
        "Put a label in front of the statement, 'Mult: C[i][j] += ...;', or see 'loopwright extract FILE'.",
    ),
    Code(
        "LW206",
        "no loop has this iterator",
        r"has the iterator",
        "The loops around a component are named by their iterators; the loops over tiles of i are called iT.",
        "The hint names the loops that are there at this point of the script.",
    ),
    Code(
        "LW207",
        "the components are not neighbours",
        r"not adjacent|overlap|does not come after|not in the body of one loop|share a loop with",
        "'realign', 'fuse', 'distribute' and 'reorder' work on components that stand next to each other.",
        "Name them in the order of the program, or move what is between them first.",
    ),
    Code(
        "LW208",
        "the loops do not fit the operation",
        r"share only|tile sizes, but|common loops|loop \d+ of a component|no skew by|tiled twice|named twice"
        r"|with itself|along itself|marked '|not as they were written|loops around them already|meant for"
        r"|one component alone|skewed tiles|do not share",
        "The operation needs loops that are not there, or that another operation holds.",
        "Look at the loops as they are at this point: 'loopwright transform --step' prints the region after "
        "each operation.",
    ),
    Code(
        "LW209",
        "wrong arguments",
        r" takes .* argument|should be here|number should be|has no meaning here|size is missing"
        r"|gives .* handle|some sizes name|several values for one",
        "The operation is known, but not with these arguments.",
        "The hint shows a right call; docs/operations has a page on each operation.",
    ),
    Code(
        "LW210",
        "a script, or a description of loops, that cannot be read",
        r"where .* should be|is missing|begins no clause|nested more than|neither a map|in a script"
        r"|of nothing|digits|in a row|after the end of the object|no statement in the file|tree ends"
        r"|chain comparisons|unknown name|never (closed|opened)",
        "The text breaks the grammar of its format at the caret.",
        "docs/formats.md has the grammar of each format, with examples.",
    ),
    Code(
        "LW211",
        "C that a region cannot hold",
        r"cannot be read|side effects|volatile|pointer|declared|is not C|nothing is preprocessed|macro"
        r"|iterator|loop has|loop does|loop is not known|unsigned|condition on data|depends on data"
        r"|changes a variable"
        r"|read after the region|gets another name|cast or a call|type or a value",
        "A region holds for-loops and ifs with affine bounds and conditions around assignments. What cannot "
        "be understood is refused rather than guessed.",
        "The hint says what to change; --pure NAME tells that a function has no side effects. "
        "docs/reading-c.md lists what is read.",
    ),
    Code(
        "LW212",
        "the program does not compile",
        r"does not compile|cannot be linked",
        "The C compiler refuses the file, before or after it was rewritten.",
        "Compile the original alone first; the message is the compiler's.",
    ),
    Code(
        "LW213",
        "an optional part is missing",
        r"pictures need|is not installed|is not here|needs a C compiler",
        "What was asked needs a program or a package that is not there.",
        "'loopwright doctor' says which parts are missing and how to get them.",
    ),
    Code(
        "LW299",
        "the input is wrong",
        r"",
        "The text given cannot be read, or has no meaning.",
        "The caret is under the place, and the hint says what to do.",
    ),
)

GAVE_UP: tuple[Code, ...] = (
    Code(
        "LW301",
        "a time limit ran out",
        r"time limit|still running|was not done after|took more than",
        "The work took longer than was allowed. This is no answer: neither yes nor no.",
        "Allow more with --timeout, or ask for less: fewer unrolled copies, smaller nests.",
    ),
    Code(
        "LW302",
        "could not decide",
        r"could not decide",
        "Whether it holds depends on something that is not known here, such as which cells a subscript b[i] "
        "touches. What is not proved is not written.",
        "State what you know of the parameters with --assume, or leave this statement where it is.",
    ),
    Code(
        "LW303",
        "no compiler",
        r"there is no .* on this machine|install gcc",
        "Compiling and timing need a C compiler.",
        "'loopwright doctor' says how to get one; --compiler names another.",
    ),
    Code(
        "LW304",
        "memory, or a size limit, ran out",
        r"memory|max-statements|statement copies|limit",
        "The program to be generated, or what is needed to prove it, is too large.",
        "Unroll and separate less, or raise the limit the hint names.",
    ),
    Code(
        "LW399",
        "gave up",
        r"",
        "The work was stopped before there was an answer.",
        "The message says by what.",
    ),
)

INTERNAL: tuple[Code, ...] = (
    Code(
        "LW401",
        "a proof about Loopwright's own work failed",
        r"should hold, and does not|misread|cannot be read back|another number of regions|cvc5 refutes",
        "Loopwright checks what it read, generated and printed, and found a mistake of its own. Nothing was "
        "written.",
        "Please report it with the input: this is what the proofs are for.",
    ),
    Code(
        "LW499",
        "an internal error",
        r"",
        "Loopwright or a library failed. This is never an answer about your program.",
        "Please report it with the input; LOOPWRIGHT_TRACEBACK=1 shows where it happened.",
    ),
)

CODES = {code.code: code for family in (NO, BAD_INPUT, GAVE_UP, INTERNAL) for code in family}


def code_of(error: LoopwrightError) -> Code:
    """What kind of error it is."""
    carried = CODES.get(error.code)
    if carried is not None:
        return carried
    match error:
        case Illegal():
            family = NO
        case BadInput():
            family = BAD_INPUT
        case GaveUp():
            family = GAVE_UP
        case _:
            family = INTERNAL
    return next(code for code in family if re.search(code.pattern, error.message))
