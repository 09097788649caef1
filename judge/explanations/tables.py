"""All tables that `judge explain` prints, in order: texts, clusters, keywords, and the quality measures."""

from __future__ import annotations

from dataclasses import asdict

from judge.base.printing.tables import Column, Table, printable
from judge.explanations.mapping import keybert_ranking, keywords
from judge.explanations.mapping.clusters import NOISE
from judge.explanations.mapping.explanation_map import cluster_name
from judge.explanations.mapping.keyword_groups import GroupWords, Keywords, Weighted, YakeWords
from judge.explanations.mapping.keywords import SideWords
from judge.explanations.quality import measures
from judge.explanations.quality.specificity import Measured
from judge.explanations.results import ClusterFound, ExplanationResults

# Tables of the keywords of groups of explanations.

_NAMES = {"eval_prompt": "Eval-Prompt", "band": "rating"}


def keyword_table(keyword_groups: Keywords) -> Table:
    """One row per group, ordered by grouping."""
    columns = [
        Column("by", "by"),
        Column("group", "group"),
        Column("texts", "texts"),
        Column("ctfidf", "class-TF-IDF", wrap=60),
    ]
    columns += [Column("keybert", "KeyBERT", wrap=60)] if keyword_groups.keybert else []
    notes = ["class-TF-IDF: words and pairs that are frequent in a group and rare in the others of its kind"]
    if keyword_groups.keybert:
        notes.append(
            f"KeyBERT: the package keybert {keyword_groups.keybert} on the same embeddings, which ranks the group's "
            f"{keywords.CANDIDATES} best of these by likeness to the mean of its texts "
            f"(maximal marginal relevance, diversity {keybert_ranking.DIVERSITY:g})"
        )
    else:
        notes.append("KeyBERT's words are left out: they need pip install 'storyjudge[explain]'")
    return Table(
        "Keywords of explanations",
        columns,
        [_row(group) for group in keyword_groups.rows],
        keyword_groups.signature,
        notes,
    )


def side_words_table(terms: SideWords) -> Table:
    """Terms typical of people or of judges, the most distinctive first: for all texts, then for each verdict."""
    columns = [
        Column("within", "verdict"),
        Column("said_by", "used more by"),
        Column("term", "term"),
        Column("people", "people's texts"),
        Column("people_rate", "per 1,000", digits=1),
        Column("judges", "judges' texts"),
        Column("judges_rate", "per 1,000", digits=1),
        Column("stories", "stories"),
        Column("z", "z", digits=1),
    ]
    notes = [
        f"{terms.people} texts by people, {terms.judges} by judges; stories: those for which the side uses the term",
        "per 1,000: of all terms of a side; terms are words and pairs of words, stop words left out",
        "z: log-odds ratio with an informative Dirichlet prior (Monroe et al. 2008): an order of terms, and no test",
    ]
    rows = [asdict(row) | {"within": row.within or "all"} for row in terms.rows]
    return Table("Terms that people use more than judges, and the reverse", columns, rows, terms.signature, notes)


def yake_table(keywords: tuple[YakeWords, ...], signature: str) -> Table:
    """Keywords by the HANNA judge study's method (YAKE), one row per criterion."""
    columns = [Column("criterion", "criterion"), Column("answers", "answers"), Column("words", "YAKE", wrap=90)]
    rows = [
        {"criterion": group.criterion or "not known", "answers": group.answers, "words": _joined(group.words)}
        for group in keywords
    ]
    return Table("Keywords by YAKE, as published", columns, rows, signature)


def _row(group: GroupWords) -> dict[str, object]:
    shown = cluster_name(group.group) if isinstance(group.group, int) else group.group or "not known"
    words = {"ctfidf": _joined(group.ctfidf), "keybert": _joined(group.keybert)}
    return {"by": _NAMES.get(group.by, group.by), "group": shown, "texts": group.texts, **words}


def _joined(weighted: Weighted | None) -> str | None:
    return None if weighted is None else ", ".join(word for word, _ in weighted)


# Characters shown of the text that stands for a cluster.
_EXAMPLE = 160


def tables(result: ExplanationResults) -> list[Table]:
    tables_so_far = [_texts_table(result)]
    if result.map.options.as_published:
        tables_so_far.append(yake_table(result.yake, result.yake_signature))
    if result.clusters is not None:
        tables_so_far.append(_cluster_table(result.clusters))
    if result.keywords is not None:
        tables_so_far.append(keyword_table(result.keywords))
    if result.sides is not None:
        tables_so_far.append(side_words_table(result.sides))
    return [*tables_so_far, *(measures.tables(result.numbers) if result.numbers is not None else ())]


def _texts_table(result: ExplanationResults) -> Table:
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
