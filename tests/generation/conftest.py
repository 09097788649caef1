"""Story-prompts, and stories that are had written for them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from judge.asking.execution.session import Sitting
from judge.asking.run_definition.writing import parse_generate_spec
from judge.asking.run_folder import ResultFolder
from tests.server.loopback import LoopbackServer

PROMPTS = 12


@pytest.fixture
def prompts(tmp_path: Path) -> Path:
    """Twelve story-prompts, each with a human story."""
    lines = [
        {"id": f"w{i}", "story_prompt": f"Story-prompt {i}: the lamp on the quay goes out.", "reference": f"Human {i}."}
        for i in range(PROMPTS)
    ]
    path = tmp_path / "story_prompts.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
    return path


def definition(server: LoopbackServer | None, prompts: Path, **changes: Any) -> dict[str, Any]:
    """A definition of stories to be written, as plain data."""
    return {
        "name": "t",
        "story_prompts": str(prompts),
        "writer": "openai/mock",
        "writer_prompts": ["story"],
        "generation": {"temperature": 1.0},
        "base_url": server.url if server else "http://127.0.0.1:9/v1",
        "concurrency": 8,
        "attempt_timeout": 5.0,
    } | changes


def sitting(server: LoopbackServer | None, prompts: Path, **changes: Any) -> Sitting:
    """One sitting of such a definition."""
    extra = {key: changes.pop(key) for key in ("limit", "again", "reuse") if key in changes}
    result = ResultFolder(prompts.parent / changes.pop("folder", "results"))
    return Sitting(
        parse_generate_spec(definition(server, prompts, **changes), "test"), prompts.parent, result, quiet=True, **extra
    )


def written_definition(folder: Path, server: LoopbackServer, prompts: Path, **changes: Any) -> Path:
    """A generate.yaml in a folder of its own."""
    folder.mkdir(exist_ok=True)
    (folder / prompts.name).write_bytes(prompts.read_bytes())
    data = definition(server, prompts, **changes) | {"story_prompts": prompts.name}
    (folder / "generate.yaml").write_text(yaml.safe_dump(data), encoding="utf-8")
    return folder
