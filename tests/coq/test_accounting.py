"""What statements touch is told to the verified checker, which compares it with the words of the text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from loopwright.generate.program import generate
from loopwright.loops.expressions import Int, Sum
from loopwright.loops.nodes import Node
from loopwright.model.program import Program
from loopwright.prove.certificates import checker, problems
from loopwright.prove.certificates.checker import Checked, NotChecked
from loopwright.prove.certificates.problems import change_problem
from loopwright.prove.certificates.specification import AllowedDifferences, touches
from loopwright.prove.coq.check import Accepted, check
from loopwright.prove.coq.words import listed, name
from loopwright.prove.obligations.cells import Cell, StatementCells, touched
from loopwright.read.c.options import ReadOptions
from loopwright.read.c.reader import read_source
from loopwright.source import Source
from loopwright.transform import to_schedule, transform
from tests.coq.support import SECONDS, agreement_file, needs_coqc

pytestmark = pytest.mark.usefixtures("built")

STATEMENTS = (
    "a[i] = b[i - 1] + m[i][2 * i + n];",
    "a[i] += b[i];",
    "k[i]++;",
    "++k[i];",
    "k[n - i] <<= 2;",
    "s = a[i] * s;",
    "t -= a[i];",
    "b[i] = f(a[i + 1], -b[i]);",
    "m[i][0] = b[i] > 0.5 ? a[i - 1] : s;",
    "a[i] = (double)k[i] * .5e1 + c * c;",
    "w[k[i]] = w[i] + t;",
)
HEAD = (
    "double f(double x, double y), fmax(double x, double y);\n"
    "void g(int n, double c, double a[restrict n], double b[restrict n], double m[restrict n][4 * n],\n"
    "       double w[restrict n], int k[restrict n], double s, double t) {\n#pragma scop\n"
)
FORGOTTEN = NotChecked("a statement of the text accesses cells that the problem does not list", is_final=True)


def region(*statements: str) -> tuple[Program, Node]:
    loop = f"for (int i = 1; i < n - 1; i++) {{\n{chr(10).join(statements)}\n}}"
    source = Source("g.c", f"{HEAD}{loop}\n#pragma endscop\n}}\n")
    (program,) = read_source(source, ReadOptions(pure=("f", "fmax")))
    return program, generate(to_schedule(transform(program, "", "s.lw")))


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Callable[[list[StatementCells]], None]:
    """Has the problems say that statements touch these cells."""

    def say(cells: list[StatementCells]) -> None:
        monkeypatch.setattr(problems, "touched", lambda program, steps=None: tuple(cells))

    return say


def faults(cells: list[StatementCells]) -> Iterator[tuple[str, list[StatementCells]]]:
    """One access of one statement is forgotten, or is one of the next cell."""
    kept = {one.array for use in cells for one in use.writes}
    for k, use in enumerate(cells):
        for is_write, several in ((False, use.reads), (True, use.writes)):
            for j, cell in enumerate(several):
                if cell.array not in kept:
                    continue
                moved = [Cell(cell.array, tuple(Sum((one, Int(1))) for one in cell.subscripts))]
                for other in ([], moved if cell.subscripts else []):
                    left = (*several[:j], *other, *several[j + 1 :])
                    fault = replace(use, writes=left) if is_write else replace(use, reads=left)
                    yield f"{use.statement} {cell} {other}", [*cells[:k], fault, *cells[k + 1 :]]


def test_each_access_that_is_forgotten_is_missed() -> None:
    program, node = region(*STATEMENTS)
    right = list(touched(program))
    assert len([use for use in right for _ in (*use.reads, *use.writes)]) > 25
    problem = change_problem(program, program, node).with_original
    answer = checker.asked(problem, 20)
    assert isinstance(answer, Checked) and answer.told == ("S8",), "of a function only what was told is known"
    given, words = problem.split(" ".join(listed(right, touches)))
    for label, cells in faults(right):
        wrong = " ".join(listed(cells, touches)).join((given, words))
        assert checker.asked(wrong, 20) == FORGOTTEN, label


def test_what_nothing_writes_may_be_read_unsaid(told: Callable[[list[StatementCells]], None]) -> None:
    program, node = region("a[i] = b[i] * c;")
    told([replace(use, reads=()) for use in touched(program)])
    assert checker.asked(change_problem(program, program, node).with_original, 20) == Checked(7)


@pytest.mark.parametrize(
    ("statement", "is_seen"),
    [
        ("s += a[i] * c;", True),
        ("s -= a[i];", True),
        ("s = s + a[i] - b[i] * c;", True),
        ("s = s * a[i] * c;", True),
        ("s = fmax(s, a[i] - 1.0);", True),
        ("s = a[i] + s;", False),
        ("s = f(a[i], c) > s ? f(a[i], c) : s;", False),
        ("s += f(a[i], c);", False),
    ],
)
def test_steps_of_reductions_are_seen(statement: str, is_seen: bool) -> None:
    """Else it is told that they are steps, and which these are."""
    program, node = region(statement)
    allowed = AllowedDifferences(combining=("S1",))
    answer = checker.asked(change_problem(program, program, node, allowed).with_original, 20)
    assert isinstance(answer, Checked) and answer.told == (() if is_seen else ("S1",))


@pytest.mark.parametrize("statement", ["s = s * c + a[i];", "s = s + (t = a[i]);", "s += s * a[i];"])
def test_other_statements_are_no_steps(statement: str, told: Callable[[list[StatementCells]], None]) -> None:
    """They read what they write: it is not believed that they only combine."""
    program, node = region(statement)
    told([
        replace(use, reads=tuple(one for one in use.reads if one.array != "s"), operator="+")
        for use in touched(program)
    ])
    answer = checker.asked(change_problem(program, program, node).with_original, 20)
    assert answer == FORGOTTEN or (isinstance(answer, Checked) and answer.told == ("S1",))


def test_a_name_is_an_iterator_in_its_loop_only(told: Callable[[list[StatementCells]], None]) -> None:
    """`t` is a variable in one loop, and the iterator of another."""
    program, node = region("a[i] = t;", "t = b[i];", "for (int t = 0; t < n; t++) m[i][t] = 0.0;")
    right = list(touched(program))
    assert checker.asked(change_problem(program, program, node).with_original, 20) == Checked(25)
    for fault in (replace(right[0], reads=()), replace(right[1], writes=())):
        told([fault if use.statement == fault.statement else use for use in right])
        assert checker.asked(change_problem(program, program, node).with_original, 20) == FORGOTTEN


UNREAD = NotChecked("the text cannot be read", is_unread=True)
TOLD = Checked(7, ("S1",))


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("a[i] = b[i];", Checked(7)),
        ("a[i] = sqrt(b[i]) + fabsf(w);", Checked(7)),
        ("double t[n], *q; a[i] = b[i];", Checked(7)),
        # iterators and sizes are what the loops say
        ("a[i] = b[i++];", UNREAD),
        ("a[i] = b[i] + ((i) = 2);", UNREAD),
        ("a[i] = b[(i)++];", UNREAD),
        ("a[i] = b[i] + --((n));", UNREAD),
        ("a[i] = g(&(n));", UNREAD),
        ("int n; a[i] = b[i];", UNREAD),
        ("int q[4], i; a[i] = b[i];", UNREAD),
        # nothing leaves the loops, and no statement is left out
        ("{ a[i] = b[i]; break; }", UNREAD),
        ("a[i] = b[i] + ({ return; 1; });", UNREAD),
        ("a[i] = b[i]; a[i] = 2;", UNREAD),
        ("", UNREAD),
        # writes that the words show, and those that they may hide
        ("a[i] = i[w] = 3;", FORGOTTEN),
        ("a[i] = w[0][i] = 3;", FORGOTTEN),
        ("a[i] = b[i] + (w<:i:>=5);", TOLD),
        ("a[i] = (w)[i] = 3;", TOLD),
        ("a[i] = g(w);", TOLD),
        ("a[i] = b[i] + g();", TOLD),
    ],
)
def test_texts_that_do_what_is_not_told(text: str, answer: Checked | NotChecked) -> None:
    """What is told of `a[i] = b[i]`, with another text: a program that reads less than there is."""
    program, node = region("a[i] = b[i];")
    given = program.region.text
    words = change_problem(program, program, node).with_original.split(name(given))
    assert checker.asked(name(given.replace("a[i] = b[i];", text)).join(words), 20) == answer


SEEN = (
    *("a[i] = b[i], w[i] = 2;", "a[i] = b[i] ? (w[i] = 1) : 0;", "a[i] = b[i] += 3;", "a[w[i] = 0] = b[i];"),
    *("a[i] = b[i] + (t/**/=/**/3);", "a[i] = b[i] + 0x1p+3 + (t=3);", "a[i] = b[i] + (double)t++;"),
    *("a[i] = b[i] + a[-1 + i];", "a[i] = b[i] + a[i - 01];", "a[i] = b[i] + a[(int)i - 1];"),
    *("a[i] = b[i] + a;", "a[i] = b[i] + a[i][0];", "double t = 3; a[i] = b[i] + t;"),
)
HIDDEN = (
    *("a[i] = ((b))[i]++;", "a[i] = ++*&b[i];", "a[i] = b[i] + (&t)[0]++;", "a[i] = b[i] + (1 ? t : s)++;"),
    *("a[i] = b[i] + s+\\\n+;", "a[i] = b[i] + (t\\\n= 3);", "a[i] = b[i] + (w??(i??) = 5);"),
    *("a[i] = b[i] + (p->x = 3);", "a[i] = b[i] + *a;", "a[i] = b[i] + (a + i)[-1];"),
    *("a[i] = b[i] + '\"' + (t=1) + '\"';", "a[i] = b[i] + (i - 1)[a];", "a[i] = b[i] //\\\n; \n;"),
)


def test_other_words_for_what_is_not_told() -> None:
    """Accesses that the words name are seen; of words that may hide one the status says that they do."""
    program, node = region("a[i] = b[i];")
    given = program.region.text
    words = change_problem(program, program, node).with_original.split(name(given))
    for text in (*SEEN, *HIDDEN):
        answer = checker.asked(name(given.replace("a[i] = b[i];", text)).join(words), 20)
        assert answer == (FORGOTTEN if text in SEEN else TOLD), text


def test_subscripts_by_other_names_are_told() -> None:
    """Of a variable of the region it is not seen what it is; the status names the statement."""
    program, node = region("int j = i + 1; a[j] = a[i] + 1.0;")
    answer = checker.asked(change_problem(program, program, node).with_original, 20)
    assert isinstance(answer, Checked) and answer.told == ("S1",)


def test_an_array_is_one_cell_everywhere_or_nowhere(told: Callable[[list[StatementCells]], None]) -> None:
    """Cells with subscripts are apart from those without: both would be no conflict."""
    program, node = region("a[i] = a[i - 1];")
    (use,) = touched(program)
    told([replace(use, reads=(Cell("a", ()),))])
    assert checker.asked(change_problem(program, program, node).with_original, 20) == FORGOTTEN


@needs_coqc
def test_coq_misses_what_is_forgotten(told: Callable[[list[StatementCells]], None]) -> None:
    """With the certificates of the problem about terms, which does not show it."""
    program, node = region("a[i] = a[i - 1] + b[i];")
    (use,) = touched(program)
    told([replace(use, reads=use.reads[1:])])
    problem = change_problem(program, program, node)
    given = checker.certificates(problem.terms, 20)
    assert isinstance(given, str)
    assert isinstance(checker.checked(problem.terms, given), Checked)
    assert isinstance(checker.checked(problem.with_original, given), NotChecked)
    assert check(agreement_file(problem.with_original, [given], [False]), SECONDS) == Accepted()
