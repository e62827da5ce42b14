"""Errors that come as JSON, and results that come with exceptions."""

from __future__ import annotations

import json
from typing import Any

from ._costep import Error


def error_of(details: dict[str, Any], result: Any = None) -> Error:
    """The exception for an error of a report."""
    text = (
        details.get("text") or f"error[{details.get('code')}]: {details.get('message')}\n  help: {details.get('help')}"
    )
    error = Error(text)
    error.code = details.get("code", "")
    error.message = details.get("message", "")
    error.place = details.get("place")
    error.cause = details.get("cause")
    error.hint = details.get("help", "")
    error.errors = [details]
    error.result = result
    return error


def misuse(message: str, hint: str, code: str = "E0622") -> Error:
    """The exception for a call that cannot work."""
    text = f"error[{code}]: {message}\n  help: {hint}"
    return error_of({"code": code, "message": message, "help": hint, "text": text})


def errors_of(found: list[dict[str, Any]]) -> Error:
    """One exception for several errors."""
    error = error_of(found[0])
    error.args = ("\n".join(str(error_of(one)) for one in found),)
    error.errors = found
    return error


def read_json(text: str) -> Any:
    """JSON of the extension module."""
    return json.loads(text)
