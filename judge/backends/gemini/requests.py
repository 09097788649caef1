"""Converts a request under OpenAI's chat names into the format of Gemini's generateContent.

Format: ai.google.dev/api/generate-content, and the types of the google-genai package 3.4.0 (both read in November
2026).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

_GENERATION = {
    "max_tokens": "maxOutputTokens",
    "max_completion_tokens": "maxOutputTokens",
    "temperature": "temperature",
    "top_p": "topP",
    "seed": "seed",
    "stop": "stopSequences",
    "n": "candidateCount",
    "logprobs": "responseLogprobs",
    "top_logprobs": "logprobs",
}
"""OpenAI's name -> the name in generationConfig."""

_BESIDE = frozenset(
    {"safetySettings", "tools", "toolConfig", "cachedContent", "serviceTier", "store", "labels", "systemInstruction"}
)
"""Fields of a request that stand beside generationConfig."""


def wire(asked: Mapping[str, Any]) -> dict[str, Any]:
    """The request body: contents, systemInstruction and generationConfig. It does not name the model, whose name is
    part of the address.

    Keys of `engine` are inserted where the API expects them. They may be written in either spelling (`top_k`, `topK`).
    """
    body: dict[str, Any] = {}
    config: dict[str, Any] = {}
    for name, value in asked.items():
        if name == "messages":
            body |= _contents(value)
        elif name == "response_format":
            config |= _json(value["json_schema"]["schema"])
        elif name == "structured_outputs":
            config |= _choice(value["choice"])
        elif name in _GENERATION:
            config[_GENERATION[name]] = value
        elif name != "model":
            field = _camel(name)
            (body if field in _BESIDE else config)[field] = value
    return body | ({"generationConfig": config} if config else {})


def _contents(messages: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    """The messages as `contents`, in which the model's role is named `model`, and the system messages as
    `systemInstruction`.
    """
    system = [{"text": message["content"]} for message in messages if message["role"] == "system"]
    contents = [
        {"role": "model" if message["role"] == "assistant" else "user", "parts": [{"text": message["content"]}]}
        for message in messages
        if message["role"] != "system"
    ]
    return ({"systemInstruction": {"parts": system}} if system else {}) | {"contents": contents}


def _json(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Settings that request JSON of this schema. The order of the fields is set explicitly, because an explanation may
    have to come first.
    """
    ordered = {**schema, "propertyOrdering": list(schema["properties"])}
    return {"responseMimeType": "application/json", "responseJsonSchema": ordered}


def _choice(choices: Sequence[str]) -> dict[str, Any]:
    """Settings that restrict the answer to exactly one of these words."""
    return {"responseMimeType": "text/x.enum", "responseSchema": {"type": "STRING", "enum": list(choices)}}


def _camel(name: str) -> str:
    return re.sub(r"_([a-z])", lambda found: found[1].upper(), name)
