"""Counts answers without a rating for each perturbation.

A judge that refuses to rate a story with an injected instruction gives no rating, but the refusal is a result too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from judge.analysis.inputs.bars import JUDGE
from judge.analysis.inputs.candidates import Subject
from judge.analysis.stress.result import Lost
from judge.inputs.perturbations.catalogue import CATALOGUE
from judge.ratings.ratings_table import perturbed_names

if TYPE_CHECKING:
    from judge.ratings.ratings_table import RatingsTable


def lost_by_perturbation(table: RatingsTable, dataset: str) -> Iterator[Lost]:
    """Yield the counts of answers without a rating for each judge and Eval-Prompt: first the count for untouched
    stories, then one count for each perturbation, over all its strengths.
    """
    frame = table.frame[(table.frame["source"] == "judge") & (table.frame["dataset"] == dataset)]
    names = perturbed_names(frame["story"].unique())
    kinds = {story: name.perturbation or "" for story, name in names.items()}
    frame = frame.assign(perturbation=frame["story"].astype(str).map(kinds), lost=frame["rating"].isna())
    for (run, judge, prompt), part in frame.groupby(["run", "judge", "eval_prompt"], observed=True, sort=False):
        subject = Subject(JUDGE, dataset, str(run), str(judge), str(prompt), "all criteria", None)
        for name in ("", *CATALOGUE):
            some = part[part["perturbation"] == name]
            if len(some):
                gone = some.loc[some["lost"], "status"].astype(str).value_counts()
                statuses = {str(status): int(count) for status, count in sorted(gone.items())}
                rated = int((~some["lost"]).sum())
                yield Lost(subject, CATALOGUE.get(name), len(some), rated, statuses)
