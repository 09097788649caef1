"""Keywords of every group of explanations, as a table, and clusters' for their own. Never embeds a text again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judge.explanations.mapping import as_published, keybert_ranking, keywords
from judge.explanations.mapping.explanation_map import ExplanationMap, Step, cluster_name
from judge.printing.tables import Column, Table

Group = tuple[str, Any]

_NAMES = {"eval_prompt": "Eval-Prompt", "band": "rating"}


class Keywords:
    """Class-TF-IDF and, where the package is installed, KeyBERT for every group of every grouping.

    `found[grouping, group]` is a row: `by, group, texts, ctfidf, keybert`, the last two lists of (word, weight).
    """

    def __init__(self, looked: ExplanationMap, step: Step | None = None) -> None:
        self.looked = looked
        self.found: dict[Group, dict[str, Any]] = {}
        # A grouping of which nothing is known, as a file without a column has it, has nothing to tell apart.
        self.codes: dict[str, tuple[NDArray[np.int64], list[Any]]] = {}
        # Clusters have words in any case: their own table and the map need them.
        for by in dict.fromkeys((*looked.options.by, "cluster")):
            if by != "cluster" or looked.clustering is not None:
                codes, names = _codes(looked, by)
                if names != [""]:
                    self.codes[by] = codes, names
        counts = keywords.count(list(looked.rows["text"]))
        self.keybert = keybert_ranking.installed()
        if counts is None:
            return
        candidates: dict[Group, list[str]] = {}
        for by, (codes, names) in self.codes.items():
            weights = keywords.class_tfidf(keywords.by_group(counts, codes, len(names)))
            for code, name in enumerate(names):
                listed = keywords.best(weights[code], counts.terms, keywords.CANDIDATES)
                size = int((codes == code).sum())
                row = {"by": by, "group": name, "texts": size, "ctfidf": listed[: looked.options.top], "keybert": None}
                self.found[by, name] = row
                candidates[by, name] = [word for word, _ in listed]
        if self.keybert:
            self._rank(candidates, step)

    def _rank(self, candidates: Mapping[Group, Sequence[str]], step: Step | None) -> None:
        tell = None if step is None else lambda done, total: step("embedding candidate words", done, total)
        embedded, texts = self.looked.embedded, self.looked.rows["key"].to_numpy()
        documents = []
        for (by, name), some in candidates.items():
            codes, names = self.codes[by]
            inside = codes == names.index(name)
            mean = embedded.vectors[inside].mean(axis=0)
            documents.append(keybert_ranking.Document(some, texts[inside].tolist(), mean))
        found = keybert_ranking.ranked(documents, embedded, self.looked.options.top, self.looked.cache, tell)
        for group, words in zip(candidates, found, strict=True):
            self.found[group]["keybert"] = words

    @property
    def name(self) -> str:
        """What was done, as the signature has it."""
        mmr = f"mmr{keybert_ranking.DIVERSITY:g}"
        keybert = f"+keybert{self.keybert}/{keywords.CANDIDATES}/{mmr}" if self.keybert else ""
        return f"kw:ctfidf{keybert}/by:{','.join(by for by in self.codes if by in self.looked.options.by)}"

    def of_cluster(self, number: int) -> list[str]:
        """The cluster's words by class-TF-IDF, for its row and its place on the map."""
        row = self.found.get(("cluster", number))
        return [] if row is None else [word for word, _ in row["ctfidf"]]

    def table(self) -> Table:
        """One row a group, grouping by grouping."""
        rows = []
        for (by, name), row in self.found.items():
            if by not in self.looked.options.by:
                continue
            shown = cluster_name(name) if by == "cluster" else name or "not known"
            words = {key: _joined(row[key]) for key in ("ctfidf", "keybert")}
            rows.append({"by": _NAMES.get(by, by), "group": shown, "texts": row["texts"], **words})
        columns = [
            Column("by", "by"),
            Column("group", "group"),
            Column("texts", "texts"),
            Column("ctfidf", "class-TF-IDF", wrap=60),
        ]
        columns += [Column("keybert", "KeyBERT", wrap=60)] if self.keybert else []
        notes = ["class-TF-IDF: words and pairs that are frequent in a group and rare in the others of its kind"]
        if self.keybert:
            notes.append(
                f"KeyBERT: the package keybert {self.keybert} on the same embeddings, which ranks the group's "
                f"{keywords.CANDIDATES} best of these by likeness to the mean of its texts "
                f"(maximal marginal relevance, diversity {keybert_ranking.DIVERSITY:g})"
            )
        else:
            notes.append("KeyBERT's words are left out: they need pip install 'storyjudge[explain]'")
        return Table("Keywords of explanations", columns, rows, self.looked.signature(self.name), notes)


def yake_table(looked: ExplanationMap, step: Step | None = None) -> Table:
    """The study's keywords: 30 a criterion by YAKE, over whole answers of first repeats on all stories."""
    rows = []
    for name, text, count in as_published.corpora(looked.texts):
        if step is not None:
            step(f"keywords of {name or 'explanations'} by YAKE", 0, 0)
        rows.append({"criterion": name or "not known", "answers": count, "words": _joined(keywords.yake(text))})
    columns = [Column("criterion", "criterion"), Column("answers", "answers"), Column("words", "YAKE", wrap=90)]
    name = f"kw:yake/n{keywords.YAKE_WORDS}/dedup{keywords.YAKE_DEDUP:g}/top{keywords.YAKE_TOP}"
    return Table("Keywords by YAKE, as published", columns, rows, looked.signature(name))


def _codes(looked: ExplanationMap, by: str) -> tuple[NDArray[np.int64], list[Any]]:
    """Each row's group as a number, and the groups: bands low to high, clusters by size (noise left out), else by name.

    Rows whose group is not known ("") are a group of their own; it stands last.
    """
    column = looked.rows[by]
    if by == "cluster":
        numbers = column.to_numpy(dtype=np.int64)
        return numbers, list(range(int(numbers.max()) + 1 if numbers.size else 0))
    known = [c.name for c in looked.texts.criteria] if by == "criterion" else ["low", "middle", "high"]
    order = {name: place for place, name in enumerate(known)} if by in ("criterion", "band") else {}
    present = [str(name) for name in column.unique()]
    names = sorted(present, key=lambda name: (name == "", order.get(name, len(order)), name))
    place = {name: code for code, name in enumerate(names)}
    return np.array([place[str(name)] for name in column], dtype=np.int64), names


def _joined(found: Sequence[tuple[str, float]] | None) -> str | None:
    return None if found is None else ", ".join(word for word, _ in found)
