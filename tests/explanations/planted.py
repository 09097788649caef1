"""Explanations made so that the right answer is known: judges that repeat, contradict, or say one thing always."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from judge.explanations.corpus.corpus import frame_of


@dataclass(frozen=True)
class At:
    """A repeat of a query."""

    story: int
    criterion: str
    repeat: int


CRITERIA = ("Relevance", "Coherence", "Empathy")


def frame(
    text: Callable[[At], str | None],
    *,
    stories: int = 30,
    criteria: Sequence[str] = CRITERIA,
    repeats: int = 3,
    rating: Callable[[At], float] = lambda at: 1.0 + at.story % 5,
) -> pd.DataFrame:
    """A row for each story, criterion and repeat, with the text that a function of them gives."""
    rows: list[dict[str, Any]] = []
    for story in range(stories):
        for criterion in criteria:
            for repeat in range(repeats):
                at = At(story, criterion, repeat)
                said, given = text(at), rating(at)
                rows.append(
                    {
                        "run": "planted",
                        "judge": "judge/m",
                        "dataset": "toy",
                        "story": f"s{story}",
                        "criterion": criterion,
                        "eval_prompt": "ep2",
                        "repeat": repeat,
                        "rating": given,
                        "status": "ok",
                        "answer": f"{given:g}" if said is None else f"{given:g}\n\n{said}",
                        "explanation": said,
                    }
                )
    return frame_of(rows)
