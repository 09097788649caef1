"""Transitivity of preferences: share of cyclic triads of stories (a preferred to b, b to c, and c to a), compared with
the share expected from the systems' fitted strengths and that from guessing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from judge.analysis.options.signature import Signed
from judge.analysis.options.table_options import RankOptions
from judge.analysis.preference.agreement import flat_estimates
from judge.analysis.preference.sides import Side
from judge.stats.comparing.circular_triads import GUESSING, CircularTriads, circular_triads
from judge.stats.comparing.strengths import Strengths


@dataclass(frozen=True, slots=True)
class TransitivityRow:
    """Cyclic triads within story-prompts in the preferences of one judge, or of people."""

    dataset: str
    kind: str
    run: str | None
    judge: str
    eval_prompt: str | None
    criterion: str
    triads: CircularTriads


@dataclass(frozen=True, slots=True, eq=False)
class Transitivity(Signed):
    """Cyclic triads by people and judges; not of implied preferences, which as differences of means have none."""

    rows: tuple[TransitivityRow, ...]
    options: RankOptions

    @property
    def frame(self) -> pd.DataFrame:
        """One row for each judge, or people; `guessing` is the share under random choices."""
        return self.signed([_flat(row) for row in self.rows])


def transitivity_row(side: Side, fitted: Strengths | None) -> TransitivityRow:
    """Number and share of cyclic triads, and the share expected from the fitted strengths of the systems."""
    stories = side.comparisons(of_stories=True)
    chances = None
    if fitted is not None and fitted.fit is not None:
        code, names = side.pairs.system
        position = {name: k for k, name in enumerate(fitted.systems)}
        of_story = dict(zip(side.pairs.stories.index.astype(str), (names[k] for k in code), strict=True))
        at = np.array([position.get(of_story[name], -1) for name in stories.systems], dtype=np.int64)
        if (at >= 0).all():
            chances = fitted.fit.chances(at[stories.first], at[stories.second])
    labels = side.pairs.dataset, side.kind, side.run, side.name, side.eval_prompt, side.criterion
    return TransitivityRow(*labels, circular_triads(stories, chances))


def _flat(row: TransitivityRow) -> dict[str, object]:
    about = {name: getattr(row, name) for name in ("dataset", "kind", "run", "judge", "eval_prompt", "criterion")}
    counts = {name: getattr(row.triads, name) for name in ("cyclic", "strict", "uneven")}
    return (
        about
        | counts
        | flat_estimates({"share": row.triads.share, "expected": row.triads.expected})
        | {"guessing": GUESSING}
    )
