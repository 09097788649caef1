"""The jury's ratings as a ratings table, from which every other table can be made.

A story's rating is the mean of its out-of-fold ratings over foldings. In fitted ratings, the mean human rating of each
fold's training stories is replaced by the mean over all rated stories. Otherwise every table that compares the jury
with another judge would rank the jury too low (`nested_folds.Folding.ranked`). The human ratings are included, so that
the table is complete. A story that too few members rated has no rating.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judge.analysis.jury.result import Held, Verdict
from judge.base.errors import SpecError

if TYPE_CHECKING:
    from judge.ratings.ratings_table import RatingsTable

Floats = NDArray[np.float64]
EVAL_PROMPT = "-"


def jury_name(held: Held) -> str:
    """The name of a jury: `jury/COMBINER`, followed by `+features` and the calibration."""
    options = held.options
    parts = [options.combiner, *(["features"] if options.with_features else [])]
    parts += [options.calibrate] if options.calibrate != "none" else []
    return "jury/" + "+".join(parts)


def ratings_of(held: Held, table: RatingsTable) -> pd.DataFrame:
    """Rows of a ratings table: the jury's ratings, with status `imported` or `no_rating`, and people's rows unchanged.

    Raises
    ------
    SpecError
        No jury could be computed.
    """
    matrix = held.matrix
    if not held.verdicts:
        raise SpecError(
            f"{matrix.dataset}: there are no ratings of a jury to write", hint="; ".join(held.notes) or None
        )
    stories = matrix.stories[["story", "story_prompt", "system"]]
    parts = []
    for verdict in held.verdicts:
        rating = _rating(verdict)
        status = np.where(np.isnan(rating), "no_rating", "imported")
        parts.append(stories.assign(criterion=verdict.criterion, rating=rating, status=status))
    judged = pd.concat(parts, ignore_index=True).assign(
        run="jury", judge=jury_name(held), dataset=matrix.dataset, eval_prompt=EVAL_PROMPT, source="judge", flags=""
    )
    frame = table.frame
    people = frame[
        (frame["source"] == "rater")
        & (frame["dataset"] == matrix.dataset)
        & ~frame["system"].isin(list(held.options.drop_systems))
    ]
    return pd.concat([judged.reindex(columns=list(people.columns)), people], ignore_index=True)


def _rating(verdict: Verdict) -> Floats:
    """The jury's rating of each story on one criterion: its mean over foldings (assignments of stories to folds).

    In fitted ratings, the mean human rating of each fold's training stories is replaced by the mean over all rated
    stories. The result is limited to the range of the jury's own ratings.
    """
    panel = verdict.panel
    level = float(panel.people[panel.usable].mean())
    levelled = []
    for folding in verdict.foldings:
        rating = np.where(np.isnan(folding.level), folding.jury, folding.jury - folding.level + level)
        levelled.append(np.clip(rating, np.nanmin(folding.jury), np.nanmax(folding.jury)))
    return np.asarray(np.mean(levelled, axis=0), dtype=np.float64)


def notes_of(held: Held) -> list[str]:
    """Notes for every table that is made from a jury's ratings."""
    options = held.options
    unit = "story-prompts" if options.hold_out == "story-prompt" else "systems"
    first = (
        f"{jury_name(held)}: out-of-fold ratings, means over {options.foldings} "
        f"folding{'s' if options.foldings > 1 else ''} of {options.folds} folds by "
        f"{unit}, seed {options.seed}; what is fitted is levelled over folds"
    )
    return [first, *held.notes]
