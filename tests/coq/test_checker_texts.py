"""Texts in C that the verified checker reads itself: their loops, and what each statement is."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings

from loopwright.emit.c import to_c
from loopwright.generate.program import generate
from loopwright.loops.interpreter import execute
from loopwright.loops.nodes import Block, Call, For, If, Let, Node, Remarked
from loopwright.loops.traverse import in_sequence, with_children
from loopwright.model.annotations import Parallel
from loopwright.presburger.named import parameter_names
from loopwright.prove.certificates import checker
from loopwright.prove.certificates.checker import Checked, NotChecked
from loopwright.prove.certificates.problems import change_problem
from loopwright.prove.coq.check import Accepted, check
from loopwright.prove.coq.words import (
    Words,
    name,
    names,
    read_expr,
    read_list,
    read_name,
    read_test,
    read_word,
)
from loopwright.read.c.options import ReadOptions
from loopwright.read.c.reader import read_source
from loopwright.source import Source
from loopwright.transform import to_schedule, transform
from tests.coq.support import change_status, needs_coqc, proof_file
from tests.coq.test_checker import FUZZED
from tests.coq.test_program_file import FLAT
from tests.emit.test_compiled import programs
from tests.generate.support import flat

pytestmark = [
    pytest.mark.skipif(shutil.which("ocamlopt") is None, reason="ocamlopt is missing: apt install ocaml"),
    pytest.mark.usefixtures("built"),
]
OLD = """
void region(int n, double A[n][n + 1], double B[n][n], double *C, double s) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = n - 1; j >= 0; --j)
      S: B[i][j] = s * A[i][j + 1] + 0.5 * f(i, 2);
#pragma endscop
}
"""
SCRIPT = "interchange(S, i, j)"
NEW = """
  for (int c0 = 1 - n; c0 <= 0; c0 += 1)
    for (int c1 = 0; c1 < n; c1 += 1)
      B[c1][-c0] = s * A[c1][-c0 + 1] + 0.5 * f(c1, 2);
"""


def problem(written: str, parallel: bool = False) -> str:
    (program,) = read_source(Source("old.c", OLD), ReadOptions(pure=("f",)))
    plan = transform(program, SCRIPT, "script.lw")

    def said(node: Node) -> Node:
        inside = with_children(node, said)
        return inside.with_annotation(Parallel()) if isinstance(inside, For) and parallel else inside

    node = said(generate(to_schedule(plan)))
    found = change_problem(plan.original, plan.program, node, written=written).texts
    assert found is not None
    return found


TEXTS = {
    "the same": (NEW, True),
    "with a label": (NEW.replace("B[", "L: B["), True),
    "with a comment": (NEW.replace("B[", "/* for ( ; */ B["), True),
    "subscripts otherwise": (NEW.replace("A[c1][-c0 + 1]", "A[2 * c1 + 1 - (c1 + 1)][1 - c0]"), True),
    "a value in parentheses": (NEW.replace("f(c1", "f((c1)"), True),
    "iterators declared before": (NEW.replace("int ", ""), True),
    "braces and a declaration": (NEW.replace("B[", "{ double t; B[").replace("2);", "2); }"), True),
    "another operation": (NEW.replace("s * A", "s + A"), False),
    "another array": (NEW.replace("A[", "B["), False),
    "another cell": (NEW.replace("A[c1][-c0 + 1]", "A[c1][-c0]"), False),
    "another value": (NEW.replace("f(c1", "f(c1 + 1"), False),
    "another number": (NEW.replace("0.5", "0.25"), False),
    "another function": (NEW.replace("f(", "g("), False),
    "a name that is a size": (NEW.replace("int c1", "int n").replace("c1", "n"), False),
    "subscripts exchanged": (NEW.replace("[c1][-c0]", "[-c0][c1]"), False),
    "a statement more": (NEW + "C[0] = 0;", False),
    "a statement less": (NEW[: NEW.index("B[")] + ";", False),
    "one iteration more": (NEW.replace("c1 < n", "c1 <= n"), False),
    "one that is left out": (NEW.replace("= 0;", "= 1;"), False),
    "an iterator that is changed": (NEW.replace("f(c1", "f(c1++"), False),
    "a jump": (NEW.replace("B[", "if (s) break; B["), False),
    "an empty loop": (NEW.replace("1)\n      B", "1);\n      B"), False),
    "a loop that is shared out": (NEW.replace("  for (int c1", "#pragma omp simd\n  for (int c1"), False),
}


def test_statements_are_compared_word_by_word() -> None:
    for label, (text, right) in TEXTS.items():
        answer = checker.asked(problem(text), 20)
        assert isinstance(answer, Checked) == right, (label, answer)


TOKEN = re.compile(r"\w+|\+=|<=|[^\s\w]")
OTHERS = re.findall(r"\S+", "A B C s f n c0 c1 i j 0 1 2 if + - * < <= = ( ) [ ] ; { ++")


def test_no_other_token_is_accepted() -> None:
    """Whatever certificates can be found: each text with one token replaced is another program, or none."""
    right = problem(NEW)
    assert isinstance(checker.asked(right), Checked) and right.count(name(NEW)) == 1
    texts = [
        NEW[: token.start()] + other + NEW[token.end() :]
        for token in TOKEN.finditer(NEW)
        for other in OTHERS
        if other != token[0]
    ]
    for text in random.Random(5).sample(texts, min(FUZZED, len(texts))):
        answer = checker.asked(right.replace(name(NEW), name(text)))
        assert isinstance(answer, NotChecked), (text, answer)


DIVIDED = "for (int {0} = 0; {0} < n; {0}++) B[0][{0}] = A[({0} + 3) / 2 - 1][5 + {0} % 2];"
OTHER_QUOTIENTS = {
    "the same": (" ", " ", True),
    "in another order": ("c0 + 3", "3 + (c0 - 0)", True),
    "a sum of quotients": ("5 + c0 % 2", "c0 % 2 + 4 + 1", True),
    "another dividend": ("c0 + 3", "c0 + 4", False),
    "another divisor": ("% 2", "% 3", False),
    "a remainder for a quotient": ("/ 2", "% 2", False),
    "twice": ("5 + c0 % 2", "5 + 2 * (c0 % 2)", False),
}


def test_quotients_in_subscripts_are_compared() -> None:
    source = OLD[: OLD.index("  for")] + DIVIDED.format("i") + OLD[OLD.index("\n#pragma endscop") :]
    (program,) = read_source(Source("old.c", source), ReadOptions(pure=("f",)))
    node = generate(to_schedule(transform(program, "", "script.lw")))
    for label, (old, new, right) in OTHER_QUOTIENTS.items():
        text = DIVIDED.format("c0").replace(old, new)
        found = change_problem(program, program, node, written=text).texts
        assert found is not None
        answer = checker.asked(found, 20)
        assert isinstance(answer, Checked) == right, (label, answer)


def test_a_statement_may_have_many_subscripts() -> None:
    """The words are compared once; in twice the time for each bracket this one would not end."""
    many = " + ".join(f"A[{{0}} + {k}][{k}]" for k in range(20))
    loop = f"for (int {{0}} = 0; {{0}} < n; {{0}}++) B[0][{{0}}] = {many};"
    source = OLD[: OLD.index("  for")] + loop.format("i") + OLD[OLD.index("\n#pragma endscop") :]
    (program,) = read_source(Source("old.c", source), ReadOptions(pure=("f",)))
    node = generate(to_schedule(transform(program, "", "script.lw")))
    for text, right in ((loop.format("c0"), True), (loop.format("c0").replace("[19]", "[18]"), False)):
        found = change_problem(program, program, node, written=text).texts
        assert found is not None and isinstance(checker.asked(found), Checked) == right


def test_a_scalar_does_not_become_an_iterator() -> None:
    """The words are the same, and mean something else."""
    renamed = problem(NEW.replace("c1", "s")).replace("'c1", "'s")
    assert checker.asked(renamed, 20) == NotChecked("the text cannot be read", is_unread=True)
    assert isinstance(checker.asked(problem(NEW.replace("c1", "q")).replace("'c1", "'q"), 20), Checked)


def test_loops_with_a_pragma_are_parallel() -> None:
    """What is marked may have a pragma or none; the theorem is about any order of its iterations."""
    shared = NEW.replace("  for (int c1", "#pragma omp simd\n  for (int c1")
    for text in (NEW, shared):
        assert isinstance(checker.asked(problem(text, parallel=True), 20), Checked)
    assert isinstance(checker.asked(problem(shared.replace("pragma", "define"), parallel=True)), NotChecked)


def test_the_status_says_what_was_read() -> None:
    (program,) = read_source(Source("old.c", OLD), ReadOptions(pure=("f",)))
    plan = transform(program, SCRIPT, "script.lw")
    node = generate(to_schedule(plan))
    for text, is_read in ((NEW, True), (NEW.replace("0.5", "0.25"), False)):
        found = change_status(plan.original, plan.program, node, seconds=20, written=text)
        assert found.by == "verified checker" and ("of both texts" in found.detail) == is_read


@needs_coqc
def test_coq_agrees_on_texts() -> None:
    good, wrong = problem(NEW), problem(NEW.replace("f(c1", "f(-c1"))
    given = checker.certificates(good, 20)
    assert isinstance(given, str)
    assert check(proof_file(good, given)) == Accepted()
    assert isinstance(checker.checked(wrong, given), NotChecked)
    assert check(proof_file(wrong, given)) != Accepted()


# -- texts and terms ----------------------------------------------------------------------------------

PARAMETERS = ("n", "m", "c0", "c1")


def read_text(text: str, parameters: Sequence[str]) -> Node:
    """What the parser in Coq reads, as a program again."""
    schedule = ("scan", *names(parameters), "and", "0", "0")
    problem = " ".join((*schedule, "printed", name(text), "0", "atcall", "0", "0"))
    command = [str(checker.checker()), "read"]
    done = subprocess.run(command, input=problem, capture_output=True, text=True, check=True)
    return read_node(iter(done.stdout.split()))


def read_node(words: Words) -> Node:
    match read_word(words):
        case "call":
            statement, arguments = read_name(words), read_list(words, read_expr)
            assert not read_list(words, read_expr)
            return Call(statement, arguments)
        case "block":
            return Block(read_list(words, read_node))
        case "if":
            test, then, orelse = read_test(words), read_node(words), read_node(words)
            return If(test, then, None if orelse == Block(()) else orelse)
        case "for":
            iterator, start, test = read_name(words), read_expr(words), read_test(words)
            return For(iterator, start, test, int(read_word(words)), read_node(words))
        case "let":
            variable, value = read_name(words), read_expr(words)
            return Let(variable, value, read_node(words))
        case word:
            raise ValueError(word)


def plain(node: Node) -> Node:
    """Without remarks, which are comments."""
    return plain(node.body) if isinstance(node, Remarked) else with_children(node, plain)


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(programs())
def test_what_is_printed_is_read_as_it_was(node: Node) -> None:
    """To the parser in Coq the text of a program means what the program does."""
    again = read_text(to_c(plain(node), parameters=PARAMETERS), PARAMETERS)
    for values in ((5, -3, 2, 0), (-7, 4, 0, -1)):
        where = dict(zip(PARAMETERS, values, strict=True))
        assert list(execute(again, where)) == list(execute(plain(node), where))


def test_what_is_generated_is_read_as_it_was() -> None:
    """print(parse(print(n))) = print(n): it takes apart what the printer put together."""
    for label, relation in FLAT.items():
        schedule = flat(relation)
        space = schedule.context.get_space().align_params(schedule.domain.get_space())
        parameters = tuple(parameter_names(space))
        text = to_c(in_sequence(plain(generate(schedule))), parameters=parameters)
        if label not in ("nothing", "words of Coq"):
            assert to_c(read_text(text, parameters), parameters=parameters) == text, label
