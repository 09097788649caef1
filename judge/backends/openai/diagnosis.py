"""Finds the cause of a refusal that gives no reason: the request is simplified step by step until the server answers.

This costs a few requests, and is done only if the server's message names no cause.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from judge.backends.openai.asker import Asker
from judge.backends.openai.errors import RefusalError
from judge.backends.openai.probe import ask_plainly, try_body
from judge.backends.server_refusals.refused_settings import LIMITS

Blame = Literal["everything", "content", "settings"]

_KEPT = frozenset({"model", "messages", "prompt"})


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What the server refuses: every request, the content of this request, or the settings in `settings`. If it refuses
    every request, `error` is its refusal of a plain question.
    """

    blame: Blame
    settings: tuple[str, ...] = ()
    error: RefusalError | None = None


async def diagnose(asker: Asker, sent: dict[str, Any]) -> Diagnosis:
    """The cause of a refusal of the request `sent`. To find it, a plain question is sent, then the request without any
    settings, then the request without each setting in turn.
    """
    refused = await ask_plainly(asker)
    if refused is not None:
        return Diagnosis("everything", error=refused)
    settings = [name for name in sent if name not in _KEPT]
    if not settings or await try_body(asker, {key: sent[key] for key in sent if key in _KEPT}) is not None:
        return Diagnosis("content")
    for name in _likeliest_first(settings):
        if await try_body(asker, without(sent, (name,))) is None:
            return Diagnosis("settings", (name,))
    return Diagnosis("settings", await _each_refused(asker, sent, settings))


async def _each_refused(asker: Asker, sent: Mapping[str, Any], settings: list[str]) -> tuple[str, ...]:
    """Names of all refused settings of a request, for the case that leaving out a single one is not enough.

    The settings are added one by one to a request that the server accepts. The names returned are those of the settings
    with which the server refused the request.
    """
    refused: list[str] = []
    for name in _likeliest_first(settings):
        later = [other for other in _likeliest_first(settings) if other not in refused]
        later = later[later.index(name) + 1 :]
        if name != "top_logprobs" and await try_body(asker, without(sent, [*refused, *later])) is not None:
            refused.append(name)
    return tuple(refused)


def _likeliest_first(settings: list[str]) -> list[str]:
    order = ("n", *LIMITS, "response_format", "structured_outputs", "logprobs", "seed", "stop", "temperature", "top_p")
    return sorted(settings, key=lambda name: order.index(name) if name in order else len(order))


def without(sent: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    """The request without the named settings, and without settings that require them."""
    left_out = set(names) | ({"top_logprobs"} if "logprobs" in names else set())
    return {key: value for key, value in sent.items() if key not in left_out}
