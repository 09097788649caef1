"""Describes the differences between the HTTP APIs that the client supports: routes, format of requests, format of
answers.

A request is always built under the names of OpenAI's chat API and then converted. Settings that a server refuses are
negotiated under these names (`judge.backends.openai.negotiation`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import orjson

from judge.backends.structured import STRUCTURED
from judge.base.credentials.providers import OPENAI, Provider
from judge.base.errors import BackendError
from judge.base.records import Response

Scrub = Callable[[str], str]
Read = Callable[[bytes, str, Scrub], tuple[list[Response], int]]
"""(body, address, scrub) -> the answers, and how many the server gave, those that failed on their way included."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """Request and response format of one API.

    Attributes
    ----------
    provider : str
        First part of the judge's name `provider/model` in run.yaml.
    route : callable
        Model -> the route below base_url to which requests go.
    wire : callable
        Converts a request under OpenAI's chat names into the JSON body that is sent.
    read : callable
        Reads the body of an answer of status 200; raises `BackendError`.
    chat : bool
        Whether a request holds messages (True) or one text (False).
    models : str
        The route that lists models.
    limit : str or None
        Name of the setting for the maximum length of an answer. None if it is one of OpenAI's two names, and
        the client finds out which.
    one_answer : bool
        Whether the API has no setting for several answers to a request.
    tells : bool
        Whether servers may have additional routes with facts about themselves, as vLLM has.
    protocol : Provider
        Provider that defined the protocol. It determines the header and the environment variables of the key, and
        the default address.
    structured : frozenset of str
        Structured answer formats that can be requested.
    """

    provider: str
    route: Callable[[str], str]
    wire: Callable[[Mapping[str, Any]], dict[str, Any]]
    read: Read
    chat: bool = True
    models: str = "/models"
    limit: str | None = None
    one_answer: bool = False
    tells: bool = False
    protocol: Provider = OPENAI
    structured: frozenset[str] = frozenset({"none", *STRUCTURED})


def as_it_is(asked: Mapping[str, Any]) -> dict[str, Any]:
    """The request body unchanged, for an API that uses OpenAI's names."""
    return dict(asked)


def no_answer(url: str, body: bytes, form: str) -> BackendError:
    """Error for a body of status 200 that is not an answer of the expected format, which `form` names."""
    start = body[:80].decode("utf-8", "replace")
    return BackendError(f"{url}: the answer is not {form} answer: {start!r}", kind="garbage", retryable=True)


_LONGEST_NAME = 300
"""Characters of the model's name: the journal holds it with each answer, and a server could put anything there."""


def checked(response: Response) -> Response:
    """The response in the form in which a journal stores it. Raises TypeError if the answer or the thinking is not
    text.

    In this form, a model name or finish reason that is not text becomes None, and so do empty log-probabilities. A very
    long model name is cut.
    """
    reasoning, reason, model, logprobs = response.reasoning, response.finish_reason, response.model, response.logprobs
    if type(response.text) is not str or type(reasoning) not in (str, type(None)):
        raise TypeError("no text")
    good = type(reason) in (str, type(None)) and type(model) in (str, type(None)) and len(model or "") < _LONGEST_NAME
    if good and logprobs is None:
        return response
    return replace(
        response,
        finish_reason=reason if isinstance(reason, str) else None,
        model=model[:_LONGEST_NAME] if isinstance(model, str) else None,
        logprobs=_checked_logprobs(logprobs),
    )


def _checked_logprobs(logprobs: Any) -> Any:
    """The log-probabilities of an answer, if they have the format of OpenAI's chat or completions answers, and are
    nested no deeper than a journal can store. None if they are empty; otherwise TypeError is raised.
    """
    if not logprobs or (isinstance(logprobs, Mapping) and not logprobs.get("content") and not logprobs.get("tokens")):
        return None
    orjson.dumps(logprobs)
    content = logprobs.get("content")
    if content:
        for step in content:
            for token in (step, *(step.get("top_logprobs") or ())):
                _check_token(token["token"], token["logprob"])
        return logprobs
    tokens, own, tops = logprobs["tokens"], logprobs.get("token_logprobs") or (), logprobs.get("top_logprobs") or ()
    for token, value in zip(tokens, own, strict=False):
        _check_token(token, 0.0 if value is None else value)
    for top in tops:
        for token, value in (top or {}).items():
            _check_token(token, value)
    return logprobs


def _check_token(token: Any, value: Any) -> None:
    if type(token) is not str or type(value) not in (int, float):
        raise TypeError("no token with its log-probability")
