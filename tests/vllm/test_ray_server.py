"""The same run definition on Ray against the real server: the plan's queries, and a journal that another began."""

from __future__ import annotations

import importlib.util

from judge.answers.journal import JournalReader
from tests.conftest import missing
from tests.vllm.conftest import Define, Judge
from tests.vllm.test_executors import QUERIES, rows


def test_ray_ends_what_the_asyncio_executor_began(definition: Define, judge: Judge) -> None:
    if importlib.util.find_spec("ray") is None:
        missing("ray", "Ray is not installed: pip install -r requirements/ray.txt")
    run = definition(structured="choice", generation={"temperature": 1.0, "max_tokens": 4, "seed": 11})
    alone, mixed = run.parent / "alone", run.parent / "mixed"
    judge("run", run, "--output", alone, "--quiet")
    judge("run", run, "--output", mixed, "--limit", "2", "--quiet")
    judge("run", run, "--output", mixed, "--engine", "ray", "--quiet")
    keys = [{key for (key,) in rows(folder, "SELECT key FROM queries")} for folder in (alone, mixed)]
    assert keys[0] == keys[1]
    assert len(keys[0]) == QUERIES
    with JournalReader(mixed / "journal.sqlite") as journal:
        assert journal.totals().answered == QUERIES * 2
        assert journal.check_integrity() == []
    counted = rows(mixed, "SELECT s.executor, count(*) FROM attempts a JOIN sessions s ON s.id = a.session GROUP BY 1")
    assert dict(counted) == {"openai": QUERIES, "ray": QUERIES}
    # Equal seeds on one server: both halves hold what the asyncio executor alone was given.
    answers = "SELECT query_key, repeat, text FROM responses ORDER BY 1, 2"
    same = sum(a == b for a, b in zip(rows(alone, answers), rows(mixed, answers), strict=True))
    assert same >= 0.9 * QUERIES * 2
