"""The values of expressions in a run that is followed as far as the file shows; None is a value not known.

What is evaluated changes the memory: calls, assignments, stores through pointers to known places.  A store to
an unknown place makes what others see unknown.
"""

from __future__ import annotations

from abc import abstractmethod

from loopwright.c import types
from loopwright.c.runs.conversions import (
    compared,
    converted,
    distance,
    either,
    element_of,
    literal,
    summed,
    truth,
)
from loopwright.c.runs.memory import Image, Value, decoded
from loopwright.c.runs.places import Places
from loopwright.c.typed import tree
from loopwright.c.typed.known_values import COMPARED, integer_type, unary
from loopwright.lazy_dataclass import dataclass


class Stopped(Exception):
    """The run is not followed any further."""


@dataclass
class Values(Places):
    """Evaluates expressions; calls are those of the run."""

    alive: bool = True
    """Whether a run gets to what is evaluated next."""
    guess: bool | None = None
    """What a test that is not known is taken to be; None if both sides are followed."""

    @abstractmethod
    def called(self, call: tree.CallExpression) -> Value:
        """The value of a call."""

    @abstractmethod
    def block_of(self, node: tree.OtherExpression) -> Value:
        """The value of a block in an expression."""

    def value(self, node: tree.Expression) -> Value:
        self.steps -= 1
        if self.steps < 0:
            raise Stopped
        core = tree.without_casts(node)
        if isinstance(types.unqualified(core.type), types.ArrayType):
            return self.place(core)
        match node:
            case tree.Number():
                return literal(node)
            case tree.Name(declaration=tree.Declaration(storage=tree.Storage.ENUMERATOR, value=value)):
                return value
            case tree.Name(declaration=tree.Declaration(storage=tree.Storage.FUNCTION)):
                return self.place(node)
            case tree.Name(declaration=tree.Declaration(storage=tree.Storage.UNDECLARED)):
                return None
            case tree.MemberAccess(object=inner, is_arrow=False) if not _is_lvalue(inner):
                return self._of_image(node, self.value(inner))
            case tree.Name() | tree.MemberAccess() | tree.Subscript() | tree.Unary(operator="*"):
                return self._loaded(node)
            case tree.SizeOf(value=value):
                return value
            case tree.Cast(operand=operand, type=kind):
                return converted(self.value(operand), kind)
            case tree.Assign():
                return self._assigned(node)
            case tree.Update(target=target, is_prefix=is_prefix, operator=sign):
                part = self.part(target)
                before = self.held(part)
                after = converted(summed(before, 1, target.type, sign[0], self.sizes), part.type)
                self.put(part, after)
                return after if is_prefix else before
            case tree.Unary(operator="&", operand=operand):
                return self.place(operand)
            case tree.Unary():
                return self._unary(node)
            case tree.Binary():
                return self._binary(node)
            case tree.Conditional():
                return self._chosen(node)
            case tree.CallExpression():
                return self.called(node)
            case tree.OtherExpression():
                return self._unusual(node)
        return None

    def _unusual(self, node: tree.OtherExpression) -> Value:
        match node.kind:
            case "StmtExpr":
                return self.block_of(node)
            case "COMPOUND_LITERAL_EXPR":
                return self.load(self.place(node), node.type)
        if any(isinstance(one, tree.Assign | tree.Update | tree.CallExpression) for one in tree.walk(node)):
            raise Stopped
        return None

    def _of_image(self, member: tree.MemberAccess, whole: Value) -> Value:
        bits, size = self.bits(member), self.sizes.size(member.type)
        if not isinstance(whole, Image) or bits is None or size is None or member.is_bit_field:
            return None
        return decoded(whole.bytes[bits // 8 : bits // 8 + size], member.type)

    def _loaded(self, node: tree.Expression) -> Value:
        return self.held(self.part(node))

    def _assigned(self, node: tree.Assign) -> Value:
        value, part = self.value(node.value), self.part(tree.without_casts(node.target))
        if node.operator != "=":
            is_pointer = isinstance(types.unqualified(node.type), types.Pointer)
            kind = node.type if is_pointer else node.computed
            value = summed(converted(self.held(part), kind), value, kind, node.operator[:-1], self.sizes)
        value = converted(converted(value, node.type), part.type)
        self.put(part, value)
        return value

    def _unary(self, node: tree.Unary) -> Value:
        inner, kind = self.value(node.operand), integer_type(node.type)
        if node.operator == "!":
            return None if (test := truth(inner)) is None else int(not test)
        if isinstance(inner, int) and kind is not None:
            return unary(node.operator, inner, kind)
        if isinstance(inner, float) and node.operator in ("-", "+"):
            return -inner if node.operator == "-" else inner
        return inner if node.operator == "__extension__" else None

    def _binary(self, node: tree.Binary) -> Value:
        sign = node.operator
        if sign == ",":
            self.value(node.left)
            return self.value(node.right)
        if sign in ("&&", "||"):
            return self._decided(node)
        left, right = self.value(node.left), self.value(node.right)
        if sign in COMPARED:
            return compared(sign, left, right)
        kinds = [types.unqualified(tree.without_casts(one).type) for one in (node.left, node.right)]
        is_address = [isinstance(one, types.Pointer | types.ArrayType) for one in kinds]
        if all(is_address):
            size = self.sizes.size(element_of(kinds[0]))
            apart = distance(left, right)
            return None if apart is None or not size else apart // size
        if is_address[1]:
            left, right, kinds = right, left, kinds[::-1]
        return summed(left, right, kinds[0] if any(is_address) else node.type, sign, self.sizes)

    def _decided(self, node: tree.Binary) -> Value:
        """`a && b`: where a is not known, b may be evaluated."""
        first = truth(self.value(node.left))
        first = self.guess if first is None else first
        if first is not None and first == (node.operator == "||"):
            return int(first)
        if first is not None:
            second = truth(self.value(node.right))
            return None if second is None else int(second)
        second = truth(self._either_of(node.right, None))
        return int(second) if second is not None and second == (node.operator == "||") else None

    def _chosen(self, node: tree.Conditional) -> Value:
        test = truth(self.value(node.test))
        test = self.guess if test is None else test
        if test is not None:
            return self.value(node.then if test else node.otherwise)
        return self._either_of(node.then, node.otherwise)

    def _either_of(self, one: tree.Expression, other: tree.Expression | None) -> Value:
        """The value of one of two expressions, or of one that may not be evaluated."""
        before = self.memory.copy()
        first = self.value(one)
        after, was_alive, self.memory, self.alive = self.memory, self.alive, before, True
        second = first if other is None else self.value(other)
        if not was_alive:
            return second
        if self.alive:
            self.memory.join(after)
            return either(first, second)
        self.memory, self.alive = after, True
        return first


def _is_lvalue(node: tree.Expression) -> bool:
    core = tree.without_casts(node)
    if isinstance(core, tree.MemberAccess) and not core.is_arrow:
        return _is_lvalue(core.object)
    is_literal = isinstance(core, tree.OtherExpression) and core.kind == "COMPOUND_LITERAL_EXPR"
    return is_literal or isinstance(core, tree.Name | tree.MemberAccess | tree.Subscript | tree.Unary)
