"""Compares the code around two regions in their functions.

A proof about regions extends to functions only if these take the same parameters, do the same before and
after the region and under the same conditions, and give the same meaning to the names that the region uses.
Locals may differ if the other function does not have their names; their types must then be wide enough not to
wrap around before the original's do.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

from loopwright.c.syntax import Node
from loopwright.c.tokens import names_in, without_comments
from loopwright.c.typed.options import CompilerOptions
from loopwright.prove.comparison.function_frame import (
    DIRECTIVE,
    FrameLocal,
    FunctionFrame,
    declared_in,
    frame_of,
    short,
)
from loopwright.prove.comparison.meanings import meanings_of
from loopwright.prove.comparison.own_locals import effect_of
from loopwright.prove.comparison.preprocessor import (
    ExpandedFunction,
    directive_lines,
    expanded_function,
    expansion_difference,
)
from loopwright.prove.comparison.unasked import difference_unasked, names_acting
from loopwright.source import Source, Span

_RANKS = {
    "int": 0,
    "long": 1,
    "long int": 1,
    "ptrdiff_t": 1,
    "int64_t": 1,
    "long long": 1,
    "long long int": 1,
}


_CALLED = re.compile(r"\b([A-Za-z_]\w*)\s*\(")


def difference_around(
    old: Span, new: Span, compiled: CompilerOptions, options: CompilerOptions, *, agree: bool = False
) -> str | None:
    """Returns how the functions around two regions differ, both as written and after preprocessing.

    `agree`: other regions in them are known to do the same, in the same order.
    """
    expanded = expanded_function(old, compiled), expanded_function(new, options)
    if expanded[0] is None or expanded[1] is None:
        return outside_difference(old, new, agree=agree)
    known = expanded[0], expanded[1]
    return outside_difference(old, new, expanded=known, agree=agree) or expansion_difference(*known)


def outside_difference(
    old: Span,
    new: Span,
    *,
    of_regions: bool = True,
    agree: bool = False,
    expanded: tuple[ExpandedFunction, ExpandedFunction] | None = None,
) -> str | None:
    """Returns how the functions around two regions differ outside of them, or None if they agree.

    `of_regions`: the names that both regions use must also be declared in the same way.  `expanded`: what
    the preprocessor makes of the functions.
    """
    before, after = frame_of(old, agree=agree), frame_of(new, agree=agree)
    if before is None or after is None:
        return None if before is after else "only one of the regions is in a function"
    if expanded is not None:
        before, after = (_expanded(*pair) for pair in zip((before, after), expanded, strict=True))
    if before.parameters != after.parameters:
        return f"their parameters are ({before.parameters}) and ({after.parameters})"
    if before.head != after.head:
        return f"one is declared '{short(before.head)}' and the other '{short(after.head)}'"
    here, there = meanings_of(old.source), meanings_of(new.source)
    common = _common_names(old, new, here, there) if of_regions else []
    acting = names_acting(old.source) & names_acting(new.source)
    pending = list(dict.fromkeys((*_words(before, after), *common, *sorted(acting))))
    seen = set(pending)
    for name in pending:
        if here.get(name) != there.get(name):
            return f"'{name}' is not declared in the same way"
        further = [word for text in here.get(name, ()) for word in names_in(text) if word not in seen]
        pending += dict.fromkeys(further)
        seen.update(further)
    unasked = difference_unasked(old.source, new.source)
    if unasked is not None:
        return unasked
    return _locals_difference(before, after) or _order_difference(before, after)


def _expanded(frame: FunctionFrame, by: ExpandedFunction) -> FunctionFrame:
    return replace(frame, names=frame.names | by.hidden, hidden=by.hidden, macro=by.macro)


def _common_names(old: Span, new: Span, here: dict[str, list[str]], there: dict[str, list[str]]) -> list[str]:
    """Functions and global variables that both regions name, possibly through a macro.

    A function that both call, and one file alone defines, is that of a library in the other file.
    """
    lines = directive_lines(without_comments(old.source.text, literals=True))
    macros = names_in(" ".join(line for line in lines if line.startswith("define")))
    words = [{*names_in(one.text), *macros} for one in (old, new)]
    called = [{*_CALLED.findall(one.text)} for one in (old, new)]
    declared = here.keys() & there.keys() | ((here.keys() | there.keys()) & called[0] & called[1])
    return sorted(words[0] & words[1] & declared)


def _words(before: FunctionFrame, after: FunctionFrame) -> dict[str, None]:
    """The file-scope names that the functions use outside of their regions."""
    texts = [one.text for one in before.done] + [one.text for one in before.locals.values()]
    own = before.locals.keys() | after.locals.keys()
    return dict.fromkeys(word for text in (before.head, *texts) for word in names_in(text) if word not in own)


def _order_difference(before: FunctionFrame, after: FunctionFrame) -> str | None:
    """Returns where the functions do something else or in another order; locals of one alone do not count."""
    common = before.locals.keys() & after.locals.keys()
    done = [
        [one.text for one in frame.done if not one.declares or one.declares & common]
        for frame in (before, after)
    ]
    for one, other in zip((*done[0], "nothing more"), (*done[1], "nothing more"), strict=False):
        if one != other:
            return f"one has '{short(one)}' where the other has '{short(other)}'"
    return None


def _locals_difference(before: FunctionFrame, after: FunctionFrame) -> str | None:
    for name in sorted(before.locals.keys() & after.locals.keys()):
        one, other = before.locals[name], after.locals[name]
        widened = _RANKS.get(other.type, -1) >= _RANKS.get(one.type, 9) and one.shape == other.shape == name
        changed = (widened and one.value is other.value is None) or _is_longer(one, other)
        rank = one.shape.count("[")
        seen = changed and any(_uses(frame, name, rank) for frame in (before, after))
        if one.text != other.text and (seen or not changed):
            return f"'{name}' is '{short(one.text)}' in one and '{short(other.text)}' in the other"
    for name in sorted(before.locals.keys() ^ after.locals.keys()):
        here, there = (before, after) if name in before.locals else (after, before)
        local = here.locals[name]
        if name in there.names and not _is_of_the_region(there, name):
            return f"'{name}' is a local variable in one of them only"
        effect = effect_of(local, here, there, is_new=here is after)
        if effect is not None:
            return effect
    return None


def _is_of_the_region(frame: FunctionFrame, name: str) -> bool:
    """Whether the function uses a name only inside its region, which declares it."""
    words = names_in(DIRECTIVE.sub("", frame.node.text)).count(name)
    declarations = frame.node.of_type("declaration")
    declared = [one for one in declarations if any(own == name for own, _ in declared_in(one))]
    if any(part.type == "storage_class_specifier" for one in declared for part in one.children):
        return False
    scopes = [_scope(one) for one in declared]
    inside = [use for use in frame.node.named(name) if any(scope.contains(use.span) for scope in scopes)]
    return name not in frame.hidden and len(inside) == words == names_in(frame.region).count(name)


def _scope(declaration: Node) -> Span:
    """The scope of a declaration, from the declaration to the end of its block or loop."""
    around = declaration.parent
    end = declaration.end if around is None else around.end
    return Span(declaration.source, declaration.start, end)


_LENGTHS = re.compile(r"\w+((?: ?\[ ?[0-9]{1,9} ?\])+)")


def _is_longer(old: FrameLocal, new: FrameLocal) -> bool:
    """Whether both are arrays of the same element type, and no dimension of the new one is shorter.

    An element of the old array is then an element of the new one; only `sizeof`, and a pointer created
    outside of the regions, can observe the further elements.
    """
    shapes = [_LENGTHS.fullmatch(one.shape) for one in (old, new)]
    lengths = [[int(size) for size in re.findall("[0-9]+", one[1])] for one in shapes if one is not None]
    is_alike = old.type == new.type and old.value is new.value is None
    is_alike = is_alike and len(lengths) == 2 and len(lengths[0]) == len(lengths[1])
    return is_alike and all(mine <= theirs for mine, theirs in zip(*lengths, strict=True))


def _uses(frame: FunctionFrame, name: str, rank: int) -> bool:
    """Whether a function uses an array other than with all its subscripts inside the region."""
    texts = [one.text for one in frame.done if name not in one.declares]
    texts += [one.text for other, one in frame.locals.items() if other != name]
    elements = re.findall(rf"\b{name}(?=" + r"\s*\[[^]]*\]" * rank + ")", frame.region)
    is_whole = len(elements) < names_in(frame.region).count(name)
    return is_whole or "sizeof" in frame.names or any(name in names_in(text) for text in texts)


def uncompared(old: Span, new: Span) -> str | None:
    """Returns why the code around two regions cannot be compared, or None if it can."""
    before, after = frame_of(old), frame_of(new)
    if before is None or after is None:
        return None if before is after else "only one of them is in a function"
    names = [re.findall(r"\w+(?=\s*\()", one.head)[:1] for one in (before, after)]
    return None if names[0] == names[1] else "their functions have different names"


def rest_difference(old: Span, new: Span) -> str | None:
    """Returns how two programs differ outside of their regions, ignoring what only the new one has."""
    difference = outside_difference(old, new, of_regions=False)
    if difference is not None:
        return difference
    here, there = meanings_of(old.source), meanings_of(new.source)
    used = [Counter(names_in(without_comments(_around_text(one), literals=False))) for one in (old, new)]
    for name, texts in here.items():
        other = there.get(name, texts if name not in used[1] else [])
        if texts != other and (max(one[name] for one in used) > 1 or "=" in "".join((*texts, *other))):
            return f"'{name}' is not declared in the same way"
    before, after = (_definitions(one.source) for one in (old, new))
    for name, lines in before.items():
        if after.get(name, lines) != lines and any(one[name] > len(lines) for one in used):
            return f"'{name}' is not defined in the same way"
    return None


def _around_text(region: Span) -> str:
    text = region.source.text
    return text[: region.start] + "\n" + text[region.end :]


def _definitions(source: Source) -> dict[str, list[str]]:
    """The lines that define or undefine each macro of a file."""
    found: dict[str, list[str]] = {}
    for line in directive_lines(without_comments(source.text, literals=True)):
        words = line.split(maxsplit=2)
        if words[:1] in (["define"], ["undef"]) and len(words) > 1:
            found.setdefault(names_in(words[1])[0], []).append(line)
    return found
