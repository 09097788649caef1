"""Reacts to refusals of a server: the call is repeated in another form, or the run ends with an error that names the
key of run.yaml to change.

Each decision uses only the refusal and the request body that was refused, not the current state: while many requests
are in flight, several of them may be refused for a reason that is already known.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

import aiohttp

from judge.backends.openai.asker import Asker
from judge.backends.openai.diagnosis import Diagnosis, diagnose, without
from judge.backends.openai.errors import RefusalError
from judge.backends.openai.probe import ask_plainly, try_body
from judge.backends.server_refusals.refused_settings import refused_settings
from judge.backends.server_refusals.server_terms import Terms, remedy

_DIAGNOSES = 3
"""Unexplained refusals that are taken apart before anything is answered; then they count as the request's."""

_KEY_HOLDS = 60.0
"""Seconds for which a key that was shown to work is not tried again."""


_MOST_SETTINGS = 16
"""Tries to name all refused settings of a definition at once."""

Again = Callable[[], dict[str, Any]]
"""The request as it would be sent now."""


class Negotiation:
    """Reaction to the refusals of one server: stores in which form it accepts requests and which settings it refuses,
    and decides whether a refused call is repeated.
    """

    def __init__(self, asker: Asker, terms: Terms) -> None:
        self.asker = asker
        self.terms = terms
        self._one_at_a_time = asyncio.Lock()
        self._shapes: set[tuple[str, bool]] = set()
        self._guilty: tuple[str, ...] = ()
        self._refused: tuple[str, ...] = ()
        self._diagnoses = 0
        self._key_shown = float("-inf")

    def answered(self, sent: Callable[[], dict[str, Any]], *, several: bool) -> None:
        """Record that the server answered the request that `sent` gives, and therefore accepts its settings. `several`
        is True for a request of several answers.
        """
        shape = (self.terms.limit, several)
        if shape not in self._shapes:
            self._shapes.add(shape)
            self.terms.answered.update(sent())

    async def settle(self, error: RefusalError, sent: Any, again: Again) -> None:
        """Decide what follows from the refusal `error` of the request `sent`. Returns if the call is to be repeated
        with the request body that `again` gives; otherwise raises the final error.
        """
        names = error.refusal.settings
        if error.sent is None and names:
            names = refused_settings(error.refusal.error_body, sent)
        try:
            if error.kind == "capability" and names:
                await self._learn(error, names, sent, again)
            elif error.kind == "capability" or (error.kind == "request" and not error.refusal.explicit):
                await self._take_apart(error, sent, again)
            elif error.kind == "auth" and error.status == 403 and not error.refusal.explicit:
                await self._try_key(error)
            else:
                raise error
        except (TimeoutError, aiohttp.ClientError):
            # What was to explain the refusal got no answer: nothing is decided yet.
            raise RefusalError(str(error), refusal=error.refusal, sent=sent, retryable=True) from None
        if again() == sent:
            raise error

    async def _learn(self, error: RefusalError, names: tuple[str, ...], sent: Any, again: Again) -> None:
        """Adapt the form of later calls, if this solves the refusal of the settings `names`. Raises RefusalError if
        run.yaml must be changed.
        """
        left = self.terms.learn(error.refusal, names, sent)
        if not left:
            return
        async with self._one_at_a_time:
            if not self.terms.answered and not set(left) <= set(self._refused):
                self._refused = await self._all_refused(left, again)
        answered = {"system": "messages"}
        if all(answered.get(name, name) in self.terms.answered for name in left):
            # It has taken the same before: another machine behind the same address, or something in this request.
            raise RefusalError(str(error), refusal=error.refusal, sent=sent, kind="request", retryable=True)
        named = self._refused if set(left) <= set(self._refused) else left
        pronoun = "them" if named[1:] else "it"
        raise RefusalError(
            f"{self.asker.model} does not take {_listed(named)} as this run sets {pronoun}: {error}",
            refusal=error.refusal,
            sent=sent,
            kind="capability",
            retryable=False,
            hint=remedy(named, error.refusal),
        )

    async def _all_refused(self, first: tuple[str, ...], again: Again) -> tuple[str, ...]:
        """Names of all settings in run.yaml that the server refuses, so that the user can change them at once. `first`
        are the settings already known to be refused.

        The request that `again` gives is repeated without the refused settings until it is answered or refused for
        another reason.
        """
        names = list(first)
        for _ in range(_MOST_SETTINGS):
            body = without(again(), names)
            error = None if "system" in names else await try_body(self.asker, body)
            if error is None or not error.refusal.settings:
                break
            names += self.terms.learn(error.refusal, error.refusal.settings, body)
        return tuple(names)

    async def _take_apart(self, error: RefusalError, sent: Any, again: Again) -> None:
        """Find the cause of a refusal for which the server gives no reason. This is done only as long as the server has
        not answered any request; otherwise the error is raised.
        """
        async with self._one_at_a_time:
            if again() != sent:
                return
            if not self._guilty and (self.terms.answered or self._diagnoses >= _DIAGNOSES):
                raise error
            self._diagnoses += 1
            diagnosis = Diagnosis("settings", self._guilty) if self._guilty else await diagnose(self.asker, sent)
        if diagnosis.blame == "everything" and diagnosis.error is not None:
            kind = "api" if diagnosis.error.kind == "request" else diagnosis.error.kind
            raise RefusalError(
                f"{error} (and a plain question without any setting is refused too)",
                refusal=diagnosis.error.refusal,
                kind=kind,
                hint=diagnosis.error.hint or "check base_url, the model and `api` in run.yaml",
            )
        if diagnosis.blame != "settings":
            raise error
        self._guilty = diagnosis.settings
        await self._learn(error, diagnosis.settings, sent, again)

    async def _try_key(self, error: RefusalError) -> None:
        """Decide whether the server refuses the key or the content of the request, by sending a plain question without
        a story. Raises the corresponding error.
        """
        async with self._one_at_a_time:
            if time.monotonic() - self._key_shown > _KEY_HOLDS:
                if await ask_plainly(self.asker) is not None:
                    raise error
                self._key_shown = time.monotonic()
        raise RefusalError(
            f"{error} (a plain question is answered: it is this request's content that is refused)",
            refusal=error.refusal,
            kind="filtered",
            retryable=False,
        )


def _listed(names: tuple[str, ...]) -> str:
    quoted = [f"`{name}`" for name in names]
    return " and ".join([*([", ".join(quoted[:-1])] if quoted[1:] else []), quoted[-1]])
