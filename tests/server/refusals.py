"""How a server refuses a setting, in the forms that providers have for it. Never decides which settings it refuses."""

from __future__ import annotations

from typing import Any

import orjson


def refusal(form: str, name: str, value: Any) -> tuple[int, bytes]:
    """HTTP status and body of the refusal of one setting."""
    status, body = _FORMS[form](name, value)
    return status, orjson.dumps(body)


def _openai(name: str, value: Any) -> tuple[int, Any]:
    if name == "temperature":
        message = f"Unsupported value: 'temperature' does not support {value} with this model. Only the default (1)"
        message += " value is supported."
    elif name == "max_tokens":
        message = "Unsupported parameter: 'max_tokens' is not supported with this model."
        message += " Use 'max_completion_tokens' instead."
    elif name == "logprobs":
        return 403, {"error": {"message": "You are not allowed to request logprobs from this model"}}
    else:
        message = f"Unsupported parameter: '{name}' is not supported with this model."
    error = {"message": message, "type": "invalid_request_error", "param": name, "code": "unsupported_parameter"}
    return 400, {"error": error}


_WORDS = {
    "n": "Only one completion choice is allowed",
    "max_tokens": "max_tokens is not supported by this model, please set max_completion_tokens",
    "stop": "Argument not supported on this model: stop",
    "temperature": "`temperature` is deprecated for this model.",
}


def _words(name: str, value: Any) -> tuple[int, Any]:
    return 400, {"message": _WORDS.get(name, f"this model does not support the parameter {name}"), "type": "BadRequest"}


_GOOGLE = {"n": "Multiple candidates is not enabled for this model", "logprobs": "Logprobs is not enabled for models/m"}


def _google(name: str, value: Any) -> tuple[int, Any]:
    message = _GOOGLE.get(name, f'Invalid JSON payload received. Unknown name "{name}": Cannot find field.')
    return 400, [{"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}]


def _fastapi(name: str, value: Any) -> tuple[int, Any]:
    entry = {"type": "extra_forbidden", "loc": ["body", name], "msg": "Extra inputs are not permitted", "input": value}
    return 422, {"detail": [entry]}


def _mute(name: str, value: Any) -> tuple[int, Any]:
    return 400, {"error": {"message": "Bad request."}}


_FORMS = {"openai": _openai, "words": _words, "google": _google, "fastapi": _fastapi, "mute": _mute}
