"""The kinds of diagnostic tests for biases, with their wording and units, and the type of one finding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from judge.analysis.coverage.by_quality import DISTANCE, RATING, WORDS, gaps
from judge.base.wording import Advice, Note, written
from judge.ratings.rating_matrix import Cell, RatingMatrix
from judge.stats.estimation import sample_size
from judge.stats.resampling.jackknife import Tail, Test


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One kind of diagnostic test for a bias. `above` and `below` word a significant finding for a statistic above and
    below zero. `limit` is the largest bias that a certificate allows, in `limit_unit`; None where none is stated."""

    name: str
    unit: str
    tail: Tail
    above: str
    below: str
    limit: float | None = None
    limit_unit: str = ""


# Unit of a limit: the standard deviation of single ratings, people's or the judge's, whichever is smaller.
OF_SD = "sd of ratings"

REVERSED, COPY, REVERSED_RATER = "reversed", "copy", "reversed rater"
LOSS, MIDDLING = "loss", "middling loss"

# Name -> diagnostic, in the order of the table.
DIAGNOSTICS = {
    kind.name: kind
    for kind in (
        Diagnostic(
            "leniency", "points", "two-sided", "rates higher than people", "rates lower than people", 0.5, OF_SD
        ),
        Diagnostic(
            "length", "points per sd of log length", "two-sided", "rewards length", "punishes length", 0.2, OF_SD
        ),
        Diagnostic(
            "compression", "log ratio of sd", "less", "", "uses less of the scale than people", 0.4, "log ratio of sd"
        ),
        Diagnostic(
            "stuck", "share of ratings", "greater", "gives one rating far more often than people", "", 0.3, "of ratings"
        ),
        Diagnostic(
            "halo", "points per point", "greater", "mixes other criteria into a criterion", "", 0.3, "points per point"
        ),
        Diagnostic("self-preference", "points", "two-sided", "favours its own", "disfavours its own", 0.5, OF_SD),
        Diagnostic(LOSS, "points", "two-sided", *WORDS[RATING], 0.1, OF_SD),
        Diagnostic(MIDDLING, "points", "two-sided", *WORDS[DISTANCE], 0.1, OF_SD),
        Diagnostic(REVERSED, "r", "less", "", "rates against people, as with its scale turned round", 0.0,
                   "r with people"),
        Diagnostic(COPY, "kappa above the others'", "greater", "repeats one rater", ""),
        Diagnostic(REVERSED_RATER, "r", "less", "", "rates against the other raters"),
    )
}  # fmt: skip

# In place of a criterion's name: a test over all criteria.
ALL = "all criteria"

# In place of a judge's name: a test of people's own ratings.
PEOPLE = "people"

# Why self-preference is not tested where nobody says which systems are the judge's own.
NO_OWN = Note("no system is known to be this judge's own", Advice("{own}", own="SYSTEM"))

# What leniency is on two labels.
YES_BIAS = "yes-bias"


def yes_bias(label: str, judge: float, people: float) -> Diagnostic:
    """The kind of test that compares how often the judge and people give the positive label; names label and shares."""
    shares = f"than people: {100 * judge:.0f} % against {100 * people:.0f} %"
    above, below = (f"says {label} {often} often {shares}" for often in ("more", "less"))
    return Diagnostic(YES_BIAS, f"share of {label}", "two-sided", above, below, 0.1, f"share of {label}")


def loss_of(label: str) -> Diagnostic:
    """The kind of test of whether stories that people gave this label are lost more or less often than others."""
    above, below = (f"loses {more} of the stories that people call {label}" for more in ("more", "less"))
    return Diagnostic("loss", f"share of {label}", "two-sided", above, below, 0.05, f"share of {label}")


@dataclass(frozen=True, slots=True)
class Finding:
    """Result of one diagnostic test for one judge, Eval-Prompt and criterion.

    In the test of whether a rating is given too often, `point` is this rating, the most significant of `points_tested`.
    `adjusted` is p after adjustment over all tests. For labels, `label_kind` has the wording and unit, `label` is the
    name of `point`, and `on_codes` says whether the unit is codes instead of points. In tests of one rater, `label` is
    the rater. `applies` is False where the judge cannot have this fault here, for example loss where nothing was lost:
    the test is then not one that could not be made. `bounding` are tests whose intervals bound the effect, `test`
    itself if empty; one of them inside the limit is enough. `factor` turns their unit into that of the limit, and
    `at_most` is the largest possible effect in that unit, where known without a test."""

    dataset: str
    cell: Cell
    criterion: str
    diagnostic: str
    test: Test
    point: float | None = None
    adjusted: float | None = None
    points_tested: int = 1
    label_kind: Diagnostic | None = None
    label: str | None = None
    on_codes: bool = False
    applies: bool = True
    bounding: tuple[Test, ...] = ()
    factor: float = 1.0
    at_most: float | None = None

    @property
    def of_people(self) -> bool:
        """Whether this is a test of people's own ratings and not of a judge's."""
        return self.cell.judge == PEOPLE and not self.cell.run

    @property
    def of_all(self) -> bool:
        return self.criterion == ALL

    @property
    def kind(self) -> Diagnostic:
        return self.label_kind or DIAGNOSTICS[self.diagnostic]

    def detectable(self, alpha: float) -> float | None:
        """Smallest effect that the test would detect with 80 % power at level alpha, in the unit of its statistic. The
        adjustment over other tests is ignored. Where p is that of the most significant of several scale points, alpha
        is divided by their number. None where it cannot be computed."""
        test = self.test
        if test.se is None:
            return None
        effect = sample_size.minimum_detectable_effect(
            test.se, alpha=alpha / self.points_tested, df=test.df, two_sided=test.tail == "two-sided"
        )
        return test.bias + effect

    def finds(self, alpha: float) -> bool:
        """Whether the test is defined and significant at level alpha."""
        return self.test.estimate.value is not None and self.test.p is not None and self.test.p < alpha

    def verdict(self, alpha: float) -> str:
        """The result in words; ``-`` if it is not significant at level alpha, ``undefined`` without p."""
        value = self.test.estimate.value
        if value is None or self.test.p is None:
            return "undefined"
        if not self.finds(alpha):
            return "-"
        words = self.kind.above if value > 0 else self.kind.below
        which = self.label or (None if self.point is None else format(self.point, "g"))
        return words if which is None else f"{words} ({which})"


# Of the tests of loss, one is of the rating itself and one of its distance from the middle.
_BY_QUALITY = {RATING: LOSS, DISTANCE: MIDDLING}


def loss_tests(matrix: RatingMatrix, cell: int, criterion: int, spread: float) -> Iterator[Finding]:
    """The tests of loss against people's ratings, and against their distance from the middle. `spread` is the unit of
    the limits, in points. The limits are about the stories that are left: how far they lie, in the mean, from all those
    requested, which is the share lost times the tested difference between lost and kept."""
    of = matrix.cells[cell]
    for gap in gaps(matrix, cell, criterion):
        finding = Finding(matrix.dataset, of, of.criterion, _BY_QUALITY[gap.kind], gap.test)
        unit = gap.share / spread if spread > 0 else float("nan")
        yield replace(finding, applies=gap.loses, factor=unit, at_most=unit * gap.widest)


# Whether a bias is shown to lie within the limit of its kind: an equivalence test by the interval of the effect.

Ends = tuple[float, float]
State = Literal["within", "beyond", "cannot be told"]


@dataclass(frozen=True, slots=True)
class Bounded:
    """Whether one kind of bias is shown to be inside ("within") or outside ("beyond") of its limit. `ends` is the 95 %
    interval in the unit of the limit; None = none."""

    finding: Finding
    state: State
    ends: Ends | None
    words: str

    @property
    def within(self) -> bool:
        return self.state == "within"

    @property
    def asks_for_own(self) -> bool:
        """Whether it cannot be told because nobody said which systems are the judge's own."""
        return self.finding.test.estimate.reason == NO_OWN


def bounded(findings: Sequence[Finding]) -> list[Bounded]:
    """Each kind of bias that has a limit and that the judge can have here, against this limit."""
    return [_bounded(finding) for finding in findings if finding.applies and finding.kind.limit is not None]


def found_without_limit(findings: Sequence[Finding]) -> list[Finding]:
    """Those that no limit makes small: a repeated rater, and a person's scale turned round."""
    return [finding for finding in findings if finding.diagnostic in (COPY, REVERSED_RATER)]


def _bounded(finding: Finding) -> Bounded:
    kind, limit = finding.kind, finding.kind.limit or 0.0
    ends = [ends for test in finding.bounding or (finding.test,) if (ends := _ends(test, finding.factor)) is not None]
    inside = next((pair for pair in ends if _inside(pair, limit, kind.tail)), None)
    if inside is not None:
        return Bounded(finding, "within", inside, f"{_interval(inside)} {kind.limit_unit}")
    if finding.at_most is not None and finding.at_most < limit:
        most = finding.at_most
        return Bounded(finding, "within", (-most, most), f"at most {most:.2f} {kind.limit_unit}")
    allowed = f"{'±' if kind.tail == 'two-sided' else '-' if kind.tail == 'less' and limit else ''}{limit:g}"
    if not ends:
        reason = written(finding.test.estimate.reason or "no interval", None)
        return Bounded(finding, "cannot be told", None, f"cannot be told: {finding.diagnostic} ({reason})")
    value = f"{_interval(ends[0])} {kind.limit_unit}, allowed {'above' if kind.tail == 'less' else 'within'} {allowed}"
    if all(_outside(pair, limit, kind.tail) for pair in ends):
        return Bounded(finding, "beyond", ends[0], f"{finding.verdict(2.0)}: {value}")
    return Bounded(finding, "cannot be told", ends[0], f"cannot be told: {finding.diagnostic} {value}")


def _ends(test: Test, factor: float) -> Ends | None:
    low, high = test.estimate.low, test.estimate.high
    if low is None or high is None or not np.isfinite(factor):
        return None
    return low * factor, high * factor


def _inside(ends: Ends, limit: float, tail: Tail) -> bool:
    return (tail == "greater" or ends[0] > -limit) and (tail == "less" or ends[1] < limit)


def _outside(ends: Ends, limit: float, tail: Tail) -> bool:
    return (tail != "less" and ends[0] > limit) or (tail != "greater" and ends[1] < -limit)


def _interval(ends: Ends) -> str:
    return f"[{ends[0]:+.2f}, {ends[1]:+.2f}]"
