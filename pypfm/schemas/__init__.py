"""JSON Schemas of the command line's output with --json.

Those of results are made from the classes of the results: from the type of a field, its metadata, and the text after
``:ivar`` in the docstring.  The others are files here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from enum import Enum
from importlib import import_module
from importlib.resources import files
from types import NoneType
from typing import Any, Literal, cast, get_args, get_origin, get_type_hints

from pypfm.common.value import UNIONS, Value, members

__all__ = ["NAMES", "load", "schema_of"]

Schema = dict[str, Any]

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_OF_THE_WHOLE = ("minItems", "maxItems", "uniqueItems", "required")  # and not of the items
_OURS = ("hex", "hidden", "what")
_SIMPLE: dict[Any, Schema] = {
    bool: {"type": "boolean"}, str: {"type": "string"}, int: {"type": "integer", "minimum": 0},
    float: {"type": "number", "minimum": 0}, NoneType: {"type": "null"},
}
_IVAR = re.compile(r":ivar ([\w, ]+):\s*(.*?)(?=\n\s*(?::|\n)|\s*\Z)", re.DOTALL)

# Of the schemas that are made: module, class, title; and whether the output is a list of such.
_MADE = {
    "bench": ("bench", "Report", "pypfm bench --json", False),
    "encode": ("ia64.encoding", "Encoding", "pypfm encode --json", False),
    "encode_pfm4": ("perf.encoding", "Encodings", "pypfm encode -p glm|perf --json", False),
    "events": ("ia64.events", "Event", "pypfm events --json", True),
    "events_pfm4": ("perf.events", "Event", "pypfm events -p glm|perf --json", True),
    "examples": ("cli.examples", "Copied", "pypfm examples --json", False),
    "find": ("cli._finding", "Found", "pypfm find --json", True),
    "here": ("cli.here", "Here", "pypfm here --json", False),
    "info": ("ia64.events", "Event", "pypfm info --json", False),
    "info_pfm4": ("perf.events", "Event", "pypfm info -p glm|perf --json", False),
    "pmus": ("cli.pmus", "Listed", "pypfm pmus --json", True),
}

#: The schemas, by name.
NAMES = tuple(sorted([*_MADE, "decode", *(p.name.removesuffix(".json") for p in files(__name__).iterdir()
                                          if p.name.endswith(".json"))]))


def load(name: str) -> dict[str, object]:
    """Return the schema of a sub-command's output.

    :param name: one of `NAMES`
    """
    if name == "decode":
        return schema_of(_class("ia64.decode", "Decoded") | _class("perf.decode", "Decoded"), "pypfm decode --json")
    if name in _MADE:
        module, cls, title, is_list = _MADE[name]
        hint = _class(module, cls)
        return schema_of(tuple.__class_getitem__((hint, ...)) if is_list else hint, title)
    text = files(__name__).joinpath(f"{name}.json").read_text(encoding="utf-8")
    return cast("dict[str, object]", json.loads(text))


def _class(module: str, name: str) -> Any:
    return getattr(import_module(f"pypfm.{module}"), name)


def schema_of(hint: Any, title: str) -> dict[str, object]:
    """Return the JSON schema of a class of results, or of a list of such objects."""
    found: dict[str, Schema] = {}
    schema = _schema(hint, {}, found)
    return {"$schema": _DRAFT, "title": title, **schema, "$defs": found}


def _schema(hint: Any, said: Mapping[str, Any], found: dict[str, Schema]) -> Schema:
    """Return the schema of a member.

    :param said: the metadata of the member
    :param found: the schemas of classes, to which those that it refers to are added
    """
    origin, args = get_origin(hint), get_args(hint)
    whole = {key: value for key, value in said.items() if key in _OF_THE_WHOLE}
    items = {key: value for key, value in said.items() if key not in _OF_THE_WHOLE}
    if origin is tuple:
        return {"type": "array", "items": _schema(args[0], items, found), **whole}
    if origin is Mapping:
        return {"type": "object", "additionalProperties": _schema(args[1], items, found), **whole}
    if origin in UNIONS:
        return {"anyOf": [_schema(t, said, found) for t in args]}
    if isinstance(hint, type) and issubclass(hint, Value):
        return _reference(hint, found)
    return _scalar(hint, said)


def _scalar(hint: Any, said: Mapping[str, Any]) -> Schema:
    own = {key: value for key, value in said.items() if key not in _OURS}
    if hint is NoneType:
        return _SIMPLE[hint]
    if get_origin(hint) is Literal or "enum" in own:
        return {"enum": list(own.get("enum", get_args(hint)))}
    if issubclass(hint, Enum):
        return {"enum": [member.name.lower() for member in hint]}
    return {"type": "string", "pattern": "^0x[0-9a-f]+$", **own} if "hex" in said else {**_SIMPLE[hint], **own}


def _reference(cls: Any, found: dict[str, Schema]) -> Schema:
    """Return a reference to the schema of a class; for a base of others, to theirs."""
    made = cls.__subclasses__()
    if made and not members(cls):
        return {"anyOf": [_reference(c, found) for c in made]}
    name = f"{cls.__module__.split('.')[1]}.{cls.__name__}"
    if name not in found:
        found[name] = {}  # it may refer to itself
        about = dict(_descriptions(cls))
        properties: Schema = {constant: {"const": getattr(cls, constant)} for constant in cls._constants}
        hints = get_type_hints(cls)
        for member, said in members(cls):
            hint = hints[member] if member in hints else get_type_hints(getattr(cls, member).fget)["return"]
            properties[member] = _schema(hint, said, found) | about.get(member, {})
        found[name] = {"type": "object", "properties": properties, "required": list(properties),
                       "additionalProperties": False}
    return {"$ref": f"#/$defs/{name}"}


def _descriptions(cls: type) -> list[tuple[str, Schema]]:
    """Return the descriptions of members from the docstrings."""
    return [(name, {"description": " ".join(text.split())}) for base in reversed(cls.__mro__)
            for names, text in _IVAR.findall(base.__doc__ or "") for name in re.split(r",\s*", names)]
