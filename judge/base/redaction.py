"""Removes API keys and passwords from text before it is printed or stored. No function prints or writes a key.

A key is the value of an environment variable with a name such as API_KEY or TOKEN, a proxy's password, or a value sent
with a request. Keys that providers echo are removed too: encoded as in URLs, JSON, HTML, hexadecimal and base64 (at any
offset, as in Basic authorization), truncated, or masked in the middle ("sk-ab***yz")."""

from __future__ import annotations

import base64
import contextlib
import os
import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

from judge.base.late_pattern import late

MASK = "***"

# Names of environment variables whose values are keys.
VARIABLES = late(r"(?:.*_)?(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PAT)")

# Shorter values are words that stand in any text.
LEAST = 8

# What keys of the large providers look like, as patterns for text and, encoded, for bytes.
LOOKS = {
    "what looks like an API key (sk-...)": r"(?<!\w)(?<!\w-)sk-(?=[\w-]*\d)[A-Za-z0-9_-]{20,}",
    "what looks like a Hugging Face token (hf_...)": r"(?<!\w)hf_[A-Za-z0-9]{30,}",
    "what looks like a Google key (AIza...)": r"(?<!\w)(?<!\w-)AIza[A-Za-z0-9_-]{35}",
    "what looks like an API key": r"(?<!\w)(?<!\w-)(?:gsk_|xai-|nvapi-|pplx-|r8_|fw_|csk-|tgp_v1_|gh[pousr]_"
    r"|github_pat_|glpat-)(?=[\w-]*\d)[A-Za-z0-9_-]{20,}",
    "what looks like an AWS key (AKIA...)": r"(?<!\w)A[KS]IA[A-Z0-9]{16}(?!\w)",
    "what looks like a signed token (eyJ...)": r"(?<!\w)(?<!\w-)eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}",
}

_LOOKS = late("|".join(LOOKS.values()))
_DUMMIES = frozenset({"dummy", "empty", "lm-studio", "no-key-required", "none", "not-needed", "sk-no-key-required"})
# Characters of a long key that give it away where a text holds only part of it.
_PIECE = 10

_LONG = 12
# Letters alone make a key only from this length on.
_WORD = 16

# Characters of a key that a provider left when it masked the rest, from which on the rest is masked as well.
_SHOWN = 4

# Characters of a key that JSON does not write as they are.
_ESCAPED = late(r'["\\]|[^ -~]')

_RUN = late(r"\*{2,}|\.{3,}|…+|•{2,}|[xX]{4,}")
_remembered: set[str] = set()


def remember(value: str) -> None:
    """Treat this value as an API key from now on, because it is about to be sent with a request."""
    if value.strip():
        _remembered.add(value.strip())


def known_keys() -> dict[str, str]:
    """The keys and passwords that this process knows, with their origin as a phrase, such as `the value of NAME`."""
    origins = dict.fromkeys((value for value in _remembered if is_key_value(value)), "a value sent with requests")
    for name in os.environ:
        kind = _kind(name)
        value = os.environ.get(name, "") if kind else ""
        if kind == "key" and is_key_value(value.strip()) and not _is_path(name, value):
            origins[value.strip()] = f"the value of {name}"
        elif kind == "proxy" and "@" in value:
            password = value.rpartition("@")[0].rpartition("/")[2].partition(":")[2]
            if is_key_value(password):
                origins[password] = f"the password in {name}"
    return origins


@lru_cache(maxsize=4096)
def _kind(variable: str) -> str | None:
    # A proxy's address may contain a password.
    name = variable.upper()
    if VARIABLES.fullmatch(name):
        return "key"
    return "proxy" if name.endswith("_PROXY") else None


def redact(text: str) -> str:
    """The text with `***` for every known key or password, and every string that looks like a key."""
    return _redacted(text, known_keys())


def _redacted(text: str, keys: Iterable[str]) -> str:
    # A known key's pieces come last: keys of one provider begin alike, and would break one that only looks like a key.
    return _without_parts(_LOOKS.sub(MASK, _without_whole(text, keys)), keys)


def redact_only(text: str, keys: Iterable[str]) -> str:
    """The text with `***` in place of these API keys or passwords, in any encoding."""
    keys = list(keys)
    return _without_parts(_without_whole(text, keys), keys)


def cleaned(body: bytes, keys: Iterable[str]) -> bytes:
    """A server's answer with these API keys masked, because some servers echo them."""
    keys = list(keys)
    if not keys:
        return body
    import orjson

    if b"\\u" in body:
        # JSON may write any letter as an escape.
        with contextlib.suppress(orjson.JSONDecodeError):
            body = orjson.dumps(orjson.loads(body))
    escaped = [key for key in keys if _ESCAPED.search(key)]
    if escaped and b"\\" in body:
        # A form that is itself escaped, as a key quoted within a text, stands in JSON as no form that is looked for.
        with contextlib.suppress(orjson.JSONDecodeError):
            content = orjson.loads(body)
            safe = _each_string(content, lambda text: redact_only(text, escaped))
            body = body if safe == content else orjson.dumps(safe)
    low = body.lower()
    if not any(form in low for key in keys for form in forms_in_bytes(key)):
        return body
    return redact_only(body.decode("utf-8", "replace"), keys).encode()


def redact_plain(value: Any) -> Any:
    """Plain data with keys and passwords masked in every string, including field names."""
    keys = known_keys()
    return _each_string(value, lambda text: _redacted(text, keys))


def _each_string(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {_each_string(name, change): _each_string(item, change) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_each_string(item, change) for item in value]
    return value


def held_in(text: str) -> str | None:
    """Origin, such as `the value of NAME`, of a known key or password that a text contains in full, in any encoding."""
    low = text.lower()
    for key, source in known_keys().items():
        if any(form in low for form in forms_of(key)):
            return source
    return None


def looks_in(text: str) -> str | None:
    """Kind of API key that a string in the text looks like, by the patterns of large providers."""
    return next((kind for kind, look in LOOKS.items() if re.search(look, text)), None)


def forms_in_bytes(key: str) -> tuple[bytes, ...]:
    """All encodings of an API key that may occur in a file or an answer, as lower-case bytes."""
    return _forms_of(key)[2]


def forms_of(key: str) -> tuple[str, ...]:
    """All encodings of an API key (such as URL, JSON or base64) that may occur in a text, in lower case."""
    return _forms_of(key)[0]


def is_key_value(value: str) -> bool:
    """Whether a value can be a key or password: long enough, no common placeholder, no short word of letters alone."""
    return len(value) >= LEAST and value.lower() not in _DUMMIES and not (value.isalpha() and len(value) < _WORD)


def _is_path(name: str, value: str) -> bool:
    # A variable such as TLS_KEY may hold the path of a file.
    return (
        name.upper().endswith("_KEY")
        and value.startswith(("/", "~", "./"))
        and os.path.exists(  # noqa: PTH110
            os.path.expanduser(value)  # noqa: PTH111
        )
    )


@lru_cache(maxsize=256)
def _forms_of(key: str) -> tuple[tuple[str, ...], frozenset[str], tuple[bytes, ...]]:
    # Encodings in lower case, substrings that reveal part of a long key, and the encodings as bytes.
    import html
    import json
    from urllib.parse import quote, quote_plus

    raw = key.encode()
    escaped = json.dumps(key)[1:-1]
    forms = {key, escaped, escaped.replace("/", "\\/"), repr(key)[1:-1], html.escape(key), raw.hex()}
    forms |= {json.dumps(key, ensure_ascii=False)[1:-1], quote(key), quote(key, safe=""), quote_plus(key)}
    forms |= {quote(quote(key, safe=""), safe="")}
    encoded = set()
    for offset in range(3):
        # What stands before and after shares the characters at the ends.
        first, last = (offset * 8 + 5) // 6, (offset + len(raw)) * 8 // 6
        piece = base64.b64encode(b"\0" * offset + raw).decode()[first:last]
        encoded |= {piece, piece.replace("+", "-").replace("/", "_"), quote(piece, safe="")}
    forms |= {form for form in encoded if len(form) >= LEAST}
    low = {form.lower() for form in forms}
    long = [form for form in low if len(form) >= _LONG] if len(key) >= _LONG else []
    pieces = frozenset(form[i : i + _PIECE] for form in long for i in range(len(form) - _PIECE + 1))
    return (
        tuple(sorted(low, key=lambda form: (-len(form), form))),
        pieces,
        tuple(sorted(form.encode() for form in low)),
    )


@lru_cache(maxsize=256)
def _pattern(key: str) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, forms_of(key))), re.IGNORECASE)


def _without_whole(text: str, keys: Iterable[str]) -> str:
    low = text.lower()
    for key in keys:
        if any(form in low for form in forms_of(key)):
            text = _pattern(key).sub(MASK, text)
    return text


def _without_parts(text: str, keys: Iterable[str]) -> str:
    for key in keys:
        text = _without_masked(_without_pieces(text, _forms_of(key)[1]), key)
    return text


def _without_pieces(text: str, pieces: frozenset[str]) -> str:
    if not pieces:
        return text
    low = text.lower()
    if len(low) != len(text):  # a letter whose small form is longer would shift the places
        low = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
    starts = [i for i in range(len(low) - _PIECE + 1) if low[i : i + _PIECE] in pieces]
    if not starts:
        return text
    parts: list[str] = []
    done = 0
    for start in starts:
        if start > done or not parts:
            parts += [text[done:start], MASK]
        done = start + _PIECE
    return "".join([*parts, text[done:]])


def _without_masked(text: str, key: str) -> str:
    # "sk-ab***yz": the characters that the provider still shows are replaced too.
    parts: list[str] = []
    done = 0
    for run in _RUN.finditer(text):
        before, after = text[max(done, run.start() - len(key)) : run.start()], text[run.end() : run.end() + len(key)]
        head = next(n for n in range(len(before), -1, -1) if key.startswith(before[len(before) - n :]))
        tail = next(n for n in range(len(after), -1, -1) if key.endswith(after[:n]))
        if head + tail >= _SHOWN and run.start() - head >= done:
            parts += [text[done : run.start() - head], MASK]
            done = run.end() + tail
    return "".join([*parts, text[done:]])
