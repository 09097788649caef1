"""HTTP statuses and broken connections as `BackendError`s with hints for the user."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import aiohttp

from judge.backends.openai.credentials import RedirectError, endpoint
from judge.backends.refusal_body import read_error_body
from judge.backends.refusal_kinds import Refusal, read_refusal
from judge.backends.server_terms import RESPONSES_ALONE, remedy
from judge.base.credentials.providers import OPENAI, Provider, keys_of
from judge.base.credentials.trust import VARIABLE
from judge.base.credentials.written_keys import origin_of
from judge.base.errors import BackendError, ErrorKind
from judge.base.redaction import redact

# Reads the bodies of HTTP responses up to a maximum length.

# Bytes, unpacked: the longest answers with twenty alternatives for each token take a few.
MOST = 32 << 20


class TooLongError(aiohttp.ClientError):
    """Raised when a body is longer than `MOST` bytes; the rest was not read."""


async def read_body(reply: aiohttp.ClientResponse) -> bytes:
    """The whole body. If it is longer than `MOST` bytes, closes the connection and raises TooLongError."""
    parts: list[bytes] = []
    length = 0
    while piece := await reply.content.readany():
        length += len(piece)
        if length > MOST:
            reply.close()
            raise TooLongError(f"the answer is longer than {MOST >> 20} MiB")
        parts.append(piece)
    return b"".join(parts)


_HINTS: dict[ErrorKind, str] = {
    "quota": "what the account may use is used up; add credit or raise its limit, then run the same command again",
    "context": "shorten the stories or the Eval-Prompt, or serve the model with a longer context",
}


class RefusalError(BackendError):
    """Raised when a server refuses a request: `refusal` interprets its answer, `sent` is the body if known."""

    def __init__(
        self,
        message: str,
        *,
        refusal: Refusal,
        sent: Mapping[str, Any] | None = None,
        kind: ErrorKind | None = None,
        retryable: bool | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(
            message,
            kind=kind or refusal.kind,
            retryable=refusal.retryable if retryable is None else retryable,
            retry_after=refusal.retry_after,
            status=refusal.status,
            hint=hint,
        )
        self.refusal = refusal
        self.sent = sent


def status_error(
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    url: str,
    sent: Mapping[str, Any] | None = None,
    route: str = "/chat/completions",
    protocol: Provider = OPENAI,
) -> RefusalError:
    """Error for a refused request, or an answer of status 200 with an error. `sent` is under OpenAI's
    names; `protocol` is the provider whose format `route` has."""
    refusal = read_refusal(status, headers, body, sent)
    words = redact(refusal.error_body.shown())
    where = f"{url}: HTTP {status}" + (" with an error inside" if status == 200 else "")
    message = where + (f": {words}" if words else "")
    return RefusalError(message, refusal=refusal, sent=sent, hint=_hint(refusal, url, route, protocol))


def connection_error(error: aiohttp.ClientError, url: str) -> BackendError:
    if isinstance(error, RedirectError):
        return BackendError(
            f"{url}: {error}", kind="address", retryable=False, hint="give that address as base_url if you trust it"
        )
    if isinstance(error, TooLongError):
        return BackendError(f"{url}: {error}", kind="garbage", retryable=True)
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


def timed_out(url: str, seconds: float) -> BackendError:
    """Error for a request that got no answer within `seconds`."""
    return BackendError(f"{url}: no answer within {seconds:g} s", kind="timeout", retryable=True)


def server_words(body: bytes) -> str:
    """The messages in an error body as one text; for a body that is not JSON, its beginning."""
    return read_error_body(body).shown()


def _hint(refusal: Refusal, url: str, route: str, protocol: Provider) -> str | None:
    low = refusal.error_body.low
    if refusal.kind == "capability" and refusal.settings:
        return remedy(refusal.settings, refusal)
    if refusal.kind == "model":
        azure = (
            "; on Azure the model's name is that of your deployment" if "deployment" in low or "azure" in url else ""
        )
        return f"see the models of this server: curl {endpoint(url, '/models')}{azure}"
    if refusal.kind == "api":
        if "v1/completions" in low or "chat template" in low or "chat_template" in low:
            return "set `api: completions` in run.yaml, or take another model"
        if RESPONSES_ALONE in low:
            return "set `api: responses` in run.yaml, or take another model"
        return (
            "take a model that answers at /chat/completions (or, with `api: completions`, at /completions; with "
            "`api: responses`, at /responses)"
        )
    if refusal.kind == "address":
        version = ", with ?api-version=... where the server wants one" if "azure" in url or "resource" in low else ""
        example = "" if protocol is not OPENAI else f", e.g. http://127.0.0.1:8000/v1{version}"
        return f"base_url must end where {route} begins{example}"
    if refusal.kind == "context" and refusal.status == 429:
        return "one request is more than the account's limit of a minute: shorten it, or have the limit raised"
    if refusal.kind == "auth":
        keys = keys_of(url, protocol)
        origin = origin_of(url)
        here = f"; a server of this machine is sent a key where you trust it: export {VARIABLE}={origin}"
        trust = here if origin.loopback else ""
        return f"check {keys}, or the variables that the run names; it must be allowed to use this model{trust}"
    return _HINTS.get(refusal.kind)
