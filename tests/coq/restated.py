"""A problem and its certificates as a Coq file: the second way to the checker's answer.

The words of a problem are read once more, into terms of Coq.  The file's theorem is closed by computing
`check` in Coq's own virtual machine, so that neither extraction nor OCaml has a part in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from urllib.parse import unquote

from loopwright.errors import Code, InternalError
from loopwright.lazy_dataclass import dataclass
from loopwright.prove.coq.names import text

HEAD = """\
From Coq Require Import ZArith List String.
From Loopwright Require Import Loop Linear Specification Walk Coverage Checker.
From Loopwright Require Import Changes Temporaries Reused Stored Counting Text Divided Ranges.
From Loopwright Require Import Poly Transformation Parallel Private.
Import ListNotations.
Open Scope string_scope.
Open Scope Z_scope.
"""
RELATIONS = {"==": "EQ", "!=": "NE", "<=": "LE", "<": "LT", ">=": "GE", ">": "GT"}

WAYS = {
    "change": ("check_text_change", "text_same_memory", "texts_the_same (stated T e)"),
    "private": (
        "check_text_private",
        "text_same_privately",
        "texts_the_same_privately (stated T e) (layers_of T S e)",
    ),
    "reused": ("check_text_reused", "text_same_but", "texts_the_same_but (stated T e) (is_temporary S)"),
}
"""Of problems about two programs: the function, the theorem that its yes is, and what that says of them."""


def proof_file(problem: str, certificates: str) -> str:
    """A file whose theorem is what a yes to these certificates says."""
    stated = _stated(problem)
    given = _ProblemReader(iter(certificates.split()))
    return (
        f"{HEAD}{stated.definitions}Definition certificates := {given.several(given.certificate)}.\n"
        f"Theorem correct : {stated.theorem}.\n"
        f"Proof. apply ({stated.lemma} {stated.arguments} certificates). "
        "vm_cast_no_check (@eq_refl bool true). Qed.\n"
        "Print Assumptions correct.\n"
    )


def answers_file(problem: str, several: Sequence[str]) -> str:
    """A file that computes, in Coq, the checker's answer to each of several certificates of a problem."""
    stated = _stated(problem)
    given = [_ProblemReader(iter(one.split())) for one in several]
    listed = ";\n  ".join(one.several(one.certificate) for one in given)
    return (
        f"{HEAD}{stated.definitions}Definition several : list (list certificate) := [{listed}].\n"
        f"Eval vm_compute in (map ({stated.function} {stated.arguments}) several).\n"
    )


@dataclass(frozen=True)
class _Stated:
    """A problem in terms of Coq."""

    named: Mapping[str, str]
    """The terms, by names for them; they are the arguments of what follows, in this order."""
    function: str
    """The checker's function, which takes the certificates last."""
    lemma: str
    """What its yes means."""
    theorem: str

    @property
    def definitions(self) -> str:
        return "".join(f"Definition {name} := {term}.\n" for name, term in self.named.items())

    @property
    def arguments(self) -> str:
        return " ".join(self.named)


def _stated(problem: str) -> _Stated:
    read = _ProblemReader(iter(problem.split()))
    match read.word():
        case "scan":
            named = {"G": read.specification(), "p": read.source(), "how": read.proposal()}
            theorem = "exists n, given (sizes G) p = Some n /\\ implements_as_text (meant G) n"
            return _Stated(named, "check_text", "check_text_implements", theorem)
        case kind if kind in WAYS:
            function, lemma, claim = WAYS[kind]
            named = {"T": read.change()}
            if kind == "private":
                named["S"] = read.several(read.layer)
            elif kind == "reused":
                named["S"] = read.storage()
            named |= {"p": read.source(), "p'": read.source()}
            named |= {"how": read.proposal(), "how'": read.proposal()}
            return _Stated(named, function, lemma, f"for_texts T p p' (fun e => {claim} e)")
        case "stored":
            named = {"U": read.stored(), "p": read.source(), "p'": read.source()}
            named |= {"how": read.proposal(), "how'": read.proposal()}
            theorem = (
                "exists n n', given (sizes (written U)) p = Some n /\\\n"
                "  given (sizes (written U)) p' = Some n' /\\\n"
                "  forall q, context (meant (written U)) q ->\n"
                "  texts_the_same_values U (environment (meant (written U)) q) n n'"
            )
            return _Stated(named, "check_text_stored", "text_same_values", theorem)
        case "divided":
            named = {"U": read.stored(), "r": read.several(read.pair), "p": read.source()}
            named |= {"n": read.counted(), "p'": read.source()}
            named |= {"how": read.proposal(), "how'": read.proposal()}
            theorem = (
                "exists m n', given (sizes (written U)) p = Some m /\\\n"
                "  given (sizes (written U)) p' = Some n' /\\\n"
                "  forall q, context (meant (written U)) q ->\n"
                "  texts_the_same_divided U r (environment (meant (written U)) q) m n'"
            )
            return _Stated(named, "check_divided", "divided_same_values", theorem)
        case "range":
            named = {"G": read.specification(), "narrow": read.range(), "broad": read.range()}
            named["wide"] = f"({read.several(read.name)} : list string)"
            named["text"] = f"({read.name()})%string"
            theorem = (
                "exists n, with_subscripts (sizes G) text = Some n /\\\n"
                "  forall p, context (meant G) p ->\n"
                "  forall t, runs (environment (meant G) p) (lowered n) t ->\n"
                "  runs_in_range (typed narrow broad wide) (environment (meant G) p) (lowered n) t"
            )
            return _Stated(named, "check_range", "check_range_runs", theorem)
        case other:
            raise InternalError(Code.INTERNAL, f"no problem begins with {other}")


class _ProblemReader:
    """The grammar of `ocaml/driver.ml`."""

    def __init__(self, words: Iterator[str]) -> None:
        self.words = words

    def word(self) -> str:
        return next(self.words)

    def several(self, read: Callable[[], str]) -> str:
        count = int(self.word())
        return f"[{'; '.join(read() for _ in range(count))}]"

    def z(self) -> str:
        return f"({self.word()})"

    def range(self) -> str:
        return f"({self.z()}, {self.z()})"

    def positive(self) -> str:
        return f"{self.word()}%positive"

    def natural(self) -> str:
        return f"{self.word()}%nat"

    def name(self) -> str:
        return text(unquote(self.word()[1:]))

    def expr(self) -> str:
        match self.word():
            case "int":
                return f"(Int {self.z()})"
            case "var":
                return f"(Var {self.name()})"
            case "sum" | "min" | "max" as word:
                return f"({word.capitalize()} {self.several(self.expr)})"
            case "scaled":
                return f"(Scaled {self.z()} {self.expr()})"
            case "floor" | "trunc" | "rem" as word:
                name = {"floor": "FloorDiv", "trunc": "TruncDiv", "rem": "Rem"}[word]
                return f"({name} {self.expr()} {self.positive()})"
            case _:
                return f"(Select {self.test()} {self.expr()} {self.expr()})"

    def test(self) -> str:
        match self.word():
            case "and" | "or" as word:
                return f"({word.capitalize()} {self.several(self.test)})"
            case "not":
                return f"(Not {self.test()})"
            case relation:
                return f"(Compare {RELATIONS[relation]} {self.expr()} {self.expr()})"

    def vector(self) -> str:
        return self.several(self.expr)

    def source(self) -> str:
        match self.word():
            case "term":
                return f"Term {self.counted()}"
            case "printed":
                return f"Printed {self.name()} {self.several(self.vector)}"
            case _:
                marks = self.name(), self.several(lambda: str(self.word() != "0").lower())
                return f"Region {' '.join(marks)} {self.several(self.call)}"

    def pair(self) -> str:
        return f"({self.name()}, {self.name()})"

    def call(self) -> str:
        return f"({self.name()}, {self.vector()}, {self.vector()})"

    def counted(self) -> str:
        match self.word():
            case "call":
                return f"(Calling {self.name()} {self.vector()} {self.vector()})"
            case "block":
                return f"(Sequence {self.several(self.counted)})"
            case "if":
                return f"(Choice {self.test()} {self.counted()} {self.counted()})"
            case "for":
                return f"(Counting {self.name()} {self.expr()} {self.test()} {self.z()} {self.counted()})"
            case "let":
                return f"(Naming {self.name()} {self.expr()} {self.counted()})"
            case _:
                return f"(Remark {self.name()} {self.counted()})"

    def shape(self) -> str:
        names = f"{self.name()} {self.several(self.name)} {self.several(self.name)}"
        return f"Shape {names} {self.test()} {self.vector()}"

    def specification(self) -> str:
        return f"(Specification {self.several(self.name)} {self.test()} {self.several(self.shape)})"

    def place(self) -> str:
        return f"({self.name()}, {self.vector()})"

    def use(self) -> str:
        return f"Use {self.several(self.place)} {self.several(self.place)} {self.operator()}"

    def operator(self) -> str:
        return "None" if self.word() == "plain" else f"(Some {self.name()})"

    def change(self) -> str:
        return f"(Change {self.specification()} {self.several(self.vector)} {self.several(self.use)})"

    def origin(self) -> str:
        return f"Origin {self.name()} {self.vector()} {self.natural()}"

    def storage(self) -> str:
        temporaries, tags = self.several(self.name), self.several(self.vector)
        return f"(Storage {temporaries} {tags} {self.several(lambda: self.several(self.origin))})"

    def copy(self) -> str:
        return f"Copy {self.place()} {self.place()} {self.place()}"

    def case(self) -> str:
        return f"({self.test()}, {self.seeing()})"

    def seeing(self) -> str:
        match self.word():
            case "kept":
                return "Kept"
            case "begun":
                return "Since_beginning"
            case _:
                return f"Written_by ({self.origin()})"

    def left(self) -> str:
        return f"({self.name()}, {self.several(self.name)}, {self.several(self.case)})"

    def stored(self) -> str:
        first = f"{self.specification()} {self.several(self.vector)}"
        uses = f"{self.several(self.use)} {self.several(self.use)}"
        copies = f"{self.several(self.shape)} {self.several(self.copy)} {self.several(self.vector)}"
        arrays = self.several(self.name)
        seen = self.several(lambda: self.several(lambda: self.several(self.case)))
        return f"(Stored {first} {uses} {copies} {arrays} {seen} {self.several(self.left)})"

    def layer(self) -> str:
        return f"({self.natural()}, {self.storage()})"

    def limit(self) -> str:
        return "None" if self.word() == "seen" else f"(Some {self.expr()})"

    def guide(self) -> str:
        match self.word():
            case "atcall":
                return "AtCall"
            case "into":
                return f"(Into {self.guide()})"
            case "either":
                return f"(Either_way {self.guide()} {self.guide()})"
            case "along" | "around" as word:
                return f"({word.capitalize()} {self.limit()} {self.vector()} {self.guide()})"
            case "crossed":
                return f"(Crossed {self.limit()} {self.guide()})"
            case "numbered":
                return f"(Numbered {self.several(lambda: f'({self.vector()}, {self.guide()})')})"
            case "parted":
                return f"(Parted {self.several(self.vector)} {self.several(self.guide)})"
            case _:
                return f"(Compared {self.several(self.guide)})"

    def turn(self) -> str:
        match self.word():
            case "child":
                return f"ToChild {self.natural()}"
            case "iteration":
                return f"ToIteration {self.expr()}"
            case word:
                return {"yes": "ToYes", "no": "ToNo", "inside": "ToInside"}[word]

    def proposal(self) -> str:
        guide = self.guide()
        covers = self.several(lambda: self.several(lambda: self.several(self.turn)))
        return f"(Proposal {guide} {covers} {self.several(self.vector)})"

    def combination(self) -> str:
        return self.several(lambda: f"({self.natural()}, {self.z()})")

    def certificate(self) -> str:
        match self.word():
            case "farkas":
                return f"(Farkas {self.combination()})"
            case "cut":
                return f"(Cut {self.combination()} {self.positive()} {self.certificate()})"
            case "split":
                term = f"({self.z()}, {self.several(self.z)})"
                return f"(Split {term} {self.certificate()} {self.certificate()})"
            case _:
                return f"(Linear.Cases {self.natural()} {self.several(self.certificate)})"
