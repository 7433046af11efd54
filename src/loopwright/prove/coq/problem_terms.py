"""Translates a problem of the verified checker and its certificates to Coq terms.

The words of a problem are read again.  The theorem is proved by computing `check` in Coq's own virtual
machine, so neither extraction nor OCaml is involved.

Certificates are Coq terms too; repeated parts are defined once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from loopwright.errors import Code, InternalError
from loopwright.lazy_dataclass import dataclass
from loopwright.loops.expressions import Relation
from loopwright.prove.coq.meanings import MEANINGS, TYPES, CheckerMeaning, text
from loopwright.prove.coq.words import read_name, read_word


@dataclass(frozen=True)
class ProblemTerms:
    """A problem as Coq terms: definitions, by name, and its meaning."""

    definitions: Mapping[str, str]
    meaning: CheckerMeaning

    def defined(self, *names: str) -> str:
        """These definitions, or all."""
        wanted = names or tuple(self.definitions)
        return "".join(f"Definition {name} : {TYPES[name]} := {self.definitions[name]}.\n" for name in wanted)


def problem_terms(problem: str) -> ProblemTerms:
    """The terms of a problem's words."""
    read = ProblemReader(iter(problem.split()))
    kind = read.word()
    if kind not in MEANINGS:
        raise InternalError(Code.INTERNAL, f"no problem begins with {kind}")
    return ProblemTerms(dict(read.definitions(kind)), MEANINGS[kind])


SPECIFICATION = "(Specification parameters known statements)"


class ProblemReader:
    """Reads the grammar of `ocaml/driver.ml`."""

    def __init__(self, words: Iterator[str]) -> None:
        self.words = words

    def definitions(self, kind: str) -> Iterator[tuple[str, str]]:
        """Yields the terms of a problem of this kind."""
        yield from self.specification()
        match kind:
            case "scan":
                yield "G", SPECIFICATION
                yield "loops", self.source()
                yield "how", self.proposal()
                return
            case "range":
                yield "G", SPECIFICATION
                sizes = f"{self.range()} {self.range()}"
                kinds = self.several(lambda: f"({self.name()}, {self.range()})")
                yield "types_of_names", f"Types {sizes} {kinds}"
                yield "text", self.name()
                return
            case "stored" | "divided" | "buffered":
                yield from self.stored()
            case _:
                yield "new_times", self.several(self.vector)
                yield "memory_use", self.several(self.use)
                yield "T", f"Change {SPECIFICATION} new_times memory_use"
        match kind:
            case "private":
                yield "copies_of_iterations", self.several(self.layer)
            case "reused":
                yield "values_of_temporaries", self.storage()
            case "buffered":
                yield "buffers_of_iterations", self.several(self.buffers)
                yield "products", self.several(self.product)
                yield "wholes", self.several(self.pair)
            case "divided":
                yield "wholes", self.several(self.pair)
        yield "original", self.source()
        if kind in ("divided", "buffered"):
            yield "choosing", self.counted()
        yield "transformed", self.source()
        yield from (("how", self.proposal()), ("how'", self.proposal()))

    def word(self) -> str:
        return read_word(self.words)

    def several(self, read: Callable[[], str]) -> str:
        count = int(self.word())
        return f"[{'; '.join(read() for _ in range(count))}]"

    def z(self) -> str:
        number = int(self.word())
        return f"({number})" if number < 0 else str(number)

    def range(self) -> str:
        return f"({self.z()}, {self.z()})"

    def positive(self) -> str:
        return f"{int(self.word())}%positive"

    def natural(self) -> str:
        return f"{int(self.word())}%nat"

    def name(self) -> str:
        return text(read_name(self.words))

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
            case "select":
                return f"(Select {self.test()} {self.expr()} {self.expr()})"
            case word:
                raise ValueError(f"{word!r} is not an expression")

    def test(self) -> str:
        match self.word():
            case "and" | "or" as word:
                return f"({word.capitalize()} {self.several(self.test)})"
            case "not":
                return f"(Not {self.test()})"
            case relation:
                return f"(Compare {Relation(relation).name} {self.expr()} {self.expr()})"

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

    def product(self) -> str:
        return f"({self.name()}, ({self.several(self.name)}, {self.several(self.place)}))"

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

    def specification(self) -> Iterator[tuple[str, str]]:
        yield "parameters", self.several(self.name)
        yield "known", self.test()
        yield "statements", self.several(self.shape)

    def place(self) -> str:
        return f"({self.name()}, {self.vector()})"

    def use(self) -> str:
        return f"Use {self.several(self.place)} {self.several(self.place)} {self.operator()}"

    def operator(self) -> str:
        return "None" if self.word() == "plain" else f"(Some {self.name()})"

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

    def stored(self) -> Iterator[tuple[str, str]]:
        """Yields the fields of `stored`, each with a name, and all of them as U."""
        yield "middle_times", self.several(self.vector)
        yield "memory_use", self.several(self.use)
        yield "new_memory_use", self.several(self.use)
        yield "copies", self.several(self.shape)
        yield "copied", self.several(self.copy)
        yield "last_times", self.several(self.vector)
        yield "replaced", self.several(self.name)
        seen = self.several(lambda: self.several(lambda: self.several(self.case)))
        yield "seen_values", seen
        yield "left_values", self.several(self.left)
        fields = "memory_use new_memory_use copies copied last_times replaced seen_values left_values"
        yield "U", f"Stored {SPECIFICATION} middle_times {fields}"

    def layer(self) -> str:
        return f"({self.natural()}, {self.storage()})"

    def buffers(self) -> str:
        return f"({self.level()}, {self.storage()})"

    def level(self) -> str:
        if self.word() == "entered":
            return f"Entered {self.natural()}"
        return f"Parts {self.several(self.level)}"

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


Part: TypeAlias = tuple[object, ...]
"""Texts, and parts that are certificates or lists of numbers: parts that may be repeated."""


def certificate_terms(words: str, name: str = "certificates") -> str:
    """Certificates as a definition of this name; repeated parts are defined before it, once."""
    read = _CertificateReader(iter(words.split()))
    found = [read.certificate() for _ in range(int(read.word()))]
    shared = _SharedParts(found)
    listed = "; ".join(shared.term(one) for one in found)
    return "".join(shared.lines) + f"Definition {name} : list certificate := [{listed}].\n"


class _SharedParts:
    """The terms of parts; repeated ones have names, with definitions in `lines`."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self.lines: list[str] = []
        self.terms: dict[Part, str] = {}
        self.counts: Counter[Part] = Counter()
        for one in parts:
            self._count(one)

    def _count(self, part: Part) -> None:
        self.counts[part] += 1
        if self.counts[part] == 1:
            for one in part:
                if isinstance(one, tuple):
                    self._count(one)

    def term(self, part: Part) -> str:
        known = self.terms.get(part)
        if known is None:
            plain = "".join(self.term(one) if isinstance(one, tuple) else str(one) for one in part)
            known = plain
            if self.counts[part] > 1:
                known = f"c{len(self.lines)}"
                self.lines.append(f"Definition {known} := {plain}.\n")
            self.terms[part] = known
        return known


class _CertificateReader(ProblemReader):
    """Reads the grammar of certificates in `ocaml/driver.ml`."""

    def combination(self) -> Part:
        return (self.several(lambda: f"({self.natural()}, {self.z()})"),)

    def certificate(self) -> Part:
        match self.word():
            case "farkas":
                return ("(Farkas ", self.combination(), ")")
            case "cut":
                return ("(Cut ", self.combination(), f" {self.positive()} ", self.certificate(), ")")
            case "split":
                term = f"({self.z()}, {self.several(self.z)})"
                return (f"(Split {term} ", self.certificate(), " ", self.certificate(), ")")
            case _:
                first = f"(Cases {self.natural()} ["
                found = [self.certificate() for _ in range(int(self.word()))]
                parts = [part for one in found for part in ("; ", one)][1:]
                return (first, *parts, "])")
