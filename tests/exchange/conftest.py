"""Stories and definitions for runs that go partly through batch files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judge.answers.journal import JournalReader
from judge.asking.execution.session import Sitting
from judge.asking.run_definition.spec import parse_run_spec
from judge.asking.run_folder import ResultFolder
from judge.exchange.batch.requests import Wanted
from tests.server.loopback import LoopbackServer

Start = Callable[..., LoopbackServer]
Answers = dict[tuple[str, int], str | None]


@pytest.fixture
def stories(tmp_path: Path) -> Path:
    """Eight stories for four story-prompts, with reference stories and text beyond ASCII."""
    lines = [
        {
            "id": f"s{i}",
            "story_prompt": f"Story-prompt {i // 2}: „Wer löscht das Licht?“",
            "system": f"system{i % 2}",
            "text": f"Story {i}: the lamp on the quay went out,\nand nobody lit it again for {i} years.",
            "reference": f"The human story for story-prompt {i // 2}.",
            "ratings": [{"rater": None, "criterion": "Overall", "value": 1 + i % 5}],
        }
        for i in range(8)
    ]
    path = tmp_path / "stories.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
    return path


def definition(server: LoopbackServer | None, stories: Path, **changes: Any) -> dict[str, Any]:
    """A run's definition as plain data."""
    return {
        "name": "t",
        "dataset": str(stories),
        "judge": "openai/gpt-4o-mini",
        "criteria": "hanna",
        "eval_prompts": ["ep1", "ep3"],
        "repeats": 3,
        "generation": {"temperature": 0.7, "max_tokens": 200},
        "base_url": server.url if server else "http://127.0.0.1:9/v1",
        "concurrency": 8,
    } | changes


def live(server: LoopbackServer, stories: Path, folder: str, *, limit: int | None = None, **changes: Any) -> Sitting:
    """A live sitting in a result folder beside the stories."""
    spec = parse_run_spec(definition(server, stories, **changes), "test")
    return Sitting(spec, stories.parent, ResultFolder(stories.parent / folder), limit=limit, quiet=True)


def asked(server: LoopbackServer | None, stories: Path, folder: str, **changes: Any) -> Wanted:
    """The same run, to be exported."""
    choices = {k: changes.pop(k) for k in ("limit", "one_by_one", "failed", "max_completion_tokens") if k in changes}
    spec = parse_run_spec(definition(server, stories, **changes), "test")
    return Wanted(spec, stories.parent, ResultFolder(stories.parent / folder), **choices)


def answers(result: ResultFolder) -> Answers:
    """(query key, repeat) -> text of everything tried; None where there is no answer."""
    with JournalReader(result.journal) as journal:
        assert journal.check_integrity() == []
        return {(a.query_key, a.repeat): a.response.text if a.response else None for a in journal.answers()}
