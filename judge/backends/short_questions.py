"""Short questions to a model, each asked once and outside of any run: names of topics, other words for sentences.

The caller keeps what comes: an answer is handed on as soon as it is there, so that nothing is paid for twice."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from judge.backends import open_backend
from judge.backends.protocol import Backend, Settings
from judge.base.credentials.trust import on_this_machine
from judge.base.errors import BackendError, ErrorKind
from judge.base.fingerprint import fingerprint
from judge.base.records import Criterion, Generation, Message, Query, Response, Story

# Calls at a time where the back-end sets no limit, and attempts for each question.
_AT_ONCE, _ATTEMPTS = 16, 3
# What goes wrong with one question alone: the others are asked all the same.
_OWN: frozenset[ErrorKind] = frozenset({"filtered", "context", "request"})

# Called with each question, and its answer or why there is none.
Hear = Callable[[Query, Response | BackendError], None]


def question(kind: str, text: str, about: str, *, longest: int) -> Query:
    """A request of one message `text` about `about`; `kind` says what for, `longest` is in tokens."""
    story = Story(kind, "", "", about)
    key = fingerprint({kind: text})
    return Query(key, story, Criterion(kind, "", ""), kind, (Message("user", text),), Generation(max_tokens=longest))


def ask_each(model: str, questions: Sequence[Query], hear: Hear, *, base_url: tuple[str, ...] = ()) -> None:
    """Ask all `questions`; every one is heard of once. `base_url` are addresses that the user named. Raises
    BackendError for what would go wrong with every question, such as a wrong key."""
    asyncio.run(_ask(open_backend(model, Settings(base_url, trusted=on_this_machine(base_url, None))), questions, hear))


async def _ask(backend: Backend, questions: Sequence[Query], hear: Hear) -> None:
    at_once = asyncio.Semaphore(backend.capabilities.max_concurrency or _AT_ONCE)

    async def one(query: Query) -> None:
        async with at_once:
            hear(query, await _answer(backend, query))

    try:
        await backend.probe()
        await asyncio.gather(*map(one, questions))
    finally:
        await backend.close()


async def _answer(backend: Backend, query: Query) -> Response | BackendError:
    for attempt in range(_ATTEMPTS):
        try:
            return (await backend.complete(query, [0]))[0]
        except BackendError as error:
            if error.kind in _OWN:
                return error
            if not error.retryable:
                raise
            last = error
            # An overloaded server may say how long to wait; otherwise the wait doubles.
            if attempt < _ATTEMPTS - 1:
                await asyncio.sleep(error.retry_after or 2**attempt)
    return last
