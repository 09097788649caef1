"""Keys taken out of text: known ones in every form, parts of them, and nothing else."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote

import pytest

from judge.base import redaction
from judge.base.errors import BackendError

KEY = "sk-proj-Ab9/x+y=ZZQw81jfkdlsa0923kkd"


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redaction, "_remembered", set())
    monkeypatch.setenv("OPENAI_API_KEY", f"{KEY}\n")


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        (f"key {KEY}.", "key ***."),
        (f"?k={quote(KEY, safe='')}&", "?k=***&"),
        (f"Basic {base64.b64encode(b'user:' + KEY.encode()).decode()}", "Basic dXNlcjp***Q="),
        (json.dumps({"a": KEY}), '{"a": "***"}'),
        (KEY.upper(), "***"),
        (KEY.encode().hex(), "***"),
        (f"cut {KEY[:14]}", "cut ***"),
        (f"provided: {KEY[:8]}{'*' * 20}{KEY[-4:]}. Yours", "provided: ***. Yours"),
        (f"ends in ...{KEY[-4:]}", "ends in ***"),
        ("other sk-ant-api03-abcdefghij0123456789XY here", "other *** here"),
        ("No such option: --gsk_abcdefghij0123456789", "No such option: --***"),
        ("risk-averse-people-with-1-long-hyphenated-name", "risk-averse-people-with-1-long-hyphenated-name"),
        ("plain **bold** text... of none, xxxx and so on", "plain **bold** text... of none, xxxx and so on"),
    ],
)
def test_forms(text: str, clean: str) -> None:
    assert redaction.redact(text) == clean


def test_every_error_is_redacted() -> None:
    error = BackendError(f"HTTP 401: {KEY}", kind="auth", retryable=False, hint=f"not {KEY}")
    assert (str(error), error.hint) == ("HTTP 401: ***", "not ***")


def test_words_and_dummies_are_no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for value in ("none", "EMPTY", "lm-studio", "production", "short1"):
        monkeypatch.setenv("SOME_TOKEN", value)
        assert redaction.redact(f"it is {value} here") == f"it is {value} here"
    monkeypatch.setenv("HTTPS_PROXY", "http://me:pa55word!@proxy:3128")
    assert redaction.redact("by me:pa55word!@proxy") == "by me:***@proxy"


def test_answers_keep_their_bytes_unless_they_hold_a_key() -> None:
    body = b'{"content": "Rating: 4 \\u2014 fine"}'
    assert redaction.cleaned(b'{"a": "Rating"}', [KEY]) == b'{"a": "Rating"}'
    assert json.loads(redaction.cleaned(body, [KEY])) == json.loads(body)
    hidden = "".join(f"\\u{ord(c):04x}" for c in KEY)
    assert json.loads(redaction.cleaned(f'{{"a": "x{hidden}y"}}'.encode(), [KEY])) == {"a": "x***y"}
    assert redaction.cleaned(f"{KEY}".encode(), []) == KEY.encode()


@pytest.mark.parametrize("form", [str, repr, json.dumps, lambda key: repr(json.dumps(key))])
def test_a_key_that_json_escapes_is_found_however_it_was_quoted_before(form) -> None:
    key = "k3v9mq2r7a%&\"'\\<>z8c4d1{}$ t5w6y7e9"
    body = json.dumps({"choices": [{"message": {"refusal": f"I hold {form(key)} and no more"}}]}).encode()
    found = json.loads(redaction.cleaned(body, [key]))["choices"][0]["message"]["refusal"]
    assert "k3v9mq2r7a" not in found
    assert "t5w6y7e9" not in found
    assert found.startswith("I hold ")
    assert found.endswith(" and no more")
    assert redaction.cleaned(b'{"a": "\\n\\"Rating\\": 4"}', [key]) == b'{"a": "\\n\\"Rating\\": 4"}'


def test_plain_data_is_redacted_names_included() -> None:
    assert redaction.redact_plain({"a": [KEY, 1, None], KEY: {"b": (KEY,)}}) == {
        "a": ["***", 1, None],
        "***": {"b": ["***"]},
    }
