"""What to know about each diagnostic code: the pages of `loopwright explain CODE`."""

from __future__ import annotations

import textwrap

from loopwright.errors import Code
from loopwright.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Page:
    """One kind of error: what it means, and what to do about it."""

    code: Code
    title: str
    meaning: str
    remedy: str
    example: str = ""


NO: tuple[Page, ...] = (
    Page(
        Code.READ_TOO_EARLY,
        "a value is read before it is written",
        "The script moves a read in front of the write that made its value (a flow dependence). The message "
        "names the smallest case: parameter values, both executions and the memory cell.",
        "Find the operation the caret is under. Often statements have to be taken apart first, so that all "
        "writes come before the reads, or the loops have to be skewed.",
        "distribute(Init, Mult)        # before: interchange(Mult, j, k) alone",
    ),
    Page(
        Code.OVERWRITTEN_TOO_EARLY,
        "a value is overwritten before it is read",
        "The script moves a write in front of a read that needed the old value (an anti dependence).",
        "Keep the order of the two statements, or skew the loops so that the read comes first.",
    ),
    Page(
        Code.WRITES_SWAPPED,
        "two writes of one cell end in the wrong order",
        "Both executions write the same cell, and the one that should be last is not (an output dependence).",
        "Keep the order of the two statements.",
    ),
    Page(
        Code.NOT_PARALLEL,
        "a parallel loop has iterations that depend on each other",
        "'parallel', 'vectorize', 'block' and 'thread' are promises that the iterations can run in any "
        "order. The message shows two iterations that cannot.",
        "Mark another loop ('loopwright suggest FILE' lists those that can be, with --target cuda for a "
        "GPU), or skew first. If it is a sum or a product and rounding may change, --allow-reassociation "
        "permits it.",
        "parallel(Mult, i)             # before: parallel(Mult, k)",
    ),
    Page(
        Code.NOT_ONE_TO_ONE,
        "the schedule is not one-to-one",
        "An 'affine' or 'isplit' of the script gives two executions the same time, or one of them none or "
        "two.",
        "Make the map reversible: every iterator has to be found again in what it maps to.",
        "affine(S, {[i, j] -> [i + j, j]})   # before: {[i, j] -> [i + j]}",
    ),
    Page(
        Code.NOT_EQUIVALENT,
        "two programs are not equivalent",
        "'loopwright prove OLD NEW' ran both for small sizes, with C's arithmetic, and a cell ended up with "
        "two different values; or a pragma in NEW promises iterations that are not independent.",
        "Compare the two programs at the sizes, the cell and the operations the message names. Where they "
        "only add up in another order, --allow-reassociation lets that pass.",
    ),
    Page(
        Code.RESULTS_DIFFER,
        "two programs print different results",
        "'loopwright bench' ran the kernel as written and as transformed, and their outputs are not the "
        "same. With --allow-reassociation, or a compiler told to reassociate (-ffast-math), the last digits"
        " may differ.",
        "Run it again without options that change rounding. If it stays, please report it with the input: "
        "every step was proved.",
    ),
    Page(
        Code.WRONG_LOOPS,
        "the generated loops do not run the schedule",
        "Loopwright proves each program it generates against the schedule it was asked for, and this one is"
        " wrong at the execution the message names. Nothing was printed.",
        "Please report it with the input: this is what the proofs are for.",
    ),
    Page(
        Code.ANOTHER_THEOREM,
        "a proof file does not prove what the C files say",
        "'loopwright verify NEW.c PROOF.v' restates the theorem from the two C files. The file proves "
        "another one, is refused by coqc, contains commands that no proof needs, or NEW.c is not the text it "
        "is about.",
        "Let transform write the proof again, and give verify the same --pure and --assume; --old names the "
        "original where it has moved.",
        "loopwright verify new.c proof.v --old kernel.c",
    ),
    Page(
        Code.WRONG_VALUE,
        "a read sees another value where storage has changed",
        "'expand' and the other operations on storage let statements use other cells. Every read must see the"
        " value it saw, and what is looked at after the region must be there; the message names a read, the"
        " value it saw, and what it would see instead.",
        "Name loops around the write and the read of each value, and a variable that is not looked at"
        " after the region.",
        "expand(acc, i, j)   # acc is set and used up in each iteration of i and j",
    ),
)

BAD_INPUT: tuple[Page, ...] = (
    Page(
        Code.FILE,
        "a file cannot be read or written",
        "The file is not there, may not be opened, is not text, or has an ending that says nothing.",
        "Check the path. Loopwright reads .c, .lw, .poly, .in, .st and .cloog files.",
    ),
    Page(
        Code.REGION,
        "no region, or a broken one",
        "Loopwright looks only at what is between '#pragma scop' and '#pragma endscop'.",
        "Put the two pragmas on lines of their own around whole loops.",
        "#pragma scop\n  for (i = 0; i < n; i++) ...\n#pragma endscop",
    ),
    Page(
        Code.NOT_AFFINE,
        "not affine",
        "Bounds, conditions and subscripts have to be sums of iterators and parameters with constant "
        "factors; division and remainder by constants are fine. i * j and a[b[i]] are not affine.",
        "Give the expression a name outside the region, or keep it out of bounds and conditions.",
        "for (j = 0; j < i + 2 * n; j++)     # before: j < i * n",
    ),
    Page(
        Code.NO_OPERATION,
        "no operation has this name",
        "The script names an operation that does not exist.",
        "The hint has the nearest name; docs/operations has a page on each.",
        "interchange(Mult, j, k)       # before: interchnge(Mult, j, k)",
    ),
    Page(
        Code.NO_COMPONENT,
        "no loop component has this name",
        "A handle is a label in the C file, a statement's name (S1, S2, ... in the order of the text), or a "
        "name given by '=' earlier in the script.",
        "Put a label in front of the statement, 'Mult: C[i][j] += ...;', or see 'loopwright extract FILE'.",
    ),
    Page(
        Code.NO_ITERATOR,
        "no loop has this iterator",
        "The loops around a component are named by their iterators; the loops over tiles of i are called iT.",
        "The hint names the loops that are there at this point of the script.",
    ),
    Page(
        Code.NOT_NEIGHBOURS,
        "the components are not neighbours",
        "'realign', 'fuse', 'distribute' and 'reorder' work on components that stand next to each other.",
        "Name them in the order of the program, or move what is between them first.",
    ),
    Page(
        Code.LOOPS_DO_NOT_FIT,
        "the loops do not fit the operation",
        "The operation needs loops that are not there, or that another operation holds.",
        "Look at the loops as they are at this point: 'loopwright transform --step' prints the region after "
        "each operation.",
    ),
    Page(
        Code.ARGUMENTS,
        "wrong arguments",
        "The operation is known, but not with these arguments.",
        "The hint shows a right call; docs/operations has a page on each operation.",
    ),
    Page(
        Code.GRAMMAR,
        "a script, or a description of loops, that cannot be read",
        "The text breaks the grammar of its format at the caret.",
        "docs/formats.md has the grammar of each format, with examples.",
    ),
    Page(
        Code.REGION_TEXT,
        "C that a region cannot hold",
        "A region holds for-loops and ifs with affine bounds and conditions around assignments. What cannot "
        "be understood is refused rather than guessed.",
        "The hint says what to change; --pure NAME tells that a function has no side effects. "
        "docs/reading-c.md lists what is read.",
    ),
    Page(
        Code.DOES_NOT_COMPILE,
        "the program does not compile",
        "The C compiler refuses the file, before or after it was rewritten.",
        "Compile the original alone first; the message is the compiler's.",
    ),
    Page(
        Code.MISSING_PART,
        "an optional part is missing",
        "What was asked needs a program or a package that is not there.",
        "'loopwright doctor' says which parts are missing and how to get them.",
    ),
    Page(
        Code.OPTION,
        "wrong options",
        "What was said on the command line has no meaning, or two options exclude each other.",
        "'loopwright VERB --help' lists the options of a verb, with an example.",
        "loopwright check new.c --spec old.c -D N=100",
    ),
    Page(
        Code.MAP,
        "a map or a set that does not fit",
        "'affine' takes a function of the iterators of all loops around a component, and gives at least as "
        "many new ones; 'isplit' takes a condition on them. Every iteration needs exactly one value.",
        "The hint names the loops that are there: the map takes one iterator for each, from the outside in.",
        "affine(L, {[i, j] -> [j, i]})       # L has two loops around it",
    ),
    Page(
        Code.UNBOUNDED,
        "a loop without a first or a constant number of iterations",
        "A schedule dimension without a lower bound has no first iteration, and a loop can be unrolled as a"
        " whole only where its number of iterations is a constant.",
        "Bound the dimension in the domain, or unroll by a factor.",
        "unroll(L, i, 4)               # before: unroll(L, i)",
    ),
    Page(
        Code.TOO_LARGE,
        "a number that C cannot hold",
        "A constant of the sets is outside the 64 bits of C's 'long long'.",
        "Scale the sets down.",
    ),
    Page(
        Code.RUN,
        "a program does not run as it should",
        "A program that was to be run or timed cannot be started, fails, or prints something other than its"
        " time.",
        "Run the command of the message by hand.",
    ),
    Page(
        Code.SEGMENT,
        "what to check, or what to check it against, is missing",
        "'loopwright check' needs the original loops and the segment of the program that should compute the"
        " same. The originals are affine loops in one region; the segment has to be reached when the "
        "program runs.",
        "Mark the segment, and give the original with --spec or in a comment; docs/check.md has examples.",
        "/*@ polycheck start */ ... /*@ polycheck end */",
    ),
    Page(
        Code.ORDERS,
        "two files that are not one program in two orders",
        "'loopwright prove BEFORE.scop AFTER.scop' compares orders: both files have the same parameters and "
        "statements, AFTER may have numbers of tiles in front of its dimensions, and BEFORE orders every two "
        "instances.",
        "Give the two files a scheduler read and wrote; compare C with C.",
        "loopwright prove kernel.beforescheduling.scop kernel.afterscheduling.scop",
    ),
    Page(
        Code.PROOF_FILE,
        "this is not a proof file about a C file",
        "A proof file that 'loopwright transform --prover coq' wrote says in a comment which file and region "
        "it is about. This one does not, or names an original that is not there.",
        "Give a file that transform wrote; --old names the original.",
        "loopwright transform kernel.c script.lw --prover coq -o proof.v > new.c",
    ),
    Page(
        Code.NO_VARIABLE,
        "no variable has this name",
        "Operations on storage name a variable or an array that the region uses.",
        "The hint names those that are there, or the one that is spelt almost like this.",
    ),
    Page(
        Code.STORAGE,
        "this storage cannot be changed",
        "New storage has a type and sizes that must be known: those of the declaration of the variable, and"
        " affine bounds of the loops it is expanded along. The accesses are replaced in the text, where the"
        " variable must stand under its own name.",
        "Declare the variable by itself and with all its sizes, and change storage before loops are tiled.",
    ),
    Page(
        Code.DIRECTIVE,
        "an OpenMP directive about loops is not understood",
        "The directives tile, stripe, interchange, reverse, unroll, fuse, split and nothing, with their"
        " clauses, are read as OpenMP 6.0 defines them, and parallel for, for and simd above them. Directives"
        " need canonical loops with nothing between them, and bounds that do not depend on each other.",
        "Correct the directive, or leave it out: docs/openmp.md lists what is read.",
        "#pragma omp tile sizes(32, 32) apply(intratile: nothing, unroll partial(4))",
    ),
)

GAVE_UP: tuple[Page, ...] = (
    Page(
        Code.TIME,
        "a time limit ran out",
        "The work took longer than was allowed. This is no answer: neither yes nor no.",
        "Allow more with --timeout, or ask for less: fewer unrolled copies, smaller nests.",
    ),
    Page(
        Code.UNDECIDED,
        "could not decide",
        "Whether it holds depends on something that is not known here, such as which cells a subscript b[i] "
        "touches. What is not proved is not written.",
        "State what you know of the parameters with --assume, or leave this statement where it is.",
    ),
    Page(
        Code.NO_COMPILER,
        "no compiler",
        "Compiling and timing need a C compiler.",
        "'loopwright doctor' says how to get one; --cc names another.",
    ),
    Page(
        Code.SIZE,
        "memory, or a size limit, ran out",
        "The program to be generated, or what is needed to prove it, is too large.",
        "Unroll and separate less, or raise the limit the hint names.",
    ),
    Page(
        Code.MISSING_PROGRAM,
        "a program that was asked for is not there",
        "coqc, cvc5 and barvinok are optional, and each is needed only by what was asked.",
        "'loopwright doctor' says which parts are missing and how to get them.",
    ),
    Page(
        Code.NO_PROOF,
        "no proof can be written for Coq",
        "The loops are proved by isl, but a proof that Coq could check cannot be written for them: a time "
        "is not one formula, or coqc refuses a step.",
        "Use --prover isl or --prover cvc5, which take every program; docs/proofs.md says what Coq's proofs"
        " cover.",
    ),
    Page(
        Code.ALGORITHM,
        "this way of checking does not apply",
        "The checker has several algorithms, and the one asked for cannot handle these writers.",
        "Leave --algorithm out: the first that applies is taken.",
    ),
    Page(
        Code.SIZES_UNKNOWN,
        "the problem size cannot be determined",
        "What the program writes does not tell the values of the parameters of the original.",
        "Give them with -D.",
        "loopwright check new.c --spec old.c -D N=100 -D M=20",
    ),
    Page(
        Code.INTERRUPTED,
        "interrupted",
        "The work was stopped from outside. This is no answer: neither yes nor no.",
        "Run it again.",
    ),
    Page(
        Code.OUTPUT,
        "the output cannot be written",
        "The disk is full, or whoever reads the output went away.",
        "Write to a file with -o, on a disk with room.",
    ),
)

INTERNAL: tuple[Page, ...] = (
    Page(
        Code.OWN_MISTAKE,
        "a proof about Loopwright's own work failed",
        "Loopwright checks what it read, generated and printed, and found a mistake of its own. Nothing was "
        "written.",
        "Please report it with the input: this is what the proofs are for.",
    ),
    Page(
        Code.ISL,
        "isl failed",
        "isl, the library of integer sets below, stopped with an error. This is never an answer about your "
        "program.",
        "Please report it with the input; a smaller region or fewer tiled loops may pass.",
    ),
    Page(
        Code.CRASHED,
        "the checked program crashed or did not end",
        "'loopwright check' runs the program it checks. It crashed, or time ran out, before the segment that "
        "is checked was entered, so nothing is known about it.",
        "Run the program by itself; give what it needs with --args, and more time with --timeout.",
    ),
    Page(
        Code.INTERNAL,
        "an internal error",
        "Loopwright or a library failed. This is never an answer about your program.",
        "Please report it with the input; LOOPWRIGHT_TRACEBACK=1 shows where it happened.",
    ),
)

PAGES = {page.code: page for family in (NO, BAD_INPUT, GAVE_UP, INTERNAL) for page in family}


def text_of(page: Page) -> str:
    """The whole entry."""
    parts = [f"{page.code.value}: {page.title}", page.meaning, page.remedy]
    filled = [textwrap.fill(part, 88) for part in parts]
    if page.example:
        filled.append(textwrap.indent(page.example, "    "))
    return "\n\n".join(filled) + "\n"
