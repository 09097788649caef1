"""Reasons and ratings: how often each topic is given, with which ratings, by whom, and whether repeats agree on it.

Shares are of the texts on the topic's criterion. Intervals and paired tests take story-prompts as the independent
units, because all texts about one story-prompt are correlated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy import special

from judge.base.arrays import Codes, Floats, ratio, renumbered
from judge.base.errors import SpecError
from judge.base.estimate import CONFIDENCE, Estimate
from judge.base.records import Criterion
from judge.explanations.mapping.explanation_map import cache_of
from judge.explanations.options import Step, silent
from judge.explanations.quality.specificity import BY_CRITERION, Asked, Row, groups, story_prompts
from judge.explanations.topics.clustering import NO_WORD, THEMES, TOPICS, Topics, topics
from judge.explanations.topics.naming import PHRASES, Labelled
from judge.explanations.topics.naming_methods import Naming
from judge.stats.estimation.means import clustered
from judge.stats.estimation.paired_differences import adjust
from judge.stats.resampling.jackknife import with_jackknife
from judge.stats.resampling.sign_flips import cluster_sums

if TYPE_CHECKING:
    from judge.explanations.corpus.corpus import ExplanationTexts

# What topics are compared by, and story-prompts that a comparison needs.
BY = ("eval_prompt", "judge", "system")
LEAST_PROMPTS = 5


@dataclass(frozen=True, slots=True, eq=False)
class Reasons:
    """Explanations (`rows`, index 0, 1, ...) with their topics, named.

    Of shape (n,): `criterion` and `prompt` (story-prompt) codes, `rating` and `people` as shares of the criterion's
    scale, NaN = none, and `point`, the code of the rating rounded to a step of its scale, -1 without one. `criteria`
    are the criteria's names by code. `names` and `themes` are of topics and of themes, by the method `named_by`, on
    which `name_notes` say more; `left_out` counts rows without a text."""

    rows: pd.DataFrame
    topics: Topics
    criterion: Codes
    prompt: Codes
    rating: Floats
    people: Floats
    point: Codes
    criteria: tuple[str, ...]
    names: tuple[str, ...]
    themes: tuple[str, ...]
    left_out: int
    seed: int
    named_by: str = PHRASES
    name_notes: tuple[str, ...] = ()

    def name_of(self, topic: int) -> str:
        """Name of a topic; texts without any word of the vocabulary have their own."""
        return "no word that others use" if topic == NO_WORD else self.names[topic]


def reasons(
    texts: ExplanationTexts,
    *,
    count: int = TOPICS,
    themes: int = THEMES,
    seed: int = 1,
    name_by: str = PHRASES,
    model: str = "auto",
    step: Step = silent,
) -> Reasons:
    """Topics of all explanations that are not blank. `name_by` is ``phrases``, ``ctfidf``, ``keybert`` (whose
    embeddings `model` makes), or a judge. Raises SpecError where there is no explanation, or no such method."""
    naming = Naming(name_by, model, cache_of(texts), step)
    rows = texts.with_text.reset_index(drop=True)
    if rows.empty:
        raise SpecError("no explanation to analyse", hint="judge coverage RUN shows what was requested and answered")
    names_by_code = tuple(sorted(map(str, rows["criterion"].unique())))
    code_of = {name: code for code, name in enumerate(names_by_code)}
    criterion = np.array([code_of[str(name)] for name in rows["criterion"]], dtype=np.int64)
    prompt, said = story_prompts(rows), rows["text"].tolist()
    found = topics(said, criterion, prompt, count=count, themes=themes, seed=seed)
    of_topics = Labelled(said, found.topic, criterion, prompt, found.mask, found.count, seed)
    by_theme = found.theme[np.maximum(found.topic, 0)] if found.count else found.topic
    of_themes = replace(
        of_topics, of=np.where(found.topic < 0, NO_WORD, by_theme), group=np.zeros_like(criterion),
        count=int(found.theme.max()) + 1 if found.count else 0,
    )  # fmt: skip
    (phrases, of_phrases), name_notes = naming.all((of_topics, names_by_code, "topics"), (of_themes, (), "themes"))
    low, high, width_of_step = _scales(rows, texts.criteria)
    width = np.where(high > low, high - low, 1.0)
    given = rows["rating"].to_numpy(dtype=np.float64)
    point = np.where(np.isnan(given), -1, np.round((np.nan_to_num(given) - low) / width_of_step)).astype(np.int64)
    people = (rows["people"].to_numpy(dtype=np.float64) - low) / width
    return Reasons(
        rows, found, criterion, prompt, (given - low) / width, people, point, names_by_code,
        _named(phrases), _named(of_phrases), len(texts.frame) - len(rows), seed, name_by, name_notes,
    )  # fmt: skip


def _named(phrases: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Names by number; one that an earlier topic has gets its number."""
    seen: set[str] = set()
    named = []
    for number, some in enumerate(phrases):
        name = ", ".join(some) or "(no phrase of its own)"
        named.append(f"{name} ({number})" if name in seen else name)
        seen.add(name)
    return tuple(named)


def _scales(rows: pd.DataFrame, criteria: Sequence[Criterion]) -> tuple[Floats, Floats, Floats]:
    """Lowest and highest point and step of each row's scale; of an unknown one the range of its ratings, and 1."""
    known = {criterion.name: criterion.scale for criterion in criteria}
    ends: dict[str, tuple[float, float, float]] = {}
    for name, part in rows.groupby("criterion"):
        scale, given = known.get(str(name)), part["rating"].dropna()
        if scale is not None:
            ends[str(name)] = (float(scale.points()[0]), float(scale.points()[-1]), float(scale.step))
        else:
            low, high = (float(given.min()), float(given.max())) if len(given) else (0.0, 1.0)
            ends[str(name)] = (low, high, 1.0 if high - low >= 1 else max(high - low, 1e-9))
    columns = np.array([ends[str(name)] for name in rows["criterion"]], dtype=np.float64)
    return columns[:, 0], columns[:, 1], columns[:, 2]


# The topics, each with its share and its ratings.


@dataclass(frozen=True, slots=True)
class TopicFound:
    """A topic: `share` of its criterion's texts, `story_prompts` that it is said of, the `commonest` one's share of its
    texts, `between` the share that lies near another topic. `rating` and `people` are means of the judge's and of
    people's ratings of the same stories, in points of the scale."""

    topic: int
    name: str
    theme: str
    criterion: str
    texts: int
    share: float
    story_prompts: int
    commonest: float
    between: float
    rating: Estimate
    people: Estimate
    example: str


def topic_rows(found: Reasons) -> tuple[TopicFound, ...]:
    """All topics, criterion by criterion, the largest first; texts without a usual word are last of their criterion."""
    rows = []
    total = np.bincount(found.criterion, minlength=len(found.criteria))
    given, people = (found.rows[name].to_numpy(dtype=np.float64) for name in ("rating", "people"))
    for code, criterion in enumerate(found.criteria):
        of = [t for t in range(found.topics.count) if found.topics.criterion[t] == code]
        sizes = {t: int((found.topics.topic == t).sum()) for t in of}
        for topic in sorted((t for t in of if sizes[t]), key=lambda t: (-sizes[t], t)):
            inside = np.flatnonzero(found.topics.topic == topic)
            rows.append(_topic(found, topic, inside, int(total[code]), given, people))
        strange = np.flatnonzero((found.topics.topic == NO_WORD) & (found.criterion == code))
        if strange.size:
            row = _topic(found, NO_WORD, strange, int(total[code]), given, people)
            rows.append(replace(row, criterion=criterion, theme=""))
    return tuple(rows)


def _topic(found: Reasons, topic: int, inside: Codes, total: int, given: Floats, people: Floats) -> TopicFound:
    prompt = found.prompt[inside]
    of_prompts = np.bincount(prompt)
    gap = np.nan_to_num(found.topics.gap[inside], nan=0.0)
    return TopicFound(
        topic=topic,
        name=found.name_of(topic),
        theme=found.themes[found.topics.theme[topic]] if topic >= 0 else "",
        criterion=found.criteria[found.criterion[inside[0]]],
        texts=int(inside.size),
        share=inside.size / total,
        story_prompts=int(np.count_nonzero(of_prompts)),
        commonest=float(of_prompts.max() / inside.size),
        between=float(found.topics.between[inside].mean()),
        rating=clustered(given[inside], renumbered(prompt)),
        people=clustered(people[inside], renumbered(prompt)),
        # The text that is clearest about its topic.
        example=str(found.rows["text"].iloc[inside[int(np.argmax(np.round(gap, 9)))]]),
    )


# Shares of topics by Eval-Prompt, judge and system.


@dataclass(frozen=True, slots=True)
class Contrast:
    """How much more often `level` of a variable gives a reason than the other levels, paired by story-prompt.

    `share` and `others` are of the texts on the criterion, `difference` the mean of the differences within
    story-prompts; `equal_ratings` the difference among texts with the same rating, weighted by the ratings of both. `p`
    is adjusted (Holm) over all topics and levels of the variable; None without a test."""

    variable: str
    level: str
    topic: int
    name: str
    criterion: str
    share: float
    others: float
    difference: Estimate
    equal_ratings: float | None
    p: float | None


def contrasts(found: Reasons, variable: str) -> tuple[Contrast, ...]:
    """Every level against the others together, for every topic; of two levels the first only. () for fewer than two."""
    values = found.rows[variable].to_numpy(dtype=str)
    levels = sorted(set(values) - {""})
    if len(levels) < 2:
        return ()
    rows: list[Contrast] = []
    raw: list[float] = []
    for level in levels[:1] if len(levels) == 2 else levels:
        for code in range(len(found.criteria)):
            about = (found.criterion == code) & (values != "")
            own = [t for t in range(found.topics.count) if found.topics.criterion[t] == code]
            if own and about.any():
                made = _contrast(found, own, about, values == level)
                rows += [replace(row, variable=variable, level=level) for row, _ in made]
                raw += [p for _, p in made]
    adjusted = adjust(np.array(raw, dtype=np.float64), "holm", family=f"topics x {variable}").p
    return tuple(replace(row, p=None if np.isnan(p) else float(p)) for row, p in zip(rows, adjusted, strict=True))


def _contrast(
    found: Reasons, own: Sequence[int], about: np.typing.NDArray[np.bool_], mine: np.typing.NDArray[np.bool_]
) -> list[tuple[Contrast, float]]:
    place = np.full(found.topics.count + 1, -1)
    place[own] = np.arange(len(own))  # the last place is that of NO_WORD, -1
    topic = place[found.topics.topic]
    sides, shares, at_rating = [], [], []
    prompts = int(found.prompt.max()) + 1
    for side in (about & mine, about & ~mine):
        _, counts = cluster_sums(np.ones(int(side.sum())), found.prompt[side], topic[side], len(own), prompts)
        sides.append(ratio(counts, np.bincount(found.prompt[side], minlength=prompts)[:, None]))
        shares.append(counts.sum(axis=0) / max(1, side.sum()))
        at_rating.append(_by_point(topic[side], found.point[side], len(own), int(found.point.max()) + 1))
    difference = sides[0] - sides[1]
    present = ~np.isnan(difference).any(axis=1)
    n, paired = int(present.sum()), difference[present]
    equal = _standardised(*at_rating)
    rows = []
    for i, t in enumerate(own):
        estimate, p = _paired(paired[:, i], n)
        row = Contrast(
            "", "", t, found.names[t], found.criteria[found.topics.criterion[t]], float(shares[0][i]),
            float(shares[1][i]), estimate, None if np.isnan(equal[i]) else float(equal[i]), None,
        )  # fmt: skip
        rows.append((row, p))
    return rows


def _paired(d: Floats, n: int) -> tuple[Estimate, float]:
    if n < LEAST_PROMPTS:
        return Estimate.undefined(f"fewer than {LEAST_PROMPTS} story-prompts in common", n), float("nan")
    mean, error = float(d.mean()), float(d.std(ddof=1) / np.sqrt(n))
    if error < 1e-12:
        return Estimate(mean, n, reason="no interval: the differences are all equal"), float("nan")
    half = float(special.stdtrit(n - 1, 0.5 + CONFIDENCE / 2)) * error
    estimate = Estimate(mean, n, mean - half, mean + half, "t, story-prompts, 95 %")
    return estimate, float(2 * special.stdtr(n - 1, -abs(mean) / error))


def _by_point(topic: Codes, point: Codes, topics: int, points: int) -> tuple[Floats, Floats]:
    """Counts (points, topics) and all texts (points,), by rating."""
    rated = point >= 0
    total = np.bincount(point[rated], minlength=points).astype(np.float64)
    inside = rated & (topic >= 0)
    counts = np.bincount(point[inside] * topics + topic[inside], minlength=points * topics)
    return counts.reshape(points, topics).astype(np.float64), total


def _standardised(mine: tuple[Floats, Floats], others: tuple[Floats, Floats]) -> Floats:
    both = (mine[1] > 0) & (others[1] > 0)
    if not both.any():
        return np.full(mine[0].shape[1], np.nan)
    weight = (mine[1] + others[1])[both] / (mine[1] + others[1])[both].sum()
    gap = mine[0][both] / mine[1][both, None] - others[0][both] / others[1][both, None]
    return np.asarray(weight @ gap, dtype=np.float64)


# Agreement of repeats on reasons, beside their agreement on ratings.


@dataclass(frozen=True, slots=True)
class RepeatsAgree:
    """Pairs of repeats of one query: `reasons` and `themes` are Cohen's kappa of their topics and themes, `ratings` of
    their ratings. `given_same` is the share of pairs of equal rating with the same topic, `other_stories` that of pairs
    about other stories with that rating, `given_other` that of pairs of one story with different ratings: one reason,
    two ratings. `pairs` counts pairs of repeats."""

    reasons: Estimate
    themes: Estimate
    ratings: Estimate
    given_same: float | None
    other_stories: float | None
    given_other: float | None
    pairs: int


def repeats(found: Reasons) -> tuple[Row[RepeatsAgree], ...]:
    """Agreement of repeats by judge, Eval-Prompt and criterion, where queries have several rated explanations."""
    rows = []
    for asked, every in groups(found.rows, BY_CRITERION):
        places = every[(found.topics.topic[every] >= 0) & (found.point[every] >= 0)]
        row = _repeats(found, places) if places.size else None
        if row is not None:
            rows.append(Row(asked, row))
    return tuple(rows)


def _repeats(found: Reasons, places: Codes) -> RepeatsAgree | None:
    part = found.rows.iloc[places]
    query = np.asarray(part.groupby(["dataset", "story"], sort=False).ngroup(), dtype=np.int64)
    topic, point = renumbered(found.topics.topic[places]), renumbered(found.point[places])
    theme = renumbered(found.topics.theme[found.topics.topic[places]])
    _, prompt_of = np.unique(query, return_index=True)
    prompt = renumbered(found.prompt[places][prompt_of])
    both = topic * (int(point.max()) + 1) + point
    every = _pairs(np.bincount(query))
    if not every.sum():
        return None
    same_rating, same_both = _same(query, point), _same(query, both)
    same_topic = _same(query, topic)
    rating_pairs, other_pairs = same_rating.sum(), every.sum() - same_rating.sum()
    # Pairs about other stories: all pairs of a rating without those within one story.
    all_same = _pairs(np.bincount(point)).sum() - rating_pairs
    all_both = _pairs(np.bincount(both)).sum() - same_both.sum()
    return RepeatsAgree(
        reasons=_kappa(topic, query, prompt),
        themes=_kappa(theme, query, prompt),
        ratings=_kappa(point, query, prompt),
        given_same=float(same_both.sum() / rating_pairs) if rating_pairs else None,
        other_stories=float(all_both / all_same) if all_same else None,
        given_other=float((same_topic.sum() - same_both.sum()) / other_pairs) if other_pairs else None,
        pairs=int(every.sum()),
    )


def _pairs(counts: Codes) -> Floats:
    return counts * (counts - 1) / 2.0


def _same(query: Codes, label: Codes) -> Floats:
    """Pairs of repeats with the same label, for each query."""
    labels = int(label.max()) + 1
    counts = np.bincount(query * labels + label, minlength=(int(query.max()) + 1) * labels)
    return np.asarray(_pairs(counts.reshape(-1, labels)).sum(axis=1), dtype=np.float64)


def _kappa(label: Codes, query: Codes, prompt: Codes) -> Estimate:
    """Kappa of pairs of repeats, (observed - chance) / (1 - chance), chance from all texts' labels; the interval leaves
    out one story-prompt at a time. `prompt` (queries,) has the code of each query's story-prompt."""
    labels, prompts = int(label.max()) + 1, int(prompt.max()) + 1
    same = np.bincount(prompt, weights=_same(query, label), minlength=prompts)
    pairs = np.bincount(prompt, weights=_pairs(np.bincount(query)), minlength=prompts)
    counts = np.bincount(prompt[query] * labels + label, minlength=prompts * labels).reshape(prompts, labels)
    # The first row is of all story-prompts, the others each lack one.
    kept = np.vstack([np.ones(prompts), 1 - np.eye(prompts)])
    share = ratio(kept @ counts, (kept @ counts.sum(axis=1))[:, None])
    chance, observed = (share**2).sum(axis=1), ratio(kept @ same, kept @ pairs)
    with np.errstate(divide="ignore", invalid="ignore"):
        kappa = np.where(chance < 1 - 1e-12, (observed - chance) / (1 - chance), np.nan)
    if not np.isfinite(kappa[0]):
        return Estimate.undefined("all labels are the same", int(pairs.sum()))
    return with_jackknife(Estimate(float(kappa[0]), int(pairs.sum())), kappa[1:])[0]


def asked_of(found: Reasons) -> tuple[Asked, ...]:
    """The judges and Eval-Prompts that gave the reasons."""
    return tuple(asked for asked, _ in groups(found.rows, ("judge", "eval_prompt")))
