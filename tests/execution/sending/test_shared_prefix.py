"""Cache points: where prompts part, who goes first, and that nobody else is made to wait."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from judge.asking.execution.sending.schedule import LEAST, Schedule, Work, led, marked, with_cache_points
from judge.base.records import Criterion, Generation, Message, Query, Story

STORY = Story("s1", "", "x", "text")
CRITERION = Criterion("Complexity", "CX", "how complex the story is")


def query(text: str, *, system: str = "", **changes: object) -> Query:
    messages = (*([Message("system", system)] if system else []), Message("user", text))
    return Query(text, STORY, CRITERION, "ep", messages, Generation(), **changes)  # type: ignore[arg-type]


def points(group: Iterable[Work]) -> dict[str, list[str]]:
    """Prompt -> the texts up to its cache points."""
    found = {}
    for work in marked(list(group), 4):
        whole = "".join(message.content for message in work.query.messages)
        found[whole] = [whole[:place] for place in work.query.shared]
    return found


LONG = "the lamp went out again and nobody lit it. " * 3


def test_a_point_stands_wherever_prompts_part_and_never_inside_a_word() -> None:
    story = f"Story: {LONG}\n\n"
    about = f"Judge its complexity, which is {LONG}"
    texts = [story + about + "in one word.", story + about + "in one sentence.", story + "Judge its coherence."]
    found = points(Work(query(text), (0,)) for text in sorted(texts))
    first = story + "Judge its "
    assert found == {
        texts[0]: [first, story + about + "in one "],
        texts[1]: [first, story + about + "in one "],
        texts[2]: [first],  # the "co" of two words is no common prefix
    }


def test_a_prompt_that_nothing_shares_has_no_point_unless_it_is_repeated() -> None:
    assert points([Work(query(LONG), (0,))]) == {LONG: []}
    assert points([Work(query(LONG), (0, 1))]) == {LONG: [LONG]}
    assert points([Work(query("short"), (0, 1))]) == {"short": []}  # less than a cache point is worth


def test_a_system_text_is_a_part_of_the_prefix_and_ends_it_where_it_differs() -> None:
    one, other = query("a story", system=LONG), query("b story", system=LONG)
    assert points([Work(one, (0,)), Work(other, (0,))]) == {LONG + "a story": [LONG], LONG + "b story": [LONG]}
    strict = query("a story", system=LONG + "strict")
    assert points([Work(one, (0,)), Work(strict, (0,))])[LONG + "a story"] == [LONG]


def test_another_schema_is_another_prefix() -> None:
    alike = [query(LONG + end, structured="json", asks_explanation=why) for end, why in (("a", True), ("b", False))]
    assert all(not work.query.shared for work in marked([Work(one, (0,)) for one in alike], 4))
    free = [query(LONG + end, asks_explanation=why) for end, why in (("a", True), ("b", False))]
    assert all(work.query.shared for work in marked([Work(one, (0,)) for one in free], 4))


def test_no_more_points_than_the_provider_takes() -> None:
    texts = [LONG * n + "z" * n for n in range(1, 9)]
    group = [Work(query(text), (0,)) for text in sorted(texts)]
    assert max(len(work.query.shared) for work in marked(group, 4)) == 4
    assert max(len(work.query.shared) for work in marked(group, 2)) == 2


def test_a_back_end_that_names_no_points_gets_the_plan_as_it_is() -> None:
    groups = iter([[Work(query(LONG), (0, 1))]])
    assert with_cache_points(groups, 0) is groups


@given(
    st.lists(st.lists(st.sampled_from(["lamp " * 9, "quay " * 9, "light " * 9]), max_size=4), min_size=1, max_size=9)
)
def test_points_are_true_of_two_calls_at_least_and_far_enough_apart(parts: list[list[str]]) -> None:
    texts = sorted("".join(words) + "end" for words in parts)
    for work in marked([Work(query(text), (0,)) for text in texts], 4):
        (message,) = work.query.messages
        places = work.query.shared
        assert all(later - earlier >= LEAST for earlier, later in pairwise((0, *places)))
        for place in places:
            assert sum(text.startswith(message.content[:place]) for text in texts) >= 2


def ends(works: Iterable[Work] | None) -> list[str]:
    return [work.query.key[-2:] for work in works or ()]


def tree() -> list[Work]:
    """Two criteria with two queries each after one story, sorted: a1 a2 b1 b2."""
    group = [
        Work(query(f"{LONG}{criterion * 60} {number}{criterion}{number}"), (0,))
        for criterion in ("a", "b")
        for number in ("1", "2")
    ]
    return marked(group, 4)


def test_the_first_of_those_that_share_a_prefix_leads_the_others_level_by_level() -> None:
    (first,) = led(tree())
    assert ends([first]) == ["a1"]
    assert ends(first.followers) == ["a2", "b1"]  # what a1 wrote is a2's too; b1 still has something to write
    assert first.followers is not None
    assert [ends(work.followers) for work in first.followers] == [[], ["b2"]]


async def drain(schedule: Schedule) -> list[Work]:
    """All works that may go out now."""
    found = []
    while True:
        try:
            work = await asyncio.wait_for(schedule.next(), 0.05)
        except TimeoutError:
            return found
        if work is None:
            return found
        found.append(work)


def test_followers_wait_for_an_answer_through_retries_and_behind_the_next_where_none_comes() -> None:
    async def course() -> None:
        schedule = Schedule(iter([tree()]), pending=64, sleeping=8, lead=led)
        (first,) = await drain(schedule)
        schedule.later(first, 0.0)  # told to slow down: nothing is cached yet
        (again,) = await drain(schedule)
        assert again is first
        schedule.done(first, answered=False)  # given up: the next one leads
        (second,) = await drain(schedule)
        assert ends([second]) == ["a2"]
        schedule.done(second)
        (third,) = await drain(schedule)
        assert ends([third]) == ["b1"]
        schedule.done(third)
        (last,) = await drain(schedule)
        assert ends([last]) == ["b2"]
        schedule.done(last)
        assert await schedule.next() is None

    asyncio.run(course())


def test_for_all_other_back_ends_a_retry_lets_the_followers_go_as_before() -> None:
    async def course() -> None:
        schedule = Schedule(iter([tree()]), pending=64, sleeping=8)
        (first,) = await drain(schedule)
        schedule.later(first, 60.0)
        assert ends(await drain(schedule)) == ["a2", "b1", "b2"]

    asyncio.run(course())


def test_a_group_without_a_common_prefix_does_not_wait_for_itself() -> None:
    texts = ["alone " * 20, "beside " * 20, "beyond " * 20]

    async def course() -> None:
        group = marked([Work(query(text), (0,)) for text in texts], 4)
        schedule = Schedule(iter([group]), pending=64, sleeping=8, lead=led)
        assert len(await drain(schedule)) == 3

    asyncio.run(course())
