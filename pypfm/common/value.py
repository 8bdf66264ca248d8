"""Values: the base of requests and results.

A class declares its fields once.  The type of each says what it has to be - a sequence becomes a tuple, a mapping one
that does not change, anything else of another type is refused - and what it is in JSON; `pypfm.schemas` makes the JSON
Schema of the same.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, FrozenInstanceError, dataclass, field, fields, is_dataclass
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from pypfm.common.arguments import expect_choice, expect_flag, expect_int, expect_items, expect_number, expect_type
from pypfm.common.frozen import FrozenMap
from pypfm.common.written import as_written
from pypfm.errors import InvalidTypeError, listed, nearest, shown

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:
    def dataclass_transform(**_):
        """For type checkers; typing has it from Python 3.11 on."""
        return lambda cls: cls

__all__ = ["HEX", "HIDDEN", "UNIONS", "Value", "in_json", "members", "said"]

Check = Callable[[Any, str], Any]
V = TypeVar("V", bound="Value")
G = TypeVar("G", bound=Callable[..., Any])

#: What typing.get_origin() says of a type with alternatives.
UNIONS = (Union, UnionType)


def said(**keys: Any) -> dict[str, dict[str, Any]]:
    """Make the metadata of a field: all that its type does not say.

    :param keys: hidden: it is not in JSON; hex: a number is a hexadecimal string there; enum: the values that there
        are, which is checked; what: the keys of a mapping, for the message about one that is missing; and keys of JSON
        Schema
    """
    return {"json": keys}


#: The metadata of a number that is a hexadecimal string in JSON.
HEX = said(hex=True)
#: The metadata of a field that JSON does not have.
HIDDEN = said(hidden=True)


def in_json(**keys: Any) -> Callable[[G], G]:
    """Include a property in JSON, after the fields; it goes between ``@property`` and the function (see `said`)."""
    def marked(getter: G) -> G:
        vars(getter)["json"] = keys
        return getter
    return marked


class _Signature:
    """The parameters of a class, for help() and for the messages about missing ones."""

    def __get__(self, instance: object, owner: Any) -> inspect.Signature:
        kind, empty = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.empty
        return inspect.Signature([
            inspect.Parameter(f.name, kind, annotation=f.type, default=empty if f.default is MISSING else f.default)
            for f in (fields(owner) if is_dataclass(owner) else ())])


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class Value:
    """The base of classes whose fields are checked when an object is made, and that have a JSON form.

    They are dataclasses that do not change, are equal by content, and print as they are written.  The methods are here:
    dataclass() would compile them for each class, which is a quarter of the time that a command takes to start.

    :cvar _checks: of types with a check of their own, that
    :cvar _constants: names of attributes of the class that are in JSON, before the fields
    """

    _checks: ClassVar[Mapping[Any, Check]] = {}
    _constants: ClassVar[tuple[str, ...]] = ()
    __signature__: ClassVar[Any] = _Signature()

    def __init_subclass__(cls) -> None:
        dataclass(init=False, repr=False, eq=False)(cls)

    def __init__(self, *args: Any, **named: Any) -> None:
        cls: Any = type(self)
        checks, defaults, needed = _plan(cls)
        given = dict(zip(checks, args, strict=False)) | named
        if len(given) < len(args) + len(named) or not needed <= given.keys() <= checks.keys():
            _refuse(cls, checks, args, named)
        held = vars(self)
        held.update(defaults)
        for name, value in given.items():
            plain, check = checks[name]
            held[name] = value if type(value) is plain else check(value, f"{cls.__name__}.{name}")
        self.__post_init__()

    def __post_init__(self) -> None:
        """Check or convert further fields, where a class needs that."""

    def __setattr__(self, name: str, value: object) -> None:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def _content(self) -> tuple[Any, ...]:
        cls: type = type(self)
        return tuple([getattr(self, name) for name in _compared(cls)])

    def __eq__(self, other: object) -> bool:
        return self._content() == other._content() if isinstance(other, Value) and type(self) is type(other) else (
            NotImplemented)

    def __hash__(self) -> int:
        return hash(self._content())

    def __repr__(self) -> str:
        record: Any = self  # a dataclass, which every class made of this one is
        shown = ", ".join(f"{f.name}={as_written(getattr(self, f.name), f)}" for f in fields(record) if f.repr)
        return f"{type(self).__qualname__}({shown})"

    def _repr_html_(self) -> str:
        """Return the value as an HTML table, for a notebook."""
        from pypfm.common.notebook import table
        return table(self)

    @classmethod
    def _of(cls: type[V], **values: Any) -> V:
        """Make an object with all these fields, without checking them."""
        made = object.__new__(cls)
        object.__setattr__(made, "__dict__", values)
        return made

    def to_json(self) -> dict[str, object]:
        """Return its content as JSON data (`pypfm.schemas`)."""
        cls: type = type(self)
        return {name: getattr(self, name) for name in self._constants} | {
            name: (_in_hex if keys.get("hex") else _plain)(getattr(self, name)) for name, keys in members(cls)}


def _refuse(cls: Any, names: Collection[str], args: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    """Raise an error for the wrong arguments of a class: for an unknown name first; for the rest as Python does.

    :raises InvalidTypeError: that
    """
    for name in named:
        if name not in names:
            raise InvalidTypeError(f"{cls.__name__} has no {shown(name)}{nearest(name, names)}; it has {listed(names)}")
    try:
        cls.__signature__.bind(*args, **named)
    except TypeError as error:
        raise InvalidTypeError(f"{cls.__name__}: {error}") from None


# ---- what a field has to be --------------------------------------------------------

@cache
def _compared(cls: Any) -> list[str]:
    return [f.name for f in fields(cls) if f.compare]


@cache
def _plan(cls: Any) -> tuple[dict[str, tuple[type | None, Check]], dict[str, Any], frozenset[str]]:
    """Return by field the type that needs no check, and the check; then the defaults; then the fields without one."""
    hints = get_type_hints(cls)
    checks = {}
    for f in fields(cls):
        hint, keys = hints[f.name], f.metadata.get("json", {})
        inner = _optional(hint)
        plain = inner if inner in _PLAIN and "enum" not in keys else None
        checks[f.name] = plain, _check(hint, keys, cls._checks)
    defaults = {f.name: f.default for f in fields(cls)}
    return checks, defaults, frozenset(name for name, default in defaults.items() if default is MISSING)


def _optional(hint: Any) -> Any:
    """Return the type of which a value may be missing; other types are returned as they are."""
    args = get_args(hint)
    return Union[tuple(t for t in args if t is not NoneType)] if NoneType in args else hint  # noqa: UP007 - computed


def _check(hint: Any, keys: Mapping[str, Any], own: Mapping[Any, Check]) -> Check:
    """Return the check of a type."""
    inner, origin, args = _optional(hint), get_origin(hint), get_args(hint)
    if inner is not hint:
        check = _check(inner, keys, own)
        return lambda value, what: None if value is None else check(value, what)
    if origin is tuple:
        return _tuple_check([_check(t, keys, own) for t in args if t is not ...], args[-1] is ...)
    if origin is Mapping:
        return _mapping_check(_check(args[1], keys, own), str(keys.get("what", "key")))
    if choices := keys.get("enum", args if origin is Literal else ()):
        return lambda value, what: expect_choice(value, choices, what)
    types = args if origin in UNIONS else (hint,)
    return own.get(hint) or _PLAIN.get(hint) or (lambda value, what: _typed(types, value, what))


def _typed(types: Any, value: Any, what: str) -> Any:
    expect_type(value, types, what)
    return str.__str__(value) if isinstance(value, str) else value  # of numpy's texts and of enums a plain one


_PLAIN: dict[Any, Check] = {
    int: lambda value, what: int(expect_int(value, what)), bool: expect_flag, float: expect_number,
    str: lambda value, what: _typed(str, value, what), bytes: lambda value, what: _typed(bytes, value, what),
}


def _tuple_check(checks: list[Check], repeated: bool) -> Check:
    def check(value: Any, what: str) -> tuple[Any, ...]:
        items = expect_items(value, what)
        if not repeated and len(items) != len(checks):
            raise InvalidTypeError(f"{what}: expected {len(checks)} items, not {len(items)}")
        of_items = checks * len(items) if repeated else checks
        return tuple([of_item(item, what) for of_item, item in zip(of_items, items, strict=True)])
    return check


def _mapping_check(check: Check, keys: str) -> Check:
    def checked(value: Any, what: str) -> FrozenMap[str, Any]:
        expect_type(value, Mapping, what)
        return FrozenMap({_typed(str, k, what): check(v, f"{what}[{shown(k)}]") for k, v in value.items()}, keys)
    return checked


# ---- what it is in JSON ------------------------------------------------------------

@cache
def members(cls: Any) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the names of the JSON form of a class, without its constants, and the metadata of each."""
    said = [(f.name, f.metadata.get("json", {})) for f in fields(cls)]
    said += [(name, vars(m.fget)["json"]) for base in reversed(cls.__mro__) for name, m in vars(base).items()
             if isinstance(m, property) and "json" in vars(m.fget)]
    return [(name, keys) for name, keys in said if "hidden" not in keys]


def _plain(value: Any) -> object:
    if isinstance(value, Value):
        return value.to_json()
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return value.name.lower() if isinstance(value, Enum) else value


def _in_hex(value: Any) -> object:
    if isinstance(value, tuple):
        return [hex(item) for item in value]
    if isinstance(value, Mapping):
        return {key: hex(item) for key, item in value.items()}
    return None if value is None else hex(value)
