"""`gemini/<model>`: client for Google's own generateContent API, over the connection code of `openai/`.

The key goes in the header x-goog-api-key, never in an address. No context cache is made: Gemini keeps prefixes by
itself (implicit caching) at the same price as an explicit cache reads them, and an explicit cache costs storage, wants
1,024 to 4,096 tokens at least, which most stories are below, and would leave stories at the provider after a kill.
Documentation: ai.google.dev/api/generate-content and ai.google.dev/gemini-api/docs/caching (read in November 2026).
"""

from __future__ import annotations

from judge.backends.dialect import Dialect
from judge.backends.gemini import answers, requests
from judge.backends.openai.backend import OpenAIBackend
from judge.backends.protocol import Settings
from judge.credentials.providers import GEMINI as PROVIDER
from judge.errors import SpecError

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
    """Open the back-end; no connection is made yet, but where keys may go is settled."""
    backend = gemini_backend(model, settings)
    backend.credentials.check()
    return backend


def gemini_backend(model: str, settings: Settings) -> OpenAIBackend:
    """Build the back-end, before the check of where keys may go."""
    if settings.api != "chat":
        raise SpecError(f"gemini/ has no `api: {settings.api}`", hint="leave `api` out, or write `api: chat`")
    compatible = next((url for url in settings.base_url if url.partition("?")[0].rstrip("/").endswith("/openai")), None)
    if compatible is not None:
        raise SpecError(
            f"base_url {compatible} is Gemini's OpenAI-compatible endpoint, and gemini/ speaks Gemini's own API",
            hint=f"leave base_url out, or ask it as judge: openai/{model}",
        )
    return OpenAIBackend(model.removeprefix("models/"), settings, GEMINI)
