"""Comparisons on their way to workers and back: blocks of queries, shards of attempts, the journal they merge into."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge.answers.journal import JournalMerger, JournalReader
from judge.asking.execution.preparation import prepare
from judge.asking.execution.ray.blocks import decode, encode
from judge.asking.execution.ray.shards import answered_row, read_shard, write_shard
from judge.asking.plan import make_plan
from judge.base.records import Response
from tests.comparing.conftest import sitting


def test_blocks_and_shards_carry_both_stories_and_merge_once(stories: Path) -> None:
    pytest.importorskip("pyarrow")
    asked = sitting(None, stories)
    plan = make_plan(asked.spec, folder=asked.folder)
    asked.result.path.mkdir()
    prepared = prepare(plan, asked.folder, asked.result)
    assert (prepared.stories, prepared.subjects) == (12, 24)
    with JournalReader(asked.result.journal) as journal:
        groups = [[(query, (0,)) for query in group] for group in plan.groups(journal.subjects)]
    back = decode(encode(groups))
    for sent, came in zip(groups, back, strict=True):
        for (query, _), (again, repeats) in zip(sent, came, strict=True):
            assert (again.key, again.pair, again.choices, repeats) == (query.key, query.pair, query.choices, (0,))
            assert again.other is not None
            assert query.other is not None
            assert (again.story.text, again.other.text) == (query.story.text, query.other.text)
    rows = [
        answered_row(query, 0, Response("Verdict: A"), started=1.0, seconds=0.1, status=200)
        for group in back
        for query, _ in group
    ]
    key = asked.spec.judge_key()
    read = read_shard(write_shard(stories.parent, "part-1", rows, key), key)
    with JournalMerger(asked.result.journal, executor="ray") as merger:
        assert merger.merge("part-1", read).answered == 24
        assert merger.merge("part-1", read).answered == 0
    with JournalReader(asked.result.journal) as journal:
        assert journal.check_integrity() == []
        assert len(journal.comparisons()) == 24
