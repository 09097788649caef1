"""DeltaScore by SmolLM2 on the study's own 120 ROC stories: Kendall's tau-b with people's coherence.

`python -m tests.benchmarks.deltascore [--limit N] [--model local/smollm2]`; needs JUDGE_DATA and the environment of
`make test-measures`. Beside each tau: what a prototype with typos in four of ten words, and words in another order,
had found with the same model and people. Here a change is at strength 4, typos in about four words of a story, so
that its tau may be another; plain mean log-probability stands first.
"""

from __future__ import annotations

import argparse
import os
import sys
from itertools import islice

import numpy as np
from scipy import stats

from judge.base.records import Story
from judge.inputs.datasets import open_dataset
from judge.lab.measures import Undefined, named
from judge.lab.measures.likelihood import PERTURBATIONS
from judge.lab.measures.session import measured
from tests.benchmarks.figures import Figure, show

PROTOTYPE = {"mean-log-p": 0.137, "deltascore-typos": 0.243, "deltascore-word-shuffle": 0.229}
CRITERION = "Coherence"


def people(story: Story) -> float:
    """Mean of people's ratings of coherence."""
    said = [rating.value for rating in story.ratings if rating.criterion == CRITERION]
    return float(np.mean(said)) if said else float("nan")


def figures(model: str, limit: int | None) -> list[Figure]:
    """One row a measure."""
    stories = list(islice(open_dataset("deltascore_roc").stories(), limit))
    theirs = np.array([people(story) for story in stories])
    names = ["mean-log-p", *(f"deltascore-{name}" for name in PERTURBATIONS)]
    found = measured(stories, named(names), models={"lm": model})
    rows = []
    for name in names:
        values = np.array([np.nan if isinstance(one, Undefined) else one for one in found.by_measure[name]])
        known = ~np.isnan(values) & ~np.isnan(theirs)
        tau = float(stats.kendalltau(values[known], theirs[known]).statistic)
        before = PROTOTYPE.get(name)
        remark = f"{known.sum()} stories" + (f"; prototype {before:.3f}" if before is not None else "")
        rows.append(Figure(name, tau, "", "tau-b", remark))
    return rows


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=int, help="only the first stories")
    parser.add_argument("--model", default="local/smollm2")
    asked = parser.parse_args()
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    show(f"DeltaScore: {asked.model}, {CRITERION}, deltascore_roc", figures(asked.model, asked.limit))
    return 0


if __name__ == "__main__":
    sys.exit(main())
