"""MANPLTS' released scores of the plot-guided stories as a ratings table, together with the human ratings.

A score is a probability and is stored as log-odds. Hundreds of the probabilities differ by less than 1e-9, and such
differences count as ties in this program's correlations, although the study ranked the stories by them. Log-odds keep
the released order, and therefore rho and tau.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from judge.base.errors import DataError, SpecError, unknown
from judge.base.records import Criterion, Story
from judge.exchange.imports.imported_folder import Import
from judge.inputs.datasets import open_dataset
from judge.inputs.datasets.locate import need
from judge.inputs.datasets.sources import OTHER_FILES
from judge.inputs.datasets.studies.plotguided import CRITERION, SCALE, log_odds, read_scores
from judge.ratings.ratings_table import COLUMNS

MEASURE = "measure/MANPLTS"
SETS = ("roc", "wp")
_FILES = "plotguided_scores"
_NO_EVAL_PROMPT = "-"


def set_of(scores: Path) -> str:
    """The set, roc or wp, whose stories a file of scores is about. Raises DataError where it is about neither."""
    texts = read_scores(scores).keys()
    for name in SETS:
        if any(story.text in texts for story in open_dataset(f"plotguided_{name}").stories()):
            return name
    raise DataError("has scores of no story of plotguided_roc or plotguided_wp", file=scores)


def read_plotguided(name: str, scores: Path | None = None) -> Import:
    """MANPLTS' released scores of the plot-guided stories `roc` or `wp` (`name`) as imported ratings, together with the
    stories and human ratings of dataset `plotguided_NAME`. A score is a probability and is imported as its log-odds.

    `scores` is the study's Pred_*.txt file; None takes it from where the study's files are stored. Raises DataError
    where the file has no score for one of the stories.
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
