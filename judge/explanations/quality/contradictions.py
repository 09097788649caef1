"""Contradictions: answers whose explanation disagrees with their rating, flagged by two rules.

Rule *words*: a ridge regression on the words and word pairs (TF-IDF) of texts about other story-prompts predicts each
rating, from 0 to 1. A text is flagged if prediction and rating lie on different sides of the scale's middle, and the
prediction is at least `MARGIN` away from it. One regression serves all criteria and judges, since praise and blame use
common words; the criterion is added as a word, so that a word such as "no" can differ between them. Rule *guideline*: a
text is flagged if it quotes the guideline of a scale point on the other side of the middle, and none on its rating's
side. The rules' precision was measured by reading samples (`AUDITED`, `read_flags`, docs/contradictions.md). Their
recall on judges' answers is not known."""

from __future__ import annotations

import csv
import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np
import pandas as pd

from judge.base.arrays import Floats
from judge.base.errors import MissingExtraError, SpecError
from judge.base.estimate import Estimate
from judge.base.files import package_file
from judge.base.fingerprint import fingerprint_text
from judge.base.printing.tables import Column, Table, plain
from judge.base.records import Criterion
from judge.explanations.quality.guideline_point import QUOTED, QuotedPoints
from judge.explanations.quality.specificity import rows_with, story_prompts
from judge.stats.estimation.proportions import wilson
from judge.stats.resampling.bootstrap import deal
from judge.version import __version__

Rule = Literal["words", "guideline"]

# How far beyond the middle a prediction has to lie, as a share of the scale.
MARGIN = 0.2

# Share of texts on whose side of the middle their words have to put them: below it flags are the prediction's own
# errors (of people's 303 comments in StoryER, where the share is .75, none of the first twenty was a contradiction).
LEAST_TOLD = 0.9

# Rule -> how many of so many flagged texts were contradictions when read: five judges' answers to TTCW, each judge by
# itself, on which margin and weights were chosen. What was read afterwards: `read_flags`; docs/contradictions.md.
AUDITED: tuple[tuple[str, int, int], ...] = (("words", 6, 10),)

LEAST_TEXTS, LEAST_PROMPTS, FOLDS = 100, 5, 5
# Ratings and predictions are shares of their criterion's scale, so that criteria with other scales compare.
_MIDDLE = 0.5


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A text flagged by `rule`; its source is None where it is not known. `suggested` is the rating that its words
    suggest, or the scale point whose guideline it quotes."""

    judge: str | None
    eval_prompt: str | None
    criterion: str | None
    story: str | None
    repeat: int | None
    rating: float
    suggested: float
    rule: Rule
    text: str


@dataclass(frozen=True, slots=True, eq=False)
class Contradictions:
    """All flagged texts, the clearest first; `notes` say why a rule was not used. `side_accuracy` is the share of texts
    whose predicted and given ratings lie on the same side of the scale's middle."""

    flagged: tuple[Contradiction, ...]
    texts: int
    side_accuracy: Estimate
    notes: tuple[str, ...]
    seed: int

    @property
    def share(self) -> Estimate:
        """Share of rated texts that are flagged."""
        return wilson(len(self.flagged), self.texts)

    @property
    def signature(self) -> str:
        rules = f"words:tfidf-ridge/margin{MARGIN:g}/told{LEAST_TOLD:g}|guideline:{QUOTED:g}"
        return f"texts:{self.texts}|{rules}|hold-out:story-prompt/{FOLDS}|seed:{self.seed}|v{__version__}"


def contradictions(
    frame: pd.DataFrame, criteria: Sequence[Criterion], seed: int = 1, *, least_told: float = LEAST_TOLD
) -> Contradictions:
    """Texts that are flagged because they disagree with their rating.

    Rows without a rating or a known story are left out. The scale of an unknown criterion reaches from the lowest to
    the highest rating. `seed` assigns story-prompts to folds. The rule on words is not used below `least_told` of
    `side_accuracy`; change it only to measure its effect. Raises SpecError if no text has a rating and a known story.
    """
    part = frame[rows_with(frame, "story") & frame["rating"].notna().to_numpy()].reset_index(drop=True)
    if part.empty:
        raise SpecError("no explanation has a rating and a known story: nothing can contradict")
    scales = _ends(part, criteria)
    low, high = scales[:, 0], scales[:, 1]
    y = (part["rating"].to_numpy(dtype=np.float64) - low) / np.where(high > low, high - low, 1.0)
    predicted, why = _predicted(part, y, seed)
    quoted = _quoted(part, criteria, y, low, high)
    decided = ~np.isnan(predicted) & (y != _MIDDLE)
    same = int((np.sign(predicted[decided] - _MIDDLE) == np.sign(y[decided] - _MIDDLE)).sum())
    told_by = wilson(same, int(decided.sum())) if decided.any() else Estimate.undefined(why or "no prediction")
    if told_by.value is not None and told_by.value < least_told:
        why = (
            f"the words of these texts predict the side of {100 * told_by.value:.0f} % of their ratings, and "
            f"{100 * least_told:.0f} % are needed: the rule on words was not used"
        )
        predicted = np.full(y.size, np.nan)
    by_words = np.sign(predicted - _MIDDLE) * np.sign(y - _MIDDLE) < 0
    by_words &= np.abs(predicted - _MIDDLE) >= MARGIN
    gap = np.where(np.isnan(quoted), np.abs(np.nan_to_num(predicted) - y), 1 + np.abs(quoted - y))
    places = np.flatnonzero(by_words | ~np.isnan(quoted))
    order = places[np.argsort(-np.round(gap[places], 9), kind="stable")]
    suggested = low + np.where(np.isnan(quoted), predicted, quoted) * (high - low)
    rows = tuple(_row(part.iloc[i], float(suggested[i]), quoted=not np.isnan(quoted[i])) for i in order)
    notes = [why] if why else []
    if lost := len(frame) - len(part):
        notes.append(f"{lost} texts without a rating or a known story are left out")
    return Contradictions(rows, len(part), told_by, tuple(notes), seed)


def _predicted(part: pd.DataFrame, y: Floats, seed: int) -> tuple[Floats, str | None]:
    """Predicted ratings (`y` and they are 0-1) and None, or NaN and the reason why the rule on words cannot be used."""
    nothing = np.full(y.size, np.nan)
    prompts = story_prompts(part)
    if y.size < LEAST_TEXTS or np.unique(prompts).size < LEAST_PROMPTS:
        return nothing, (
            f"the rule on words needs {LEAST_TEXTS} rated texts about {LEAST_PROMPTS} story-prompts, here are {y.size} "
            f"about {np.unique(prompts).size}: only the rule on guidelines was applied"
        )
    if np.all(y == y[0]):
        return nothing, "every text has the same rating: the rule on words has nothing to learn from"
    try:
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.linear_model import Ridge
    except ImportError as error:
        raise MissingExtraError("finding contradictions", "explain") from error
    words = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True)
    # The criterion is a word too: the same words can praise on one criterion and blame on another.
    named = [
        f"{text} criterion_{name.replace(' ', '_')}" for text, name in zip(part["text"], part["criterion"], strict=True)
    ]
    try:
        x = words.fit_transform(named)
    except ValueError:
        return nothing, "no word occurs in two texts: the rule on words has nothing to learn from"
    fold = deal(prompts, FOLDS, np.random.default_rng(seed))
    for number in np.unique(fold):
        held = fold == number
        fitted = Ridge(alpha=1.0, solver="sparse_cg", tol=1e-6).fit(x[~held], y[~held], _weights(y[~held]))
        nothing[held] = fitted.predict(x[held])
    return nothing, None


def _weights(y: Floats) -> Floats:
    side = np.sign(y - _MIDDLE)
    counts = {value: int((side == value).sum()) for value in np.unique(side)}
    # Equal totals below, at and above the middle; otherwise a rare rating would be predicted as a common one.
    return np.array([y.size / (len(counts) * counts[value]) for value in side], dtype=np.float64)


def _quoted(part: pd.DataFrame, criteria: Sequence[Criterion], y: Floats, low: Floats, high: Floats) -> Floats:
    """Scale point (0-1) that a text quotes on the side where its rating is not; NaN if none, or if both sides."""
    quoted = np.full(y.size, np.nan)
    points_of = {criterion.name: QuotedPoints(criterion) for criterion in criteria if criterion.guidelines}
    for i, (name, text) in enumerate(zip(part["criterion"], part["text"], strict=True)):
        if name not in points_of or high[i] <= low[i]:
            continue
        points = [(point - low[i]) / (high[i] - low[i]) for point, _ in points_of[name].of(text)]
        own = any(np.sign(quoted_point - _MIDDLE) == np.sign(y[i] - _MIDDLE) for quoted_point in points)
        if points and not own and (points[0] - _MIDDLE) * (y[i] - _MIDDLE) < 0:
            quoted[i] = points[0]
    return quoted


def _ends(part: pd.DataFrame, criteria: Sequence[Criterion]) -> Floats:
    """Lowest and highest point of each row's scale, shape (rows, 2)."""
    points = {criterion.name: criterion.scale.points() for criterion in criteria}
    own = {name: (float(scale[0]), float(scale[-1])) for name, scale in points.items()}
    seen = part.groupby("criterion")["rating"].agg(["min", "max"])
    ends = [own.get(name) or tuple(map(float, seen.loc[name])) for name in part["criterion"]]
    return np.array(ends, dtype=np.float64)


def _row(row: pd.Series[Any], suggested: float, *, quoted: bool) -> Contradiction:
    repeat = row["repeat"]
    return Contradiction(
        judge=str(row["judge"]) or None,
        eval_prompt=str(row["eval_prompt"]) or None,
        criterion=str(row["criterion"]) or None,
        story=str(row["story"]) or None,
        repeat=None if pd.isna(repeat) else int(repeat),
        rating=float(row["rating"]),
        suggested=suggested,
        rule="guideline" if quoted else "words",
        text=str(row["text"]),
    )


# The table of flagged contradictions, with the measured precision of the rules.

# Verdicts of a person on explanations that were read to measure the precision of a rule: the rule that flags an
# explanation if its words disagree with its rating. None of these explanations was used to set the rule, and the
# reader did not see which were flagged.

Sample = Literal["experts", "other deals"]
Verdict = Literal["contradicts", "hedged", "agrees"]
# Long enough that no two texts of a study share a mark, short enough to be read in a table.
_DIGITS = 16


@dataclass(frozen=True, slots=True)
class Read:
    """An explanation that a person read to measure the precision of the rule, whether it was flagged, and the verdict.
    `text` is the start of the text's hash, and `seed` the one with which the rule was applied."""

    sample: Sample
    judge: str
    story: str
    criterion: str
    text: str
    seed: int
    flagged: bool
    verdict: Verdict


def mark(text: str) -> str:
    """Start of a text's hash, which identifies it in the shipped file of read explanations."""
    return fingerprint_text(text)[:_DIGITS]


@functools.cache
def read_flags() -> tuple[Read, ...]:
    """The explanations that a person read to measure the rule's precision, from the file shipped with the package."""
    file = package_file("explanations", "quality", "contradicting", "read_flags.csv")
    rows = csv.DictReader(file.read_text(encoding="utf-8").splitlines())
    return tuple(
        Read(
            sample=cast("Sample", row["sample"]),
            judge=row["judge"],
            story=row["story"],
            criterion=row["criterion"],
            text=row["text"],
            seed=int(row["seed"]),
            flagged=row["flagged"] == "yes",
            verdict=cast("Verdict", row["verdict"]),
        )
        for row in rows
    )


def precision(sample: Sample, *, flagged: bool = True) -> tuple[int, int]:
    """(explanations that contradict their rating, all read) among those of a sample that the rule on words flagged.
    With `flagged` False, among those that it did not flag."""
    rows = [row for row in read_flags() if row.sample == sample and row.flagged == flagged]
    return sum(row.verdict == "contradicts" for row in rows), len(rows)


_WRAP = 70
_FRESH: dict[Sample, str] = {
    "experts": "of people's explanations, of which words tell too little, so that the rule is not used on such texts",
    "other deals": "of the same judges' answers that are flagged with other seeds alone",
}


def table(contradictions: Contradictions) -> Table:
    """The table of flagged texts, the clearest first, with counts and the measured precision of the rules."""
    columns = [
        *plain("judge", "eval_prompt", "criterion", "story", "repeat"),
        Column("rating", "rating", digits=1),
        Column("suggested", "text suggests", digits=1),
        Column("rule", "by"),
        Column("text", "text", text=True, wrap=_WRAP),
    ]
    rows = [{column.key: getattr(flag, column.key) for column in columns} for flag in contradictions.flagged]
    kept = [column for column in columns if not rows or any(row[column.key] is not None for row in rows)]
    title = "Texts to read: words or quoted guideline disagree with the rating"
    return Table(title, kept, rows, contradictions.signature, tuple(_notes(contradictions)))


def _notes(contradictions: Contradictions) -> Iterator[str]:
    count = f"{len(contradictions.flagged)} of {contradictions.texts}"
    yield f"flagged: {count} rated texts ({_percent(contradictions.share)} %)"
    for rule, right, read in AUDITED:
        share = _percent(wilson(right, read))
        sample_words = (
            "of five judges' answers to TTCW on which the rule was set, which flatters it: read a flag before it counts"
        )
        contradicted = f"{right} of {read} flagged answers contradicted their rating when read ({share} %)"
        yield f"precision of the rule on {rule}: {contradicted}, {sample_words}"
    for sample, sample_words in _FRESH.items():
        right, read = precision(sample)
        share = _percent(wilson(right, read))
        yield f"on texts that it was not set on it is lower: {right} of {read} ({share} %) {sample_words}"
    if any(flag.rule == "guideline" for flag in contradictions.flagged):
        yield "the rule on guidelines was not audited: no answer of the studies at hand was flagged by it"
    if contradictions.side_accuracy.value is not None:
        yield f"words predict the correct side of the scale for {_percent(contradictions.side_accuracy)} % of the texts"
    yield "words: predicted from the words of texts about other story-prompts; guideline: quotes that of another point"
    yield from contradictions.notes


def _percent(share: Estimate) -> str:
    if share.value is None or share.low is None or share.high is None:
        return "undefined"
    return f"{100 * share.value:.1f} [{100 * share.low:.1f}, {100 * share.high:.1f}]"
