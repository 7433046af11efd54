"""The meaning of the verified checker's yes as a theorem in a Coq file, by the kind of the problem, and how
such a file is written: strings, comments, lines that fit on a screen."""

from __future__ import annotations

import re

from loopwright.lazy_dataclass import dataclass

REQUIRED = "From Loopwright Require Import Library"
"""What a file imports."""


@dataclass(frozen=True)
class CheckerMeaning:
    """The meaning of the checker's yes to one kind of problem."""

    name: str
    """The name of the theorem in a file."""
    function: str
    """The checker's function, which takes the certificates last."""
    lemma: str
    """The library's theorem about this function."""
    arguments: str
    """The arguments of both, in terms of the definitions, without the certificates."""
    theorem: str


def _of_texts(name: str, lemma: str, function: str, more: str, claim: str) -> CheckerMeaning:
    arguments = f"T {more}original transformed how how'"
    theorem = f"for_texts T original transformed\n  (fun e => {claim} e)"
    return CheckerMeaning(name, function, lemma, arguments, theorem)


def _of_storage(lemma: str, function: str, before: str, claim: str) -> CheckerMeaning:
    uses = "(fun uses => uses)" if function == "check_text_stored" else "everywhere"
    theorem = f"for_stored {uses} U original transformed ({claim})"
    return CheckerMeaning("same_values", function, lemma, f"U {before} transformed how how'", theorem)


MEANINGS = {
    "scan": CheckerMeaning(
        "loops_correct",
        "check_text",
        "check_text_implements",
        "G loops how",
        "exists n, given parameters loops = Some n /\\ implements_as_text (meant G) n",
    ),
    "change": _of_texts(
        "same_memory", "text_same_memory", "check_text_change", "", "texts_the_same (stated T e)"
    ),
    "private": _of_texts(
        "same_memory_privately",
        "text_same_privately",
        "check_text_private",
        "copies_of_iterations ",
        "texts_the_same_privately (stated T e) (layers_of T copies_of_iterations e)",
    ),
    "reused": _of_texts(
        "same_memory_but_temporaries",
        "text_same_but",
        "check_text_reused",
        "values_of_temporaries ",
        "texts_the_same_but (stated T e) (is_temporary values_of_temporaries)",
    ),
    "stored": _of_storage("text_same_values", "check_text_stored", "original", "texts_the_same_values U"),
    "divided": _of_storage(
        "divided_same_values", "check_divided", "wholes original choosing", "texts_the_same_divided U wholes"
    ),
    "buffered": _of_storage(
        "buffered_same_values",
        "check_buffered",
        "buffers_of_iterations products wholes original choosing",
        "texts_the_same_buffered U buffers_of_iterations products wholes",
    ),
    "range": CheckerMeaning(
        "values_in_range",
        "check_range",
        "check_range_runs",
        "G types_of_names text",
        "exists n, with_subscripts parameters text = Some n /\\\n"
        "  forall p, context (meant G) p ->\n"
        "  forall t, runs (environment (meant G) p) (lowered n) t ->\n"
        "  runs_in_range types_of_names (environment (meant G) p) (lowered n) t",
    ),
}
"""The meaning of each kind of problem, which is its first word."""


TYPES = {
    "parameters": "list string",
    "known": "test",
    "statements": "list shape",
    "G": "specification",
    "loops": "source",
    "new_times": "list (list expr)",
    "memory_use": "list use",
    "T": "change",
    "copies_of_iterations": "list (nat * storage)",
    "values_of_temporaries": "storage",
    "original": "source",
    "transformed": "source",
    "how": "proposal",
    "how'": "proposal",
    "middle_times": "list (list expr)",
    "new_memory_use": "list use",
    "copies": "list shape",
    "copied": "list copy",
    "last_times": "list (list expr)",
    "replaced": "list string",
    "seen_values": "list (list cases)",
    "left_values": "list leaving",
    "U": "stored",
    "buffers_of_iterations": "list layered",
    "products": "list product",
    "wholes": "list (string * string)",
    "choosing": "counted",
    "types_of_names": "types",
    "text": "string",
}
"""The types of the definitions in a file."""


def theorem_text(meaning: CheckerMeaning) -> str:
    """The theorem, which follows from the definitions and `certificates`."""
    return (
        f"Theorem {meaning.name} : {meaning.theorem}.\n"
        f"Proof. apply ({meaning.lemma} {meaning.arguments} certificates). "
        "vm_cast_no_check (@eq_refl bool true). Qed.\n\n"
        f"Print Assumptions {meaning.name}.\n"
    )


def text(name: str) -> str:
    """A Coq string."""
    return '"' + name.replace('"', '""') + '"'


def comment(words: str) -> str:
    """Replaces what could end a comment, begin another, or open a string."""
    return words.replace('"', "'").replace("(*", "( *").replace("*)", "* )")


# -- lines ----------------------------------------------------------------------------------------------


WIDTH = 100
WORD = re.compile(r'(?:"[^"]*"|[^" ])+')
"""Units that are not broken: strings, and text without spaces."""


def laid_out(text: str) -> str:
    """The same file with long lines of code broken; comments and strings of several lines are unchanged."""
    found: list[str] = []
    commented = quoted = False
    for line in text.split("\n"):
        commented = commented or (line.startswith("(*") and not quoted)
        opened = line.count('"') % 2 == 1 and not commented
        kept = commented or quoted or opened or len(line) <= WIDTH
        found += [line] if kept else _broken(line)
        quoted = quoted != opened
        commented = commented and not line.endswith("*)")
    return "\n".join(found).rstrip("\n") + "\n"


def _broken(line: str) -> list[str]:
    """A line broken between words, as late as possible; all but the first line are indented."""
    found: list[str] = []
    here = ""
    for word in WORD.findall(line):
        if here and len(here) + 1 + len(word) > WIDTH:
            found.append(here)
            here = f"    {word}"
        else:
            here = f"{here} {word}" if here else word
    return [*found, here]
