"""The kinds of diagnostic tests for biases, with their wording and units, and the type of one finding."""

from __future__ import annotations

from dataclasses import dataclass

from judge.rating_matrix import Cell
from judge.stats.estimation import power
from judge.stats.resampling.jackknife import Tail, Test


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One kind of diagnostic test for a bias.

    `unit` is that of its statistic, and `tail` says whether p is one- or two-sided. `above` and `below` are the wording
    of a significant finding for a statistic above and below zero.
    """

    name: str
    unit: str
    tail: Tail
    above: str
    below: str


DIAGNOSTICS = {
    "leniency": Diagnostic("leniency", "points", "two-sided", "rates higher than people", "rates lower than people"),
    "length": Diagnostic("length", "points per sd of log length", "two-sided", "rewards length", "punishes length"),
    "compression": Diagnostic("compression", "log ratio of sd", "less", "", "uses less of the scale than people"),
    "stuck": Diagnostic("stuck", "share of ratings", "greater", "gives one rating far too often", ""),
    "halo": Diagnostic("halo", "points per point", "greater", "mixes other criteria into a criterion", ""),
    "self-preference": Diagnostic("self-preference", "points", "two-sided", "favours its own", "disfavours its own"),
    "loss": Diagnostic("loss", "points", "two-sided", "loses the better stories", "loses the worse stories"),
}
"""Name -> diagnostic, in the order of the table."""

YES_BIAS = "yes-bias"
"""What leniency is on two labels."""


def yes_bias(label: str, judge: float, people: float) -> Diagnostic:
    """The kind of test that compares how often the judge and people give the positive label.

    Its wording names this label and the shares of stories to which the judge and people give it.
    """
    shares = f"than people: {100 * judge:.0f} % against {100 * people:.0f} %"
    above, below = (f"says {label} {often} often {shares}" for often in ("more", "less"))
    return Diagnostic(YES_BIAS, f"share of {label}", "two-sided", above, below)


def loss_of(label: str) -> Diagnostic:
    """The kind of test of whether the judge fails to rate stories with this label more or less often than other
    stories.

    The label is the one that people gave; the wording of the test names it.
    """
    above, below = (f"loses {more} of the stories that people call {label}" for more in ("more", "less"))
    return Diagnostic("loss", f"share of {label}", "two-sided", above, below)


@dataclass(frozen=True, slots=True)
class Finding:
    """Result of one diagnostic test for one judge, Eval-Prompt and criterion.

    `cell` names the run, judge and Eval-Prompt. In the test of whether a rating is given too often, `point` is this
    rating, the most significant of `points_tested` ratings; in other tests it is None. `adjusted` is p after adjustment
    over all tests. For labels, `label_kind` has the wording and unit of the test, `label` is the name of `point`, and
    `on_codes` says whether the unit is codes of labels instead of points.
    """

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

    @property
    def kind(self) -> Diagnostic:
        """The kind of diagnostic test that this finding is the result of."""
        return self.label_kind or DIAGNOSTICS[self.diagnostic]

    def detectable(self, alpha: float) -> float | None:
        """Smallest effect that the test would detect with 80 % power at level alpha, in the unit of its statistic.

        The adjustment over other tests is ignored. Where p is that of the most significant of several scale points,
        alpha is divided by their number. None where it cannot be computed.
        """
        test = self.test
        if test.se is None:
            return None
        effect = power.minimum_detectable_effect(
            test.se, alpha=alpha / self.points_tested, df=test.df, two_sided=test.tail == "two-sided"
        )
        return test.bias + effect

    def finds(self, alpha: float) -> bool:
        """Whether the test is defined and significant at level alpha."""
        return self.test.estimate.value is not None and self.test.p is not None and self.test.p < alpha

    def verdict(self, alpha: float) -> str:
        """Result of the test in words; ``-`` if it is not significant at level alpha, ``undefined`` if it has no p."""
        value = self.test.estimate.value
        if value is None or self.test.p is None:
            return "undefined"
        if not self.finds(alpha):
            return "-"
        words = self.kind.above if value > 0 else self.kind.below
        return f"{words} ({self.label or format(self.point, 'g')})" if self.point is not None else words
