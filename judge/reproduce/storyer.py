"""StoryER (Chen et al. 2022, EMNLP): which printed cells can be checked, and baselines that read no story.

The study's 100,000 pairs, its comments, its models and their scores are not in its repository, which holds only
samples. Hardly any printed cell can therefore be recomputed. Rows named ``floor:`` give baselines on the samples where
that is possible: scores that read nothing, or only the surface of a text. Printed numbers should be compared with them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial

import numpy as np
from numpy.typing import NDArray

from judge.analysis.aspects.table_2 import storyer_aspects
from judge.base.estimate import Estimate
from judge.inputs.datasets.locate import find, need
from judge.inputs.datasets.sources import FILES, OTHER_FILES
from judge.reproduce.cell import Numbers, Place
from judge.reproduce.listing import TITLES
from judge.reproduce.published import Printed, published
from judge.reproduce.recipe import Recipe
from judge.reproduce.study import Options, Study
from judge.reproduce.tables import storyer_surface
from judge.reproduce.tables import storyer_wording as why
from judge.reproduce.tables.comment_overlap import bleu, rouge_l
from judge.reproduce.tables.family import Family
from judge.reproduce.tables.storyer_samples import Comments, RankedPairs, Scored, accuracies, scores
from judge.stats.correlation.coefficients import correlate
from judge.stats.estimation import means
from judge.stats.ordering.recall_at_k import recall_at_k

Floats = NDArray[np.float64]

SIZES, ASPECTS, PREFERENCE, FIGURE = "rank_sizes", "aspect_sizes", "preference", "figure_5"
CONFIDENCE, RATING, COMMENTS, SENTIMENT = "aspect_confidence", "aspect_rating", "comments", "sentiment"
FLOOR = "floor: "
OVERALL = "overall"
PLACES = (1, 3, 5)
SENTIMENTS = {"negative": (1, 2), "neutral": (3, 3), "positive": (4, 5)}

DIGITS = {
    SIZES: 0,
    ASPECTS: 2,
    PREFERENCE: 3,
    "preference_ablation": 3,
    CONFIDENCE: 2,
    RATING: 3,
    COMMENTS: 2,
    "domains": 3,
    "horror": 3,
    "objective": 3,
    SENTIMENT: 2,
    "agreement": 3,
    FIGURE: 2,
}
DECIMALS = {
    **{(SIZES, column): 2 for column in ("words_high", "words_low")},
    **{(ASPECTS, column): 0 for column in ("comments", "comments*")},
    **{(table, "rank_acc"): 2 for table in (PREFERENCE, "preference_ablation")},
    **{("horror", f"R@{k}"): 1 for k in PLACES},
    ("objective", "acc"): 2,
    ("agreement", "aspects chosen by more than one %"): 1,
}
_SAMPLE = "of the released sample"


@dataclass(frozen=True, eq=False)
class Samples:
    """StoryER's released samples, and the cells of its tables that are computed from them by the study's recipe and by
    the corrected recipe.
    """

    printed: Mapping[Place, Printed]
    pairs: RankedPairs
    wp200: Scored
    comments: Comments
    coherence: Scored | None

    @cached_property
    def values(self) -> dict[Place, tuple[float | None, Estimate]]:
        """Two numbers for each table cell that can be computed here, by (table, row, column); rows of baselines are
        included.

        The first is the number by the study's method, None if that needs data that are not released. The second is an
        estimate by the corrected method, in which for example a tie counts one half.
        """
        by_place: dict[Place, tuple[float | None, Estimate]] = {}
        for part in (self._sizes, self._aspects, self._preference, self._control, self._coherence):
            by_place |= dict(part())
        for part in (self._confidence, self._rating, self._overlap, self._sentiment, self._upvotes):
            by_place |= dict(part())
        return by_place

    def column(self, table: str, column: str) -> Floats:
        """Printed numbers of one column of StoryER's Table 2 (comments on ten aspects of stories), one per aspect, in
        order.

        `table` is Table 2's name in `printed`.
        """
        rows = {row: entry.value for (t, row, c), entry in self.printed.items() if (t, c) == (table, column)}
        return np.array([value for row, value in rows.items() if row != OVERALL], dtype=np.float64)

    def sums(self) -> tuple[float, float]:
        """Numbers of stories and of pairs that the study prints in its Table 1, each summed over the training,
        validation and test set.
        """
        cells = {(row, column): entry.value for (t, row, column), entry in self.printed.items() if t == SIZES}
        totals = [
            sum(float(value or 0) for (_, column), value in cells.items() if column in wanted)
            for wanted in (("high", "low"), ("pairs",))
        ]
        return totals[0], totals[1]

    def _sizes(self) -> Iterator[tuple[Place, tuple[float | None, Estimate]]]:
        for column, value in self.pairs.sizes().items():
            yield (SIZES, "train", column), (None, Estimate(value, n=len(self.pairs.pairs)))

    def _aspects(self) -> Iterator[tuple[Place, tuple[float | None, Estimate]]]:
        """Yield the cells of StoryER's Table 2 (comments on ten aspects of stories), each with its (table, row,
        column).

        The rows of the ten aspects are computed from the released sample of comments, and the last row from the ten
        rows in print.
        """
        for at, aspect in enumerate(why.ASPECTS):
            own = self.comments.aspect == at
            n = int(own.sum())
            sample = {"comments": float(n)}
            if n:
                sample |= {"rate": self.comments.rating[own].mean(), "comment_len": self.comments.words[own].mean()}
            for column, value in sample.items():
                yield (ASPECTS, aspect, column), (None, Estimate(float(value), n=n))
        for star in ("", "*"):
            weights = self.column(ASPECTS, f"comments{star}")
            total = float(weights.sum())
            yield (ASPECTS, OVERALL, f"comments{star}"), (total, Estimate(total, n=weights.size))
            for column in (f"rate{star}", f"comment_len{star}"):
                values = self.column(ASPECTS, column)
                ours = Estimate(float(np.average(values, weights=weights)), n=int(total))
                yield (ASPECTS, OVERALL, column), (float(values.mean()), ours)

    def _preference(self) -> Iterator[tuple[Place, tuple[float | None, Estimate]]]:
        for name, score in scores().items():
            row = FLOOR + name
            strict, half, gap = accuracies(self.pairs, *self.pairs.scored(score))
            yield (PREFERENCE, row, "rank_acc"), (_percent(strict).value, _percent(half))
            if name != "longer wins":
                yield (PREFERENCE, row, "rank_dis"), (gap.value, gap)
            given = self.wp200.scored(score)
            yield from _correlated(PREFERENCE, row, given, self.wp200.people, "wp200_rho", "wp200_tau")
            if self.coherence is not None:
                given = self.coherence.scored(score)
                yield from _correlated(PREFERENCE, row, given, self.coherence.people, "coh200_rho", "coh200_tau")

    def _control(self) -> Iterator[tuple[Place, tuple[float | None, Estimate]]]:
        """Yield the cells of a baseline that predicts StoryER's preferences from surface features and is fitted on the
        released pairs.

        Its accuracy on these pairs is out of fold. The stories of WP_200 are scored by a model that is fitted on all
        pairs.
        """
        odds = storyer_surface.out_of_fold(self.pairs)
        strict, half, _ = accuracies(self.pairs, odds, np.zeros_like(odds))
        yield (PREFERENCE, why.CONTROL, "rank_acc"), (_percent(strict).value, _percent(half))
        given = storyer_surface.scored(self.pairs, self.wp200.stories)
        yield from _correlated(PREFERENCE, why.CONTROL, given, self.wp200.people, "wp200_rho", "wp200_tau")

    def _coherence(self) -> Iterator[tuple[Place, tuple[float | None, Estimate]]]:
        if self.coherence is None or self.coherence.others is None:
            return
        columns = ("coh200_rho", "coh200_tau")
        yield from _correlated(PREFERENCE, "MANPLTS", self.coherence.others, self.coherence.people, *columns)
        ratings = self.coherence.raters
        others = [np.delete(ratings, i, axis=1).mean(axis=1) for i in range(ratings.shape[1])]
        for column, coefficient in zip(columns, ("spearman", "kendall"), strict=True):
            ones = [correlate(ratings[:, i], mean, coefficient).value for i, mean in enumerate(others)]  # type: ignore[arg-type]
            value = float(np.mean([score for score in ones if score is not None]))
            yield (PREFERENCE, why.PEOPLE, column), (value, Estimate(value, n=ratings.shape[0]))

    def _confidence(self) -> Iterator[tuple[Place, tuple[float | None, Estimate]]]:
        """Yield the cells of a baseline that predicts which aspects of a story people comment on, by how often people
        chose each aspect.

        One row uses the frequencies in StoryER's Table 2, for the comments counted in that table. Another row uses the
        frequencies in the released sample, counted without the story that is predicted.
        """
        share = np.sort(self.column(ASPECTS, "comments"))[::-1]
        chosen = self.comments.chosen
        elsewhere = (chosen.sum(axis=0) - chosen).astype(np.float64)
        for k in PLACES:
            value = 100 * float(share[:k].sum() / share.sum())
            yield (CONFIDENCE, why.TABLE_2, f"R@{k}"), (value, Estimate(value, n=int(share.sum())))
            out = _percent(recall_at_k(elsewhere, chosen > 0, k).micro)
            yield (CONFIDENCE, why.OUT_OF_STORY, f"R@{k}"), (out.value, out)

    def _rating(self) -> Iterator[tuple[Place, tuple[float | None, Estimate]]]:
        by_aspect = self.column(ASPECTS, "rate")[self.comments.aspect]
        yield from _correlated(RATING, why.TABLE_2_MEANS, by_aspect, self.comments.rating, "rho", "tau")
        yield from _correlated(RATING, why.UPVOTES, self.comments.upvotes, self.comments.rating, "rho", "tau")

    def _overlap(self) -> Iterator[tuple[Place, tuple[float | None, Estimate]]]:
        """Yield cells with the BLEU and ROUGE between StoryER's human comments and two kinds of baseline comments: one
        fixed sentence, and a comment on another story.
        """
        people = self.comments.texts
        guesses = {why.ONE_SENTENCE: self.comments.one_sentence(storyer_aspects())}
        for row, texts in (guesses | {why.ANOTHER_STORY: self.comments.of_another_story()}).items():
            for column, measure in (("BLEU", bleu), ("ROUGE", rouge_l)):
                value = 100 * measure(texts, people)
                yield (COMMENTS, row, column), (value, Estimate(value, n=len(people)))

    def _sentiment(self) -> Iterator[tuple[Place, tuple[float | None, Estimate]]]:
        """Yield the cells of a baseline that predicts the most frequent sentiment for every human comment in StoryER's
        sample.

        A comment with rating 1 or 2 is negative, with 3 neutral, with 4 or 5 positive.
        """
        rating = self.comments.rating
        counts = {name: int(((rating >= low) & (rating <= high)).sum()) for name, (low, high) in SENTIMENTS.items()}
        commonest = max(counts, key=counts.__getitem__)
        for name, count in counts.items():
            value = 100.0 if name == commonest else 0.0
            yield (SENTIMENT, why.COMMONEST, name), (value, Estimate(value, n=count))
        right = means.clustered((rating == np.clip(rating, *SENTIMENTS[commonest])) * 100.0, self.comments.story)
        yield (SENTIMENT, why.COMMONEST, "average"), (right.value, right)

    def _upvotes(self) -> Iterator[tuple[Place, tuple[float | None, Estimate]]]:
        """Yield the cells of the human part of StoryER's Figure 5, computed on the released stories.

        Each is the correlation of people's ratings of an aspect with the stories' upvotes.
        """
        for at, aspect in enumerate(why.ASPECTS):
            own = self.comments.aspect == at
            yield from _correlated(FIGURE, aspect, self.comments.rating[own], self.comments.upvotes[own], "rho", "tau")


def study(options: Options) -> Study:  # noqa: ARG001  as all studies; no interval is resampled
    """The study StoryER with its printed cells and the functions that recompute them from the files on this machine.

    Raises DataError if a file is missing; the message names the command that fetches it.
    """
    paths = {name: need(FILES[name][0], name) for name in ("storyer_pairs", "storyer_wp200", "storyer_reasons")}
    printed = published("storyer")
    candidates = {
        "plotguided_wp": find(FILES["plotguided_wp"][0]),
        "plotguided_scores": find(OTHER_FILES[why.SCORES][1]),
    }
    beside = {name: path for name, path in candidates.items() if path is not None}
    samples = Samples(
        printed,
        RankedPairs.of(paths["storyer_pairs"]),
        Scored.wp200(paths["storyer_wp200"]),
        Comments.of(paths["storyer_reasons"]),
        Scored.coherence(*beside.values()) if len(beside) == len(candidates) else None,
    )
    return Study("storyer", TITLES["storyer"], {**paths, **beside}, printed, [_family(samples)])


def _family(samples: Samples) -> Family:
    stories, pairs = samples.sums()
    return Family(
        numbers=cache(partial(numbers, samples)),
        digits=DIGITS,
        decimals=DECIMALS,
        estimates=cache(partial(estimates, samples)),
        notes=(
            f"{SIZES}: the three sets sum to {stories:,.0f} stories and {pairs:,.0f} pairs, as the study says",
            f"{ASPECTS}: its last line prints plain means of ten aspects; corrected, they are over comments",
            "Acc: the study counts a tie as wrong; corrected, a tie is one half",
            f"{COMMENTS}: ours are the mean of corpus BLEU-1 to -4, and ROUGE-L; the study does not state its choice",
            f"{FLOOR}NAME is the score of a guess without the story; preference: on the released pairs and WP_200",
        ),
        missing=partial(_missing, samples),
        known_cause=partial(_known_cause, samples),
        remarks=partial(_remarks, samples),
    )


def numbers(samples: Samples, recipe: Recipe) -> Numbers:  # noqa: ARG001  as all families
    """Numbers of all printed cells of StoryER (None if no released data give them) by the study's recipe, and of the
    rows of baselines (``floor:``) that this program adds.
    """
    values: Numbers = {}
    tables = dict.fromkeys([*(table for table, _, _ in samples.printed), FIGURE])
    for table in tables:
        values |= {place: None for place in samples.printed if place[0] == table}
        values |= {place: value for place, (value, _) in samples.values.items() if place[0] == table}
    return values


def estimates(samples: Samples) -> dict[Place, Estimate]:
    """Estimates of StoryER's table cells by this program's corrected method instead of the study's method.

    There are estimates for printed cells, for the rows of baselines (``floor:``) that this program adds, and for cells
    on the released sample that have no printed counterpart.
    """
    return {place: ours for place, (_, ours) in samples.values.items()}


def _missing(samples: Samples, place: Place) -> str | None:
    if samples.values.get(place, (None, None))[0] is not None or place not in samples.printed:
        return None
    return why.missing(place, samples.printed[place])


def _known_cause(samples: Samples, place: Place) -> str | None:
    """Known reason why a computed cell of StoryER's tables differs from the printed one; None if none is known."""
    entry = samples.printed.get(place)
    if entry is None or place not in samples.values:
        return None
    if entry.verdict == "near":
        return why.WHICH_200
    if entry.verdict == "differs":
        plain, ours = samples.values[place]
        return f"the plain mean of the printed column is {plain:.3f}, over comments it is {ours.value:.2f}"
    return None


def _remarks(samples: Samples, place: Place) -> tuple[str, ...]:
    value, ours = samples.values.get(place, (None, None))
    if ours is not None and place[0] == FIGURE:
        return (f"n {ours.n}",)
    if ours is None or place not in samples.printed:
        return ()
    return () if value is not None else (f"corrected: {_SAMPLE}, n {ours.n}",)


def _correlated(
    table: str, row: str, x: Floats, y: Floats, rho: str, tau: str
) -> Iterator[tuple[Place, tuple[float | None, Estimate]]]:
    """Yield two cells of a table's row: Spearman's rho and Kendall's tau-b of x and y, in the columns named `rho` and
    `tau`.
    """
    names = ("the scores", "people's")
    spearman, kendall = (correlate(x, y, "spearman", names=names), correlate(x, y, "kendall", names=names))
    yield (table, row, rho), (spearman.value, spearman)
    yield (table, row, tau), (kendall.value, kendall)


def _percent(estimate: Estimate) -> Estimate:
    value, low, high = (
        None if number is None else 100 * number for number in (estimate.value, estimate.low, estimate.high)
    )
    return replace(estimate, value=value, low=low, high=high)
