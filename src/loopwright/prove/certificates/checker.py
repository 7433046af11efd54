"""Runs the verified checker: finds and builds its program, and reads its answers.

`ocaml/checker.ml` is extracted from `proofs/Checker.v`; `finder.ml` finds certificates and need not be
correct, with the numbers of `machine.ml` or of `large.ml`; `driver.ml` reads the problem.  The program is
built once, by `make checker` or by `python -m loopwright.prove.certificates.checker`, into the user's cache,
in a folder named after a hash of the sources.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import TypeAlias

from loopwright.errors import Code, GaveUp, InternalError
from loopwright.lazy_dataclass import dataclass
from loopwright.prove.coq.check import cache_folder, made_folder
from loopwright.prove.coq.words import read_list, read_name

SOURCES = ("checker.ml", "machine.ml", "large.ml", "finder.ml", "driver.ml")
MODULES = {
    "checker": ("checker.ml", ()),
    "machine": ("machine.ml", ()),
    "large": ("large.ml", ()),
    "finder": ("finder.ml", ("Checker", "Machine")),
    "finder_large": ("finder.ml", ("Checker", "Large")),
    "driver": ("driver.ml", ()),
}
"""Each module, its source, and what it opens: the finder is compiled for both kinds of numbers."""
BUILD = "'loopwright doctor' says how to get it"
ENOUGH = 2.0
"""The default limit for finding certificates, in seconds of processor time."""
BUFFERS_TAKE = 6
"""The factor on the limit for buffers of blocks and of products, for which isl takes longer, too."""
LARGE = 20_000
"""Words of a problem for which that limit suffices; it grows in proportion for longer ones."""
STUCK = 30
"""The factor between wall-clock and processor time allowed on a busy machine."""


@dataclass(frozen=True)
class Checked:
    """The verified function accepted, with this number of conditions."""

    conditions: int
    told: tuple[str, ...] = ()
    """Statements whose accesses the source does not show."""


@dataclass(frozen=True)
class NotChecked:
    """The checker did not accept, and why."""

    reason: str
    is_too_large: bool = False
    """Whether the same problem in another form would take as long."""
    is_unread: bool = False
    """Whether a source uses constructs that it cannot read."""
    is_final: bool = False
    """Whether the source shows that the problem is wrong in any form."""


Answer: TypeAlias = Checked | NotChecked


def sources() -> Path:
    return Path(str(resources.files("loopwright") / "prove" / "certificates" / "ocaml"))


def checker() -> Path | None:
    """The path of the program: LOOPWRIGHT_CHECKER, or None if that is empty, or the one that was built."""
    given = os.environ.get("LOOPWRIGHT_CHECKER")
    if given is not None:
        return Path(given) if given else None
    built = _place()
    return built if built.is_file() else None


def is_turned_off() -> bool:
    """Whether the user turned the checker off: then it is not mentioned."""
    return os.environ.get("LOOPWRIGHT_CHECKER") == ""


def _place() -> Path:
    digest = hashlib.sha256(b"\0".join((sources() / name).read_bytes() for name in SOURCES))
    return cache_folder() / f"checker-{digest.hexdigest()[:16]}" / "checker"


def build(target: Path | None = None) -> Path:
    """Compiles the program, completely or not at all."""
    compiler = shutil.which("ocamlopt")
    if compiler is None:
        raise GaveUp(Code.MISSING_PROGRAM, "ocamlopt is not installed", hint="apt install ocaml")
    place = target or _place()
    made_folder(place.parent)
    with tempfile.TemporaryDirectory(dir=place.parent) as made:
        for module, (source, opened) in MODULES.items():
            shutil.copy(sources() / source, Path(made) / f"{module}.ml")
            options = [word for one in opened for word in ("-open", one)]
            _compile([compiler, "-w", "-a", "-inline", "60", "-c", *options, f"{module}.ml"], made)
        _compile([compiler, *(f"{module}.cmx" for module in MODULES), "-o", "checker"], made)
        os.replace(Path(made) / "checker", place)
    return place


def _compile(command: list[str], folder: str) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise InternalError(Code.INTERNAL, f"the checker does not compile: {done.stderr.strip()[-400:]}")


def asked(problem: str, seconds: float = ENOUGH, example: Mapping[str, int] | None = None) -> Answer:
    """Finds and checks certificates for the problem, which must allow the sizes of an example."""
    found = _run("prove", problem, seconds, [] if example is None else _sizes(problem, example))
    return found if isinstance(found, NotChecked) else _answer(found.returncode, found.stdout.split())


def _sizes(problem: str, example: Mapping[str, int]) -> list[str]:
    """The sizes in the order of the problem's parameters; those not in the example are arbitrary."""
    _, words = problem.split(maxsplit=1)
    return [str(example.get(one, 0)) for one in read_list(iter(words.split(" ")), read_name)]


def certificates(problem: str, seconds: float = ENOUGH) -> str | NotChecked:
    """Finds certificates for the problem, as words that can be kept and checked again."""
    found = _run("find", problem, seconds)
    if isinstance(found, NotChecked):
        return found
    if found.returncode == 0:
        return found.stdout.strip()
    answer = _answer(found.returncode, found.stdout.split())
    assert isinstance(answer, NotChecked)
    return answer


def checked(problem: str, given: str) -> Answer:
    """Checks certificates that were found before, or elsewhere."""
    found = _run("check", f"{problem} {given}", ENOUGH)
    return found if isinstance(found, NotChecked) else _answer(found.returncode, found.stdout.split())


def _run(
    what: str, words: str, seconds: float, sizes: Sequence[str] = ()
) -> subprocess.CompletedProcess[str] | NotChecked:
    program = checker()
    if program is None:
        return NotChecked(f"the checker is not built; {BUILD}")
    if words.startswith("buffered "):
        seconds *= BUFFERS_TAKE
    seconds *= max(1, words.count(" ") / LARGE)
    command = [str(program), what, f"{seconds:g}", *sizes]
    try:
        return subprocess.run(
            command,
            input=words,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=STUCK * seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return NotChecked(f"it did not end within {STUCK * seconds:g} s")
    except OSError as error:
        return NotChecked(f"{program} cannot be run: {error.strerror}")


def _answer(status: int, words: list[str]) -> Answer:
    match status, words:
        case 0, ["accepted", count, *told] if re.fullmatch("[0-9]{1,18}", count):
            return Checked(int(count), tuple(read_name(iter([one])) for one in told))
        case 1, ["open", number, "unknown"]:
            return NotChecked(f"no certificate was found for condition {number}")
        case 1, ["open", number, "solution", *_]:
            return NotChecked(f"condition {number} does not hold as it was proposed")
        case 1, ["spent"]:
            return NotChecked("its conditions take too much time or memory", is_too_large=True)
        case 1, ["unread"]:
            return NotChecked("the text cannot be read", is_unread=True)
        case 1, ["forgotten"]:
            return NotChecked(
                "a statement of the text accesses cells that the problem does not list", is_final=True
            )
        case 1, ["nothing"]:
            return NotChecked("what the problem states of the parameters is false at sizes that are allowed")
        case 1, ["refused"]:
            return NotChecked("the certificates were refused")
        case 2, []:
            return NotChecked("the checker ran out of memory", is_too_large=True)
        case 2, ["malformed", *what]:
            return NotChecked(f"the problem is malformed: {' '.join(what)}")
        case _:
            said = f", saying: {' '.join(words)[:200]}" if words else ""
            return NotChecked(f"the checker ended with {status}{said}")


if __name__ == "__main__":
    try:
        print(f"built {build()}")
    except GaveUp as failure:
        print(f"{failure.message}: {failure.hint}", file=sys.stderr)
        sys.exit(1)
