"""Everything `judge explain` prints, in order: what was looked at, clusters, keywords, and the numbers.

Computes nothing: `look` did.
"""

from __future__ import annotations

from judge.explanations.look import ClusterFound, Look
from judge.explanations.mapping.clusters import NOISE
from judge.explanations.mapping.explanation_map import cluster_name
from judge.explanations.mapping.keyword_tables import keyword_table, side_words_table, yake_table
from judge.explanations.quality import tables as numbers
from judge.explanations.quality.rows import Measured
from judge.printing.tables import Column, Table, printable

_EXAMPLE = 160
"""Characters shown of the text that stands for a cluster."""


def tables(found: Look) -> list[Table]:
    """All tables of a look."""
    made = [_texts_table(found)]
    if found.map.options.as_published:
        made.append(yake_table(found.yake, found.yake_signature))
    if found.clusters is not None:
        made.append(_cluster_table(found.clusters))
    if found.keywords is not None:
        made.append(keyword_table(found.keywords))
    if found.sides is not None:
        made.append(side_words_table(found.sides))
    return [*made, *(numbers.tables(found.numbers) if found.numbers is not None else ())]


def _texts_table(found: Look) -> Table:
    """What was looked at: rows, texts, distinct texts and lengths a judge and Eval-Prompt."""
    columns = [
        Column("judge", "judge"),
        Column("eval_prompt", "eval prompt"),
        Column("asked", "rows"),
        Column("texts", "texts"),
        Column("distinct", "distinct"),
        Column("stories", "stories"),
        Column("words", "median words", digits=0),
    ]
    rows = [row.cells for row in found.texts.rows]
    return Table("Explanations", columns, rows, found.texts.signature, found.texts.notes)


def _cluster_table(found: Measured[ClusterFound]) -> Table:
    """One row a cluster: size, what it is mostly about, ratings, keywords, and the text nearest to its middle."""
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
            if any(row.found.eval_prompt for row in found.rows)
            else []
        ),
        Column("rating", "mean rating"),
        Column("words", "keywords", wrap=40),
        Column("example", "nearest to its middle", wrap=50, text=True),
    ]
    notes = [*found.notes]
    if any(row.found.cluster == NOISE for row in found.rows):
        notes.append("none: texts that HDBSCAN puts into no cluster; they have no middle and no keywords")
    rows = []
    for row in found.rows:
        shown = {"cluster": cluster_name(row.found.cluster), "words": ", ".join(row.found.words) or None}
        rows.append(row.cells | shown | {"example": _short(row.found.example)})
    return Table("Clusters of explanations", columns, rows, found.signature, notes)


def _short(text: str | None) -> str | None:
    if text is None:
        return None
    text = printable(text)
    return text if len(text) <= _EXAMPLE else text[: _EXAMPLE - 1].rstrip() + "…"
