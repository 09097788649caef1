"""How many stories and people a study of ratings takes: how reliable the means are, how well tau with a judge is known,
how often the judge passes the alternative annotator test, hours and pay.

A rating is taken as story + rater + rest, on five points. The stories' share of its variance is ICC(A,1); of the noise
raters' leniency is a quarter unless people's ratings say otherwise. Everything but hours and pay is simulated; where a
figure falls with the root of the number of stories, it is simulated once and scaled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from judge.base.arrays import Codes, Floats
from judge.base.errors import OptionError, SpecError
from judge.base.estimate import Estimate
from judge.base.printing.tables import Column, Table, plain
from judge.base.records import Criterion, Rating
from judge.inputs.datasets import Dataset
from judge.lab.people.options import DesignOptions, StudyPlanOptions
from judge.lab.people.signs import work_of
from judge.lab.people.store import read_study
from judge.ratings.rating_matrix import sorted_from_rater_to_rater
from judge.stats.agreement import icc
from judge.stats.agreement.alt_test import person_differences
from judge.stats.agreement.crossed_effects import CrossedEffects, crossed_effects
from judge.stats.agreement.replacement_power import Moments, differences, power
from judge.stats.correlation import kendall
from judge.stats.correlation.human_ceiling import number_for, spearman_brown
from judge.version import __version__

STORIES, PEOPLE = (50, 100, 200, 400), (2, 3, 5, 8)
RELIABLE, HALF_WIDTH = 0.8, 0.1
# Taken where no people's ratings tell them: ICC(A,1), and leniency's share of the noise.
USUAL_ICC, LENIENCY = 0.3, 0.25
# Stories at which tau is simulated, and times; stories of the annotator test, of a story-prompt, and panels.
_AT, _TIMES, _MANY, _EACH, _PANELS = 200, 1000, 1500, 5, 100
# Studies behind the range of estimates of ICC(A,k).
_RANGES = 200
# Points of the scale in standard deviations of one rating, and the share of a story's quality that its prompt has.
_SPREAD, _OF_PROMPT = 1.0, 0.3


@dataclass(frozen=True, slots=True)
class Shares:
    """What a plan starts from: ICC(A,1) of one rating, leniency's share of the noise, and where they come from.
    `by_criterion` maps criteria that people rated to their ICC of one rating."""

    single: float
    leniency: float
    source: str
    by_criterion: tuple[tuple[str, Estimate], ...] = ()


@dataclass(frozen=True, slots=True)
class Size:
    """One size of a study: `average` is ICC(A,k) of the means, with the range of 95 % of its estimates; `half_width`
    that of tau's 95 % interval; `passes` the share of studies in which a judge as noisy as one person passes the
    alternative annotator test, with epsilon .2 and .1, if all `people` rate every story."""

    people: int
    stories: int
    average: float
    low: float
    high: float
    half_width: float
    passes: tuple[float, float]
    hours: float
    pay: float


@dataclass(frozen=True, slots=True, eq=False)
class Planned:
    """Sizes of a study of stories with `words` words on average, rated on `criteria` criteria."""

    shares: Shares
    sizes: tuple[Size, ...]
    words: float
    criteria: int
    options: StudyPlanOptions
    design: DesignOptions


def shares_of(options: StudyPlanOptions, dataset: Dataset | None = None, criteria: Sequence[Criterion] = ()) -> Shares:
    """The shares of a pilot's file, else as given, else of those who rated `dataset` already, else usual ones. Of
    several criteria the middle one counts. Raises SpecError where a pilot tells nothing."""
    if options.pilot_study is not None:
        return _of_pilot(options.pilot_study)
    if options.icc is not None:
        return Shares(options.icc, LENIENCY, f"ICC(A,1) {options.icc:g}, as given")
    shares = None if dataset is None else _of_people(dataset, criteria)
    return shares or Shares(USUAL_ICC, LENIENCY, f"ICC(A,1) {USUAL_ICC:g}, taken as usual: no people's ratings tell it")


def _of_pilot(path: Path) -> Shares:
    study = read_study(path)
    if study.pairs:
        raise SpecError(f"{study.path} holds comparisons, which tell no ICC", hint="give a study of ratings")
    work, _, _ = work_of(study)
    numeric = [(c, one.name) for c, one in enumerate(study.criteria) if one.scale.numeric]
    fits = [(name, _fit(work.ratings[:, :, c])) for c, name in numeric]
    shares = _middle(fits, f"{study.path.name}: {study.given} ratings")
    if shares is None:
        raise SpecError(f"{study.path}: too few ratings to tell how people differ", hint="30 stories that all rate")
    return shares


def _of_people(dataset: Dataset, criteria: Sequence[Criterion]) -> Shares | None:
    """Shares of the people whose ratings a dataset holds, on the criteria asked if they rated one of them, else on all;
    None without such ratings, where labels stand in their place, or where no ICC lies between 0 and 1."""
    if dataset.labels_note:
        return None
    stories = list(dataset.stories())
    wanted = {one.name.casefold() for one in criteria}
    names = dict.fromkeys(rating.criterion for story in stories for rating in story.ratings)
    asked = [name for name in names if name.casefold() in wanted] or list(names)
    fits = []
    for name in asked:
        scale = dataset.labels.of(name)
        given = [[one for one in story.ratings if one.criterion == name] for story in stories]
        if scale is None or scale.numeric:
            fits.append((name, _fit(*_by_person([ratings for ratings in given if ratings]))))
    count = sum(len(story.ratings) for story in stories)
    return _middle(fits, f"people's {count} ratings in {dataset.name}")


def _by_person(given: Sequence[Sequence[Rating]]) -> tuple[Floats, bool]:
    """Ratings (stories, people), and whether a column is a person; else it is a place among a story's ratings."""
    names = list(dict.fromkeys(one.rater for ratings in given for one in ratings))
    if None not in names:
        wide = np.full((len(given), len(names)), np.nan)
        place = {name: column for column, name in enumerate(names)}
        for row, ratings in enumerate(given):
            wide[row, [place[one.rater] for one in ratings]] = [one.value for one in ratings]
        if not sorted_from_rater_to_rater(wide):
            return wide, True
    # As many of each story as most stories have.
    usual = int(np.bincount([len(ratings) for ratings in given]).argmax())
    return np.array([[one.value for one in ratings[:usual]] for ratings in given if len(ratings) >= usual]), False


def _fit(ratings: Floats, known: bool = True) -> CrossedEffects | Estimate:
    """Story, rater and rest; where nobody knows who rated, the one-way ICC, which counts leniency as noise."""
    if not known:
        return icc.from_0(icc.family(ratings, columns="raters"))["ICC(1,1)"].estimate
    story, rater = np.nonzero(~np.isnan(ratings))
    if not story.size:
        return Estimate.undefined("no rating")
    return crossed_effects(story.astype(np.int64), rater.astype(np.int64), ratings[story, rater], k=3)


def _middle(fits: Sequence[tuple[str, CrossedEffects | Estimate]], source: str) -> Shares | None:
    """The shares of the criterion with the middle ICC; None where no criterion has one between 0 and 1."""
    singles = [(name, fit if isinstance(fit, Estimate) else fit.single) for name, fit in fits]
    known = sorted((one.value, name) for name, one in singles if one.value is not None and 0 < one.value < 1)
    if not known:
        return None
    value, name = known[len(known) // 2]
    middle, single = dict(fits)[name], dict(singles)[name]
    leniency, form = LENIENCY, "ICC(1,1), raters unknown,"
    if isinstance(middle, CrossedEffects):
        noise = (middle.rater or 0) + (middle.error or 0)
        leniency, form = (middle.rater or 0) / noise if noise > 0 else 0.0, "ICC(A,1)"
    ends = "" if single.low is None or single.high is None else f" [{single.low:.2f}, {single.high:.2f}]"
    which = f" ({name}, the middle of {len(known)} criteria)" if len(known) > 1 else f" ({name})"
    return Shares(value, leniency, f"{form} {value:.2f}{ends} of {source}{which}", tuple(singles))


def plan(dataset: Dataset, criteria: Sequence[Criterion], options: StudyPlanOptions, design: DesignOptions) -> Planned:
    """What studies of several sizes would tell of stories like these. Raises SpecError without a text."""
    lengths = [len(story.text.split()) for story in dataset.stories() if story.text.strip()]
    if not lengths:
        raise SpecError("no story has a text", hint="judge data show DATASET")
    shares, words = shares_of(options, dataset, criteria), float(np.mean(lengths))
    if not 0 < shares.single < 1:
        raise OptionError("icc", shares.single, "must lie between 0 and 1: else no number of people is reliable")
    rng = np.random.default_rng(design.seed)
    # Each story's reading and answers, and those of its share of repeats and damaged versions.
    minutes = (words / design.words_per_minute + (10 * len(criteria) + 15) / 60) * (1 + 2 * design.checks)
    sizes = []
    for people in PEOPLE:
        wide = _spread_of_tau(shares, people, options.judged, rng) * np.sqrt(_AT)
        tests = panels(shares, people, rng)
        for count in STORIES:
            low, high = _range(shares, people, count, rng)
            hours = count * people * minutes / 60
            passes = [
                float(np.mean([power(one, count // _EACH, epsilon, seed=design.seed, draws=200) for one in tests]))
                for epsilon in (0.2, 0.1)
            ]
            average = float(spearman_brown(shares.single, people))
            half = float(1.96 * wide / np.sqrt(count))
            sizes.append(
                Size(people, count, average, low, high, half, (passes[0], passes[1]), hours, hours * options.pay)
            )
    return Planned(shares, tuple(sizes), words, len(criteria), options, design)


def rated(shares: Shares, truth: Floats, people: int, rng: np.random.Generator, *, points: bool = True) -> Floats:
    """Ratings (..., stories, people) of stories with the quality `truth` (..., stories), of variance 1, by all."""
    noise = 1 - shares.single
    lenient = np.sqrt(shares.leniency * noise) * rng.normal(size=(*truth.shape[:-1], 1, people))
    rest = np.sqrt((1 - shares.leniency) * noise) * rng.normal(size=(*truth.shape, people))
    values: Floats = 3 + _SPREAD * (np.sqrt(shares.single) * truth[..., None] + lenient + rest)
    return np.clip(np.round(values), 1, 5) if points else values


def truths(studies: int, stories: int, rng: np.random.Generator) -> Floats:
    """Quality (studies, stories) of stories, `_EACH` of a story-prompt, which share a part of it."""
    prompt = np.repeat(rng.normal(size=(studies, -(-stories // _EACH))), _EACH, axis=1)[:, :stories]
    own = rng.normal(size=(studies, stories))
    quality: Floats = np.sqrt(_OF_PROMPT) * prompt + np.sqrt(1 - _OF_PROMPT) * own
    return quality


def _spread_of_tau(shares: Shares, people: int, judged: float, rng: np.random.Generator) -> float:
    truth = truths(_TIMES, _AT, rng)
    judge = 3 + _SPREAD * (judged * truth + np.sqrt(1 - judged**2) * rng.normal(size=truth.shape))
    points = np.clip(np.round(judge), 1, 5)
    means = rated(shares, truth, people, rng).mean(axis=-1)
    taus = [kendall.tau_b(kendall.codes(x), kendall.codes(y)) for x, y in zip(points, means, strict=True)]
    return float(np.nanstd(taus))


def panels(shares: Shares, people: int, rng: np.random.Generator) -> list[Moments]:
    """What the alternative annotator test sees of a judge that is as noisy as one person, and neither strict nor
    lenient, beside several panels of `people`: whether one is lenient decides much of it."""
    cluster: Codes = np.arange(_MANY, dtype=np.int64) // _EACH
    moments = []
    for truth in truths(_PANELS, _MANY, rng):
        judge = rated(Shares(shares.single, 0.0, ""), truth, 1, rng)[:, 0]
        given = person_differences(judge, rated(shares, truth, people, rng))
        moments.append(differences(given, cluster).moments())
    return moments


def _range(shares: Shares, people: int, stories: int, rng: np.random.Generator) -> tuple[float, float]:
    # Of the ratings' own ICC: rounding to points is part of the rest.
    drawn = rated(shares, truths(_RANGES, stories, rng), people, rng, points=False)
    estimates = icc.values(icc.mean_squares(drawn))["ICC(2,k)"]
    low, high = np.nanquantile(estimates, [0.025, 0.975])
    return float(low), float(high)


def plan_table(planned: Planned) -> Table:
    """One row a size, with the rules of thumb below."""
    shares, options = planned.shares, planned.options
    rows = [
        {
            "people": size.people,
            "stories": size.stories,
            "average": f"{size.average:.2f} ({size.low:.2f}–{size.high:.2f})",
            "tau": f"±{100 * size.half_width:.0f}",
            "loose": size.passes[0],
            "strict": size.passes[1],
            "hours": round(size.hours),
            "pay": round(size.pay),
        }
        for size in planned.sizes
    ]
    columns = [*plain(("people", "people a story"), "stories", ("average", "ICC(A,k), estimates"), ("tau", "tau x100"))]
    columns += [Column(key, title, digits=0, factor=100) for key, title in _TESTS]
    columns += plain("hours", "pay")
    needed = number_for(shares.single, RELIABLE)
    least = 1 / (1 + 3 * (1 - RELIABLE) / RELIABLE)
    enough = min((size for size in planned.sizes if size.people == 3), key=_stories_for)
    notes = [
        f"from {shares.source}; a judge that correlates {options.judged:g} with what many people would say",
        f"reliable at {RELIABLE:g}: {needed} people a story; three only where ICC(A,1) is {least:.2f} or more",
        f"tau x100 to ±{100 * HALF_WIDTH:.0f}: about {_stories_for(enough)} stories, however many people rate each",
        "more people a story raise tau, and hardly narrow it",
        "estimates: the range in which 95 % of a study's estimates of ICC(A,k) fall, if all rate all stories",
        "test: a judge as noisy as one person passes the alternative annotator test, if these people rate all stories",
        f"hours: {planned.words:.0f} words a story, {planned.criteria} criteria, checks; pay: {options.pay:g} an hour",
    ]
    if shares.by_criterion:
        each = [f"{name} {'?' if one.value is None else f'{one.value:.2f}'}" for name, one in shares.by_criterion]
        notes.append(f"ICC of one rating by criterion: {', '.join(each)}")
    else:
        notes.append(_PUBLISHED)
    line = (
        f"plan:people|icc:{shares.single:.3g}|leniency:{shares.leniency:.2g}|judge:{options.judged:g}|"
        f"simulated:{_TIMES}|seed{planned.design.seed}|v{__version__}"
    )
    return Table("What a study of ratings takes", columns, rows, line, notes)


def _stories_for(size: Size) -> int:
    """Number of stories that hold tau's interval within `HALF_WIDTH`, to tens."""
    return int(-(-size.stories * (size.half_width / HALF_WIDTH) ** 2 // 10) * 10)


_TESTS = (("loose", "test .2 %"), ("strict", "test .1 %"))
# ICC(2,3) as HANNA's authors print it, turned back to one rating by Spearman and Brown's formula.
_PUBLISHED = (
    "HANNA's printed ICC(2,3) of .28 to .56 are .11 to .30 of one rating: .8 would take 10 to 31 people a story there"
)
