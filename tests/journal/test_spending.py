"""What a server said of its calls, beside their tokens: kept where it was said, and summed by how it is charged."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from judge.answers.journal import JournalMerger, JournalReader, JournalWriter
from judge.answers.journal.spending import Counted, Spending, Tokens, count
from judge.asking.execution.sending.runner import Outcomes
from judge.asking.run_folder import cost_of
from judge.base.records import Criterion, Generation, Message, Query, Response, Story

OLD = Path(__file__).resolve().parents[1] / "journals" / "format-1.sqlite"
STORY = Story("s1", "p", "A", "text")


def query(number: int, story: Story = STORY) -> Query:
    return Query(f"b2:{number}", story, Criterion("Overall", "OV", "d"), "ep1", (Message("user", "q"),), Generation())


def told(prompt: int, completion: int, **more: Any) -> Response:
    return Response("4", prompt_tokens=prompt, completion_tokens=completion, **more)


def write(path: Path, *answers: tuple[int, int, Response], executor: str = "openai", replacing: bool = False) -> None:
    """One session that adds (query, repeat, response)."""
    if not path.exists():
        with JournalWriter(path, executor="prepare") as writer:
            writer.add_stories([STORY])

    async def session() -> None:
        with JournalWriter(path, executor=executor, replacing=replacing) as writer:
            writer.start()
            for number, repeat, response in answers:
                writer.answered(query(number), repeat, response, started=float(number), seconds=1.0)
            await writer.finish("done")

    asyncio.run(session())


def spent(path: Path) -> Spending:
    with JournalReader(path) as journal:
        return journal.spending()


def tables(path: Path) -> set[str]:
    with closing(sqlite3.connect(path)) as db:
        return {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def test_what_was_said_of_a_call_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "j.sqlite"
    full = told(10, 5, reasoning_tokens=3, cache_write_tokens=2, cost=0.25)
    write(path, (1, 0, Response("4")), (2, 0, full), (2, 1, Response("5")))
    with JournalReader(path) as journal:
        found = {(answer.query_key, answer.repeat): answer.response for answer in journal.answers()}
        assert found == {("b2:1", 0): Response("4"), ("b2:2", 0): full, ("b2:2", 1): Response("5")}
        assert [answer.response for answer in journal.answers_to("b2:2")] == [full, Response("5")]
        assert journal.totals().reasoning_tokens == 3
        assert journal.check_integrity() == []


def test_a_journal_of_which_nothing_was_said_has_no_new_table(tmp_path: Path) -> None:
    path = tmp_path / "j.sqlite"
    write(path, (1, 0, told(10, 5, cached_tokens=4)))
    assert tables(path) == tables(OLD)
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (0,)


def test_an_old_journal_gets_the_table_when_it_needs_it_and_says_what_it_said(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    shutil.copy(OLD, path)
    with JournalReader(path) as journal:
        before, stories = list(journal.answers()), list(journal.stories())
    with closing(sqlite3.connect(path)) as db:
        columns = db.execute("SELECT sql FROM sqlite_master WHERE name IN ('responses', 'attempts')").fetchall()
    assert "usage" not in tables(path)
    write(path, (1, 0, told(7, 7)))
    assert "usage" not in tables(path)
    write(path, (2, 0, told(7, 7, cost=0.5)))
    write(path, (3, 0, told(7, 7, cost=0.25)))
    assert "usage" in tables(path)
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (1,)
        assert db.execute("SELECT value FROM meta WHERE key = 'format'").fetchone() == ("1",)
        now = db.execute("SELECT sql FROM sqlite_master WHERE name IN ('responses', 'attempts')").fetchall()
    assert now == columns
    with JournalReader(path) as journal:
        assert list(journal.stories()) == stories
        after = {(answer.query_key, answer.repeat): answer for answer in journal.answers()}
    assert all(after[answer.query_key, answer.repeat] == answer for answer in before)
    assert spent(path).reported == 0.75


def test_shards_bring_what_was_said(tmp_path: Path) -> None:
    path = tmp_path / "j.sqlite"
    with JournalWriter(path) as writer:
        writer.add_stories([STORY])
    row: dict[str, Any] = {
        "query_key": "b2:1",
        "story": "s1",
        "criterion": "Overall",
        "eval_prompt": "ep1",
        "flags": "",
        "outcome": "answered",
        "final": True,
        "started": 1.0,
        "seconds": 0.5,
        "status": 200,
        "text": "4",
        "prompt_tokens": 5,
        "completion_tokens": 3,
    } | dict.fromkeys(("error_kind", "error", "finish_reason", "reasoning", "cached_tokens", "logprobs", "model"))
    with JournalMerger(path, executor="ray") as merger:
        merger.merge("a", [row | {"repeat": 0}, row | {"repeat": 1, "cost": 0.5, "reasoning_tokens": 2}])
        merger.merge("b", [row | {"repeat": 1, "cost": 9.0}, row | {"repeat": 2, "cost": 0.25}])
    found = spent(path)
    assert (found.reported, found.reported_calls) == (0.75, 2)
    assert found.live == Tokens(5, 3, longest=5)
    with JournalReader(path) as journal:
        assert {a.repeat: a.response.cost for a in journal.answers() if a.response} == {0: None, 1: 0.5, 2: 0.25}


def test_answers_are_summed_by_how_they_are_charged(tmp_path: Path) -> None:
    path = tmp_path / "j.sqlite"
    write(path, (1, 0, told(10, 1, cached_tokens=4)), (1, 1, Response("4")))
    assert spent(path).live == Tokens(10, 1, cached=4, longest=10)
    write(path, (2, 0, told(100, 10)), executor="batch")
    write(path, (3, 0, told(1000, 100)), executor="reused from other")
    write(path, (4, 0, told(20, 2, cost=0.5, cache_write_tokens=7)), (5, 0, told(30, 3, cache_write_tokens=8)))
    found = spent(path)
    assert found.live == Tokens(40, 4, cached=4, written=8, longest=30)
    assert found.batch == Tokens(100, 10, longest=100)
    assert (found.reported, found.reported_calls, found.reused, found.answers) == (0.5, 1, 1, 6)


@pytest.mark.parametrize("cost", [None, 0.5])
def test_answers_that_were_exchanged_were_paid_for_too(tmp_path: Path, cost: float | None) -> None:
    path = tmp_path / "j.sqlite"
    write(path, (1, 0, told(10, 1, cost=cost)), (2, 0, told(20, 2)))
    write(path, (1, 0, told(30, 3, cost=cost)), replacing=True)
    write(path, (1, 0, told(40, 4)), replacing=True)
    found = spent(path)
    assert found.answers == 4
    if cost is None:
        assert found.live == Tokens(100, 10, longest=40)
    else:
        assert (found.reported, found.reported_calls) == (1.0, 2)
        assert found.live == Tokens(60, 6, longest=40)


def test_counting_on_gives_the_sums_of_counting_anew(tmp_path: Path) -> None:
    path, known = tmp_path / "j.sqlite", Counted()
    steps: list[dict[str, Any]] = [
        {},
        {"cost": 0.5},
        {"executor": "batch"},
        {"executor": "reused from other"},
        {"cost": 0.25, "cache_write_tokens": 3},
        {"reasoning_tokens": 2},
        {"again": 2},
        {},
    ]
    for number, step in enumerate(steps, 1):
        executor = step.pop("executor", "openai")
        again = step.pop("again", None)
        answer = (again or number, 0, told(10 * number, number, **step))
        write(path, answer, executor=executor, replacing=again is not None)
        known = count(path, known)
        assert known.spending == spent(path)
        assert known.spending == count(path).spending
    assert known.spending.reported == 0.75
    assert known.spending.answers == 8


def test_a_cost_that_no_request_can_have_is_counted_and_not_summed(tmp_path: Path) -> None:
    """A gateway that reports its cost in other units, or a fault: 1e15 dollars for an answer."""
    path = tmp_path / "journal.sqlite"
    write(path, (1, 0, told(10, 5, cost=1e15)), (2, 0, told(10, 5, cost=0.25)), (3, 0, told(10, 5, cost=1000.01)))
    found = spent(path)
    assert (found.reported, found.reported_calls, found.implausible) == (0.25, 1, 2)
    assert (found.live.prompt, found.live.completion) == (20, 10)
    unknown = cost_of(found, {"judge": "openai/unheard-of", "in_force": {}})
    assert unknown.dollars is None
    assert unknown.basis.endswith(
        "the server reported that 2 requests cost more than $1,000.00 each, which is not counted"
    )
    priced = cost_of(found, {"judge": "openai/gpt-4.1", "in_force": {}}).dollars
    assert priced == pytest.approx(0.25 + (20 * 2 + 10 * 8) / 1e6)


def test_a_cost_that_no_request_can_have_is_found_where_no_other_was_reported(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    write(path, (1, 0, told(10, 5, cost=1e15)), (2, 0, told(10, 5, cost=1e15)))
    found = spent(path)
    assert (found.reported, found.reported_calls, found.implausible) == (0.0, 0, 2)
    assert found.live.prompt == 20


def test_a_sitting_counts_what_it_does_not_sum() -> None:
    outcomes = Outcomes()
    assert [outcomes.spend([told(10, 5, cost=cost)], None) for cost in (0.5, 1e15, 1000.0)] == [0.5, 0.0, 1000.0]
    assert (outcomes.cost, outcomes.unpriced, outcomes.implausible, outcomes.known_cost) == (1000.5, 1, 1, None)
