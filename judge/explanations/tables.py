"""All tables that `judge explain` prints, in order: texts, clusters, keywords, and the quality measures.

The values come from `results`.
"""

from __future__ import annotations

from judge.base.printing.tables import Column, Table, printable
from judge.explanations.mapping.clusters import NOISE
from judge.explanations.mapping.explanation_map import cluster_name
from judge.explanations.mapping.keyword_tables import keyword_table, side_words_table, yake_table
from judge.explanations.quality import tables as numbers
from judge.explanations.quality.rows import Measured
from judge.explanations.results import ClusterFound, ExplanationResults

_EXAMPLE = 160
"""Characters shown of the text that stands for a cluster."""


def tables(result: ExplanationResults) -> list[Table]:
    """All tables that `judge explain` prints, in order."""
    tables_so_far = [_texts_table(result)]
    if result.map.options.as_published:
        tables_so_far.append(yake_table(result.yake, result.yake_signature))
    if result.clusters is not None:
        tables_so_far.append(_cluster_table(result.clusters))
    if result.keywords is not None:
        tables_so_far.append(keyword_table(result.keywords))
    if result.sides is not None:
        tables_so_far.append(side_words_table(result.sides))
    return [*tables_so_far, *(numbers.tables(result.numbers) if result.numbers is not None else ())]


def _texts_table(result: ExplanationResults) -> Table:
    """The table of explanations for each judge and Eval-Prompt: numbers of requested, analysed and distinct
    explanations, and their length.
    """
    columns = [
        Column("judge", "judge"),
        Column("eval_prompt", "eval prompt"),
        Column("asked", "rows"),
        Column("texts", "texts"),
        Column("distinct", "distinct"),
        Column("stories", "stories"),
        Column("words", "median words", digits=0),
    ]
    rows = [row.cells for row in result.texts.rows]
    return Table("Explanations", columns, rows, result.texts.signature, result.texts.notes)


def _cluster_table(clusters: Measured[ClusterFound]) -> Table:
    """The table of clusters: size, most frequent criterion, ratings, keywords, and the text nearest to the centre."""
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
            if any(row.result.eval_prompt for row in clusters.rows)
            else []
        ),
        Column("rating", "mean rating"),
        Column("words", "keywords", wrap=40),
        Column("example", "nearest to its middle", wrap=50, text=True),
    ]
    notes = [*clusters.notes]
    if any(row.result.cluster == NOISE for row in clusters.rows):
        notes.append("none: texts that HDBSCAN puts into no cluster; they have no middle and no keywords")
    rows = []
    for row in clusters.rows:
        shown = {"cluster": cluster_name(row.result.cluster), "words": ", ".join(row.result.words) or None}
        rows.append(row.cells | shown | {"example": _short(row.result.example)})
    return Table("Clusters of explanations", columns, rows, clusters.signature, notes)


def _short(text: str | None) -> str | None:
    if text is None:
        return None
    text = printable(text)
    return text if len(text) <= _EXAMPLE else text[: _EXAMPLE - 1].rstrip() + "…"
