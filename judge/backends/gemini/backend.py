"""Back-end `gemini/<model>`: client for Google's generateContent API, with the connection code of `openai/`.

The key is sent in the header x-goog-api-key and is not part of an address. No explicit context cache is created. Gemini
caches prefixes by itself (implicit caching) at the same price, whereas an explicit cache costs storage, requires at
least 1,024 to 4,096 tokens (most stories are shorter), and would leave stories at the provider if the program is
killed. Documentation: ai.google.dev/api/generate-content and ai.google.dev/gemini-api/docs/caching (read in November
2026).
"""

from __future__ import annotations

from judge.backends.dialect import Dialect
from judge.backends.gemini import answers, requests
from judge.backends.openai.backend import OpenAIBackend
from judge.backends.protocol import Settings
from judge.base.credentials.providers import GEMINI as PROVIDER
from judge.base.errors import SpecError

GEMINI = Dialect(
    "gemini",
    lambda model: f"/models/{model}:generateContent",
    requests.wire,
    answers.read,
    models="/models?pageSize=1000",
    limit="maxOutputTokens",
    protocol=PROVIDER,
)
"""Google's generateContent."""


def open(model: str, settings: Settings) -> OpenAIBackend:  # noqa: A001  the registry's name for a loader
    """The back-end for `model`, after a check that the key may be sent to the server. No connection is made yet."""
    backend = gemini_backend(model, settings)
    backend.credentials.check()
    return backend


def gemini_backend(model: str, settings: Settings) -> OpenAIBackend:
    """The back-end for `model`, without a check of where keys may be sent. Raises SpecError for settings that Gemini's
    API does not have.
    """
    if settings.api != "chat":
        raise SpecError(f"gemini/ has no `api: {settings.api}`", hint="leave `api` out, or write `api: chat`")
    compatible = next((url for url in settings.base_url if url.partition("?")[0].rstrip("/").endswith("/openai")), None)
    if compatible is not None:
        raise SpecError(
            f"base_url {compatible} is Gemini's OpenAI-compatible endpoint, and gemini/ speaks Gemini's own API",
            hint=f"leave base_url out, or ask it as judge: openai/{model}",
        )
    return OpenAIBackend(model.removeprefix("models/"), settings, GEMINI)
