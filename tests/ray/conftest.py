"""Real Ray, started once, and stories to run on. Skipped with a reason where Ray is not installed."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import missing


@pytest.fixture(scope="session")
def ray_installed() -> None:
    """Ray and Parquet, or no test."""
    if importlib.util.find_spec("ray") is None or importlib.util.find_spec("pyarrow") is None:
        missing("ray", "Ray is not installed: pip install -r requirements/ray.txt")


@pytest.fixture(scope="session")
def ray(ray_installed: None) -> Iterator[Any]:
    """One Ray on this machine for all tests here."""
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    yield ray
    ray.shutdown()


@pytest.fixture
def stories(tmp_path: Path) -> Path:
    """Sixty stories for twenty story-prompts, three systems each."""
    lines = [
        {
            "id": f"s{i}",
            "story_prompt": f"Story-prompt {i // 3}",
            "system": f"system{i % 3}",
            "text": f"Story {i}: the lamp on the quay went out, and nobody lit it again for {i} years.",
            "reference": f"The human story for story-prompt {i // 3}.",
            "ratings": [{"rater": None, "criterion": "Overall", "value": 1 + i % 5}],
        }
        for i in range(60)
    ]
    path = tmp_path / "stories.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
    return path
