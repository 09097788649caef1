r"""Repair of half surrogate pairs, as a model writes them that is stopped inside an emoji: `"\ud83d"` alone.

JSON can spell half a pair, but UTF-8 cannot hold it: no file, database or table takes such a text. Each half becomes
U+FFFD, the character that stands for what cannot be shown, and the rest of the answer is kept.
"""

from __future__ import annotations

import re
from typing import Any

import orjson

_ESCAPE = re.compile(
    r"(\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)
"""Escaped backslashes and whole pairs, which stay as they are (group 1), or else one half."""


def whole_characters(text: str) -> str:
    """The text with U+FFFD for each half of a pair; two halves that stand together become their character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def whole_escapes(json_text: str) -> str:
    r"""JSON with `\ufffd` for each escape of half a pair; every other character keeps its place."""
    if "\\u" not in json_text:
        return json_text
    return _ESCAPE.sub(lambda match: match[1] or "\\ufffd", json_text)


def json_value(raw: bytes) -> Any:
    """The value of JSON in UTF-8. Raises `orjson.JSONDecodeError` for what is no JSON once half pairs are repaired."""
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        if b"\\u" not in raw:
            raise
        try:
            text = raw.decode()
        except UnicodeDecodeError:
            raise error from None
    return orjson.loads(whole_escapes(text))
