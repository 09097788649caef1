"""Audits to serve in tests: explanations of the packaged stories, and one item that is full of markup."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from judge.explanations.audit.items import Facts, Subject
from judge.explanations.audit.store import AuditStore
from judge.inputs.criteria import load_criteria
from judge.inputs.datasets import open_dataset

MARKUP = "<script>document.title = 'taken'</script><img src=x onerror=alert(2)></script><!-- {{ 7 * 7 }} \u2028&amp;"
SECRET_SYSTEM = "the-system-nobody-may-see"
SECRET_JUDGE = "openai/the-judge-nobody-may-see"


def make_audit(path: Path, count: int = 3, *, blind: tuple[str, ...] = (), **options: Any) -> AuditStore:
    """An audit of `count` explanations; item 1 has markup in every text, and item 2 quotes its story."""
    stories = list(open_dataset("demo").stories())
    criteria = load_criteria("hanna").pick()
    subjects = []
    for i in range(count):
        story = stories[i % len(stories)]
        text = f"{MARKUP}\n{story.text}" if i == 0 else story.text
        quoted = " ".join(story.text.split()[2:7])
        told = MARKUP if i == 0 else f'The story says "{quoted}", and also "no such words stand there".'
        subjects.append(
            Subject(
                explanation=f"{told} Explanation {i + 1}.",
                story=story.id,
                dataset="demo",
                system=SECRET_SYSTEM,
                story_prompt=MARKUP if i == 0 else story.story_prompt,
                text=text,
                reference=MARKUP if i == 0 else None,
                criterion=criteria[i % len(criteria)],
                facts=Facts(run="demo", judge=SECRET_JUDGE, eval_prompt="ep3-secret", repeat=0, rating=4.0, people=2.0),
            )
        )
    return AuditStore.create(path, subjects, blind=blind, **options)
