"""Parses the answers in a batch file, in the format of any supported API."""

from __future__ import annotations

from typing import Any

from judge.backends.anthropic.answers import read_message
from judge.backends.dialect import Dialect, Scrub
from judge.backends.gemini.backend import GEMINI
from judge.backends.openai.answers import CHAT, COMPLETIONS
from judge.backends.openai.responses_api import RESPONSES
from judge.base.records import Response

_OF_GEMINI = ("candidates", "promptFeedback", "usageMetadata")


def read_answer(body: Any, content: bytes, api: str, where: str, scrub: Scrub) -> list[Response]:
    """The answers in the body of a response of status 200. `body` is the parsed JSON of the body and `content` its
    bytes; `api` is the API of the query. Error messages name `where`, and `scrub` removes keys from them.
    """
    if isinstance(body, dict) and body.get("type") == "message":
        return [read_message(content, where)]
    return _dialect_of(body, api).read(content, where, scrub)[0]


def _dialect_of(body: Any, api: str) -> Dialect:
    """Format of the API that the parsed `body` of an answer comes from. If OpenAI's chat and completions formats cannot
    be distinguished, the query's API decides.
    """
    if isinstance(body, dict):
        if body.get("object") == "response":
            return RESPONSES
        if "choices" not in body and any(name in body for name in _OF_GEMINI):
            return GEMINI
    return COMPLETIONS if api == "completions" else CHAT
