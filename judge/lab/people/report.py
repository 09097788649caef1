"""The report of a study: progress, agreement, whose work stands out, and what leaving them out does."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from judge.base.arrays import Floats, Masks
from judge.base.errors import SpecError
from judge.base.estimate import Estimate
from judge.lab.people.options import PeopleOptions
from judge.lab.people.signs import Judged as Doubts
from judge.lab.people.signs import Work, in_order, judged, openmeva, work_of
from judge.lab.people.store import Study
from judge.lab.people.with_judge import Judged, JudgeFound, with_judge
from judge.stats.agreement import krippendorff
from judge.stats.agreement.crossed_effects import crossed_effects
from judge.version import __version__

# Below this number of stories a rater, simulated careless raters were found in fewer than four of five cases.
ENOUGH = 24


@dataclass(frozen=True, slots=True)
class RaterFound:
    """One rater: stories rated of those asked, active minutes, signs, checks in the right order, and doubts."""

    name: str
    done: int
    asked: int
    skipped: int
    minutes: float
    words_per_minute: float | None
    signs: dict[str, float | None]
    checks: tuple[int, int]
    total: float
    doubted: bool
    doubted_independently: bool


@dataclass(frozen=True, slots=True)
class AgreementFound:
    """Agreement on one criterion: ICC(A,1), ICC(A,k) of the mean of `k` ratings, Krippendorff's alpha (interval)."""

    criterion: str
    single: Estimate
    average: Estimate
    alpha: Estimate
    ratings: int


@dataclass(frozen=True, slots=True, eq=False)
class PeopleReport:
    """Results of a study. `kept` is agreement without those in doubt; `unseen` maps a criterion to the ICC(A,1) of the
    kept on stories that were not used to choose them; both are empty where nobody is in doubt. `judges` are those of a
    run that rated the same stories."""

    study: Study
    options: PeopleOptions
    raters: tuple[RaterFound, ...]
    everybody: tuple[AgreementFound, ...]
    kept: tuple[AgreementFound, ...]
    unseen: dict[str, float | None]
    lost: int
    usual: int
    judged: Doubts
    judges: tuple[JudgeFound, ...] = ()

    @property
    def signature(self) -> str:
        """Line with the study, the sequence number of its last answer, and options."""
        options = self.options
        return (
            f"study:{self.study.study_id}|answers to {self.study.sequence}|rule:{options.rule}/{options.false:g}/"
            f"{options.simulated}|alpha:boot/{options.resamples}|seed{options.seed}|v{__version__}"
        )


def report(
    study: Study, options: PeopleOptions | None = None, judges: Mapping[str, Judged] | None = None
) -> PeopleReport:
    """The report of a study at one moment, with tau of `judges` by name. Raises SpecError before the first rating."""
    options = options or PeopleOptions()
    if not study.given:
        raise SpecError(f"{study.path}: nobody has rated a story yet", hint=f"judge people serve {study.path}")
    work, names, _ = work_of(study)
    with warnings.catch_warnings():
        # Raters without an answer have no mean.
        warnings.simplefilter("ignore", RuntimeWarning)
        found = judged(work, false=options.false, simulated=options.simulated, rng=np.random.default_rng(options.seed))
        doubted = openmeva(work) if options.rule == "openmeva" else found.doubted
        kept = _agreement(work.without(doubted), study, options) if doubted.any() else ()
        unseen = _unseen(work, study, options) if doubted.any() and options.rule == "signs" else {}
        orders = in_order(work)
    raters = tuple(_rater(study, name, i, found, doubted, orders[i], work.pace[i]) for i, name in enumerate(names))
    lost = int((~np.isnan(work.ratings[:, doubted])).sum())
    usual = int(np.median((~np.isnan(work.ratings).all(axis=2)).sum(axis=0)))
    everybody = _agreement(work, study, options)
    out = frozenset(one.name for one in raters if one.doubted)
    beside = tuple(
        JudgeFound(name, with_judge(study, one), with_judge(study, one, without=out) if out else None)
        for name, one in (judges or {}).items()
    )
    return PeopleReport(study, options, raters, everybody, kept, unseen, lost, usual, found, beside)


def _rater(
    study: Study, name: str, i: int, found: Doubts, doubted: Masks, order: tuple[int, int], pace: float
) -> RaterFound:
    own = [one for one in study.answered if one.rater == name]
    criteria = [criterion.name for criterion in study.criteria]
    names = ("agreement", "repeats", "damaged", "speed", "spread", "identical")
    shown = [np.tanh(found.signs[i, 0]), -found.signs[i, 1], *found.signs[i, 2:5], -found.signs[i, 5]]
    return RaterFound(
        name=name,
        done=sum(one.entry.use == "rating" and one.state.done(criteria) for one in own),
        asked=sum(entry.use == "rating" for entry in study.lists[name]),
        skipped=sum(bool(one.state.skip) for one in own),
        minutes=sum(one.state.seconds for one in own) / 60,
        words_per_minute=None if np.isnan(pace) else float(pace),
        signs={key: None if np.isnan(value) else float(value) for key, value in zip(names, shown, strict=True)},
        checks=order,
        total=float(found.total[i]),
        doubted=bool(doubted[i]),
        doubted_independently=bool(found.doubted_independently[i]),
    )


def _agreement(work: Work, study: Study, options: PeopleOptions) -> tuple[AgreementFound, ...]:
    """Agreement on each criterion, with all ratings that `work` holds."""
    rows = []
    for c, criterion in enumerate(study.criteria):
        ratings: Floats = work.ratings[:, :, c]
        story, rater = np.nonzero(~np.isnan(ratings))
        per_story = np.bincount(story, minlength=len(ratings))
        k = float(np.median(per_story[per_story > 0])) if len(story) else 1.0
        level = "interval" if criterion.scale.numeric else "nominal"
        if criterion.scale.numeric:
            fit = crossed_effects(story.astype(np.int64), rater.astype(np.int64), ratings[story, rater], k=k)
            single, average = fit.single, fit.average
        else:
            single = average = Estimate.undefined("labels without an order have no mean", len(story))
        rng = np.random.default_rng(options.seed)
        alpha = krippendorff.alpha(ratings, level, rng, resamples=options.resamples).estimate  # type: ignore[arg-type]
        rows.append(AgreementFound(criterion.name, single, average, alpha, len(story)))
    return tuple(rows)


def _unseen(work: Work, study: Study, options: PeopleOptions) -> dict[str, float | None]:
    """Mean ICC(A,1) of the kept on each half of the stories, where those in doubt were found on the other half."""
    rng = np.random.default_rng(options.seed)
    first = np.isin(np.arange(len(work.ratings)), rng.permutation(len(work.ratings))[::2])
    values: dict[str, list[float]] = {criterion.name: [] for criterion in study.criteria}
    for half in (first, ~first):
        seen = np.where(half[:, None, None], work.ratings, np.nan)
        found = judged(replace(work, ratings=seen), false=options.false, simulated=options.simulated, rng=rng)
        rest = replace(work, ratings=np.where(half[:, None, None], np.nan, work.ratings)).without(found.doubted)
        for row in _agreement(rest, study, replace(options, resamples=0)):
            if row.single.value is not None:
                values[row.criterion].append(row.single.value)
    return {name: float(np.mean(each)) if len(each) == 2 else None for name, each in values.items()}
