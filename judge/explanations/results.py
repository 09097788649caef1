"""All results of `judge explain` in one object: texts, clusters, keywords and quality measures."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

import pandas as pd

from judge.base.printing.tables import Column, Table, plain, printable
from judge.base.wording import Advice, Note
from judge.explanations.mapping import explanation_map, keybert_ranking, keywords
from judge.explanations.mapping.clusters import NOISE
from judge.explanations.mapping.explanation_map import ExplanationMap, cluster_name
from judge.explanations.mapping.keywords import SideWords, side_words
from judge.explanations.options import Step
from judge.explanations.quality import measures
from judge.explanations.quality.measures import Numbers, numbers
from judge.explanations.quality.specificity import Asked, Measured, Row
from judge.stats import near_ties


@dataclass(frozen=True, slots=True)
class TextsFound:
    """Counts for one judge and Eval-Prompt: `asked` with or without a text; `words` is the median of a text."""

    asked: int
    texts: int
    distinct: int
    stories: int
    words: float | None


@dataclass(frozen=True, slots=True)
class ClusterFound:
    """A cluster of explanations, or all texts in none (`clusters.NOISE`); None where a value is not known. `criterion`
    and `eval_prompt` are the most frequent ones, each with its share of the cluster's texts. `rating` is the mean, and
    `example` the text nearest to the centre."""

    cluster: int
    texts: int
    distinct: int
    share: float
    stories: int
    criterion: str | None
    criterion_share: float | None
    eval_prompt: str | None
    eval_prompt_share: float | None
    rating: float | None
    words: tuple[str, ...]
    example: str | None


@dataclass(frozen=True, slots=True, eq=False)
class ExplanationResults:
    """All results of `judge explain`; with `as_published` there are only `texts` and `yake`. `sides` is None unless the
    explanations are by both people and judges."""

    map: ExplanationMap
    texts: Measured[TextsFound]
    clusters: Measured[ClusterFound] | None = None
    keywords: keybert_ranking.Keywords | None = None
    numbers: Numbers | None = None
    yake: tuple[keybert_ranking.YakeWords, ...] = ()
    sides: SideWords | None = None

    @property
    def yake_signature(self) -> str:
        """Signature line under the table of keywords by the HANNA judge study's method."""
        name = f"kw:yake/n{keywords.YAKE_WORDS}/dedup{keywords.YAKE_DEDUP:g}/top{keywords.YAKE_TOP}"
        return self.map.signature(name)

    @property
    def cluster_words(self) -> dict[int, list[str]]:
        """Keywords by cluster number; texts in no cluster are left out."""
        clusters = () if self.clusters is None else (row.result for row in self.clusters.rows)
        return {cluster.cluster: list(cluster.words) for cluster in clusters if cluster.cluster != NOISE}


def results(mapped: ExplanationMap, step: Step | None = None) -> ExplanationResults:
    """All results of `judge explain`, computed from an explanation map."""
    texts = _texts(mapped)
    if mapped.options.as_published:
        return ExplanationResults(mapped, texts, yake=keybert_ranking.yake_keywords(mapped, step))
    words = keybert_ranking.group_keywords(mapped, step)
    options = replace(mapped.options.numbers, seed=mapped.options.seed, top=mapped.options.top)
    vectors = mapped.embedded.vectors
    numbers_found = numbers(mapped.texts, mapped.rows, vectors, mapped.guidelines, options, mapped.signature, step)
    return ExplanationResults(mapped, texts, _clusters(mapped, words), words, numbers_found, sides=side_words(mapped))


def _texts(mapped: ExplanationMap) -> Measured[TextsFound]:
    rows = []
    part = mapped.rows.assign(words=[len(text.split()) for text in mapped.rows["text"]])
    for (judge, prompt), asked in mapped.texts.frame.groupby(["judge", "eval_prompt"], sort=False):
        kept = part[(part["judge"] == judge) & (part["eval_prompt"] == prompt)]
        counts = TextsFound(
            asked=len(asked),
            texts=len(kept),
            distinct=int(kept["key"].nunique()),
            stories=int(kept["story"].nunique()),
            words=float(kept["words"].median()) if len(kept) else None,
        )
        rows.append(Row(Asked(judge=str(judge) or None, eval_prompt=str(prompt) or None), counts))
    return Measured(tuple(rows), mapped.signature(), tuple(_notes(mapped)))


def _notes(mapped: ExplanationMap) -> list[str]:
    options = mapped.options
    lost = [f"{count} of {len(mapped.texts.frame)} rows left out: {why}" for why, count in mapped.left_out.items()]
    more = explanation_map.declared(mapped.texts, options, model=mapped.model) if options.as_published else []
    notes = [*lost, mapped.embedded.note]
    if mapped.picture is not None:
        notes.append(mapped.picture.note)
    elif options.map != "none":
        notes.append("no map: fewer than five distinct texts")
    if mapped.clustering is None and options.cluster_on != "none":
        notes.append(Note("no clusters: too few texts", Advice("{min_cluster}")))
    return [*notes, *more, *mapped.texts.notes]


def _clusters(mapped: ExplanationMap, words: keybert_ranking.Keywords) -> Measured[ClusterFound] | None:
    clustering = mapped.clustering
    if clustering is None:
        return None
    numbered = [*range(clustering.count), *([NOISE] if (clustering.labels == NOISE).any() else [])]
    rows = tuple(Row(Asked(), _cluster(mapped, words, number)) for number in numbered)
    return Measured(rows, mapped.signature("kw:ctfidf"), (clustering.note,))


def _cluster(mapped: ExplanationMap, words: keybert_ranking.Keywords, number: int) -> ClusterFound:
    rows = mapped.rows[(mapped.rows["cluster"] == number).to_numpy(dtype=bool)]
    criterion, criterion_share = _most(rows["criterion"])
    prompt, prompt_share = _most(rows["eval_prompt"])
    example = None
    if number != NOISE:
        vectors = mapped.embedded.vectors[rows.index]
        near = vectors @ vectors.mean(axis=0)
        example = str(rows["text"].iloc[near_ties.highest(near.tolist())])
    return ClusterFound(
        cluster=number,
        texts=len(rows),
        distinct=int(rows["key"].nunique()),
        share=len(rows) / len(mapped.rows),
        stories=int(rows["story"].nunique()),
        criterion=criterion,
        criterion_share=criterion_share,
        eval_prompt=prompt,
        eval_prompt_share=prompt_share,
        rating=float(rows["rating"].mean()) if rows["rating"].notna().any() else None,
        words=tuple(words.of_cluster(number)),
        example=example,
    )


def _most(column: pd.Series[str]) -> tuple[str | None, float | None]:
    """The most frequent name (if tied, the first in the alphabet) and its share of all rows; None without a name."""
    named = column[column != ""]
    if named.empty:
        return None, None
    counts = named.value_counts()
    name = min(str(label) for label in counts.index[counts == counts.max()])
    return name, float(counts.max() / len(column))


# All tables that `judge explain` prints, in order: texts, clusters, keywords, and the quality measures.

# Tables of the keywords of groups of explanations.

_NAMES = {"eval_prompt": "Eval-Prompt", "band": "rating"}


def keyword_table(keyword_groups: keybert_ranking.Keywords) -> Table:
    """One row per group, ordered by grouping."""
    columns = [*plain("by", "group", "texts"), Column("ctfidf", "class-TF-IDF", wrap=60)]
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


def yake_table(keywords: tuple[keybert_ranking.YakeWords, ...], signature: str) -> Table:
    """Keywords by the HANNA judge study's method (YAKE), one row per criterion."""
    columns = [*plain("criterion", "answers"), Column("words", "YAKE", wrap=90)]
    rows = [
        {"criterion": group.criterion or "not known", "answers": group.answers, "words": _joined(group.words)}
        for group in keywords
    ]
    return Table("Keywords by YAKE, as published", columns, rows, signature)


def _row(group: keybert_ranking.GroupWords) -> dict[str, object]:
    shown = cluster_name(group.group) if isinstance(group.group, int) else group.group or "not known"
    words = {"ctfidf": _joined(group.ctfidf), "keybert": _joined(group.keybert)}
    return {"by": _NAMES.get(group.by, group.by), "group": shown, "texts": group.texts, **words}


def _joined(weighted: keybert_ranking.Weighted | None) -> str | None:
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
        *plain("judge", "eval_prompt"),
        Column("asked", "rows"),
        *plain("texts", "distinct", "stories"),
        Column("words", "median words", digits=0),
    ]
    rows = [row.cells for row in result.texts.rows]
    return Table("Explanations", columns, rows, result.texts.signature, result.texts.notes)


def _cluster_table(clusters: Measured[ClusterFound]) -> Table:
    columns = [
        *plain("cluster", "texts", "distinct"),
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
        rows.append(row.cells | shown | {"example": row.result.example and short(row.result.example)})
    return Table("Clusters of explanations", columns, rows, clusters.signature, notes)


def short(text: str) -> str:
    """The beginning of a text, on one line."""
    text = printable(text)
    return text if len(text) <= _EXAMPLE else text[: _EXAMPLE - 1].rstrip() + "…"
