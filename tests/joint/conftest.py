"""Stories, and runs that ask for several criteria in one answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from judge.asking.execution.session import Sitting
from judge.asking.run_definition.spec import parse_run_spec
from judge.asking.run_folder import ResultFolder
from tests.server.loopback import LoopbackServer

CRITERIA = ("Relevance", "Coherence", "Empathy", "Surprise", "Engagement", "Complexity")


@pytest.fixture
def stories(tmp_path: Path) -> Path:
    """Twelve stories for four story-prompts, three systems each, with a reference story and people's ratings."""
    lines = [
        {
            "id": f"s{i}",
            "story_prompt": f"Story-prompt {i // 3}",
            "system": f"system{i % 3}",
            "text": f"Story {i}: the lamp on the quay went out, and nobody lit it again for {i} years. " * (1 + i % 4),
            "reference": f"The human story for story-prompt {i // 3}.",
            "ratings": [
                {"rater": rater, "criterion": name, "value": 1 + (i * (k + 2) + len(rater)) % 5}
                for k, name in enumerate(CRITERIA)
                for rater in ("a", "bb")
            ],
        }
        for i in range(12)
    ]
    path = tmp_path / "stories.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
    return path


def definition(server: LoopbackServer | None, stories: Path, **changes: Any) -> dict[str, Any]:
    """A run that asks for all criteria of HANNA in one answer, as plain data."""
    return {
        "name": "t",
        "dataset": str(stories),
        "judge": "openai/mock",
        "criteria": "hanna",
        "eval_prompts": ["joint1"],
        "generation": {"temperature": 1.0},
        "base_url": server.url if server else "http://127.0.0.1:9/v1",
        "concurrency": 8,
        "attempt_timeout": 5.0,
    } | changes


def sitting(server: LoopbackServer | None, stories: Path, **changes: Any) -> Sitting:
    """One sitting of such a run."""
    extra = {key: changes.pop(key) for key in ("limit", "again", "reuse") if key in changes}
    result = ResultFolder(stories.parent / changes.pop("folder", "results"))
    spec = parse_run_spec(definition(server, stories, **changes), "test")
    return Sitting(spec, stories.parent, result, quiet=True, **extra)
