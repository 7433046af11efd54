"""Verifies that a proof file proves a given statement, trusting only Coq's kernel.

Three files are compiled.  The restatement is generated here.  The proof file is of unknown origin: it may
consist of definitions, lemmas and tactics only, so that it cannot read or write files, load plugins, or
change the meaning of a later file.  The third asks Coq whether the theorem of the second is the statement of
the first, and on which axioms it depends.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

from loopwright.lazy_dataclass import dataclass
from loopwright.progress import Progress, silent
from loopwright.prove.coq.check import ENOUGH, Accepted, OutOfTime, Refused, compiled, library, the_coqc
from loopwright.prove.coq.meanings import REQUIRED

SENTENCES = ("Definition", "Lemma", "Theorem", "Example")


@dataclass(frozen=True)
class Another:
    """The file proves something, but not the statement; `parts` are the definitions that differ."""

    parts: tuple[str, ...]


@dataclass(frozen=True)
class Forbidden:
    """The file has a sentence that no proof needs."""

    line: int
    sentence: str


Verification: TypeAlias = Accepted | Refused | OutOfTime | Another | Forbidden


def verify(
    proof: str,
    statement: str,
    theorem: str,
    chosen: Sequence[str],
    parts: Sequence[str],
    seconds: float = ENOUGH,
    progress: Progress = silent,
) -> Verification:
    """Verifies that `proof` proves, by this theorem, the proposition of the same name in `statement`.

    The proposition states that some definitions exist, those `chosen` by the proof file; `parts` are those on
    which it is based.
    """
    found = forbidden(proof)
    if found is not None:
        return found
    program = the_coqc()
    folder = library(progress)
    with tempfile.TemporaryDirectory() as made:
        command = [program, "-q", "-noglob", "-Q", str(folder), "Loopwright", "-Q", ".", "Verified"]

        def answer(name: str, text: str, *, axioms: bool = False) -> Accepted | Refused | OutOfTime:
            (Path(made) / f"{name}.v").write_text(text)
            return compiled(command, made, f"{name}.v", text, seconds, progress, axioms=axioms)

        restated = answer("Statement", statement)
        if restated != Accepted():
            return restated
        proved = answer("Proof", ASKED.sub("", proof))
        if proved != Accepted():
            return proved
        compared = answer("Comparison", _comparison(theorem, chosen), axioms=True)
        if not isinstance(compared, Refused) or not compared.line:
            return compared
        return Another(tuple(_differing(parts, lambda text: answer("Parts", text))))


ASKED = re.compile(r"^Print Assumptions \w+\.$", re.MULTILINE)
"""Removed from each file: the lemma that compares them depends on the axioms of both."""


BOTH = "From Verified Require Statement Proof.\n"


def _comparison(theorem: str, chosen: Sequence[str]) -> str:
    some = ", ".join(f"Proof.{one}" for one in chosen)
    steps = f"exists {some}. repeat first [exact Proof.{theorem} | split; [reflexivity|]]"
    return f"{BOTH}Lemma verified : Statement.{theorem}.\nProof. {steps}. Qed.\nPrint Assumptions verified.\n"


def _differing(left: Sequence[str], answer: Callable[[str], Accepted | Refused | OutOfTime]) -> Iterator[str]:
    """Yields the parts that differ between the files: all are asked at once, then those after a no."""
    while left:
        match answer(_same(left)):
            case Refused(line) if 0 <= line - FIRST_PART < len(left):
                yield left[line - FIRST_PART]
                left = left[line - FIRST_PART + 1 :]
            case Accepted():
                return
            case _:
                yield from left
                return


FIRST_PART = 2
"""The line of the first part, after `BOTH`."""


def _same(parts: Sequence[str]) -> str:
    """A file with one part per line."""
    lines = [f"Definition {one} : Proof.{one} = Statement.{one} := eq_refl.\n" for one in parts]
    return f"{BOTH}{''.join(lines)}"


# -- what a proof file may consist of -----------------------------------------------------------------


def forbidden(proof: str) -> Forbidden | None:
    """Returns the first sentence that is neither a definition, a lemma nor a step of a proof.

    Commands begin with a capital letter, proof steps do not.  In a proof, braces are sentences of their own,
    separate from the text before and after them.
    """
    inside = False
    for line, sentence in sentences(proof):
        if inside and sentence == "Qed":
            inside = False
        elif inside:
            parts = [BEFORE_STEP.sub("", part) for part in re.split(r"[{}]", sentence)]
            wrong = next((part for part in parts if part[:1].isupper() or part.startswith("#")), None)
            if wrong is not None:
                return Forbidden(line, wrong)
        elif sentence == "Proof":
            inside = True
        elif not _is_harmless(sentence):
            return Forbidden(line, sentence)
    return None


BEFORE_STEP = re.compile(r"^[-+*\s]*(?:(?:[a-z]+|!|[\d\s,-]+|\[\s*[\w']+\s*\])\s*:(?!=)\s*)?")
"""Bullets, and a selector of goals: `2:`, `1, 3-4:`, `all:`, `[name]:`."""


def _is_harmless(sentence: str) -> bool:
    """Whether a sentence is allowed outside of proofs."""
    if sentence == REQUIRED or re.fullmatch(r"Print Assumptions \w+", sentence) is not None:
        return True
    return re.split(r"\W", sentence, maxsplit=1)[0] in SENTENCES


TOKEN = re.compile(r'\(\*|\*\)|"[^"]*"|\.(?=\s|\Z)|[^.(*"]+|.', re.DOTALL)


def sentences(text: str) -> Iterator[tuple[int, str]]:
    """Yields the sentences of a Coq file without comments, each with the line that it starts on.

    An unterminated string is a sentence too, which Coq rejects.
    """
    depth, found, line, start = 0, "", 1, 1
    for token in TOKEN.findall(text):
        if token == "(*":
            depth += 1
        elif token == "*)" and depth > 0:
            depth -= 1
        elif depth == 0 and token == ".":
            yield start, found.strip()
            found = ""
        elif depth == 0:
            blank = token[: len(token) - len(token.lstrip())]
            start = start if found.strip() else line + blank.count("\n")
            found += token
        line += token.count("\n")
    if found.strip():
        yield start, found.strip()
