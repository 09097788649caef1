"""MANPLTS' released scores of the plot-guided stories as a ratings table, beside people's ratings.

The score is a probability, and stands as log-odds: hundreds of them differ by less than 1e-9, which ties them in every
correlation here, though the study's own order is plain. The order, and so rho and tau, are the released ones.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from judge.datasets import open_dataset
from judge.datasets.locate import need
from judge.datasets.sources import OTHER_FILES
from judge.datasets.studies.plotguided import CRITERION, SCALE, log_odds, read_scores
from judge.errors import DataError, SpecError, unknown
from judge.exchange.imports.imported_folder import Import
from judge.ratings_table import COLUMNS
from judge.records import Criterion, Story

MEASURE = "measure/MANPLTS"
SETS = ("roc", "wp")
_FILES = "plotguided_scores"
_NO_EVAL_PROMPT = "-"


def read_plotguided(name: str, scores: Path | None = None) -> Import:
    """The scores of set `roc` or `wp` with the stories and people's ratings of dataset `plotguided_NAME`.

    `scores` is the study's Pred_*.txt; None = where it is known. Raises DataError for a file of other stories.
    """
    if name not in SETS:
        raise SpecError(unknown("set", name, SETS))
    dataset = open_dataset(f"plotguided_{name}")
    path = scores or need(OTHER_FILES[_FILES][SETS.index(name)], _FILES)
    ratings_by_text = read_scores(path)
    stories = list(dataset.stories())
    for story in stories:
        if story.text not in ratings_by_text:
            raise DataError(f"has no score of story {story.id} of {dataset.name}", file=path, found=story.text)
    rows = [_base(dataset.name, story) | _given(ratings_by_text[story.text]) for story in stories]
    rows += [
        _base(dataset.name, story) | {"source": "rater", "rater": rating.rater, "rating": rating.value, "status": "ok"}
        for story in stories
        for rating in story.ratings
    ]
    about = [{"dataset": dataset.name, "story": s.id, "words": len(s.text.split()), "text": s.text} for s in stories]
    return Import(
        frame=pd.DataFrame(rows).reindex(columns=list(COLUMNS)),
        judge=MEASURE,
        criteria=(Criterion(CRITERION, "CH", "", SCALE),),
        notes=[f"{MEASURE}: log-odds of the released probabilities, in the same order"],
        sources=[path, *dataset.files],
        stories=pd.DataFrame(about),
        ratings="means",
    )


def _base(dataset: str, story: Story) -> dict[str, object]:
    return {
        "run": f"{dataset}-scores",
        "dataset": dataset,
        "story": story.id,
        "story_prompt": story.story_prompt,
        "system": story.system,
        "criterion": CRITERION,
    }


def _given(score: float) -> dict[str, object]:
    return {
        "source": "judge",
        "judge": MEASURE,
        "eval_prompt": _NO_EVAL_PROMPT,
        "rating": log_odds(score),
        "status": "imported",
    }
