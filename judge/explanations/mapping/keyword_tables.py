"""Tables of the keywords of groups of explanations."""

from __future__ import annotations

from dataclasses import asdict

from judge.base.printing.tables import Column, Table
from judge.explanations.mapping import keybert_ranking, keywords
from judge.explanations.mapping.explanation_map import cluster_name
from judge.explanations.mapping.keyword_groups import GroupWords, Keywords, Weighted, YakeWords
from judge.explanations.mapping.side_words import SideWords

_NAMES = {"eval_prompt": "Eval-Prompt", "band": "rating"}


def keyword_table(keyword_groups: Keywords) -> Table:
    """Table of the keywords of groups of explanations, with one row per group, ordered by grouping (such as by
    criterion).
    """
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
    """Table of terms typical of people or of judges, the most distinctive first: for all texts, then for each verdict
    separately.
    """
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
    """Table of keywords by the HANNA judge study's method (YAKE), one row per criterion."""
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
