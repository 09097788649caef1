"""StoryER (Chen et al. 2022, EMNLP): which printed cells can be checked, and baselines that read no story.

The study's 100,000 pairs, comments, models and scores are not in its repository, which holds only samples, so hardly
any printed cell can be recomputed. Rows named ``floor:`` are baselines on the samples, with which printed numbers
should be compared: scores that read nothing, or only the surface of a text."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from statistics import fmean

import numpy as np

from judge.base.arrays import Floats
from judge.base.estimate import Estimate
from judge.inputs.datasets.locate import find, need
from judge.inputs.datasets.sources import FILES, OTHER_FILES
from judge.inputs.datasets.studies.storyer import aspects
from judge.inputs.text_features import tokens
from judge.reproduce import storyer_samples
from judge.reproduce.cell import Place, Printed, published
from judge.reproduce.storyer_samples import Comments, RankedPairs, Scored, accuracies, scores
from judge.reproduce.study import Family, Options, Study
from judge.stats.correlation.coefficients import correlate
from judge.stats.estimation import means
from judge.stats.ordering.storyer import recall_at_k

# Overlap of texts with human comments: the mean of corpus BLEU-1 to BLEU-4, and ROUGE-L.

ORDERS = 4
# Method 1 of Chen & Cherry 2014: the logarithm of no match at an order is undefined.
_NO_MATCH = 0.1


def bleu(texts: Sequence[str], references: Sequence[str]) -> float:
    """Mean of corpus BLEU-1 to BLEU-4, 0 to 1, with one reference per text."""
    pairs = [(_words(text), _words(reference)) for text, reference in zip(texts, references, strict=True)]
    precisions = [_precision(pairs, order) for order in range(1, ORDERS + 1)]
    length, wanted = sum(len(text) for text, _ in pairs), sum(len(reference) for _, reference in pairs)
    brevity = 1.0 if length >= wanted else math.exp(1 - wanted / length)
    logs = [math.log(precision) for precision in precisions]
    return brevity * fmean(math.exp(fmean(logs[:order])) for order in range(1, ORDERS + 1))


def rouge_l(texts: Sequence[str], references: Sequence[str]) -> float:
    """Mean F of the longest common subsequence with the reference, 0 to 1."""
    scores = []
    for text, reference in zip(texts, references, strict=True):
        ours, theirs = _words(text), _words(reference)
        common = _longest_common(ours, theirs)
        scores.append(2 * common / (len(ours) + len(theirs)))
    return fmean(scores)


def _words(text: str) -> list[str]:
    return [word.lower() for word in tokens(text)]


def _precision(pairs: Sequence[tuple[list[str], list[str]]], order: int) -> float:
    """Clipped, over all pairs of text and reference."""
    matched = total = 0
    for text, reference in pairs:
        ours, theirs = _ngrams(text, order), _ngrams(reference, order)
        matched += (ours & theirs).total()
        total += ours.total()
    return (matched or _NO_MATCH) / max(total, 1)


def _ngrams(words: Sequence[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[i : i + order]) for i in range(len(words) - order + 1))


def _longest_common(words: Sequence[str], other: Sequence[str]) -> int:
    lengths = [0] * (len(other) + 1)
    for word in words:
        before = 0
        for j, same in enumerate(other, start=1):
            before, lengths[j] = lengths[j], before + 1 if word == same else max(lengths[j], lengths[j - 1])
    return lengths[-1]


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
    """StoryER's samples, and cells computed from them by the study's and the corrected recipe."""

    printed: Mapping[Place, Printed]
    pairs: RankedPairs
    wp200: Scored
    comments: Comments
    coherence: Scored | None

    @cached_property
    def values(self) -> dict[Place, tuple[float | None, Estimate]]:
        """(number, estimate) for each computable cell, baselines included. The number is by the study's method, None if
        its data are not released; in the estimate, for example, a tie counts one half."""
        by_place: dict[Place, tuple[float | None, Estimate]] = {}
        for part in (self._sizes, self._aspects, self._preference, self._control, self._coherence):
            by_place |= dict(part())
        for part in (self._confidence, self._rating, self._overlap, self._sentiment, self._upvotes):
            by_place |= dict(part())
        return by_place

    def column(self, table: str, column: str) -> Floats:
        """Printed numbers of one column of Table 2 (ten aspects), in order; `table` is its name in `printed`."""
        rows = {row: entry.value for (t, row, c), entry in self.printed.items() if (t, c) == (table, column)}
        return np.array([value for row, value in rows.items() if row != OVERALL], dtype=np.float64)

    def sums(self) -> tuple[float, float]:
        """Stories and pairs printed in Table 1, summed over training, validation and test set."""
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
        """Table 2: the ten aspects are computed from the sample of comments, the last row from the rows in print."""
        for at, aspect in enumerate(storyer_samples.ASPECTS):
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
        # Accuracy is out of fold. The stories of WP_200 are scored by a model fitted on all pairs.
        odds = storyer_samples.out_of_fold(self.pairs)
        strict, half, _ = accuracies(self.pairs, odds, np.zeros_like(odds))
        yield (PREFERENCE, storyer_samples.CONTROL, "rank_acc"), (_percent(strict).value, _percent(half))
        given = storyer_samples.scored(self.pairs, self.wp200.stories)
        yield from _correlated(PREFERENCE, storyer_samples.CONTROL, given, self.wp200.people, "wp200_rho", "wp200_tau")

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
            yield (PREFERENCE, storyer_samples.PEOPLE, column), (value, Estimate(value, n=ratings.shape[0]))

    def _confidence(self) -> Iterator[tuple[Place, tuple[float | None, Estimate]]]:
        # One row uses the frequencies in Table 2, another those in the sample, without the story that is predicted.
        share = np.sort(self.column(ASPECTS, "comments"))[::-1]
        chosen = self.comments.chosen
        elsewhere = (chosen.sum(axis=0) - chosen).astype(np.float64)
        for k in PLACES:
            value = 100 * float(share[:k].sum() / share.sum())
            yield (CONFIDENCE, storyer_samples.TABLE_2, f"R@{k}"), (value, Estimate(value, n=int(share.sum())))
            out = _percent(recall_at_k(elsewhere, chosen > 0, k).micro)
            yield (CONFIDENCE, storyer_samples.OUT_OF_STORY, f"R@{k}"), (out.value, out)

    def _rating(self) -> Iterator[tuple[Place, tuple[float | None, Estimate]]]:
        by_aspect = self.column(ASPECTS, "rate")[self.comments.aspect]
        yield from _correlated(RATING, storyer_samples.TABLE_2_MEANS, by_aspect, self.comments.rating, "rho", "tau")
        yield from _correlated(
            RATING, storyer_samples.UPVOTES, self.comments.upvotes, self.comments.rating, "rho", "tau"
        )

    def _overlap(self) -> Iterator[tuple[Place, tuple[float | None, Estimate]]]:
        """BLEU and ROUGE of people's comments with one fixed sentence, and with a comment on another story."""
        people = self.comments.texts
        guesses = {storyer_samples.ONE_SENTENCE: self.comments.one_sentence(aspects())}
        for row, texts in (guesses | {storyer_samples.ANOTHER_STORY: self.comments.of_another_story()}).items():
            for column, measure in (("BLEU", bleu), ("ROUGE", rouge_l)):
                value = 100 * measure(texts, people)
                yield (COMMENTS, row, column), (value, Estimate(value, n=len(people)))

    def _sentiment(self) -> Iterator[tuple[Place, tuple[float | None, Estimate]]]:
        # The baseline predicts the commonest: rating 1 or 2 is negative, 3 neutral, 4 or 5 positive.
        rating = self.comments.rating
        counts = {name: int(((rating >= low) & (rating <= high)).sum()) for name, (low, high) in SENTIMENTS.items()}
        commonest = max(counts, key=counts.__getitem__)
        for name, count in counts.items():
            value = 100.0 if name == commonest else 0.0
            yield (SENTIMENT, storyer_samples.COMMONEST, name), (value, Estimate(value, n=count))
        right = means.clustered((rating == np.clip(rating, *SENTIMENTS[commonest])) * 100.0, self.comments.story)
        yield (SENTIMENT, storyer_samples.COMMONEST, "average"), (right.value, right)

    def _upvotes(self) -> Iterator[tuple[Place, tuple[float | None, Estimate]]]:
        """Human part of Figure 5: people's ratings of an aspect against upvotes."""
        for at, aspect in enumerate(storyer_samples.ASPECTS):
            own = self.comments.aspect == at
            yield from _correlated(FIGURE, aspect, self.comments.rating[own], self.comments.upvotes[own], "rho", "tau")


def study(options: Options) -> Study:  # noqa: ARG001  as all studies; no interval is resampled
    """The study StoryER on the files of this machine. Raises DataError if one is missing."""
    paths = {name: need(FILES[name][0], name) for name in ("storyer_pairs", "storyer_wp200", "storyer_reasons")}
    printed = published("storyer")
    candidates = {
        "plotguided_wp": find(FILES["plotguided_wp"][0]),
        "plotguided_scores": find(OTHER_FILES[storyer_samples.SCORES][1]),
    }
    beside = {name: path for name, path in candidates.items() if path is not None}
    samples = Samples(
        printed,
        RankedPairs.of(paths["storyer_pairs"]),
        Scored.wp200(paths["storyer_wp200"]),
        Comments.of(paths["storyer_reasons"]),
        Scored.coherence(*beside.values()) if len(beside) == len(candidates) else None,
    )
    return Study("storyer", {**paths, **beside}, [_family(samples)])


def _family(samples: Samples) -> Family:
    stories, pairs = samples.sums()
    return Family.of(
        partial(values, samples),
        DIGITS,
        decimals=DECIMALS,
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


def values(samples: Samples) -> dict[Place, tuple[float | None, Estimate | None]]:
    """Printed cells (None if no released data give them), with estimates also of added ``floor:`` rows."""
    cells: dict[Place, tuple[float | None, Estimate | None]] = {}
    for table in dict.fromkeys([*(table for table, _, _ in samples.printed), FIGURE]):
        cells |= {place: (None, None) for place in samples.printed if place[0] == table}
        cells |= {place: both for place, both in samples.values.items() if place[0] == table}
    return cells


def _missing(samples: Samples, place: Place) -> str | None:
    if samples.values.get(place, (None, None))[0] is not None or place not in samples.printed:
        return None
    return storyer_samples.missing(place, samples.printed[place])


def _known_cause(samples: Samples, place: Place) -> str | None:
    entry = samples.printed.get(place)
    if entry is None or place not in samples.values:
        return None
    if entry.verdict == "near":
        return storyer_samples.WHICH_200
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
    """Two cells: Spearman's rho and Kendall's tau-b in the columns `rho` and `tau`."""
    names = ("the scores", "people's")
    spearman, kendall = (correlate(x, y, "spearman", names=names), correlate(x, y, "kendall", names=names))
    yield (table, row, rho), (spearman.value, spearman)
    yield (table, row, tau), (kendall.value, kendall)


def _percent(estimate: Estimate) -> Estimate:
    value, low, high = (
        None if number is None else 100 * number for number in (estimate.value, estimate.low, estimate.high)
    )
    return replace(estimate, value=value, low=low, high=high)
