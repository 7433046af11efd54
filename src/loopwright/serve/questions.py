"""What the page asks: JSON at the edge, values from there on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from loopwright.errors import BadInput, Code

LARGEST = 200_000
"""Characters of a text; the files of the tutorial have one hundredth of it."""

FORMS = ("poly", "in", "st", "cloog", "scop")


@dataclass(frozen=True)
class TransformQuestion:
    """A C file and a script; with `order_only` the new text is not wanted."""

    c: str
    script: str
    openmp: bool = False
    reassociation: bool = False
    order_only: bool = False
    sizes: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class SuggestQuestion:
    """What could be done after the script."""

    c: str
    script: str


@dataclass(frozen=True)
class GenerateQuestion:
    """A description of a schedule in one of the forms."""

    text: str
    form: str


@dataclass(frozen=True)
class ProofQuestion:
    """The proof for Coq of a C file and a script."""

    c: str
    script: str


@dataclass(frozen=True)
class RunQuestion:
    """The file as written and as rewritten, compiled and timed; only where that was allowed."""

    c: str
    script: str
    openmp: bool = False


Question = TransformQuestion | SuggestQuestion | GenerateQuestion | ProofQuestion | RunQuestion


def question_of(data: Any) -> Question:
    """The value of a JSON object; raises `BadInput` for any other."""
    if not isinstance(data, dict):
        raise _refusal("a question must be a JSON object")
    match data.get("kind"):
        case "transform":
            flags = {name: _flag(data, name) for name in ("openmp", "reassociation", "order_only")}
            return TransformQuestion(_text(data, "c"), _text(data, "script"), **flags, sizes=_sizes(data))
        case "suggest":
            return SuggestQuestion(_text(data, "c"), _text(data, "script"))
        case "generate":
            if data.get("form") not in FORMS:
                raise _refusal(f"'form' must be one of {', '.join(FORMS)}")
            return GenerateQuestion(_text(data, "text"), data["form"])
        case "proof":
            return ProofQuestion(_text(data, "c"), _text(data, "script"))
        case "run":
            return RunQuestion(_text(data, "c"), _text(data, "script"), _flag(data, "openmp"))
        case _:
            raise _refusal("'kind' must be transform, suggest, generate, proof or run")


def _text(data: Mapping[str, Any], name: str) -> str:
    value = data.get(name, "")
    if not isinstance(value, str) or len(value) > LARGEST or any("\ud800" <= c <= "\udfff" for c in value):
        raise _refusal(f"'{name}' must be a text of at most {LARGEST} characters")
    return value


def _flag(data: Mapping[str, Any], name: str) -> bool:
    value = data.get(name, False)
    if not isinstance(value, bool):
        raise _refusal(f"'{name}' must be true or false")
    return value


def _sizes(data: Mapping[str, Any]) -> dict[str, int]:
    found = data.get("sizes") or {}
    is_right = isinstance(found, dict) and len(found) <= 40
    if not is_right or not all(type(value) is int and -64 <= value <= 64 for value in found.values()):
        raise _refusal("'sizes' must be integers from -64 to 64")
    return dict(found)


def _refusal(message: str) -> BadInput:
    return BadInput(Code.OPTION, message)
