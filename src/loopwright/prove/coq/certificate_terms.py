"""Certificates as terms of Coq; what stands in several places is defined once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TypeAlias

from loopwright.prove.coq.problem_terms import ProblemReader

Part: TypeAlias = tuple[object, ...]
"""Texts, and parts that are certificates or lists of numbers: what may stand in several places."""


def certificate_terms(words: str, name: str = "certificates") -> str:
    """Certificates as a definition of this name; what stands in several places is defined before, once."""
    read = _CertificateReader(iter(words.split()))
    found = [read.certificate() for _ in range(int(read.word()))]
    shared = _SharedParts(found)
    listed = "; ".join(shared.term(one) for one in found)
    return "".join(shared.lines) + f"Definition {name} : list certificate := [{listed}].\n"


class _SharedParts:
    """Terms of parts; those with several occurrences have names, whose definitions are `lines`."""

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
    """The grammar of certificates in `ocaml/driver.ml`."""

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
