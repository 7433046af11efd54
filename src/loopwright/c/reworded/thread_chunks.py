"""Rewrites loops that each thread of a block runs over its own chunk, by thread number, as one parallel loop.

    #pragma omp parallel                                       #pragma omp parallel for
    { int c = (n + P - 1) / P, lo = T * c;                     for (int i = 0; i < n; i++) B
      for (int i = lo; i < MIN(lo + c, n); i++) B }

where T is `omp_get_thread_num()` and P is `omp_get_num_threads()`, or T is the iterator and P, a number, the
upper bound of an enclosing loop.  The chunks, from L to E, are

    L + T * c to min(L + T * c + c, E)       c = (E - L + P - 1) / P
    L + T * c to E for the last T, else L + T * c + c               c = (E - L) / P
    L + (E - L) * T / P to L + (E - L) * (T + 1) / P
    L + T, L + T + P, .. below E                                    only for threads

Each number from L to E - 1 is in one chunk, for every P >= 1; for a negative E - L, none is.  An iteration
that depends on another of its own chunk is refused like one that depends on any other: such a refusal is not
a refutation.  Names assigned before keep their values, and the body uses none that reveals its chunk.  No
jump leaves a chunk: the next one would run.  If anything is unsigned, everything is: a negative E would be a
large number.  Line numbers do not change.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from typing import TypeAlias

from loopwright.c.file import CFile, c_file
from loopwright.c.loops import LEAVING, binary, first_value, loop_iterator, loop_step, only_inside
from loopwright.c.regions import Directive, Region
from loopwright.c.reworded.final_values import integer_type
from loopwright.c.reworded.flat_loops import INDEX_TYPES
from loopwright.c.reworded.parallel_blocks import BLOCK, CLAUSES
from loopwright.c.reworded.passages import changed_in, edited_while, is_before
from loopwright.c.sums import ONE, Atom, IntegerSum, sum_of
from loopwright.c.syntax import Node, field, identifiers, named_children, operator, without_parentheses
from loopwright.c.tokens import has_effect, names_in, on_one_line, packed
from loopwright.lazy_dataclass import dataclass
from loopwright.source import Edit, Source, Span

Function: TypeAlias = tuple[str, IntegerSum, IntegerSum]
"""A quotient, a minimum, or a choice: the first value for the last chunk, the second for the others."""
_NUMBER, _PARTS = IntegerSum.atom("#thread"), IntegerSum.atom("#threads")
IN_PARTS = "computing where each part of a loop ends does not overflow"
_THREAD, _THREADS = "omp_get_thread_num", "omp_get_num_threads"
_CASTS = (*INDEX_TYPES, "long int", "unsigned", "unsigned int", "unsigned long long")
_UNSIGNED = ("size_t", "uint64_t", "unsigned", "unsigned int", "unsigned long", "unsigned long long")
_LEAVING = ({*LEAVING} - {"continue_statement"}) | {"labeled_statement", "gnu_asm_expression"}
_ANY_NUMBER = re.compile(
    r"\s*omp\s+parallel(?:[\s,]*(?:shared\s*\([\w\s,]*\)|default\s*\(\s*(?:shared|none)\s*\)))*\s*"
)
"""The directive of a block that two threads may run, each with the variables around it."""
_REDUCED = re.compile(r"\breduction\s*\([^()]*:([^()]*)\)")
_GUARD = re.compile(r"\s*omp\s+(?:atomic|critical)\b")
_SMALLER = re.compile(r"\(\(?\(x\)(<=?\(y\)\)?\?\(x\):\(y\)|>=?\(y\)\)?\?\(y\):\(x\))\)")


def with_whole_loops(source: Source) -> Source:
    """The source with one loop in place of chunks that threads, or iterations of a loop, select by number."""
    return edited_while(source, _edits, 20)


def for_two_threads(source: Source) -> Source:
    """The source with the work of two threads in sequence, in place of blocks that each thread runs whole.

    That is one of the orders in which they may run: no directive in such a block divides work or waits.
    """
    file = c_file(source)
    edits: list[Edit] = []
    for region, pragma, block in () if _has_own_numbers(file) else _blocks(file):
        inside = _hidden(region, block.start, block.end)
        is_plain = _ANY_NUMBER.fullmatch(pragma.argument) and not _is_directed(block, region, pragma)
        if is_plain and all(_GUARD.match(one.argument) for one in inside):
            text = block.spelled.edited([one.place.reworded() for one in inside])
            parts = [re.sub(rf"{_THREAD}\s*\(\s*\)", str(number), text) for number in range(2)]
            first, second = (re.sub(rf"{_THREADS}\s*\(\s*\)", "2", one) for one in parts)
            edits.append((pragma.place.start, pragma.place.end, ""))
            edits.append((block.start, block.end, f"{{ {first} {on_one_line(second)} }}"))
    return source.edited(sorted(edits)) if edits else source


def _blocks(file: CFile) -> Iterator[tuple[Region, Directive, Node]]:
    """The blocks of `omp parallel` whose clauses do not matter here."""
    for region in file.regions:
        around = file.block(region.place)
        for pragma in region.pragmas:
            head = BLOCK.match(pragma.argument)
            if head is None or CLAUSES.fullmatch(pragma.argument[head.end() :]) is None:
                continue
            after = [one for one in around.statements() if one.start >= pragma.place.end]
            block = min(after, key=lambda one: (one.start, -one.end), default=None)
            is_block = block is not None and block.type == "compound_statement"
            if block is not None and is_block:
                yield region, pragma, block


def _edits(source: Source) -> Iterator[list[Edit]]:
    file = c_file(source)
    if _has_own_numbers(file):
        return
    for region, pragma, block in _blocks(file):
        edits = _whole(block, _Parts(file, _PARTS, are_threads=True))
        inside = [] if not edits else _hidden(region, block.start, edits[0][1])
        reduced = {name for names in _REDUCED.findall(pragma.argument) for name in names_in(names)}
        if edits and not reduced.isdisjoint(names_in(edits[0][2])):
            continue  # each thread has its own there
        if edits and all(packed(one.argument) == "ompsimd" for one in inside):
            clauses = pragma.argument[pragma.argument.index("parallel") + len("parallel") :]
            said = f"#pragma omp parallel for{' simd' if inside else ''}{clauses}"
            yield [pragma.place.reworded(said), *edits]
    for region in file.regions:
        for loop in file.block(region.place).of_type("for_statement"):
            yield from _of_loop(loop, file, region)


def _has_own_numbers(file: CFile) -> bool:
    """Whether the file defines its own function or macro for a thread number."""
    uses = (one for name in (_THREAD, _THREADS) for one in file.possible.named(name))
    is_called = (one.parent is not None and one.parent.type == "call_expression" for one in uses)
    return not file.macro_names.isdisjoint((_THREAD, _THREADS)) or not all(is_called)


def _is_directed(block: Node, region: Region, own: Directive) -> bool:
    """Whether another directive of the region is about a statement around the block: one that threads divide,
    where inner blocks have one thread."""
    inside = (node for node in (block, *block.around()) if node.start >= region.place.start)
    return any(is_before(one, node) for node in inside for one in region.pragmas if one != own)


def _hidden(region: Region, start: int, end: int) -> list[Directive]:
    """The pragmas in a range of the source that is removed."""
    return [one for one in region.pragmas if start <= one.place.start < end]


def _of_loop(loop: Node, file: CFile, region: Region) -> Iterator[list[Edit]]:
    """Edits for the chunks that the iterations of a loop with a constant bound run."""
    name, body, test = loop_iterator(loop), field(loop, "body"), binary(loop.child_by_field_name("condition"))
    if name is None or body.type != "compound_statement" or test is None or first_value(loop).text != "0":
        return
    around = loop.parent
    before = _Parts(file, _PARTS, are_threads=False)
    siblings = [] if around is None else [one for one in named_children(around) if one.end <= loop.start]
    for one in siblings:
        if not before.take(one):
            before.given.clear()
    end = before.total(test.right)
    is_counted = test.sign == "<" and test.left.text == name and loop_step(loop, name) == 1
    if end is None or not is_counted or (end.constant or 0) < 1:
        return
    before.given[name], before.parts = _NUMBER, end
    head = field(loop, "initializer")
    counted = field(head, "type").text if head.type == "declaration" else ""
    before.kinds.add(counted)
    edits = _whole(body, before) if counted in _CASTS else None
    if edits and not _hidden(region, loop.start, edits[0][1]):
        yield [Span(file.source, loop.start, body.start).reworded(), *edits]


def _whole(block: Node, parts: _Parts) -> list[Edit] | None:
    """Edits that turn a block with the loop over one chunk into the loop over all chunks."""
    *before, loop = named_children(block) or [block]
    given = {*parts.given}
    if loop.type != "for_statement" or not all(parts.take(one, given) for one in before):
        return None
    name, test, body = loop_iterator(loop), binary(loop.child_by_field_name("condition")), field(loop, "body")
    own = {*parts.given} - given | {one for one in given if parts.given[one] == _NUMBER}
    if name is None or test is None or test.sign != "<":
        return None
    if test.left.text != name or not own.isdisjoint(identifiers(body)):
        return None
    limits = parts.limits(loop, name, test.right)
    start = field(loop, "initializer")
    if limits is None or start.type != "declaration" or body.of_type(*_LEAVING):
        return None
    if not parts.has_one_sign(limits[0], field(start, "type").text):
        return None
    kept = {*parts.given, *(one.text for total in limits for one in total.atoms)}
    if not kept.isdisjoint(changed_in(body)):
        return None
    kind = on_one_line(field(start, "type").text)
    head = f"for ({kind} {name} = {limits[0]}; {name} < {limits[1]}; {name}++) "
    front = Span(block.source, block.start, body.spelled.start).reworded(head)
    return [front, Span(block.source, body.end, block.end).reworded()]


@dataclass
class _Parts:
    """The values of the names of a block, in terms of the chunk number and the number of chunks."""

    file: CFile
    parts: IntegerSum
    are_threads: bool

    def __post_init__(self) -> None:
        self.given: dict[str, IntegerSum] = {}
        self.functions: dict[Atom, Function] = {}
        """The meaning of the atoms of sums that are not names."""
        self.kinds: set[str] = set()
        """The types used in computations."""
        self.of_sizes: set[str] = set()

    def take(self, statement: Node, kept: Container[str] = ()) -> bool:
        """Whether a statement only assigns to names that are not in `kept`; records their values."""
        if statement.type == "declaration":
            words = [one.text for one in statement.children if one.type.endswith(("qualifier", "specifier"))]
            if field(statement, "type").text not in _CASTS or {*words} - {"const", *_CASTS}:
                return False
            self.kinds.add(field(statement, "type").text)
            for one in statement.children_by_field_name("declarator"):
                value = self.total(field(one, "value")) if one.type == "init_declarator" else None
                if value is None or field(one, "declarator").type != "identifier":
                    return False
                self.given[field(one, "declarator").text] = value
            return True
        return self._tested(statement, kept) if statement.type == "if_statement" else False

    def _tested(self, test: Node, kept: Container[str]) -> bool:
        """Handle `if (hi > n) hi = n;` and `if (t == P - 1) hi = n;`."""
        core, given = field(test, "condition"), only_inside(field(test, "consequence")).only_assignment
        if given is None or test.child_by_field_name("alternative") is not None:
            return False
        name, value = field(given, "left").text, self.total(field(given, "right"))
        if value is None or name not in self.given or name in kept:
            return False
        found = self._chosen(core, value, self.given[name])
        if found is None:
            return False
        self.given[name] = found
        return True

    def _chosen(self, test: Node, value: IntegerSum, other: IntegerSum) -> IntegerSum | None:
        """The value of `test ? value : other`, if it is the minimum, or selects the end of the last chunk."""
        compared = binary(test)
        left = None if compared is None else self.total(compared.left)
        right = None if compared is None else self.total(compared.right)
        if compared is None or left is None or right is None:
            return None
        relation = compared.sign
        if relation in (">", ">="):
            left, right, relation = right, left, {">": "<", ">=": "<="}[relation]
        if relation in ("<", "<=") and (left, right) == (value, other):
            return self._smaller(value, other)
        last = self.parts.minus(ONE)
        is_last = relation == "==" and (left, right) in ((_NUMBER, last), (last, _NUMBER))
        return self._made("last", value, other) if is_last else None

    def _made(self, kind: str, one: IntegerSum, other: IntegerSum) -> IntegerSum:
        """A new atom for a function of two sums."""
        atom = Atom(f"{kind}({one}, {other})")
        self.functions[atom] = kind, one, other
        return IntegerSum((((atom,), 1),))

    def _smaller(self, one: IntegerSum, other: IntegerSum) -> IntegerSum:
        return self._made("min", *sorted((one, other), key=str))

    def total(self, node: Node) -> IntegerSum | None:
        """An expression as a sum."""
        return sum_of(node, self._part)

    def _part(self, node: Node) -> IntegerSum | None:
        """An operand of a sum that is not a number."""
        match node.type:
            case "identifier":
                return self.given[node.text] if node.text in self.given else self._size(node)
            case "cast_expression":
                self.kinds.add(field(node, "type").text)
                return self.total(field(node, "value")) if field(node, "type").text in _CASTS else None
            case "conditional_expression" if node.child_by_field_name("consequence") is not None:
                one, other = (self.total(field(node, side)) for side in ("consequence", "alternative"))
                if one is None or other is None:
                    return None
                return self._chosen(field(node, "condition"), one, other)
            case "call_expression":
                return self._called(node)
            case "binary_expression" if operator(node) == "/":
                one, other = (self.total(field(node, side)) for side in ("left", "right"))
                return None if one is None or other is None else self._made("/", one, other)
        return None

    def _size(self, node: Node) -> IntegerSum | None:
        kind = integer_type(node.text, self.file.declarations, node)
        self.of_sizes.add(kind or "")
        return None if kind is None else IntegerSum.atom(node.text)

    def has_one_sign(self, start: IntegerSum, counted: str) -> bool:
        """Whether nothing is unsigned, or everything that may be negative: then chunks start at 0."""
        if {*self.kinds, *self.of_sizes, counted}.isdisjoint(_UNSIGNED):
            return True
        return start.constant == 0 and self.of_sizes <= {*_UNSIGNED}

    def _called(self, node: Node) -> IntegerSum | None:
        name, arguments = field(node, "function").text, named_children(field(node, "arguments"))
        if name in (_THREAD, _THREADS) and not arguments:
            found = _NUMBER if name == _THREAD else self.parts
            return found if self.are_threads else None
        values = [self.total(one) for one in arguments]
        if len(values) != 2 or not self._is_minimum(name) or any(has_effect(one.text) for one in arguments):
            return None
        known = [one for one in values if one is not None]
        return self._smaller(known[0], known[1]) if len(known) == 2 else None

    def _is_minimum(self, name: str) -> bool:
        """Whether a macro of the file is the minimum of its two arguments."""
        found = [one for one in self.file.macros if one.name == name]
        if len(found) != 1 or found[0].parameters is None or len(found[0].parameters) != 2:
            return False
        body = packed(found[0].body)
        for parameter, letter in zip(found[0].parameters, "xy", strict=True):
            body = re.sub(rf"\b{re.escape(parameter)}\b", letter, body)
        return _SMALLER.fullmatch(body) is not None

    def limits(self, loop: Node, name: str, end: Node) -> tuple[IntegerSum, IntegerSum] | None:
        """The bounds of all chunks together."""
        first, limit = self.total(first_value(loop)), self.total(end)
        update = loop.child_by_field_name("update")
        if first is None or limit is None or update is None:
            return None
        if loop_step(loop, name) != 1:
            step = without_parentheses(update)
            is_sum = step.type == "assignment_expression" and operator(step) == "+="
            stride = self.total(field(step, "right")) if is_sum and field(step, "left").text == name else None
            start = first.minus(_NUMBER)
            is_cyclic = self.are_threads and stride == self.parts
            return (start, limit) if is_cyclic and self._is_free(start, limit) else None
        for start, stop in self._ends(first, limit):
            if self._is_free(start, stop):
                return start, stop
        return None

    def _ends(self, first: IntegerSum, limit: IntegerSum) -> Iterator[tuple[IntegerSum, IntegerSum]]:
        """The possible bounds of all chunks, if one chunk goes from `first` to `limit`."""
        parts = self.parts
        for chunk in sorted(self.functions.keys() & first.atoms):
            size = IntegerSum((((chunk,), 1),))
            start, after = first.minus(_NUMBER.times(size)), first.plus(size)
            for kind, one, other in self._terms(limit) if len(limit.terms) == 1 else ():
                for stop, rest in ((one, other), (other, one)):
                    count = stop.minus(start)
                    up = count.plus(parts).minus(ONE)
                    wanted = ("/", up, parts) if kind == "min" else ("/", count, parts)
                    if rest == after and self.functions[chunk] == wanted and (kind == "min" or stop == one):
                        yield start, stop
        for kind, product, divisor in self._terms(first):
            start = first.minus(self._made(kind, product, divisor))
            for further, more, other in self._terms(limit):
                count = more.minus(product)
                is_next = product == count.times(_NUMBER) and divisor == other == parts
                same = limit.minus(self._made(further, more, other)) == start
                if kind == further == "/" and is_next and same:
                    yield start, start.plus(count)

    def _terms(self, total: IntegerSum) -> list[Function]:
        """The quotients and minima that are terms of a sum."""
        alone = [product[0] for product, factor in total.terms if len(product) == 1 and factor == 1]
        return [self.functions[one] for one in alone if one in self.functions]

    def _is_free(self, *totals: IntegerSum) -> bool:
        """Whether these depend neither on the chunk nor on the number of chunks, and can be written in C."""
        atoms = {one for total in totals for one in total.atoms}
        return atoms.isdisjoint(self.functions) and not any(one.text.startswith("#") for one in atoms)
