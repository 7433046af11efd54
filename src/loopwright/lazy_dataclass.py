"""`dataclass` of the standard library, with the methods of a class compiled when they are first called.

The standard decorator compiles six methods for each class, 0.75 ms together.  The package has some 700 such
classes, 400 of them in every run of `transform`: a third of a second before any work, most of it for methods
that are never called.  Here the standard library collects the fields, and each method is a stub that compiles
the real one, puts it in its own place and calls it.  Classes of the same shape share what was compiled, with
the names of their own fields in it.  For a type checker this is the standard decorator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import MISSING, Field, FrozenInstanceError, fields
from dataclasses import dataclass as _standard
from functools import cache, partial
from types import CodeType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, **options):
        """`dataclasses.dataclass`, for the options `frozen`, `eq`, `repr`, `slots` and `kw_only`."""
        return _completed(cls, **options) if cls is not None else lambda given: _completed(given, **options)


def _completed(
    cls: type,
    *,
    frozen: bool = False,
    eq: bool = True,
    repr: bool = True,
    slots: bool = False,
    kw_only: bool = False,
) -> type:
    """`cls` with its fields and the stubs of the methods that it does not define itself."""
    own = set(vars(cls))
    if vars(cls).get("__hash__") is None:
        own.discard("__hash__")  # Python sets it to None in a class that defines __eq__
    cls.__doc__ = cls.__doc__ or cls.__name__  # the standard decorator would find out the signature
    made: type = _standard(init=False, repr=False, eq=False, slots=slots, kw_only=kw_only)(cls)
    methods: dict[str, object] = {"__init__": _stub(made, "__init__", partial(_init, frozen=frozen))}
    if "__init__" not in own:
        methods["__signature__"] = _Signature()
    if repr:
        methods["__repr__"] = _repr
    if eq:
        methods["__eq__"] = _stub(made, "__eq__", _eq)
        methods["__hash__"] = _stub(made, "__hash__", _hash) if frozen else None
    if frozen:
        methods |= {"__setattr__": _no_setattr, "__delattr__": _no_delattr}
    if frozen and slots:
        methods |= {"__getstate__": _state, "__setstate__": _set_state}
    for name, method in methods.items():
        if name not in own:
            setattr(made, name, method)
    return made


Writer = Callable[[type, dict[str, object]], str]
"""The text of a method of a class, with field k called _k; what else it names is added to the dictionary."""


def _stub(cls: type, name: str, writer: Writer) -> Callable[..., object]:
    """The method `name` of `cls` before its first call."""

    def method(self: object, *args: object, **named: object) -> object:
        values: dict[str, object] = {"__name__": cls.__module__}
        exec(_compiled(writer(cls, values)), values)
        compiled: Any = values[name]
        names = {f"_{k}": one.name for k, one in enumerate(fields(cls))}
        compiled.__code__ = _renamed(compiled.__code__, names)
        if compiled.__kwdefaults__:
            compiled.__kwdefaults__ = {names[k]: value for k, value in compiled.__kwdefaults__.items()}
        compiled.__qualname__ = f"{cls.__qualname__}.{name}"
        setattr(cls, name, compiled)
        return compiled(self, *args, **named)

    return method


@cache
def _compiled(text: str) -> CodeType:
    return compile(text, "<string>", "exec")


def _renamed(code: CodeType, names: dict[str, str]) -> CodeType:
    """The same with other names of variables, attributes and, as texts, of fields that are set."""

    def new(given: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(names.get(one, one) if isinstance(one, str) else one for one in given)

    return code.replace(
        co_varnames=new(code.co_varnames), co_names=new(code.co_names), co_consts=new(code.co_consts)
    )


def _init(cls: type, values: dict[str, object], *, frozen: bool) -> str:
    """Assign each field its argument, its default, or what its factory makes; then `__post_init__`."""
    values |= {"_set": object.__setattr__, "_MISSING": MISSING}
    every = [(f"_{k}", one) for k, one in enumerate(fields(cls))]
    for name, one in every:
        values |= {f"_default{name}": one.default, f"_factory{name}": one.default_factory}
    positional = [_parameter(name, one) for name, one in every if one.init and not one.kw_only]
    named = [_parameter(name, one) for name, one in every if one.init and one.kw_only]
    parameters = ", ".join(["self", *positional, *["*"][: len(named)], *named])
    body = [_assigned(name, value, frozen=frozen) for name, one in every for value in _first_value(name, one)]
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    return f"def __init__({parameters}):\n " + "\n ".join(body or ["pass"])


class _Signature:
    """What `help`, `inspect.signature` and notebooks show of `__init__`, before and after its first call."""

    def __get__(self, instance: object, cls: type) -> object:
        from inspect import Parameter, Signature

        parameters = []
        for one in sorted((one for one in fields(cls) if one.init), key=lambda one: bool(one.kw_only)):
            kind = Parameter.KEYWORD_ONLY if one.kw_only else Parameter.POSITIONAL_OR_KEYWORD
            default = one.default if one.default is not MISSING else Parameter.empty
            default = default if one.default_factory is MISSING else one.default_factory
            parameters.append(Parameter(one.name, kind, default=default, annotation=one.type))
        return Signature(parameters, return_annotation=None)


def _parameter(name: str, one: Field[Any]) -> str:
    if one.default_factory is not MISSING:
        return f"{name}=_MISSING"
    return name if one.default is MISSING else f"{name}=_default{name}"


def _first_value(name: str, one: Field[Any]) -> Iterator[str]:
    """What a new instance has in this field; nothing where it is left to the class or to `__post_init__`."""
    if one.default_factory is not MISSING:
        made = f"_factory{name}()"
        yield f"{made} if {name} is _MISSING else {name}" if one.init else made
    elif one.init:
        yield name


def _assigned(name: str, value: str, *, frozen: bool) -> str:
    return f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}"


def _eq(cls: type, values: dict[str, object]) -> str:
    """Instances of the same class with equal fields are equal."""
    compared = [f"_{k}" for k, one in enumerate(fields(cls)) if one.compare]
    return (
        "def __eq__(self, other):\n if other.__class__ is not self.__class__:\n  return NotImplemented\n"
        f" return {_tuple('self', compared)} == {_tuple('other', compared)}"
    )


def _hash(cls: type, values: dict[str, object]) -> str:
    every = enumerate(fields(cls))
    hashed = [f"_{k}" for k, one in every if (one.compare if one.hash is None else one.hash)]
    return f"def __hash__(self):\n return hash({_tuple('self', hashed)})"


def _tuple(owner: str, names: list[str]) -> str:
    return "(" + "".join(f"{owner}.{name}, " for name in names) + ")"


def _repr(self: Any) -> str:
    shown = ", ".join(f"{one.name}={getattr(self, one.name)!r}" for one in fields(self) if one.repr)
    return f"{type(self).__qualname__}({shown})"


def _no_setattr(self: object, name: str, value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _no_delattr(self: object, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[object]:
    return [getattr(self, one.name) for one in fields(self)]


def _set_state(self: Any, state: list[object]) -> None:
    """For `pickle` and `copy`: the instance has slots, and is frozen."""
    for one, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, one.name, value)
