"""The forms in which providers write errors. Never decides what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Reply = tuple[int, dict[str, str], Any]


def openai(status: int, message: str, code: str | None = None, wait_ms: int | None = None) -> Reply:
    """OpenAI's form, which Groq uses too."""
    headers = {} if wait_ms is None else {"retry-after-ms": str(wait_ms)}
    return status, headers, {"error": {"message": message, "type": "requests", "param": None, "code": code}}


def openai_value(name: str, value: Any) -> Reply:
    """OpenAI's refusal of a setting, or of its value."""
    if name == "max_tokens":
        message = "Unsupported parameter: 'max_tokens' is not supported with this model."
        message += " Use 'max_completion_tokens' instead."
        code = "unsupported_parameter"
    elif name in ("temperature", "n"):
        message = f"Unsupported value: '{name}' does not support {value} with this model. Only the default (1) value"
        message += " is supported."
        code = "unsupported_value"
    else:
        message, code = f"Unsupported parameter: '{name}' is not supported with this model.", "unsupported_parameter"
    return 400, {}, {"error": {"message": message, "type": "invalid_request_error", "param": name, "code": code}}


def plain(status: int, message: str) -> Callable[[str, Any], Reply]:
    """A sentence, without code or field."""
    body = {"error": {"message": message, "type": "invalid_request_error"}}
    return lambda *_: (status, {}, body)


def azure(status: int, message: str, code: str, wait: str | None = None) -> Reply:
    """Azure's form."""
    headers = {} if wait is None else {"Retry-After": wait}
    return status, headers, {"error": {"message": message, "code": code, "param": None, "type": None}}


def google(status: int, code: str, message: str, details: list[Any] | None = None) -> Reply:
    """Google's form on the compatible route: a list."""
    return status, {}, [{"error": {"code": status, "message": message, "status": code, "details": details or []}}]


def groq(name: str, value: Any) -> Reply:
    """Groq's refusal of a setting."""
    message = "'n' : number must be at most 1" if name == "n" else f"`{name}` is not supported with this model"
    return 400, {}, {"error": {"message": message, "type": "invalid_request_error"}}


def together(status: int, message: str) -> Reply:
    """Together's form, whose type says `credit_limit` of both limits."""
    return status, {}, {"error": {"message": message, "type": "credit_limit", "param": None, "code": None}}


def deepseek(name: str, value: Any) -> Reply:
    """DeepSeek's refusal of a schema."""
    error = {"message": "This response_format type is unavailable now", "type": "invalid_request_error", "param": None}
    return 400, {}, {"error": error | {"code": "invalid_request_error"}}


def mistral(name: str, value: Any) -> Reply:
    """Mistral's refusal of a key that it does not know."""
    detail = {"type": "extra_forbidden", "loc": ["body", name], "msg": "Extra inputs are not permitted", "input": value}
    body = {"object": "error", "message": {"detail": [detail]}, "type": "invalid_request_error", "code": None}
    return 422, {}, body
