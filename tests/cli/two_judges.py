"""A run of 2 judges x 4 Eval-Prompts x 2 criteria x 3 repeats, over stories that three people rated.

The judges are the control and a script, so that nothing is asked over a network. The script gives each story other
ratings, with explanations, near those of people.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from judge.inputs.datasets import open_dataset
from tests.documents.run.world import audited
from tests.golden_tables.calls import judge

RUN = "runs/two"
SCRIPTED, CONTROL = f"{RUN}/scripted-answers.jsonl", f"{RUN}/surface"
_GOOD = {"original": 4.2, "looped": 2.2, "shuffled": 2.8, "spliced": 3.1}
_WHY = (
    "The opening promises a mystery that the end resolves.",
    "The middle repeats itself and the thread is lost.",
    "The characters stay pale, though the setting is vivid.",
    "Events follow from each other and the ending surprises.",
    "The story breaks off before anything is at stake.",
)


def make() -> None:
    """Make the run, with an audit of its explanations, in the working folder."""
    _write_stories_and_answers()
    Path(RUN).mkdir(parents=True)
    keys = {"name": "two", "dataset": "../../tales.jsonl", "judges": ["surface", "scripted/answers.jsonl"]}
    keys |= {"criteria": {"set": "hanna", "only": ["CH", "EG"]}, "eval_prompts": ["ep1", "ep2", "ep3", "ep4"]}
    Path(RUN, "run.yaml").write_text(json.dumps(keys | {"repeats": 3}), encoding="utf-8")
    code, _, err = judge(["run", RUN, "--quiet", "--no-summary"])
    assert code == 0, err
    audited(RUN)


def _write_stories_and_answers() -> None:
    rng = np.random.default_rng(3)
    stories = list(open_dataset("demo").stories())
    references = {story.story_prompt: story.text for story in stories if story.system == "original"}
    tales, answers = [], []
    for number, story in enumerate(stories):
        good = _GOOD[str(story.system)]
        tale = {"id": story.id, "story_prompt": story.story_prompt, "system": story.system, "text": story.text}
        ratings = [
            {"criterion": criterion, "value": float(value), "rater": rater}
            for criterion in ("Coherence", "Engagement")
            for rater, value in zip(("ann", "bob", "cem"), _around(good, 0.9, 3, rng), strict=True)
        ]
        reference = story.reference or references[story.story_prompt]
        tales.append(tale | {"reference": reference, "ratings": ratings})
        answers += [
            {"match": story.text.strip(), "text": f"Rating: {value}\nExplanation: {_WHY[(value + number + i) % 5]}"}
            for i, value in enumerate(_around(good, 0.8, 7, rng))
        ]
    for name, rows in (("tales.jsonl", tales), ("answers.jsonl", answers)):
        Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def _around(good: float, spread: float, count: int, rng: np.random.Generator) -> list[int]:
    return [int(value) for value in np.clip(np.round(good + rng.normal(0, spread, count)), 1, 5)]
