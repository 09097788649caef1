"""The report of a study in which people compare pairs: progress, agreement, sides, and how each person's repeats and
checks came out. Nobody is named as doubtful: for comparisons no cut was tried in simulations."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from judge.base.errors import SpecError
from judge.base.estimate import Estimate
from judge.base.records import PREFERRED, Pair, Preference
from judge.lab.people.options import PeopleOptions
from judge.lab.people.pair_study import LEFT, PLACES, RIGHT, preferred
from judge.lab.people.store import Answered, Study
from judge.stats.agreement import krippendorff
from judge.version import __version__

_BOTH_BAD = PLACES.index("Both bad")


@dataclass(frozen=True, slots=True)
class Comparing:
    """One person: pairs done, of how many; skips, active minutes; `agreement` is the share of others' preferences of
    the same pair and criterion that are the same (None: there are none); repeats with the same preference and checks
    with the whole story preferred, each of how many; shares of left among left and right, and of neither."""

    name: str
    done: tuple[int, int]
    skipped: int
    minutes: float
    agreement: float | None
    repeats: tuple[int, int]
    checks: tuple[int, int]
    left: float | None
    neither: float | None


@dataclass(frozen=True, slots=True)
class ComparedOn:
    """Comparisons on one criterion: how many, of how many pairs; Krippendorff's alpha (nominal: first, second, tie;
    each pair in both directions); shares of left among left and right, of ties, and of both bad."""

    criterion: str
    comparisons: int
    pairs: int
    alpha: Estimate
    left: float | None
    ties: float
    both_bad: float


@dataclass(frozen=True, slots=True, eq=False)
class ComparedReport:
    """Results of a study of pairs."""

    study: Study
    criteria: tuple[ComparedOn, ...]
    raters: tuple[Comparing, ...]
    options: PeopleOptions

    @property
    def signature(self) -> str:
        """Line with the study, the sequence number of its last answer, and options."""
        study, options = self.study, self.options
        return (
            f"study:{study.study_id}|pairs|answers to {study.sequence}|alpha:boot/{options.resamples}|"
            f"seed{options.seed}|v{__version__}"
        )


def report(study: Study, options: PeopleOptions | None = None) -> ComparedReport:
    """The report of a study of pairs at one moment. Raises SpecError before the first comparison."""
    options = options or PeopleOptions()
    if not study.given:
        raise SpecError(f"{study.path}: nobody has compared stories yet", hint=f"judge people serve {study.path}")
    names = [name for name in study.lists if name not in study.withdrawn]
    first = [one for one in study.answered if one.entry.use == "rating"]
    said: dict[tuple[int, int, str], dict[str, str]] = defaultdict(dict)
    for one in first:
        for name, value in one.state.values.items():
            said[(*key_of(one), name)][one.rater] = preferred(value, turned=turned(one))
    criteria = tuple(_on(criterion.name, said, first, names, options) for criterion in study.criteria)
    return ComparedReport(study, criteria, tuple(_comparing(study, name, said) for name in names), options)


def key_of(one: Answered) -> tuple[int, int]:
    """The pair's own order: that of the numbers of its texts."""
    left, right = sorted(one.entry.texts)
    return left, right


def turned(one: Answered) -> bool:
    """Whether the second story of the pair's own order stood left."""
    return one.entry.text == key_of(one)[1]


def _on(
    name: str,
    said: dict[tuple[int, int, str], dict[str, str]],
    first: list[Answered],
    names: list[str],
    options: PeopleOptions,
) -> ComparedOn:
    rows = [by_rater for (_, _, criterion), by_rater in said.items() if criterion == name]
    table = np.full((len(rows), len(names)), np.nan)
    for i, by_rater in enumerate(rows):
        for rater, value in by_rater.items():
            table[i, names.index(rater)] = PREFERRED.index(value)
    # Which story of a pair is called first is arbitrary: every pair counts in both directions.
    both = np.concatenate([table, np.where(table < PREFERRED.index("tie"), 1 - table, table)])
    pair = np.tile(np.arange(len(rows)), 2)
    rng = np.random.default_rng(options.seed)
    alpha = krippendorff.alpha(both, "nominal", rng, resamples=options.resamples, story=pair).estimate
    values = [one.state.values[name] for one in first if name in one.state.values]
    count = max(len(values), 1)
    both_bad = values.count(_BOTH_BAD)
    neither = len(values) - values.count(LEFT) - values.count(RIGHT)
    return ComparedOn(
        name, len(values), len(rows), alpha, _left(values), (neither - both_bad) / count, both_bad / count
    )


def _left(values: list[float]) -> float | None:
    sides = values.count(LEFT) + values.count(RIGHT)
    return values.count(LEFT) / sides if sides else None


def _comparing(study: Study, name: str, said: dict[tuple[int, int, str], dict[str, str]]) -> Comparing:
    own = [one for one in study.answered if one.rater == name]
    criteria = [criterion.name for criterion in study.criteria]

    def done(one: Answered) -> bool:
        return one.state.done(criteria)

    first = [one for one in own if one.entry.use == "rating"]
    values = [value for one in first for value in one.state.values.values()]
    same = [
        by_rater[name] == other
        for by_rater in said.values()
        if name in by_rater
        for rater, other in by_rater.items()
        if rater != name
    ]
    again, whole = [], []
    for one in own:
        for criterion, value in one.state.values.items():
            before = said.get((*key_of(one), criterion), {}).get(name)
            if one.entry.use == "repeat" and before is not None:
                again.append(preferred(value, turned=turned(one)) == before)
            elif one.entry.use == "check":
                left_whole = study.texts[one.entry.text].damage is None
                whole.append(value == (LEFT if left_whole else RIGHT))
    return Comparing(
        name=name,
        done=(sum(map(done, first)), sum(entry.use == "rating" for entry in study.lists[name])),
        skipped=sum(bool(one.state.skip) for one in own),
        minutes=sum(one.state.seconds for one in own) / 60,
        agreement=float(np.mean(same)) if same else None,
        repeats=(sum(again), len(again)),
        checks=(sum(whole), len(whole)),
        left=_left(values),
        neither=sum(value not in (LEFT, RIGHT) for value in values) / len(values) if values else None,
    )


def pairs_of(study: Study, answered: list[Answered]) -> list[Pair]:
    """The study's pairs with people's preferences, in the pair's own order; repeats, checks and practice left out."""
    keys = dict.fromkeys(tuple(sorted(e.texts)) for own in study.lists.values() for e in own if e.use == "rating")
    given: dict[tuple[int, ...], list[Preference]] = {key: [] for key in keys}
    for one in answered:
        if one.entry.use == "rating" and not one.state.skip:
            given[key_of(one)] += [
                Preference(name, preferred(value, turned=turned(one)), one.rater)
                for name, value in one.state.values.items()
            ]
    pairs = []
    for (a, b), preferences in given.items():
        left, right = study.texts[a], study.texts[b]
        pairs.append(
            Pair(f"{left.story}|{right.story}", left.story_prompt, left.story, right.story, tuple(preferences))
        )
    return pairs
