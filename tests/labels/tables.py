"""Ratings tables of labels made on the spot: people's and judges' codes as arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from judge.base.records import Criterion, Scale
from judge.ratings.ratings_table import COLUMNS, RatingsTable, RunFacts
from judge.ratings.ratings_table.columns import scales_of

YES_NO = Scale.of_labels(["No", "Yes"])


def labelled_table(
    people: Mapping[str, Any],
    judges: Mapping[str, Mapping[str, Any]],
    *,
    scales: Mapping[str, Scale] | None = None,
    story_prompt: Sequence[int] | None = None,
    system: Sequence[int] | None = None,
    known: bool = True,
    lost: str = "refused",
) -> RatingsTable:
    """A table of codes: people's (n, raters) by criterion, each judge's (n,) or (n, repeats); NaN = no label.

    A judge's criterion that people have not is asked all the same.
    """
    n = len(next(iter(people.values())))
    prompt = np.arange(n) if story_prompt is None else np.asarray(story_prompt)
    made_by = np.zeros(n, dtype=int) if system is None else np.asarray(system)
    place = [
        {"dataset": "toy", "story": f"s{i}", "story_prompt": f"p{prompt[i]}", "system": f"system {made_by[i]}"}
        for i in range(n)
    ]
    rows: list[dict[str, Any]] = []
    for criterion, ratings in people.items():
        for (i, rater), value in np.ndenumerate(_wide(ratings)):
            if not np.isnan(value):
                who = f"w{rater}" if known else None
                rows.append({**place[i], "criterion": criterion, "source": "rater", "rater": who, "rating": value})
    for judge, labels in judges.items():
        for criterion, ratings in labels.items():
            for (i, repeat), value in np.ndenumerate(_wide(ratings)):
                rows.append(
                    {
                        **place[i],
                        "run": judge,
                        "judge": judge,
                        "criterion": criterion,
                        "eval_prompt": "ep1",
                        "source": "judge",
                        "repeat": repeat + 1,
                        "rating": value,
                        "status": lost if np.isnan(value) else "ok",
                    }
                )
    frame = pd.DataFrame(rows).reindex(columns=list(COLUMNS))
    frame["repeat"], frame["rating"] = frame["repeat"].astype("Int64"), frame["rating"].astype(float)
    frame["flags"] = ""
    stories = pd.DataFrame(place).assign(words=100, text="").set_index(["dataset", "story"])
    facts = tuple(_fact(judge, labels, scales or {}) for judge, labels in judges.items())
    return RatingsTable(frame, stories, facts, scales_of((fact, ["toy"]) for fact in facts))


def _wide(ratings: Any) -> np.ndarray:
    found = np.asarray(ratings, dtype=float)
    return found[:, None] if found.ndim == 1 else found


def _fact(judge: str, labels: Mapping[str, Any], scales: Mapping[str, Scale]) -> RunFacts:
    criteria = tuple(Criterion(name, f"C{i}", "", scales.get(name, YES_NO)) for i, name in enumerate(labels))
    return RunFacts(
        run=judge,
        judge=judge,
        dataset="toy",
        revision=None,
        repeats=max(_wide(ratings).shape[1] for ratings in labels.values()),
        criteria=criteria,
        eval_prompts=("ep1",),
        parser="ours",
        notes=(),
        control=False,
        path=Path(judge),
        single=True,
    )
