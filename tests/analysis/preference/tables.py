"""Preferences tables for tests: people's of a dataset, and those of simulated judges."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from judge.inputs.datasets.dataset import Dataset
from judge.ratings.preferences_table.journaled import COLUMNS, ComparisonFacts, PreferencesTable


def of_dataset(dataset: Dataset) -> PreferencesTable:
    """People's preferences of a dataset with pairs."""
    assert dataset.pairs is not None
    stories = {story.id: story for story in dataset.stories()}
    rows = []
    for pair in dataset.pairs():
        for said in pair.preferences:
            row = {"dataset": dataset.name, "pair": pair.id, "story_prompt": pair.story_prompt, "source": "rater"}
            row |= {"first": pair.first, "second": pair.second, "criterion": said.criterion, "preference": said.value}
            row |= {"first_system": stories[pair.first].system, "second_system": stories[pair.second].system}
            rows.append(row | {"rater": said.rater, "status": "ok", "flags": ""})
    known = [(dataset.name, s.id, s.story_prompt, s.system, len(s.text.split()), s.text) for s in stories.values()]
    return PreferencesTable(pd.DataFrame(rows).reindex(columns=list(COLUMNS)), stories_of(known), ())


def stories_of(rows: list[tuple[str, str, str, str, int, str]]) -> pd.DataFrame:
    """A table of stories."""
    columns = ["dataset", "story", "story_prompt", "system", "words", "text"]
    return pd.DataFrame(rows, columns=columns).set_index(["dataset", "story"])


def simulated(
    *, prompts: int = 30, systems: int = 4, repeats: int = 2, position: float = 0.8, seed: int = 1, noise: float = 1.0
) -> PreferencesTable:
    """Two judges in both orders (j1 leans to the first place, j2 to nothing), and three people; strengths go up."""
    rng = np.random.default_rng(seed)
    story_rows, rows = [], []
    for p in range(prompts):
        quality = np.linspace(-1, 1, systems) + rng.normal(0, 0.4, systems)
        for s in range(systems):
            words = int(100 + 40 * quality[s] + rng.integers(0, 30))
            text = f"Story {p} {s} " + "word " * words
            story_rows.append(("toy", f"p{p:02d}-s{s}", f"prompt {p}", f"system {s}", words + 3, text))
        for i in range(systems):
            for j in range(i + 1, systems):
                apart = quality[i] - quality[j]
                rows += _asked(rng, (p, i, j), apart, position=position, repeats=repeats, noise=noise)
    facts = tuple(_facts(judge) for judge in ("openai/j1", "openai/j2"))
    frame = pd.DataFrame(rows).reindex(columns=list(COLUMNS))
    return PreferencesTable(frame, stories_of(story_rows), facts)


def _asked(
    rng: np.random.Generator, at: tuple[int, int, int], apart: float, *, position: float, repeats: int, noise: float
) -> list[dict[str, object]]:
    p, i, j = at
    rows: list[dict[str, object]] = []
    for source, who, lead in (("judge", "openai/j1", position), ("judge", "openai/j2", 0.0), ("rater", None, 0.0)):
        orders = ((i, j), (j, i)) if source == "judge" else ((i, j),)
        for one, other in orders:
            for repeat in range(repeats if source == "judge" else 3):
                log_odds = ((apart if one == i else -apart) + lead) / noise
                weight = np.exp([log_odds / 2, -log_odds / 2, -0.7])
                ending = ("first", "second", "tie")[int(rng.choice(3, p=weight / weight.sum()))]
                row = {"dataset": "toy", "pair": f"{p}-{i}-{j}", "story_prompt": f"prompt {p}", "criterion": "Overall"}
                row |= {"first": f"p{p:02d}-s{one}", "second": f"p{p:02d}-s{other}", "source": source}
                row |= {"first_system": f"system {one}", "second_system": f"system {other}", "preference": ending}
                if source == "judge":
                    row |= {"run": who, "judge": who, "eval_prompt": "pair1", "repeat": repeat}
                rows.append(row | {"rater": None if who else f"r{repeat}", "status": "ok", "flags": ""})
    return rows


def _facts(judge: str) -> ComparisonFacts:
    return ComparisonFacts(
        run=judge,
        judge=judge,
        dataset="toy",
        revision=None,
        repeats=2,
        criteria=(),
        eval_prompts=("pair1",),
        orders="both",
        ties=True,
        parser="verdict/2",
        notes=(),
        path=Path(judge),
    )
