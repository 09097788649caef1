"""The picture of topics, and what pages keep of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from judge.explanations.mapping.clusters import project
from judge.explanations.mapping.stored_map import TOPICS, Drawn
from judge.explanations.options import ExplainOptions
from judge.explanations.topics.results import ReasonResults

# Distinct texts in the picture: methods of projection are slow, and no eye reads more.
DRAWN = 2000
_MODEL = "TF-IDF of words and word pairs, with the words of few story-prompts masked"


def drawn(result: ReasonResults, options: ExplainOptions) -> Drawn:
    """The explanations with their topic as `cluster`, and `x` and `y` on the map of a sample, NaN for the others."""
    found = result.reasons
    rows = found.rows.assign(cluster=pd.array(found.topics.topic, dtype="Int64"), x=np.nan, y=np.nan)
    words = {number: name.split(", ") for number, name in enumerate(found.names)}
    plain = Drawn(result.signature, _MODEL, "", rows, words, [found.topics.mask.note], TOPICS, result.texts.facts)
    if options.map == "none":
        return plain
    first = np.flatnonzero(~found.rows.duplicated(["criterion", "text"]).to_numpy())
    some = np.sort(np.random.default_rng(options.seed).permutation(first)[:DRAWN])
    picture = project(found.topics.model.vectors([found.rows["text"].iloc[i] for i in some]), options)
    if picture is None:
        return plain
    rows.loc[some, ["x", "y"]] = picture.points.astype(np.float64)
    notes = [*plain.notes, picture.note, f"the picture is of {some.size:,} texts, drawn at random"]
    return replace(plain, method=picture.method, notes=notes)
