"""Small audits, a run to sample from, and the study's audit."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from judge.base.records import Criterion, Scale
from judge.explanations.audit.items import Facts, Subject
from judge.explanations.audit.label_studio import import_file
from judge.explanations.audit.store import AuditStore
from tests.report.runs import command

COHERENCE = Criterion("Coherence", "CH", "how much the story makes sense", Scale(1, 5), tuple("abcde"))


def subject(i: int, **changes: Any) -> Subject:
    """An explanation of story i // 2."""
    known: dict[str, Any] = {
        "explanation": f"It holds together, but the lamp of line {i} is forgotten.",
        "story": f"s{i // 2}",
        "dataset": "toy",
        "system": "m",
        "story_prompt": "A lamp.",
        "text": f"Story {i // 2} is about a lamp.",
        "criterion": COHERENCE,
        "facts": Facts(judge=f"openai/m{i % 2}", eval_prompt="ep3", repeat=0, rating=float(1 + i % 5)),
    }
    return Subject(**{**known, **changes})


@pytest.fixture
def make_audit(tmp_path: Path) -> Iterator[Callable[..., AuditStore]]:
    """Makes an audit of n explanations; every one is closed at the end."""
    made: list[AuditStore] = []

    def make(n: int = 6, name: str = "audit.sqlite", **options: Any) -> AuditStore:
        made.append(AuditStore.create(tmp_path / name, [subject(i) for i in range(n)], **options))
        return made[-1]

    yield make
    for store in made:
        store.close()


@pytest.fixture
def cli() -> Callable[..., int]:
    """`judge audit` with these words; returns its exit code."""
    return partial(command, "audit")


@pytest.fixture(scope="session")
def study(studies: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The HANNA user study as an audit."""
    path = tmp_path_factory.mktemp("study") / "study.sqlite"
    merged, made = import_file(path, studies / "hanna" / "user_study.csv")
    assert made
    assert merged.new == 100 * 3 * 6
    return path


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run by the control judge on twelve stories: 2 criteria x 3 Eval-Prompts (ep1 explains nothing) x 2 repeats."""
    folder = tmp_path_factory.mktemp("run")
    stories = [
        {
            "id": f"s{i}",
            "story_prompt": f"P{i // 3}",
            "system": f"m{i % 3}",
            "text": f"Story {i} is about a lamp that went out. " + "It was dark. " * (i + 1),
            "reference": f"The reference for P{i // 3}.",
            "ratings": [{"rater": "r1", "criterion": "Coherence", "value": 1 + i % 5}],
        }
        for i in range(12)
    ]
    (folder / "stories.jsonl").write_text("\n".join(map(json.dumps, stories)) + "\n", encoding="utf-8")
    (folder / "run.yaml").write_text(
        "name: lamps\ndataset: ./stories.jsonl\njudge: surface\ncriteria: {set: hanna, only: [Coherence, Empathy]}\n"
        "eval_prompts: [ep1, ep2, ep3]\nrepeats: 2\n",
        encoding="utf-8",
    )
    assert command("run", folder / "run.yaml", "--quiet") == 0
    return folder


@pytest.fixture
def said() -> Callable[[AuditStore, str, int, int], None]:
    """Answers all of an item's categories with one value."""

    def answer(store: AuditStore, annotator: str, item: int, value: int) -> None:
        store.answer(annotator, item, {c.key: value for c in store.categories}, seconds=2.5)

    return answer
