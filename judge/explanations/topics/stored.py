"""The picture of topics, and what pages keep of them: `derived/explanations.json` of each result folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from judge.asking.run_folder import ResultFolder
from judge.base.printing import output
from judge.base.printing.tables import Table
from judge.explanations.mapping.clusters import Projection, project
from judge.explanations.mapping.explanation_map import TOPICS, StoredMap, points
from judge.explanations.options import ExplainOptions
from judge.explanations.topics.results import ReasonResults

# Distinct texts in the picture: methods of projection are slow, and no eye reads more.
DRAWN = 2000


def placed(result: ReasonResults, options: ExplainOptions) -> tuple[pd.DataFrame, Projection | None]:
    """The explanations with their topic as `cluster`, and `x` and `y` on the map of a sample, NaN for the others."""
    found = result.reasons
    rows = found.rows.assign(cluster=pd.array(found.topics.topic, dtype="Int64"), x=np.nan, y=np.nan)
    if options.map == "none":
        return rows, None
    first = np.flatnonzero(~found.rows.duplicated(["criterion", "text"]).to_numpy())
    some = np.sort(np.random.default_rng(options.seed).permutation(first)[:DRAWN])
    picture = project(found.topics.model.vectors([found.rows["text"].iloc[i] for i in some]), options)
    if picture is not None:
        rows.loc[some, ["x", "y"]] = picture.points.astype(np.float64)
    return rows, picture


def of_folders(
    result: ReasonResults, rows: pd.DataFrame, picture: Projection | None, tables: Sequence[Table]
) -> list[tuple[ResultFolder, StoredMap]]:
    """Results to store for each result folder: its own points; tables and names of topics of the whole analysis."""
    printed = [output.plain(table, texts=False) for table in tables]
    stored = []
    for fact in result.texts.facts:
        own = rows[(rows["run"] == fact.run) & rows["judge"].isin(fact.judge.split(", "))]
        stored.append((ResultFolder(fact.path), _map(result, own, picture, printed)))
    return stored


def of_analysis(result: ReasonResults, rows: pd.DataFrame, picture: Projection | None) -> StoredMap:
    """The drawn points of an analysis, with the side that wrote each text, for a figure."""
    drawn = rows[rows["x"].notna()]
    kept = _map(result, drawn, picture, [])
    marked = [point | {"side": side or None} for point, side in zip(kept.points, drawn["side"], strict=True)]
    return StoredMap(kept.signature, kept.embedded_by, kept.method, marked, [], kept.keywords)


def _map(
    result: ReasonResults, rows: pd.DataFrame, picture: Projection | None, tables: Sequence[Mapping[str, object]]
) -> StoredMap:
    found = result.reasons
    words = {str(number): [*name.split(", ")] for number, name in enumerate(found.names)}
    notes = [found.topics.mask.note]
    if picture is not None:
        notes += [picture.note, f"the picture is of {int(rows['x'].notna().sum()):,} texts, drawn at random"]
    model = "TF-IDF of words and word pairs, with the words of few story-prompts masked"
    method = "" if picture is None else picture.method
    return StoredMap(
        result.signature, model, method, points(rows), [dict(table) for table in tables], words, notes, TOPICS
    )
