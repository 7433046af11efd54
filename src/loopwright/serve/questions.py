"""The questions of the page, parsed from JSON to values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from loopwright.errors import BadInput, Code
from loopwright.lazy_dataclass import dataclass

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
    """Suggestions after the script."""

    c: str
    script: str


@dataclass(frozen=True)
class GenerateQuestion:
    """A description of a schedule in one of the forms."""

    text: str
    form: str
    sizes: Mapping[str, int] = field(default_factory=dict)


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


@dataclass(frozen=True)
class ToolQuestion:
    """What an agent asks by a tool, with the files that the user opened; `check` only where it is allowed."""

    tool: str
    texts: Mapping[str, str]
    function: str = ""
    flags: frozenset[str] = frozenset()
    sizes: Mapping[str, int] = field(default_factory=dict)
    opened: Mapping[str, str] = field(default_factory=dict)
    pure: tuple[str, ...] = ()
    assume: tuple[str, ...] = ()


TOOLS = ("prove", "check", "transform", "suggest", "extract")

Question = TransformQuestion | SuggestQuestion | GenerateQuestion | ProofQuestion | RunQuestion | ToolQuestion


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
            return GenerateQuestion(_text(data, "text"), data["form"], _sizes(data))
        case "proof":
            return ProofQuestion(_text(data, "c"), _text(data, "script"))
        case "run":
            return RunQuestion(_text(data, "c"), _text(data, "script"), _flag(data, "openmp"))
        case "tool":
            return _tool(data)
        case _:
            raise _refusal("'kind' must be transform, suggest, generate, proof or run")


def _tool(data: Mapping[str, Any]) -> ToolQuestion:
    if data.get("tool") not in TOOLS:
        raise _refusal(f"'tool' must be one of {', '.join(TOOLS)}")
    texts = {name: _text(data["texts"], name) for name in data.get("texts", {})}
    function = _text(data, "function")
    if function and not function.isidentifier():
        raise _refusal("'function' must be the name of a function")
    flags = frozenset(name for name in data.get("flags", ()) if isinstance(name, str))
    opened = {name: _text(data["opened"], name) for name in data.get("opened", {})}
    if any(name.startswith("/") or ".." in name.split("/") for name in opened):
        raise _refusal("'opened' must have names of files in the folder of the question")
    stated = {name: _several(data, name) for name in ("pure", "assume")}
    return ToolQuestion(data["tool"], texts, function, flags, _sizes(data, 1_000_000), opened, **stated)


def _several(data: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """A list of short texts, such as conditions."""
    values = data.get(name, ())
    if not isinstance(values, list | tuple) or len(values) > 40:
        raise _refusal(f"'{name}' must be a list of at most 40 texts")
    return tuple(_text({name: one}, name) for one in values)


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


def _sizes(data: Mapping[str, Any], most: int = 64) -> dict[str, int]:
    found = data.get("sizes") or {}
    is_right = isinstance(found, dict) and len(found) <= 40
    if not is_right or not all(type(value) is int and -most <= value <= most for value in found.values()):
        raise _refusal(f"'sizes' must be integers from {-most} to {most}")
    if not all(isinstance(name, str) and name.isidentifier() for name in found):
        raise _refusal("'sizes' must have names of C")
    return dict(found)


def _refusal(message: str) -> BadInput:
    return BadInput(Code.OPTION, message)
