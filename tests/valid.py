"""Data against the package's JSON Schemas, each of which is read and checked once."""

from __future__ import annotations

from functools import cache

import jsonschema

from pypfm import schemas


@cache
def _validator(name: str) -> jsonschema.Draft202012Validator:
    schema = schemas.load(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def validate(data: object, name: str) -> None:
    """Raise jsonschema.ValidationError for data that are not as the schema of this name says."""
    _validator(name).validate(data)
