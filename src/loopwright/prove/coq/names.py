"""How a Coq file is written: names that Coq accepts, strings, comments, lines that fit on a screen."""

from __future__ import annotations

import re
from collections.abc import Iterable

WORDS = """
    as at by cofix do else end exists exists2 fix for forall fun if in let match mod return then using
    where with Prop Set SProp Type Definition Lemma Theorem Proof Qed
    O S I Z True False Lt Eq Gt EQ NE LE LT GE GT Some None true false nil cons conj left right pair tt
    xH xI xO Z0 Zpos Zneg Npos N0 not and or list string nat bool unit option sum prod
    Int Var Sum Scaled FloorDiv TruncDiv Rem Min Max Select Compare And Or Not
    min max floord call mark on always never
    Call Block If For Let Mark Event Statement Program Access Accesses
    x H at_time known program schedule loops original transformed source target memory_use
    name domain parameters context statements environment all any map eval holds
    Child Iterate Yes No Enter Leaf Loop Cut Offsets Fork Same Outline step place slots
    Above Along Around AtCall Both Cases Change Compared Crossed Down Either Either_way Execution Farkas From
    Into Numbered Origin Parted Proposal Shape Specification Split State Storage ToChild ToInside ToIteration
    ToNo ToYes Toward_zero Until Use Zero Calling Sequence Choice Counting Naming Remark
    Word Number Sign Directive Unread Between InWord InNumber InSign InLine InComment InDirective Value Truth
    Term Printed Region Layer
    String Ascii EmptyString inl inr exist existT ex_intro eq_refl
    or_introl or_intror le_n le_S
    Copy Kept Since_beginning Stored Written_by
"""
RESERVED = frozenset(WORDS.split())
"""Keywords, constructors (which a pattern would match) and what a file or its tactics use."""


def variable(name: str, taken: Iterable[str] = ()) -> str:
    """`name`, or something like it that is free and no word of Coq's."""
    plain = re.sub(r"[^A-Za-z0-9_']", "_", name)
    if not re.match(r"[A-Za-z_]", plain) or plain == "_" or re.fullmatch(r"H\w*|q\d*|z\d*", plain):
        plain = f"v_{plain}"
    used = set(taken)
    while plain in RESERVED or plain in used:
        plain += "_"
    return plain


def variables(names: Iterable[str], taken: Iterable[str] = ()) -> dict[str, str]:
    """A variable for each name, all different."""
    found: dict[str, str] = {}
    for name in names:
        found[name] = variable(name, [*taken, *found.values()])
    return found


def identifier(prefix: str, name: str) -> str:
    """A name for a definition about the statement `name`."""
    plain = re.sub(r"[^A-Za-z0-9_]", "_", name)
    return f"{prefix}_{plain}" if plain else prefix


def text(name: str) -> str:
    """A string of Coq's."""
    return '"' + name.replace('"', '""') + '"'


def comment(words: str) -> str:
    """Text that cannot end a comment or begin another, nor open a string."""
    return words.replace('"', "'").replace("(*", "( *").replace("*)", "* )")


# -- lines ----------------------------------------------------------------------------------------------


def branch(lines: list[str]) -> list[str]:
    """The steps of a proof of one of several cases, in braces."""
    first, *rest = lines
    found = [f"{{ {first}", *(f"  {line}" for line in rest)]
    found[-1] += " }"
    return found


WIDTH = 100
BREAK = re.compile(r"(?<=[;,)]) (?=\S)|(?<=->) |(?<==>) | (?=\\/ |/\\ |&& |\|\| )")
"""Where a line may be broken, outside strings: after an entry of a list, an argument or an arrow,
and before a connective."""


def laid_out(text: str) -> str:
    """The same file, long lines of code broken; comments stay as they are."""
    found: list[str] = []
    inside = False
    for line in text.splitlines():
        inside = inside or line.startswith("(**")
        found += [line] if inside or len(line) <= WIDTH else _broken(line)
        inside = inside and not line.endswith("*)")
    return "\n".join(found) + "\n"


def _broken(line: str) -> list[str]:
    """Broken where the fewest parentheses are open, and as late as possible, again and again."""
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    found: list[str] = []
    while len(line) > WIDTH:
        depths = _depths(line)
        places = [one.start() for one in BREAK.finditer(line, len(indent)) if depths[one.start()] is not None]
        if not places:
            break
        fitting = [place for place in places if place <= WIDTH] or places[:1]
        place = min(fitting, key=lambda place: (depths[place], -place))
        found.append(line[:place])
        line = indent + line[place + 1 :]
    return [*found, line]


def _depths(line: str) -> list[int | None]:
    """How many parentheses and brackets are open at each place; None in a string."""
    found: list[int | None] = []
    depth, quoted = 0, False
    for letter in line:
        quoted = quoted != (letter == '"')
        depth += 0 if quoted else (letter in "([") - (letter in ")]")
        found.append(None if quoted else depth)
    return found
