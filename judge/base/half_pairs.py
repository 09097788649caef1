r"""Repair of lone surrogates such as `"\ud83d"`, which a model writes if it is stopped within an emoji. JSON can
express one but UTF-8 cannot, so that no file, database or table accepts the text. Each becomes U+FFFD, and the rest is
kept."""

from __future__ import annotations

import json
from typing import Any

import orjson

from judge.base.late_pattern import late

# Escaped backslashes and whole pairs, which stay as they are (group 1), or else one half.
_ESCAPE = late(r"(\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|\\u[dD][89a-fA-F][0-9a-fA-F]{2}")


def whole_characters(text: str) -> str:
    """The text with U+FFFD for each lone surrogate; two that form a pair become their character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def whole_escapes(json_text: str) -> str:
    r"""JSON text with `\ufffd` for each lone surrogate's escape; positions stay."""
    if "\\u" not in json_text:
        return json_text
    return _ESCAPE.sub(lambda match: match[1] or "\\ufffd", json_text)


def json_value(raw: bytes) -> Any:
    """Value of a JSON text in UTF-8, with lone surrogates repaired; NaN and infinities, which some servers write,
    become floats. Raises `orjson.JSONDecodeError`."""
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        try:
            # Stricter readers refuse a whole answer for one number that nobody needs.
            return json.loads(whole_escapes(raw.decode()))
        except (ValueError, RecursionError):
            raise error from None
