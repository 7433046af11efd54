"""The verified checker: it accepts right programs, and nothing makes it accept a wrong one."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from loopwright.emit.c import printed_loops, to_c
from loopwright.generate.context import GenerationOptions
from loopwright.generate.program import generate
from loopwright.loops.expressions import Compare, Int, Relation, Scaled, Sum, Var
from loopwright.loops.nodes import Block, Call, For, If, Node
from loopwright.loops.traverse import subprograms
from loopwright.model.schedule import LoopType, Schedule
from loopwright.progress import silent
from loopwright.prove.certificates import checker, status
from loopwright.prove.certificates.checker import Checked, NotChecked
from loopwright.prove.certificates.guides import guide
from loopwright.prove.certificates.problems import scan_problem
from loopwright.prove.certificates.status import PrintedLoops, text_problem
from loopwright.prove.coq.check import library
from loopwright.prove.obligations.timetable import timetable
from loopwright.prove.scanning.scan import prove_scan
from loopwright.prove.verdict import CHECKED, NOT_CHECKED, NOTHING, SEQUENTIAL, VERIFIED, Refuted
from tests.coq.support import agreement_file, assert_accepted, needs_coqc, proof_file, scan_status
from tests.coq.test_cli import RECTANGLE, run
from tests.coq.test_program_file import FLAT
from tests.generate.support import flat
from tests.prove.mutation import mutants

pytestmark = [
    pytest.mark.skipif(shutil.which("ocamlopt") is None, reason="ocamlopt is missing: apt install ocaml"),
    pytest.mark.usefixtures("built"),
]
KERNELS = Path(__file__).resolve().parents[2] / "kernels"
FUZZED = int(os.environ.get("LOOPWRIGHT_CERTIFICATES", "60"))
"""Wrong certificates that are tried; `make fuzz-certificates` tries a thousand."""


def problems(schedule: Schedule, node: Node) -> Iterator[str]:
    for tied in (False, True):
        yield scan_problem(timetable(schedule, node), node, tied=tied)


@pytest.mark.parametrize("name", [name for name in FLAT if name != "nothing"])
def test_right_programs_are_checked(name: str) -> None:
    schedule = flat(FLAT[name])
    node = generate(schedule)
    found = scan_status(schedule, node, 20)
    parallel = any(isinstance(one, For) and one.parallel for one in subprograms(node))
    assert (found.by, found.status) == (VERIFIED, SEQUENTIAL if parallel else CHECKED), found


HARD = {
    "equations without a unit": "{ S[i, j, k] -> [i] : i = 2 j + 1 and i = 3 k + 2 and 0 <= i <= 100 }",
    "products beyond machine integers": "[n, m] -> { S[i] -> [i] : 0 <= i <= (n - m) mod 4294967296 and "
    "(n - m) mod 4294967296 <= 20 and -2147483648 <= n, m <= 2147483647 }",
    "two divisions that agree": "[n, t] -> { S[a, b] -> [b] : (2 + a) mod 393216 = 0 and (t - b) mod 128 = 0 "
    "and 1 <= a <= n - 2 and 1 <= b <= 130 and 0 <= t <= 127 and 137 <= n <= 9223372036854775807 }",
}


@pytest.mark.parametrize("name", HARD)
def test_certificates_are_found(name: str) -> None:
    schedule = flat(HARD[name])
    assert scan_status(schedule, generate(schedule), 20).by == VERIFIED


ORDERED = {
    "ends of loops": "[n] -> { S[i] -> [2 i + 2, 0] : 1 - 27 n <= i <= 28 + n; "
    "T[i, j] -> [1 + 2 i + 2 j, j] : 1 <= j < i <= n }",
    "one iteration": "[n] -> { S[i, j] -> [2 i, j] : 0 <= i, j <= n; T[] -> [2 n - 3, 0] : n >= 5 }",
}


@pytest.mark.parametrize("name", ORDERED)
def test_calls_are_not_compared_in_pairs(name: str) -> None:
    """Where times lie between loops, or between iterations, each call is compared with them once."""
    schedule = flat(ORDERED[name])
    node = generate(schedule)
    words = set(guide(timetable(schedule, node), node))
    assert not words & {"compared", "crossed"}
    assert scan_status(schedule, node).by == VERIFIED


def test_cuts_begin_with_what_is_known_of_the_time() -> None:
    """Between A and B lies the time [c0, 4 c0, 12]; but in the loop over c1 the time begins with [c0, c1]."""
    schedule = flat(
        "{ A[i, 4 i] -> [i, 4 i, 11] : 0 <= i <= 9; B[i, 4 i + 2] -> [i, 4 i + 2, 0] : 0 <= i <= 9 }"
    )
    c0, c1 = Var("c0"), Var("c1")
    here = Scaled(4, c0)
    first = If(Compare(Relation.EQ, c1, here), Call("A", (c0, here)))
    second = If(Compare(Relation.EQ, c1, Sum((here, Int(2)))), Call("B", (c0, c1)))
    inner = For("c1", Int(0), Compare(Relation.LE, c1, Int(40)), 1, Block((first, second)))
    node = For("c0", Int(0), Compare(Relation.LE, c0, Int(9)), 1, inner)
    assert isinstance(checker.asked(scan_problem(timetable(schedule, node), node)), Checked)


ENDLESS = "[n, last] -> { S[i] -> [i, 0] : i >= 1; T[i, j] -> [i, 1 + j] : 1 <= i <= n and 0 <= j <= last }"


def test_loops_without_end_are_checked_in_all_their_beginnings() -> None:
    schedule = flat(ENDLESS)
    node = generate(schedule)
    found = scan_status(schedule, node)
    assert (found.by, found.status) == (VERIFIED, CHECKED)
    assert "of each of its beginnings" in found.detail and "`last_`" in found.detail
    assert isinstance(node, For)
    wrong = scan_status(schedule, replace(node, start=Int(2)))
    assert wrong.status == NOT_CHECKED and "does not hold" in wrong.detail
    twice = scan_status(schedule, Block((node, node)))
    assert twice.status == NOT_CHECKED and "no bound of" in twice.detail


@pytest.mark.parametrize("name", ["triangle", "fused", "stride", "tiled", "not injective", "shifted"])
def test_wrong_programs_are_not(name: str) -> None:
    """Every mutant that isl refutes, with all the proposals and certificates that can be made for it."""
    schedule = flat(FLAT[name])
    tried = 0
    for what, mutant in mutants(generate(schedule)):
        if what == "make it parallel" or not isinstance(prove_scan(schedule, mutant), Refuted):
            continue
        found = scan_status(schedule, mutant)
        assert found.status == NOT_CHECKED and found.by == "isl", (what, found)
        tried += 1
    assert tried >= 4


def test_no_certificate_makes_a_wrong_program_right() -> None:
    """A wrong program with the proposal and the certificates of the right one, numbers changed at random."""
    schedule = flat(FLAT["fused"])
    right = generate(schedule)
    problem = next(problems(schedule, right))
    given = checker.certificates(problem)
    assert isinstance(given, str)
    assert checker.checked(problem, given) == Checked(int(given.split()[0]))
    node = problem.replace("< var 'c0 var 'n", "<= var 'c0 var 'n", 1)
    wrong = problem.replace("<= var 'c0 var 'n", "< var 'c0 var 'n", 1) if node == problem else node
    assert wrong != problem
    chance = random.Random(7)
    for _ in range(FUZZED):
        answer = checker.checked(wrong, with_other_numbers(given, chance))
        assert isinstance(answer, NotChecked), answer


def test_changed_certificates_are_refused_or_still_right() -> None:
    """Of the right program, most changes are refused, and a refusal is an answer, not a failure."""
    schedule = flat(FLAT["triangle"])
    problem = next(problems(schedule, generate(schedule)))
    given = checker.certificates(problem)
    assert isinstance(given, str)
    chance = random.Random(11)
    answers = [checker.checked(problem, with_other_numbers(given, chance)) for _ in range(FUZZED)]
    assert sum(isinstance(one, NotChecked) for one in answers) > FUZZED / 2


def with_other_numbers(words: str, chance: random.Random) -> str:
    parts = words.split()
    numbers = [k for k, word in enumerate(parts) if word.lstrip("-").isdigit()]
    for k in chance.sample(numbers, min(len(numbers), chance.randint(1, 3))):
        parts[k] = str(int(parts[k]) + chance.choice([-2, -1, 1, 2]))
    return " ".join(parts)


def test_a_proof_about_nothing_says_so() -> None:
    empty = flat(FLAT["nothing"])
    assert scan_status(empty, generate(empty)).status == NOTHING
    schedule = flat("[n] -> { S[i] -> [i] : 0 <= i < n }", context="[n] -> { : n > 0 and n < 0 }")
    assert scan_status(schedule, generate(schedule)).status == NOTHING


@pytest.mark.parametrize(("is_too_large", "times"), [(True, 1), (False, 4)])
def test_what_is_too_large_is_asked_once(
    is_too_large: bool, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The text, the terms, with places of instances and without: each takes as long as the first."""
    schedule = flat("[n] -> { S[i] -> [i] : 0 <= i < n }")
    node = generate(schedule)
    asked: list[str] = []

    def answer(problem: str, seconds: float, example: dict[str, int]) -> NotChecked:
        assert example == {"n": 1}
        asked.append(problem)
        return NotChecked("no", is_too_large)

    monkeypatch.setattr(status, "asked", answer)
    assert scan_status(schedule, node, 20, printed(node)).status == NOT_CHECKED
    assert len(asked) == times


def test_the_command_line_says_who_checked(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("codegen", RECTANGLE, "--json") == 0
    said = capsys.readouterr()
    proof = json.loads(said.out)["proof"]
    assert (proof["by"], proof["status"]) == ("verified checker", "checked")
    assert "proof: checked by the verified checker" in said.err


def test_without_the_checker_the_status_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Where it is turned off people are told nothing; where it is not built, what they could have."""
    for is_off in (True, False):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        monkeypatch.setenv("LOOPWRIGHT_CHECKER", "") if is_off else monkeypatch.delenv("LOOPWRIGHT_CHECKER")
        assert run("codegen", RECTANGLE, "--json") == 0
        said = capsys.readouterr()
        proof = json.loads(said.out)["proof"]
        assert (proof["by"], proof["status"]) == ("isl", "not checked")
        assert ("loopwright doctor" in proof["detail"]) == ("loopwright doctor" in said.err) == (not is_off)
        assert bool(said.err) == (not is_off)


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("exit 1", "the checker ended with 1"),
        ("echo accepted; exit 0", "the checker ended with 0, saying: accepted"),
        ("echo accepted many", "the checker ended with 0, saying: accepted many"),
        ("kill -9 $$", "the checker ended with -9"),
    ],
)
def test_a_program_that_is_no_checker(
    script: str, said: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = tmp_path / "checker"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("LOOPWRIGHT_CHECKER", str(program))
    assert checker.asked("anything") == NotChecked(said)


@needs_coqc
def test_the_shipped_text_is_what_coq_extracts(tmp_path: Path) -> None:
    folder = library(silent)
    extraction = (folder / "Extraction.v").read_text()
    (tmp_path / "Extraction.v").write_text(extraction)
    command = ["coqc", "-q", "-noglob", "-Q", str(folder), "Loopwright", "Extraction.v"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "checker.ml").read_text() == (checker.sources() / "checker.ml").read_text()


def printed(node: Node) -> PrintedLoops:
    return PrintedLoops(to_c(node), printed_loops(node))


def test_texts_are_read_by_the_checker() -> None:
    """Every program as it is printed: what is checked is the text, which stands in the problem."""
    for name in FLAT:
        schedule = flat(FLAT[name])
        node = generate(schedule)
        found = scan_status(schedule, node, 20, printed(node))
        is_read = found.detail.endswith("of the text as it is printed")
        assert is_read != (name in ("nothing", "words of Coq")), (name, found)


TEXT = "for (int c0 = 0; c0 < n; c0 += 1)\n  S(c0);\n"
OTHER_TEXTS = {
    "the same": (TEXT, True),
    "another way to count": (TEXT.replace("c0 += 1", "++c0"), True),
    "of another type": (TEXT.replace("int", "long long"), True),
    "a comment": (TEXT.replace("S(", "/* ; */ S("), True),
    "an end that is not": (TEXT.replace("<", "<="), False),
    "another statement": (TEXT.replace("S(", "T("), False),
    "twice": (TEXT.replace("S(c0)", "{ S(c0); S(c0); }"), False),
    "an octal number": (TEXT.replace("= 0", "= 00"), False),
    "a comment that hides a line": (TEXT.replace("1)", "1) // \\"), False),
    "the last one only": (TEXT.replace("1)", "1);"), False),
    "an iterator that is a size": (TEXT.replace("int c0", "n").replace("c0", "n"), False),
    "a declaration of itself": ("int n = n + 0;\n" + TEXT, False),
    "the wrong iterator": (TEXT.replace("c0 += 1", "n += 1"), False),
    "another directive": ("#define S T\n" + TEXT, False),
    "another loop": (TEXT.replace("for", "while"), False),
}


def test_only_the_text_that_runs_the_schedule_is_accepted() -> None:
    """Whatever the proposal, which is that of the right text."""
    schedule = flat("[n] -> { S[i] -> [i] : 0 <= i < n }")
    node = generate(schedule)
    assert to_c(node) == TEXT
    for name, (text, right) in OTHER_TEXTS.items():
        answer = checker.asked(text_problem(schedule, replace(printed(node), text=text), tied=False))
        assert isinstance(answer, Checked) == right, (name, answer)


def test_a_problem_that_takes_long_to_write_is_left() -> None:
    """The finder's limit holds for what comes before it, too."""
    schedule = flat(FLAT["stride"])
    problem = partial(text_problem, schedule, printed(generate(schedule)), tied=False)
    assert isinstance(status.written(problem, 2), str)
    found = status.written(problem, 0)
    assert isinstance(found, NotChecked) and found.is_too_large


def bounded_differently(number: int) -> str:
    """Loops over ranges of their own, one after the other where they overlap."""
    names = [f"{end}{k}" for k in range(number) for end in "ab"]
    parts = (f"S{k}[i] -> [i, {k}] : a{k} <= i <= b{k}" for k in range(number))
    return f"[{', '.join(names)}] -> {{ {'; '.join(parts)} }}"


def test_the_ends_of_many_loops_are_not_compared_for_minutes() -> None:
    schedule = flat(bounded_differently(3))
    node = generate(schedule, GenerationOptions(LoopType.SEPARATE))
    assert scan_status(schedule, node).status == CHECKED


@needs_coqc
def test_coq_and_the_extracted_program_agree() -> None:
    """On the certificates, and on certificates that are wrong; of a term, or of a text."""
    files: list[str] = []
    for name in ("triangle", "stride", "division", "two arities", "several times"):
        schedule = flat(FLAT[name])
        node = generate(schedule)
        is_text = name in ("stride", "division", "several times")
        texts = (text_problem(schedule, printed(node), tied=tied) for tied in (False, True))
        tries = [
            (problem, checker.certificates(problem))
            for problem in (texts if is_text else problems(schedule, node))
        ]
        problem, given = next((one, found) for one, found in tries if isinstance(found, str))
        chance = random.Random(3)
        several = [given, *(_other_factor(given, chance) for _ in range(3))]
        answers = [isinstance(checker.checked(problem, one), Checked) for one in several]
        assert answers[0] and not all(answers)
        files += [proof_file(problem, given), agreement_file(problem, several, answers)]
    assert_accepted(files)


def _other_factor(words: str, chance: random.Random) -> str:
    """One factor of one sum changed: `farkas COUNT (SKIP FACTOR)...`."""
    parts = words.split()
    start = chance.choice([k for k, word in enumerate(parts) if word == "farkas"])
    place = start + 3 + 2 * chance.randrange(int(parts[start + 1]))
    parts[place] = str(int(parts[place]) + chance.choice([-1, 1, 2]))
    return " ".join(parts)
