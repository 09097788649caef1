"""The explanation map: texts, vectors, projection and clusters, computed together and once."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judge.analysis.options.signature import abbreviations, judges
from judge.asking.run_folder import ResultFolder
from judge.base.errors import SpecError
from judge.base.fingerprint import text_key
from judge.base.wording import Advice
from judge.explanations.corpus.corpus import ExplanationTexts
from judge.explanations.corpus.masking import mask
from judge.explanations.mapping.clusters import NOISE, Clustering, Projection, cluster, project
from judge.explanations.mapping.stored_map import CLUSTERS, Drawn
from judge.explanations.options import TFIDF, ExplainOptions, Step, silent
from judge.explanations.quality.guideline_point import guideline_texts
from judge.explanations.quality.specificity import story_prompts
from judge.inputs.embedding import Embedded, default_model, embed
from judge.ratings.ratings_table import RatingsTable
from judge.version import __version__

# Explanations and keywords selected as in the HANNA judge study, and sentences on the points in which the analysis
# still differs from that study.

# Characters of an answer that is no explanation, by the study.
SHORTEST = 10

RUN_ON = "###"
HUMAN = "human"


def chosen(texts: ExplanationTexts) -> tuple[pd.DataFrame, dict[str, int]]:
    """Rows of the HANNA judge study's map, with the whole answer as `text`, and numbers of omitted rows by reason. An
    unknown repeat or system is treated as the first repeat of a story by people."""
    frame = whole(texts)
    left_out: dict[str, int] = {}
    for reason, keep in (
        ("not of the first repeat", _first(frame)),
        ("on stories not by people", frame["system"].str.casefold().isin((HUMAN, ""))),
        (f"of {SHORTEST} characters or fewer", frame["text"].str.len() > SHORTEST),
        (f"with {RUN_ON}", ~frame["text"].str.contains(RUN_ON, regex=False)),
    ):
        lost = int((~keep.loc[frame.index]).sum())
        if lost:
            left_out[reason] = lost
        frame = frame[keep.loc[frame.index]]
    return frame, left_out


def corpora(texts: ExplanationTexts) -> Iterator[tuple[str, str, int]]:
    """(criterion, its concatenated answers, number of answers), as the HANNA judge study passed them to YAKE."""
    frame = whole(texts)
    frame = frame[_first(frame) & (frame["text"].str.len() > SHORTEST)]
    names = dict.fromkeys([*(criterion.name for criterion in texts.criteria), *frame["criterion"]])
    for name in sorted(names, key=lambda name: name == ""):
        part = frame[frame["criterion"] == name]
        if len(part):
            yield str(name), " ".join(part["text"]), len(part)


def whole(texts: ExplanationTexts) -> pd.DataFrame:
    """The explanations with the whole answer, or the explanation where it is not known, as `text`, and its hash as
    `key`. Rows with neither are left out."""
    frame = texts.frame
    whole_texts = frame["answer"].where(frame["answer"].notna(), frame["explanation"])
    frame = frame.assign(text=whole_texts)[whole_texts.notna()]
    return frame.assign(key=[text_key(text) for text in frame["text"]])


def _first(frame: pd.DataFrame) -> pd.Series[bool]:
    repeats = frame["repeat"]
    return (repeats.isna() | (repeats == 0)).fillna(value=True).astype(bool)


def declared(texts: ExplanationTexts, options: ExplainOptions, *, model: str | None) -> list[str]:
    """Sentences on which choices follow the HANNA judge study's method and which differ from it."""
    from judge.inputs.embedding import DEFAULT_MODEL

    notes = [
        "as published: whole answers of first repeats on stories by people, over 10 characters, without ###",
        "as published: YAKE over whole answers of first repeats on all stories, over 10 characters",
        f"not as published: the study set no seed (here {options.seed}), so its figure cannot be reproduced",
        "not as published: the study printed keywords picked by hand from these 30",
    ]
    if model != DEFAULT_MODEL:
        notes.append(
            f"not as published: the model is {Path(model).name if model else 'TF-IDF'}, the study's was {DEFAULT_MODEL}"
        )
    if options.map != "umap":
        notes.append("not as published: the study's map was a UMAP")
    frame = texts.frame
    if frame["answer"].isna().all():
        notes.append("not as published: whole answers are not known here, explanations are used in their place")
    if (frame["repeat"].isna()).any():
        notes.append("repeats are not known here: every row counts as a first repeat")
    if (frame["system"] == "").any():
        notes.append("systems are not known here: all stories count as written by people")
    elif HUMAN not in set(frame["system"].str.casefold()):
        raise SpecError(Advice("{as_published} analyses stories by people, and no system here is called Human"))
    return notes


Vectors = NDArray[np.float64]

CACHE = "embeddings.sqlite"
BANDS = ("low", "middle", "high")


@dataclass(frozen=True, slots=True, eq=False)
class ExplanationMap:
    """Texts, analysed rows, vectors, projection and clusters, from which every table is computed.

    `texts` are all that the user selected. `rows` are those analysed, with `corpus.COLUMNS`, `band` ("" without a
    rating), `cluster` (<NA> without clusters, -1 noise), and `x` and `y` on the map (NaN without); index 0, 1, 2...
    `embedded` holds their vectors, `guidelines` those of all guidelines, (guidelines, d), computed together with them.
    `model` None is TF-IDF, and `cache` None keeps vectors in memory only. `left_out` counts rows that are not analysed,
    by reason."""

    texts: ExplanationTexts
    rows: pd.DataFrame
    embedded: Embedded
    guidelines: Vectors
    picture: Projection | None
    clustering: Clustering | None
    options: ExplainOptions
    model: str | None
    cache: Path | None
    left_out: dict[str, int] = field(default_factory=dict)

    @property
    def frame(self) -> pd.DataFrame:
        """A copy of `rows`, with `signature` and `notes` in its `attrs`."""
        frame = self.rows.copy()
        notes = [step.note for step in (self.embedded, self.picture, self.clustering) if step is not None]
        frame.attrs.update(signature=self.signature(), notes=notes)
        return frame

    def signature(self, *extra: str) -> str:
        """Signature line under a table: data, embedding model, map, clusters, options, and `extra` parts."""
        table = RatingsTable(self.texts.frame, self.texts.stories, self.texts.facts)
        short = abbreviations(table)
        frame = self.texts.frame
        crit = [short.get(name, name) for name in frame["criterion"].unique() if name]
        prompts = [name for name in frame["eval_prompt"].unique() if name]
        named = judges(table) or [name for name in frame["judge"].unique() if name]
        facts = self.texts.facts
        repeats = dict.fromkeys(str(fact.repeats) for fact in facts if fact.repeats)
        parsers = dict.fromkeys(fact.parser for fact in facts)
        listed = {"crit": crit, "ep": prompts, "judge": named, "rep": repeats, "parser": parsers}
        parts = [
            ",".join(f"{name}:{part['story'].nunique()}" for name, part in frame.groupby("dataset", sort=False)),
            *(f"{key}:{','.join(words)}" for key, words in listed.items() if words),
            f"texts:{len(self.rows)}of{len(frame)}",
            f"emb:{self.embedded.name}",
            *(step.name for step in (self.picture, self.clustering) if step is not None),
            *(["texts:as-published"] if self.options.as_published else []),
            *(["mask:third-of-prompts"] if self.options.mask else []),
            *extra,
            f"v{__version__}",
        ]
        return "|".join(parts)


def map_explanations(texts: ExplanationTexts, options: ExplainOptions, step: Step | None = None) -> ExplanationMap:
    """The explanation map; `step` is called with a message and progress counts. Raises SpecError where no explanation
    is left, MissingExtraError for a method whose package is not installed."""
    tell = step or silent
    kept, left_out = chosen(texts) if options.as_published else _with_text(texts)
    if kept.empty:
        why = "; ".join(f"{count} {reason}" for reason, count in left_out.items()) or "there are no rows"
        raise SpecError(
            f"no explanation to analyse: {why}", hint="judge coverage RUN shows what was requested and answered"
        )
    model = None if options.model == TFIDF else default_model() if options.model == "auto" else options.model
    cache = cache_of(texts)
    kept = kept.reset_index(drop=True)
    points = guideline_texts(texts.criteria)
    hidden = mask([*kept["text"]], story_prompts(kept)) if options.mask else None
    embedded = embed(
        [*(kept["text"] if hidden is None else hidden.masked([*kept["text"]])), *points],
        model,
        cache,
        seed=options.seed,
        progress=lambda done, total: tell("embedding texts", done, total),
    )
    vectors, guidelines = embedded.vectors[: len(kept)], embedded.vectors[len(kept) :]
    embedded = replace(embedded, vectors=vectors)
    if hidden is not None:
        embedded = replace(embedded, note=f"{embedded.note}; {hidden.note}")
    if options.map != "none":
        tell("drawing the map", 0, 0)
    picture = project(vectors, options)
    if options.cluster_on != "none":
        tell("finding clusters", 0, 0)
    clustering = cluster(vectors, picture, options)
    kept["band"] = bands(kept, texts)
    labels = None if clustering is None else clustering.labels
    kept["cluster"] = pd.array([pd.NA] * len(kept) if labels is None else labels, dtype="Int64")
    kept["x"], kept["y"] = (np.nan, np.nan) if picture is None else (picture.points[:, 0], picture.points[:, 1])
    return ExplanationMap(texts, kept, embedded, guidelines, picture, clustering, options, model, cache, left_out)


def _with_text(texts: ExplanationTexts) -> tuple[pd.DataFrame, dict[str, int]]:
    frame = texts.frame
    silent = frame["text"].isna()
    unanswered = int((silent & frame["status"].isin(("not_answered", "filtered"))).sum())
    reasons = {"without an answer": unanswered, "without an explanation": int(silent.sum()) - unanswered}
    return frame[~silent], {reason: count for reason, count in reasons.items() if count}


def bands(rows: pd.DataFrame, texts: ExplanationTexts) -> list[str]:
    """Third of the scale (low, middle, high) of each row's rating, or its label on a scale of labels; "" without a
    rating. The scale is the criterion's; if it is not known, it is the range of all ratings in `texts`."""
    scales = {c.name: (c.scale.min, c.scale.max) for c in texts.criteria}
    labelled = {c.name: c.scale for c in texts.criteria if c.scale.labels}
    rated = texts.frame["rating"].dropna()
    seen = (float(rated.min()), float(rated.max())) if len(rated) else (0.0, 0.0)
    names = []
    for name, rating in zip(rows["criterion"], rows["rating"], strict=True):
        if name in labelled:
            names.append(labelled[name].label_of(rating) or "")
            continue
        low, high = scales.get(name, seen)
        if np.isnan(rating) or high <= low:
            names.append("")
            continue
        third = int(3 * (rating - low) / (high - low))
        names.append(BANDS[min(2, max(0, third))])
    return names


def cache_of(texts: ExplanationTexts) -> Path | None:
    """Cache of vectors and of KeyBERT's keywords: in `derived/` of the first result folder, or this program's for
    files. None where the folder cannot be written; results are then kept in memory only."""
    if texts.facts:
        folder = ResultFolder(texts.facts[0].path).derived
    else:
        from judge.base.files import cache_folder

        folder = cache_folder() / "explanations"
    above = next(path for path in (folder, *folder.parents) if path.exists())
    return folder / CACHE if above.is_dir() and os.access(above, os.W_OK) else None


def cluster_name(number: int) -> str:
    """A cluster's number, or "none" for noise."""
    return "none" if number == NOISE else str(number)


def drawn(mapped: ExplanationMap, keywords: Mapping[int, Sequence[str]]) -> Drawn:
    """The map as pages and figures take it; `keywords` are those of clusters by number."""
    steps = (mapped.embedded, mapped.picture, mapped.clustering)
    notes = [step.note for step in steps if step is not None]
    method = "" if mapped.picture is None else mapped.picture.method
    return Drawn(
        mapped.signature(), mapped.embedded.name, method, mapped.rows, keywords, notes, CLUSTERS, mapped.texts.facts
    )
