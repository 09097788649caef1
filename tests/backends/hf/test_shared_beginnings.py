"""Prompts that begin alike are found, batched together, and put together again from what they share and what not."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from judge.backends.hf.shared_beginnings import batch, begin_alike, beginnings, in_common

TOKENS = st.lists(st.integers(0, 2), min_size=1, max_size=12)


@given(TOKENS, TOKENS)
def test_what_two_prompts_share_is_their_common_start_but_for_a_last_token(one: list[int], other: list[int]) -> None:
    shared = in_common(one, other)
    assert one[:shared] == other[:shared]
    most = min(len(one), len(other)) - 1
    assert shared <= most
    assert shared == most or one[shared] != other[shared]


def test_less_than_half_of_the_longer_prompt_is_no_beginning() -> None:
    assert begin_alike([1, 2, 3, 4], [1, 2, 9, 9]) == 2
    assert begin_alike([1, 2, 3, 4, 5], [1, 2, 9, 9]) == 0
    assert begin_alike([1, 2, 3], [1, 2, 3]) == 2


@given(st.lists(TOKENS, min_size=1, max_size=12))
def test_every_prompt_begins_with_its_beginning_and_has_a_token_left(prompts: list[list[int]]) -> None:
    starts, of_prompt = beginnings(prompts)
    assert set(of_prompt) == set(range(len(starts)))
    for prompt, number in zip(prompts, of_prompt, strict=True):
        start = starts[number]
        assert prompt[: len(start)] == start
        assert len(start) < len(prompt)


def test_prompts_about_one_story_are_read_as_one() -> None:
    story, other = list(range(100, 150)), list(range(200, 260))
    prompts = [[*story, 1, 2], [*other, 3], [*story, 1, 3, 4], [*other, 5, 6], [9, 9]]
    starts, of_prompt = beginnings(prompts)
    assert of_prompt == [0, 1, 0, 1, 2]
    assert starts == [[*story, 1], other, [9]]


@given(st.lists(TOKENS, min_size=1, max_size=12), st.integers(1, 5))
def test_a_batch_holds_the_first_prompt_and_none_twice(prompts: list[list[int]], size: int) -> None:
    taken = batch(prompts, size)
    assert taken[0] == 0
    assert len(taken) == len(set(taken)) == min(size, len(prompts))


def test_a_batch_takes_those_that_begin_alike_before_others() -> None:
    story, other = list(range(100, 150)), list(range(200, 260))
    prompts = [[*story, 1, 2], [*other, 3], [*story, 1, 3], [*other, 5, 6], [*story, 7]]
    assert batch(prompts, 4) == [0, 2, 4, 1]
    assert batch(prompts, 2) == [0, 2]
