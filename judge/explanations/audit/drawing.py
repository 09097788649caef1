"""Variables that an audit is drawn by because it matters there: topics of reasons, and texts where a rule sees a gap.

The rules find where to look, and no more; how often their finds were faults when read is printed under the sample:

- *disagreement*: the rating is predicted from the masked text by ridge regression, for each criterion, out of folds of
  story-prompts; the 1 % of texts with the largest gap between prediction and rating are far, the next 9 % apart.
- *quotations*: a quotation of two words or more that no source of the story holds.
- *wording*: a text that holds no masked word, so that it would fit any other story, is generic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from judge.base.arrays import Codes, Floats
from judge.explanations.audit.population import NONE, Population
from judge.explanations.corpus.corpus import ExplanationTexts, frame_of
from judge.explanations.corpus.masking import WORDS, words_of
from judge.explanations.quality.quoted_evidence import Library, Reading, read_evidence
from judge.explanations.topics.reasons import Reasons, reasons
from judge.stats.resampling.bootstrap import deal

# Shares of the texts, by the gap between text and rating, and their names; the rest is near.
FAR, APART = 0.01, 0.1
FOLDS, LEAST_PROMPTS, LEAST_TEXTS = 5, 5, 50

# What was found when texts that a rule points to were read: 85,754 explanations of replies in dialogues by one judge,
# and experts' own explanations of stories. docs/contradictions.md.
MEASURED = {
    "disagreement": "of 50 texts drawn from the far 1 % of one study, 5 contradicted their rating when read (10 % "
    "[4, 21]) and 12 more named the words of a neighbouring point",
    "quotations": "of experts' own quotations only 63 % are found word for word: a quotation that is not found is no "
    "invention",
    "wording": "generic texts lay farther from people at equal rating on one criterion in four of one study",
}
DRAWN_BY = ("topic", *MEASURED)


def prepared(population: Population, variables: Sequence[str], seed: int) -> Population:
    """The population with a column for each of `DRAWN_BY` that `variables` name, and notes on what they are worth.

    `topic` becomes the column `cluster`, too, by which results are reported; `helper` is the gap between text and
    rating, as a share of the scale, NaN where it is not known."""
    asked = [name for name in DRAWN_BY if name in variables]
    if not asked:
        return population
    frame, notes = population.frame.copy(), list(population.notes)
    texts = _texts(population)
    if {"topic", "disagreement", "wording"} & {*asked}:
        found = reasons(texts, seed=seed)
        notes.append(found.topics.mask.note)
    if "topic" in asked:
        frame["topic"] = [found.name_of(number) for number in found.topics.topic]
        # What the audit's file keeps of a text's topic.
        frame["cluster"] = frame["topic"]
    if "wording" in asked:
        frame["wording"] = _wording(found)
    if "disagreement" in asked:
        gap = text_gap(found, seed)
        frame["disagreement"], frame["helper"] = _bands(gap), gap
    if "quotations" in asked:
        evidence = read_evidence(texts.frame, Library(texts.stories, texts.criteria), Reading.of)
        frame["quotations"] = [_quoted(each) for each in evidence]
    notes += [f"{name}: {MEASURED[name]}" for name in asked if name in MEASURED]
    return replace(population, frame=frame, notes=tuple(notes))


def _texts(population: Population) -> ExplanationTexts:
    known = population.frame.astype(object).where(population.frame.notna(), None)
    frame = frame_of([{str(key): value for key, value in row.items()} for row in known.to_dict("records")])
    return ExplanationTexts(frame, population.stories, tuple(population.criteria.values()), population.facts, ())


def _wording(found: Reasons) -> list[str]:
    kept, mask = found.topics.mask.kept, found.topics.mask
    if mask.why:
        return [NONE] * len(found.rows)
    return ["generic" if kept.issuperset(words_of(text)) else "specific" for text in found.rows["text"]]


def _quoted(evidence: Any) -> str:
    places = [] if evidence is None else [place for _, place in evidence.quotes]
    return NONE if not places else "not found" if "nowhere" in places else "found"


def text_gap(found: Reasons, seed: int) -> Floats:
    """|predicted - given rating| of each text, (n,), as a share of the scale; NaN where it cannot be predicted."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import Ridge

    gap = np.full(len(found.rows), np.nan)
    hidden = found.topics.mask.masked(found.rows["text"].tolist())
    for code in range(len(found.criteria)):
        own = np.flatnonzero((found.criterion == code) & ~np.isnan(found.rating))
        prompts: Codes = found.prompt[own]
        if own.size < LEAST_TEXTS or np.unique(prompts).size < LEAST_PROMPTS or np.ptp(found.rating[own]) == 0:
            continue
        try:
            x = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True, token_pattern=WORDS).fit_transform(
                [hidden[i] for i in own]
            )
        except ValueError:  # no word in two texts
            continue
        fold = deal(np.unique(prompts, return_inverse=True)[1], FOLDS, np.random.default_rng(seed))
        for number in np.unique(fold):
            held = fold == number
            fitted = Ridge(alpha=1.0, solver="sparse_cg", tol=1e-3).fit(x[~held], found.rating[own[~held]])
            gap[own[held]] = np.abs(fitted.predict(x[held]) - found.rating[own[held]])
    return np.round(gap, 9)


def _bands(gap: Floats) -> pd.Series[Any]:
    known = gap[~np.isnan(gap)]
    far, apart = (np.quantile(known, 1 - share) for share in (FAR, APART)) if known.size else (np.inf, np.inf)
    bands = np.select([np.isnan(gap), gap >= far, gap >= apart], [NONE, "far", "apart"], "near")
    return pd.Series(bands, dtype=object)
