"""What HTTP statuses and broken connections mean, as `BackendError`s. Never decides whether to ask again."""

from __future__ import annotations

import email.utils
import time
from collections.abc import Callable, Mapping

import aiohttp
import orjson

from judge.backends.openai_credentials import RedirectError
from judge.credentials.providers import keys_of
from judge.errors import BackendError, ErrorKind

_CONTEXT = ("context_length", "context length", "maximum context", "too many tokens", "longer than the maximum")
_FILTER = ("content_filter", "content_policy", "content management policy", "responsible ai")
_QUOTA = ("insufficient_quota", "exceeded your current quota", "billing")


def status_error(
    status: int, headers: Mapping[str, str], body: bytes, url: str, scrub: Callable[[str], str]
) -> BackendError:
    """The error that an HTTP status other than 200 stands for. `scrub` takes the key out of the server's words."""
    words = scrub(server_words(body))
    low = words.lower()
    kind: ErrorKind = "request"
    retryable, hint = False, None
    if status in (401, 403):
        kind, hint = "auth", f"check {keys_of(url)}, or the variables that the run names"
    elif any(sign in low for sign in _QUOTA):
        kind, hint = "quota", "the account's quota is used up; add credit, then run the same command again"
    elif status == 429:
        kind, retryable = "rate", True
    elif status in (503, 529):
        kind, retryable = "overload", True
    elif status >= 500 or status in (408, 409, 425):
        kind, retryable = "server", True
    elif any(sign in low for sign in _CONTEXT) or status == 413:
        kind, hint = "context", "shorten the stories or the Eval-Prompt, or serve the model with a longer context"
    elif any(sign in low for sign in _FILTER):
        kind = "filtered"
    elif status == 404 and "model" in low:
        kind, hint = "model", f"see the models of this server: curl {url}/models"
    elif status in (404, 405):
        kind, hint = "address", "base_url must end where /chat/completions begins, e.g. http://127.0.0.1:8000/v1"
    message = f"{url}: HTTP {status}" + (f": {words}" if words else "")
    return BackendError(
        message, kind=kind, retryable=retryable, retry_after=retry_after(headers), status=status, hint=hint
    )


def connection_error(error: aiohttp.ClientError, url: str) -> BackendError:
    """The error that a failed or broken connection stands for."""
    if isinstance(error, RedirectError):
        return BackendError(
            f"{url}: {error}", kind="address", retryable=False, hint="give that address as base_url if you trust it"
        )
    if isinstance(error, aiohttp.InvalidURL):
        return BackendError(f"{url} is not a valid address", kind="address", retryable=False)
    if isinstance(error, aiohttp.ClientConnectorCertificateError | aiohttp.ClientConnectorSSLError):
        return BackendError(f"{url}: the TLS connection failed: {error}", kind="address", retryable=False)
    if isinstance(error, aiohttp.ClientConnectorError):
        reason = error.os_error.strerror or str(error.os_error)
        return BackendError(f"{url}: no connection: {reason}", kind="connection", retryable=True)
    if isinstance(error, aiohttp.ClientPayloadError):
        return BackendError(f"{url}: the answer broke off", kind="garbage", retryable=True)
    return BackendError(f"{url}: {type(error).__name__}: {error}", kind="connection", retryable=True)


def server_words(body: bytes, limit: int = 300) -> str:
    """What the server said in an error body: its message where it has one, else the body's start."""
    try:
        data = orjson.loads(body)
    except orjson.JSONDecodeError:
        return " ".join(body[:limit].decode("utf-8", "replace").split())
    error = data.get("error", data) if isinstance(data, dict) else data
    if isinstance(error, dict):
        parts = [str(error[k]) for k in ("message", "detail", "code") if error.get(k)]
        return " ".join(" ".join(parts).split())[:limit]
    return str(error)[:limit]


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds the server asks us to wait (seconds or an HTTP date), never negative; None where it does not say."""
    value = headers.get("Retry-After")
    if not value:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return None
