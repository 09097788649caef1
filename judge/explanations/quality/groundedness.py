"""Does an explanation speak of this story? Quotations and names the story has, claims without support, boilerplate.

What these numbers cannot say: that what is quoted supports the rating; that a text without quotation or name says
nothing of the story; that a quotation found nowhere was meant as one (quotation marks also mark irony).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judge.explanations.quality.boilerplate import MIN_STORIES, boilerplate
from judge.explanations.quality.evidence import Evidence, Library, evidence
from judge.explanations.quality.options import NumbersOptions
from judge.explanations.quality.rows import STORY, codes, groups, name_columns, told
from judge.printing.tables import Column, Table
from judge.stats.estimate import Estimate
from judge.stats.estimation.means import clustered
from judge.stats.estimation.power import clustered_proportion

Floats = NDArray[np.float64]

_ROW = ("run", "judge", "eval_prompt", "criterion")
_JUDGE = ("run", "judge")


def table(
    frame: pd.DataFrame,
    library: Library,
    options: NumbersOptions,
    signature: str,
    notes: Sequence[str] = (),
) -> Table:
    """One row a judge, Eval-Prompt and criterion.

    Parameters
    ----------
    frame : DataFrame
        Rows with a text.
    library : Library
        Of the stories that the texts are about; texts about a story whose text is not there count for boilerplate only.
    """
    found = read_evidence(frame, library)
    common = np.full(len(frame), np.nan)
    for _, places in groups(frame, _JUDGE):
        part = frame.iloc[places]
        story = codes(part, STORY)
        common[places] = boilerplate(part["text"].tolist(), story, options.words, options.stories_share)
    rows = [
        names | _cells(frame.iloc[places], [found[i] for i in places], common[places])
        for names, places in groups(frame, _ROW)
    ]
    columns = [
        *name_columns(rows, _ROW),
        Column("pointing", "point into the story %", digits=1, factor=100),
        Column("quotes", "quotations"),
        Column("quotes_story", "quoted: story %", digits=1, factor=100),
        Column("quotes_nowhere", "quoted: nowhere %", digits=1, factor=100),
        Column("names", "names"),
        Column("names_story", "named: story %", digits=1, factor=100),
        Column("names_nowhere", "named: nowhere %", digits=1, factor=100),
        Column("unsupported", "claims without support %", digits=1, factor=100),
        Column("boilerplate", "boilerplate %", digits=1, factor=100),
        Column("texts", "texts"),
    ]
    said = [
        *notes,
        (
            "point into the story: texts with a quotation or a name that the story has; claims without support: texts "
            "with a quotation that neither story, story-prompt, reference story nor the criterion's wording has; 95 % "
            "intervals by story"
        ),
        (
            f"boilerplate: mean share of a text's runs of {options.words} words that the same judge writes about "
            f"{100 * options.stories_share:g} % of the other stories or more, copied guidelines among them"
        ),
        "a quotation in the story need not support the rating, and a text without one may still speak of the story",
    ]
    if lost := sum(one is None for one in found):
        said.append(f"{lost} texts are about stories whose text is not known; they count for boilerplate only")
    return Table("Substance: does the text speak of this story?", columns, rows, signature, said)


def read_evidence(frame: pd.DataFrame, library: Library) -> list[Evidence | None]:
    """Quotations and names of each row's text; None where the story's text is not known."""
    columns = (frame[name].tolist() for name in ("dataset", "story", "criterion", "text"))
    return [
        evidence(text, library.of(dataset, story, criterion)) if library.knows(dataset, story) else None
        for dataset, story, criterion, text in zip(*columns, strict=True)
    ]


def _cells(frame: pd.DataFrame, found: Sequence[Evidence | None], common: Floats) -> dict[str, Any]:
    there = np.array([one is not None for one in found])
    story = codes(frame, STORY) if bool(told(frame, "story").all()) else np.arange(len(frame), dtype=np.int64)
    known = [one for one in found if one is not None]
    cells: dict[str, Any] = {"texts": len(frame)}
    pointing = np.array([one.count("quotes", "story") + one.count("names", "story") > 0 for one in known], dtype=float)
    unsupported = np.array([one.count("quotes", "nowhere") > 0 for one in known], dtype=float)
    cells["pointing"] = _share(pointing, story[there])
    cells["unsupported"] = _share(unsupported, story[there])
    for kind in ("quotes", "names"):
        counts = np.array([[one.count(kind, "story"), one.count(kind, "nowhere")] for one in known]).reshape(-1, 2)
        total = sum(len(getattr(one, kind)) for one in known)
        cells[kind] = total
        for key, number in zip(("story", "nowhere"), counts.sum(axis=0), strict=True):
            share = Estimate(float(number) / total, total) if total else Estimate.undefined(f"no {_WORD[kind]}")
            cells[f"{kind}_{key}"] = share
    defined = ~np.isnan(common)
    if defined.any():
        mean = clustered(common[defined], story[defined])
        if mean.low is not None and mean.high is not None:  # Student's interval may leave a share's range
            mean = replace(mean, low=max(0.0, mean.low), high=min(1.0, mean.high))
        cells["boilerplate"] = mean
    else:
        cells["boilerplate"] = Estimate.undefined(f"fewer than {MIN_STORIES} stories, or texts shorter than a run")
    return cells


_WORD = {"quotes": "quotation", "names": "name"}


def _share(hits: Floats, story: NDArray[np.int64]) -> Estimate:
    return clustered_proportion(hits, story) if hits.size else Estimate.undefined("no story's text is known")
