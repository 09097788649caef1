"""Transformers in this process: batches, seeds, constraints, log-probabilities, and what is refused in a sentence."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from judge.backends import Settings, open_backend
from judge.base.errors import BackendError, SpecError
from judge.base.records import Generation, Message, Query, Response
from tests.vllm.test_vllm_engine import query
from tests.vllm.tiny_model import make


def ask(tiny: Path, asked: Sequence[tuple[Query, Sequence[int]]], **engine: Any) -> list[list[Response]]:
    async def once() -> list[list[Response]]:
        backend = open_backend(f"hf/{tiny}", Settings(engine=engine, attempt_timeout=300))
        try:
            await backend.probe()
            return list(await asyncio.gather(*(backend.complete(one, repeats) for one, repeats in asked)))
        finally:
            await backend.close()

    return asyncio.run(once())


def test_a_batch_that_takes_longer_than_an_attempt_may_is_waited_for(tiny: Path) -> None:
    """An answer that was given up would be computed again, so that a slow machine would never finish."""

    async def once() -> list[list[Response]]:
        backend = open_backend(f"hf/{tiny}", Settings(attempt_timeout=0.001, engine={"batch_size": 1}))
        try:
            await backend.probe()
            asked = lengths(3, generation=Generation(temperature=0.0, max_tokens=6))
            return list(await asyncio.gather(*(backend.complete(one, repeats) for one, repeats in asked)))
        finally:
            await backend.close()

    assert len(texts(asyncio.run(once()))) == 3


def test_a_stopped_back_end_completes_its_batch_and_leaves_the_others(tiny: Path) -> None:
    async def once() -> list[Any]:
        backend: Any = open_backend(f"hf/{tiny}", Settings(engine={"batch_size": 2}))
        try:
            await backend.probe()
            asked = lengths(12, generation=Generation(temperature=0.0, max_tokens=40))
            calls = [asyncio.ensure_future(backend.complete(one, repeats)) for one, repeats in asked]
            await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)
            backend.leave_waiting()
            return await asyncio.gather(*calls, return_exceptions=True)
        finally:
            await backend.close()

    ended = asyncio.run(once())
    answered = [found for found in ended if isinstance(found, list)]
    left = [found for found in ended if isinstance(found, asyncio.CancelledError)]
    # The first batch, and the one that had begun meanwhile.
    assert 2 <= len(answered) <= 4
    assert len(answered) + len(left) == 12


def test_a_closed_back_end_gives_up_its_batch_at_the_next_token(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from judge.backends.hf import backend as module
    from judge.backends.hf import generation

    given_up: list[bool] = []
    steps = generation._Steps.__call__

    def noted(self: Any, *scores: Any) -> Any:
        try:
            return steps(self, *scores)
        except generation.LeftError:
            given_up.append(True)
            raise

    monkeypatch.setattr(generation._Steps, "__call__", noted)

    async def once() -> None:
        backend = module.open(str(tiny), Settings())
        await backend.probe()
        asked = lengths(1, generation=Generation(temperature=0.0, max_tokens=1500), structured="none")
        call = asyncio.ensure_future(backend.complete(*asked[0]))
        while not backend._batch:  # noqa: ASYNC110  it has no event for the test
            await asyncio.sleep(0.01)
        call.cancel()
        await backend.close()

    asyncio.run(once())
    assert given_up == [True]


def texts(found: list[list[Response]]) -> list[str]:
    return [response.text for responses in found for response in responses]


def lengths(count: int, **changes: Any) -> list[tuple[Query, list[int]]]:
    """Queries of different lengths, one repeat each."""
    messages = [(Message("user", f"Story {i}. " + "The lamp went out. " * (3 * i + 1)),) for i in range(count)]
    return [(query(messages=one, **changes), [i]) for i, one in enumerate(messages)]


def test_a_batch_of_many_lengths_answers_as_one_at_a_time(tiny: Path) -> None:
    greedy = lengths(9, generation=Generation(temperature=0.0, max_tokens=6))
    together, alone = (texts(ask(tiny, greedy, batch_size=size)) for size in (9, 1))
    assert together == alone
    assert len(set(together)) > 3


def test_prompts_that_begin_alike_answer_as_if_each_were_read_alone(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two stories with four questions each, of different lengths: what is read once changes no answer."""
    from judge.backends.hf import generation

    stories = [f"Story {i}. " + f"The lamp went out {i} times. " * (8 * i + 9) for i in range(2)]
    asked = [
        (
            query(messages=(Message("user", story + "Judge it. " * (end + 1)),), generation=how, scoring="logprobs"),
            [end],
        )
        for how in (Generation(temperature=0.0, max_tokens=6), Generation(temperature=1.0, max_tokens=6, seed=3))
        for story in stories
        for end in range(4)
    ]
    shared = ask(tiny, asked)
    read: list[int] = []

    def apart(prompts: Sequence[list[int]]) -> tuple[list[list[int]], list[int]]:
        read.append(len(prompts))
        return list(prompts), list(range(len(prompts)))

    monkeypatch.setattr(generation, "beginnings", apart)
    alone = ask(tiny, asked)
    assert read == [8, 8]
    assert texts(shared) == texts(alone)
    assert len(set(texts(alone))) > 4
    for one, other in zip(shared, alone, strict=True):
        for ours, theirs in zip(one[0].logprobs["content"], other[0].logprobs["content"], strict=True):
            assert ours["logprob"] == pytest.approx(theirs["logprob"], abs=1e-3)


def test_a_seeded_repeat_does_not_depend_on_its_neighbours(tiny: Path) -> None:
    seeded = lengths(6, generation=Generation(temperature=1.0, top_p=0.9, max_tokens=6, seed=3))
    all_at_once = texts(ask(tiny, seeded))
    assert texts(ask(tiny, list(reversed(seeded)), batch_size=2)) == all_at_once[::-1]
    unseeded = [(query(), [0, 1, 2, 3])]
    assert len(set(texts(ask(tiny, unseeded)))) == 4


def test_draws_follow_the_distribution_that_is_shown(tiny: Path) -> None:
    """A choice drawn 400 times falls as often on each point as its log-probability says (chi-square, 4 df, .001)."""
    import math

    asked = query(structured="choice", scoring="logprobs", generation=Generation(temperature=1.0, seed=1, max_tokens=4))
    (found,) = ask(tiny, [(asked, range(400))], batch_size=64)
    shown = {t["token"]: math.exp(t["logprob"]) for t in found[0].logprobs["content"][0]["top_logprobs"]}
    counts = {point: sum(response.text == point for response in found) for point in "12345"}
    assert sum(counts.values()) == 400
    assert sum(shown[point] for point in "12345") == pytest.approx(1, abs=1e-5)
    statistic = sum((counts[p] - 400 * shown[p]) ** 2 / (400 * shown[p]) for p in "12345")
    assert statistic < 18.47


def test_stop_strings_cut_and_the_limit_is_told(tiny: Path) -> None:
    whole = ask(tiny, [(query(generation=Generation(temperature=0.0, max_tokens=12)), [0])])[0][0]
    assert (whole.finish_reason, whole.completion_tokens) == ("length", 12)
    stop = whole.text[4:7]
    cut = ask(tiny, [(query(generation=Generation(temperature=0.0, max_tokens=12, stop=(stop,))), [0])])[0][0]
    assert (cut.text, cut.finish_reason) == (whole.text[: whole.text.index(stop)], "stop")


def test_what_it_cannot_do_is_a_sentence(tiny: Path, tmp_path: Path) -> None:
    with pytest.raises(BackendError, match="exceeds the context length"):
        ask(tiny, [(query(generation=Generation(max_tokens=100_000)), [0])])
    with pytest.raises(BackendError, match="cannot constrain an answer to json"):
        ask(tiny, [(query(structured="json"), [0])])
    with pytest.raises(SpecError, match="'quantization' is not known"):
        open_backend(f"hf/{tiny}", Settings(engine={"quantization": "fp8"}))
    bare = make(tmp_path / "bare", template=False)
    with pytest.raises(BackendError, match="no chat template"):
        ask(bare, [(query(), [0])])
    assert ask(bare, [(query(api="completions"), [0])])[0][0].text


def test_a_graphics_card_is_used_where_there_is_one_and_else_refused(tiny: Path) -> None:
    import torch

    if torch.cuda.is_available():
        assert ask(tiny, [(query(), [0])], device="cuda")[0][0].text
        return
    with pytest.raises(BackendError, match="torch sees none"):
        ask(tiny, [(query(), [0])], device="cuda")
