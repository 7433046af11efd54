"""Gives loops their own iterator if the old one is read afterwards, and assigns its final value to it.

    for (i = a; i < b; i++) B(i)
is
    { for (int k = a; k < b; k++) B(k)   if (a < b) i = b; else i = a; }

and likewise for <=, >, >= and other steps: i is a + s * ceil((b - a) / s) if the loop runs at all.

It is an identity if the names in a and b, and i, have type int and the loop modifies none of them, if
nothing but `return` exits it early, if i is a local variable, and k a fresh name; the caller must check
that no pointer points to i.  i may have a wider type, with names of that type in a and b, or of int if it is
signed.  The new source computes nothing that the loop does not: the final value of i is one that the loop
gives it.  Line numbers do not change.  A variable of file scope counts as local if the loop calls nothing.

For an unsigned i, `for (i = 0; i + 3 < n; i += 4)` qualifies if the added number is one less than the
step, and so does `i + 4 <= n`: i is 4 * (n / 4) after it, whether it runs or not.  With `<` and a step that
is a power of two, neither i + 3 nor i + 4 wraps around while the test holds; otherwise the reader of the
test, which is unchanged, must check it.  i is m after `for (i = 0; i < m; i += 4)` if m is n - n % 4,
or a name for that; `n / 4 * 4` and `n & ~3` are the same number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from loopwright.c.declarations import Declarations
from loopwright.c.file import whole_file
from loopwright.c.loops import binary, first_value, loop_iterator, loop_step
from loopwright.c.reworded.passages import (
    Passage,
    changed_in,
    changed_names,
    counting_declaration,
    declares,
    edited_while,
    fresh_names,
    is_declared,
    passages,
    tops_around,
)
from loopwright.c.reworded.plain_loops import is_simple
from loopwright.c.syntax import Node, field, identifiers, named_children, operator, walk, without_parentheses
from loopwright.c.tokens import decimal, names_in, on_one_line, operand, packed, with_names_replaced
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Edit, Source, Span

_SWAPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_NOT_LOCAL = frozenset(("static", "extern", "volatile", "_Thread_local", "__thread"))
_OF_OTHERS = _NOT_LOCAL - {"static"}
_LEAVING = ("goto_statement", "labeled_statement")
"""Exits that are not supported; a `return` is, as it ends the lifetime of the iterator, too."""


def with_final_values(source: Source) -> Source:
    """The source with a separate loop variable for each loop whose iterator is read after it."""
    return edited_while(source, _edits)


def _edits(source: Source) -> Iterator[list[Edit]]:
    for passage in passages(source):
        assigned = [one for one in passage.block.of_type("for_statement") if is_assigned(one)]
        names = dict.fromkeys(name for one in assigned if (name := loop_iterator(one)) is not None)
        read = {name for name in names if _is_read(passage, name, assigned)}
        for loop in assigned if read else ():
            name = loop_iterator(loop)
            edit = _with_own_variable(loop, name, passage) if name in read and name else None
            if edit is not None:
                yield [edit]


def is_assigned(loop: Node) -> bool:
    """Whether a loop initialises a variable that is declared before it."""
    start = loop.child_by_field_name("initializer")
    return start is not None and start.type == "assignment_expression" and operator(start) == "="


def _is_read(passage: Passage, name: str, loops: list[Node]) -> bool:
    """Whether the function around a region uses its local variable outside of the loops over it."""
    inside = [one.span for one in loops if loop_iterator(one) == name]
    around = tops_around(passage)
    declaring = [node for top in around for node in top.of_type(*_DECLARATIONS)]
    if not any(name in identifiers(one) for one in declaring):
        return _is_of_the_file(passage, name) and not any(one.of_type("call_expression") for one in loops)
    fixed = [one for one in declaring if one.type == "declaration" and _NOT_LOCAL & set(names_in(one.text))]
    parts = (node for top in around for node in top.of_type(*_DECLARATIONS, "init_declarator"))
    if any(name in identifiers(one) for one in fixed) or not any(declares(one, name) for one in parts):
        return False
    mentioned = (node for top in around for node in top.each_named(name))
    return any(
        not is_declared(one) and not any(span.start <= one.start and one.end <= span.end for span in inside)
        for one in mentioned
    )


_DECLARATIONS = ("declaration", "parameter_declaration")


def _is_of_the_file(passage: Passage, name: str) -> bool:
    """Whether a name is an integer variable of file scope."""
    return any(
        one.type == "declaration" and not _OF_OTHERS & set(names_in(one.text)) and declares(one, name)
        for one in whole_file(passage.file.source).possible.named_children
    )


@dataclass(frozen=True)
class LoopCount:
    """The loop `for (i = first; i relation limit; i += step)`; a step below 0 counts down."""

    first: str
    relation: str
    limit: str
    step: int
    names: frozenset[str]
    """The names in the bounds."""
    kind: str = "int"
    """The type of the iterator."""
    wide: str = ""
    """The n of `i + 3 < n` or `i + 4 <= n`, if i is unsigned, starts at 0 and has step 4; or the
    limit itself if it is a multiple of the step."""

    def holds(self, own: str) -> str:
        """The test of a loop over `own`."""
        if self.wide and self.wide != self.limit:
            return f"{own} + {self.step - (self.relation == '<')} {self.relation} {self.wide}"
        return f"{own} {self.relation} {operand(self.limit)}"

    @property
    def test(self) -> str:
        return f"{operand(self.first)} {self.relation} {operand(self.limit)}"

    @property
    def last(self) -> str:
        """The final value of the iterator if the loop runs at all."""
        sign = "+" if self.step > 0 else "-"
        size = abs(self.step)
        if size == 1 and "=" in self.relation:
            limit = self.limit if self.kind == "int" else f"({self.kind})({self.limit})"
            return f"{limit} {sign} 1"
        if size == 1:
            return self.limit
        more = size if "=" in self.relation else size - 1
        first, limit = operand(self.first), operand(self.limit)
        return f"{first} + {size} * (({limit} - {first} + {more}) / {size})"

    @property
    def final(self) -> str:
        """The final value of the iterator."""
        if self.wide:
            return self.limit if self.wide == self.limit else f"{self.step} * ({self.wide} / {self.step})"
        return f"({self.test} ? {self.last} : {self.first})"


def _with_own_variable(loop: Node, name: str, passage: Passage) -> Edit | None:
    body, count = field(loop, "body"), count_of(loop, name, passage)
    if count is None:
        return None
    own = next(fresh_names(loop.source, name))
    begin = body.spelled.start
    step = f"{own} {'+' if count.step > 0 else '-'}= {abs(count.step)}"
    head = f"{{ for ({count.kind} {own} = {count.first}; {count.holds(own)}; {step}) "
    head = Span(loop.source, loop.start, begin).reworded(head)[2]
    text = with_names_replaced(loop.source.text[begin : loop.end], {name: own})
    ended = f" if ({count.test}) {name} = {count.last}; else {name} = {count.first}; }}"
    ended = f" {name} = {count.final}; }}" if count.wide else ended
    return loop.start, loop.end, head + text + ended


def count_of(loop: Node, name: str, passage: Passage) -> LoopCount | None:
    """How a loop counts, if only its head modifies its iterator and bounds, and these are integers."""
    declared = passage.file.declarations
    kind = integer_type(name, declared, loop)
    count = _up_to_a_multiple(loop, name, kind) or loop_count(loop, name)
    if count is None or not is_alone(loop, name, passage):
        return None
    if kind is None or name in count.names or not count.names.isdisjoint(changed_in(loop)):
        return None
    count = replace(count, kind=kind)
    kinds = {integer_type(word, declared, loop) for word in count.names}
    is_plain = kind == "int" and kinds <= {"int"}
    if is_plain or _counts_alike(loop, count, kinds):
        return count
    wide = count.wide or _wide_limit(loop, count)
    return replace(count, wide=wide) if wide is not None and kinds == {kind} else None


def _wide_limit(loop: Node, count: LoopCount) -> str | None:
    """The n of `for (i = 0; i + 3 < n; i += 4)`, or of `i + 4 <= n`, over an unsigned i."""
    test = binary(field(loop, "condition"))
    if test is None:
        return None
    left, right = (test.right, test.left) if test.sign in (">", ">=") else (test.left, test.right)
    name, added = loop_iterator(loop), count.step - (count.relation == "<")
    is_wide = count.kind in _UNSIGNED and count.step > 1 and count.first == "0" and right.type == "identifier"
    is_sum = packed(left.text) in (f"{name}+{added}", f"{added}+{name}")
    is_whole = count.relation == "<" and left.text == name and _is_multiple(right, count.step)
    return right.text if is_wide and (is_sum or is_whole) else None


def _up_to_a_multiple(loop: Node, name: str, kind: str | None) -> LoopCount | None:
    """The count of `for (i = 0; i < n - n % 4; i += 4)` over an unsigned i, for any form of the multiple.

    `~3` is -4, converted to the type of n; `~3u` has only the bits of an unsigned int.
    """
    test, step = binary(loop.child_by_field_name("condition")), _small_step(loop, name)
    if kind not in _UNSIGNED or test is None or test.sign != "<" or step is None or step < 2:
        return None
    right = test.right
    sizes = sorted({*identifiers(right)})
    if test.left.text != name or first_value(loop).text != "0" or len(sizes) != 1:
        return None
    (size,) = sizes
    forms = _multiples(size, step)
    if step & (step - 1) == 0:
        own = packed(kind)
        ones = (f"~{step - 1}", f"-{step}", f"~({own}){step - 1}", f"~(({own}){step - 1})")
        forms = (*forms, *(form for one in ones for form in (f"{size}&{one}", f"{size}&({one})")))
    limit = f"{size} - {size} % {step}"
    is_one = packed(right.text) in forms
    return LoopCount("0", "<", limit, step, frozenset(sizes), wide=limit) if is_one else None


def _multiples(size: str, step: int) -> tuple[str, ...]:
    """Spellings of the largest multiple of `step` not above `size`."""
    floor = f"{size}/{step}"
    return (f"{size}-{size}%{step}", f"{floor}*{step}", f"({floor})*{step}", f"{step}*({floor})")


_CHANGING = ("assignment_expression", "update_expression", "pointer_expression", "init_declarator")


def _is_multiple(name: Node, step: int) -> bool:
    """Whether a variable is declared as the largest multiple not above another one, and neither changes."""
    root = name.root
    given = [one for one in root.of_type("init_declarator") if field(one, "declarator").text == name.text]
    if len(given) != 1:
        return False
    value = without_parentheses(field(given[0], "value"))
    sizes = {*identifiers(value)}
    if len(sizes) != 1:
        return False
    (size,) = sizes
    changed = [word for part in root.of_type(*_CHANGING) for word in changed_names(part)]
    return (
        packed(value.text) in _multiples(size, step) and changed.count(name.text) == 1 and size not in changed
    )


_UNSIGNED = (
    *("unsigned", "unsigned int", "unsigned long", "unsigned long long"),
    *("size_t", "uint32_t", "uint64_t"),
)
_WIDER = ("long", "long long", "ptrdiff_t", "ssize_t", "int64_t", *_UNSIGNED)
"""Types that an int operand is converted to by the usual conversions; those of headers by name."""


def _counts_alike(loop: Node, count: LoopCount, kinds: set[str | None]) -> bool:
    """Whether bounds have the same values inside the test of a loop over a wider type and outside of it.

    They consist of literals that are ints, and names of that type, or of int for a signed one.  Nothing is
    added to an unsigned one, and it does not reach the limits of its type.
    """
    if count.kind not in _WIDER or abs(count.step) != 1:
        return False
    heads = [one for one in (first_value(loop), loop.child_by_field_name("condition")) if one is not None]
    parts = [part for head in heads for part in walk(head)]
    if any(part.type == "unary_expression" for part in parts):
        return False
    if any(decimal(part.text) is None for part in parts if part.type == "number_literal"):
        return False
    if count.kind not in _UNSIGNED:
        return kinds <= {"int", count.kind}
    is_compared = all(without_parentheses(part).type == "identifier" for part in _sides(loop))
    return kinds <= {count.kind} and "=" not in count.relation and is_compared


def _sides(loop: Node) -> list[Node]:
    """The operands of a loop's test, except for literals."""
    core = without_parentheses(field(loop, "condition"))
    sides = [field(core, side) for side in ("left", "right")]
    return [side for side in sides if without_parentheses(side).type != "number_literal"]


def loop_count(loop: Node, name: str) -> LoopCount | None:
    """How a loop counts, if its bounds are sums of names and numbers and its step is a number."""
    test, step = binary(loop.child_by_field_name("condition")), _small_step(loop, name)
    if step is None or test is None:
        return None
    left, relation, right = test
    more = _added(left, name)
    if more is None:
        more, right, relation = _added(right, name), left, _SWAPPED.get(relation, "")
    wanted = ("<", "<=") if step > 0 else (">", ">=")
    first = first_value(loop)
    if more is None or relation not in wanted or not (is_simple(first) and is_simple(right)):
        return None
    # The value computed for longer steps does not overflow if counting does not.
    if abs(step) > 1 and (step < 0 or not _is_small(first.text)):
        return None
    limit = on_one_line(right.text) if more == "0" else f"{operand(on_one_line(right.text))} - {more}"
    names = frozenset((*identifiers(first), *identifiers(right)))
    return LoopCount(on_one_line(first.text), relation, limit, step, names)


def _added(node: Node, name: str) -> str | None:
    """The number c of `name + c`, "0" for the name alone; None for anything else."""
    if node.text == name:
        return "0"
    found = binary(node)
    if found is None or found.sign != "+":
        return None
    others = [one.text for one in (found.left, found.right) if one.text != name]
    return others[0] if len(others) == 1 and _is_small(others[0]) else None


def _is_small(text: str) -> bool:
    """Whether a literal is so small that sums of ints with it do not overflow if counting does not."""
    return decimal(text) is not None and len(text) <= 4


def _small_step(loop: Node, name: str) -> int | None:
    step = loop_step(loop, name)
    return step if step is not None and _is_small(str(abs(step))) else None


def is_alone(loop: Node, name: str, passage: Passage) -> bool:
    """Whether only its head modifies the iterator of a loop, the loop exits only through its test, and the
    name means nothing else in it; no pragma applies to the loop or names it."""
    body = field(loop, "body")
    said = [one.place.text for one in passage.region.pragmas]
    if passage.is_directed(loop) or any(name in text and name in names_in(text) for text in said):
        return False
    for node in walk(body):
        if node.type in _LEAVING or name in changed_names(node) or (node.type == "break_statement"):
            return False
        is_other = node.type in ("field_identifier", "type_identifier", "statement_identifier")
        if node.text == name and (is_other or (node.type == "identifier" and is_declared(node))):
            return False
    return True


def integer_type(name: str, known: Declarations, loop: Node) -> str | None:
    """The type of an integer variable, or of the iterator that an enclosing loop declares."""
    start = None if loop.parent is None else counting_declaration(name, loop.parent)
    if start is not None:
        is_plain = field(start, "type").text == "int" and len(named_children(start)) == 2
        return "int" if is_plain else None
    declared = known.visible(name, loop.span)
    if declared is None or declared.rank:
        return None
    kind = known.resolved(declared.type).removeprefix("const ")
    return kind if kind in ("int", *_WIDER) else None
