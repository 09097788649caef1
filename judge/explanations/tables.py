"""Everything `judge explain` prints, in order: what was looked at, clusters, keywords, and the numbers.

The numbers beside the picture (specificity, stability, agreement with the rating, substance, presence, error flags)
come from modules of their own, all called in `_numbers`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from judge.explanations.mapping import as_published
from judge.explanations.mapping.clusters import NOISE
from judge.explanations.mapping.explanation_map import ExplanationMap, Step, cluster_name
from judge.explanations.mapping.keyword_tables import Keywords, yake_table
from judge.explanations.quality import tables as numbers
from judge.printing.tables import Column, Table, printable
from judge.wording import Advice, Note

_EXAMPLE = 160
"""Characters shown of the text that stands for a cluster."""


def tables(looked: ExplanationMap, step: Step | None = None) -> tuple[list[Table], dict[int, list[str]]]:
    """All tables of a look, and the keywords of each cluster, which the stored map needs too."""
    if looked.options.as_published:
        return [texts_table(looked), yake_table(looked, step)], {}
    words = Keywords(looked, step)
    found = [texts_table(looked)]
    if looked.clustering is not None:
        found.append(cluster_table(looked, words))
    found += [words.table(), *_numbers(looked, step)]
    count = 0 if looked.clustering is None else looked.clustering.count
    return found, {number: words.of_cluster(number) for number in range(count)}


def _numbers(looked: ExplanationMap, step: Step | None = None) -> list[Table]:
    """The tables of statistics on explanations: the one place where they are called."""
    options = replace(looked.options.numbers, seed=looked.options.seed, top=looked.options.top)
    vectors = looked.embedded.vectors
    return numbers.tables(looked.texts, looked.rows, vectors, looked.guidelines, options, looked.signature, step)


def texts_table(looked: ExplanationMap) -> Table:
    """What was looked at: rows, texts, distinct texts and lengths a judge and Eval-Prompt, before any statistic."""
    rows = []
    part = looked.rows.assign(words=[len(text.split()) for text in looked.rows["text"]])
    keys = ["judge", "eval_prompt"]
    for (judge, prompt), asked in looked.texts.frame.groupby(keys, sort=False):
        kept = part[(part["judge"] == judge) & (part["eval_prompt"] == prompt)]
        rows.append(
            {
                "judge": judge or None,
                "eval_prompt": prompt or None,
                "asked": len(asked),
                "texts": len(kept),
                "distinct": int(kept["key"].nunique()),
                "stories": int(kept["story"].nunique()),
                "words": float(kept["words"].median()) if len(kept) else None,
            }
        )
    columns = [
        Column("judge", "judge"),
        Column("eval_prompt", "eval prompt"),
        Column("asked", "rows"),
        Column("texts", "texts"),
        Column("distinct", "distinct"),
        Column("stories", "stories"),
        Column("words", "median words", digits=0),
    ]
    lost = [f"{count} of {len(looked.texts.frame)} rows left out: {why}" for why, count in looked.left_out.items()]
    options = looked.options
    more = as_published.declared(looked.texts, options, model=looked.model) if options.as_published else []
    notes = [*lost, looked.embedded.note]
    if looked.picture is not None:
        notes.append(looked.picture.note)
    elif options.map != "none":
        notes.append("no map: there are fewer than five distinct texts")
    if looked.clustering is None and options.cluster_on != "none":
        notes.append(Note("no clusters: there are too few texts", Advice("{min_cluster}")))
    return Table("Explanations", columns, rows, looked.signature(), [*notes, *more, *looked.texts.notes])


def cluster_table(looked: ExplanationMap, words: Keywords) -> Table:
    """One row a cluster: size, what it is mostly about, ratings, keywords, and the text nearest to its middle."""
    clustering = looked.clustering
    if clustering is None:
        raise ValueError("there are no clusters")
    rows = [_cluster_row(looked, words, number) for number in range(clustering.count)]
    if (clustering.labels == NOISE).any():
        rows.append(_cluster_row(looked, words, NOISE))
    columns = [
        Column("cluster", "cluster"),
        Column("texts", "texts"),
        Column("distinct", "distinct"),
        Column("share", "%", digits=1, factor=100),
        Column("stories", "stories"),
        Column("criterion", "most about"),
        Column("criterion_share", "%", digits=0, factor=100),
        *(
            [Column("eval_prompt", "most by"), Column("eval_prompt_share", "%", digits=0, factor=100)]
            if any(row["eval_prompt"] for row in rows)
            else []
        ),
        Column("rating", "mean rating"),
        Column("words", "keywords", wrap=40),
        Column("example", "nearest to its middle", wrap=50, text=True),
    ]
    notes = [clustering.note]
    if (clustering.labels == NOISE).any():
        notes.append("none: texts that HDBSCAN puts into no cluster; they have no middle and no keywords")
    return Table("Clusters of explanations", columns, rows, looked.signature("kw:ctfidf"), notes)


def _cluster_row(looked: ExplanationMap, words: Keywords, number: int) -> dict[str, Any]:
    rows = looked.rows[(looked.rows["cluster"] == number).to_numpy(dtype=bool)]
    criterion, criterion_share = _most(rows["criterion"])
    prompt, prompt_share = _most(rows["eval_prompt"])
    return {
        "cluster": cluster_name(number),
        "texts": len(rows),
        "distinct": int(rows["key"].nunique()),
        "share": len(rows) / len(looked.rows),
        "stories": int(rows["story"].nunique()),
        "criterion": criterion,
        "criterion_share": criterion_share,
        "eval_prompt": prompt,
        "eval_prompt_share": prompt_share,
        "rating": float(rows["rating"].mean()) if rows["rating"].notna().any() else None,
        "words": ", ".join(words.of_cluster(number)) or None,
        "example": None if number == NOISE else _example(looked, rows),
    }


def _most(column: pd.Series[str]) -> tuple[str | None, float | None]:
    """The most frequent name and its share of all rows; equal counts in the order of names."""
    known = column[column != ""]
    if known.empty:
        return None, None
    counts = known.value_counts()
    name = min(str(one) for one in counts.index[counts == counts.max()])
    return name, float(counts.max() / len(column))


def _example(looked: ExplanationMap, rows: pd.DataFrame) -> str:
    vectors = looked.embedded.vectors[rows.index]
    near = vectors @ vectors.mean(axis=0)
    text = printable(str(rows["text"].iloc[int(np.argmax(near))]))
    return text if len(text) <= _EXAMPLE else text[: _EXAMPLE - 1].rstrip() + "…"
