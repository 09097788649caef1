"""What Gemini's generateContent refuses of a request, as documentation and public threads have it.

Forms: ai.google.dev/api/generate-content; the types of the google-genai package 3.4.0; threads named beside each rule.
None was compared with the live endpoint.
"""

from __future__ import annotations

from typing import Any

from tests.conformance.refusal_forms import google

Reply = tuple[int, dict[str, str], Any]

TOP = frozenset(
    {"contents", "systemInstruction", "generationConfig", "safetySettings", "tools", "toolConfig", "cachedContent"}
    | {"serviceTier", "store"}
)
CONFIG = frozenset(
    {"temperature", "topP", "topK", "candidateCount", "maxOutputTokens", "stopSequences", "responseLogprobs"}
    | {"logprobs", "presencePenalty", "frequencyPenalty", "seed", "responseMimeType", "responseSchema"}
    | {"responseJsonSchema", "thinkingConfig", "responseModalities", "mediaResolution"}
)
SCHEMA = frozenset(
    {"type", "enum", "properties", "required", "additionalProperties", "propertyOrdering", "items", "description"}
)
"""Keywords of a JSON schema that are supported (those that a rating needs; the documentation lists a few more)."""


def refused(model: str, body: dict[str, Any]) -> Reply | None:
    """How a request is refused; None where it is taken."""
    for name in body:
        if name not in TOP:
            return invalid(f'Invalid JSON payload received. Unknown name "{name}": Cannot find field.')
    config = body.get("generationConfig", {})
    for name in config:
        if name not in CONFIG:
            return _unknown_in_config(name)
    contents = body.get("contents")
    if not contents:
        return invalid("* GenerateContentRequest.contents: contents is not specified")
    if any(one.get("role") not in ("user", "model") for one in contents):
        return invalid("Please use a valid role: user, model.")
    if not all(part.get("text") for one in contents for part in one.get("parts", ())):
        return invalid("* GenerateContentRequest.contents[0].parts: contents.parts must not be empty.")
    return _value(model, config) or _form(config)


def invalid(message: str) -> Reply:
    """An INVALID_ARGUMENT, as the native API sends it: an object, where the compatible endpoint sends a list."""
    status, headers, (body,) = google(400, "INVALID_ARGUMENT", message)
    return status, headers, body


def _unknown_in_config(name: str) -> Reply:
    said = f"Invalid JSON payload received. Unknown name \"{name}\" at 'generation_config': Cannot find field."
    status, headers, body = invalid(said)
    violation = {"field": "generation_config", "description": said}
    body["error"]["details"] = [{"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": [violation]}]
    return status, headers, body


def _value(model: str, config: dict[str, Any]) -> Reply | None:
    count = config.get("candidateCount", 1)
    if count != 1 and model.startswith("gemini-3"):
        return invalid("Multiple candidates is not enabled for this model")  # googleapis/js-genai#1609
    if not 1 <= count <= 8:
        return invalid("The candidateCount must be in the range [1, 8].")
    if not 0 <= config.get("temperature", 1) <= 2:
        return invalid(
            f"Unable to submit request because it has a temperature value of {config['temperature']} but the supported "
            "range is from 0 (inclusive) to 2.0001 (exclusive). Update the value and try again."
        )
    if config.get("maxOutputTokens", 1) > 65_536:
        return invalid("Invalid value at 'generation_config.max_output_tokens' (TYPE_INT32).")
    if config.get("maxOutputTokens", 1) < 1:
        return invalid(
            "* GenerateContentRequest.generation_config.max_output_tokens: max_output_tokens must be positive."
        )
    if len(config.get("stopSequences", ())) > 5:
        return invalid("Unable to submit request because the number of stopSequences must be at most 5.")
    if config.get("responseLogprobs") and model.startswith("gemini-3"):
        return invalid(f"Logprobs is not enabled for models/{model}")  # googleapis/python-genai#1723
    if "logprobs" in config and not config.get("responseLogprobs"):
        return invalid("logprobs may be set only where responseLogprobs is true.")
    if config.get("thinkingConfig", {}).get("thinkingBudget") == 0 and "pro" in model:
        return invalid("Budget 0 is invalid. This model only works in thinking mode.")
    return None


def _form(config: dict[str, Any]) -> Reply | None:
    kind = config.get("responseMimeType", "text/plain")
    if kind not in ("text/plain", "application/json", "text/x.enum"):
        return invalid(f"Unsupported response mime type {kind}.")
    if "responseJsonSchema" in config and "responseSchema" in config:
        return invalid("response_schema must be omitted where response_json_schema is set.")
    if "responseJsonSchema" in config and kind != "application/json":
        return invalid("response_json_schema needs response_mime_type application/json.")
    if "responseSchema" in config and kind == "text/plain":
        return invalid("response_schema needs a response_mime_type that goes with it.")
    for word in _keywords(config.get("responseJsonSchema", {})):
        if word not in SCHEMA:
            return invalid(f"The keyword {word} of response_json_schema is not supported.")
    return None


def _keywords(schema: dict[str, Any]) -> set[str]:
    inner = [_keywords(one) for one in schema.get("properties", {}).values()]
    return set(schema).union(*inner)
