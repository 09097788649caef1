"""Rules that give the verdicts of a summary. A verdict is the answer to a question in a few words, and is printed with
its rule.

Agreement is compared with 0, with the control (a surface-feature baseline) and with one more human rater, by the
interval of the correlation and the intervals of paired differences. Consistency is classified by the bounds of Koo & Li
(2016, A guideline of selecting and reporting intraclass correlation coefficients for reliability research, J.
Chiropractic Medicine 15(2), p. 161): .5, .75, .9. `RULES` and docs/summary.md say when each verdict is given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from judge.analysis.agreement.alternative_annotator import AltTestRow
from judge.analysis.comparison.sentence import leaves_zero_out
from judge.analysis.correlation.margins import CEILING, CONTROL, Bar, Margin
from judge.analysis.labels import ConfusionRow
from judge.stats.estimate import Estimate
from judge.summary.answers import Verdict

FEW_SYSTEMS = 10
"""Below, a correlation over system means is too rough to read, whatever its interval (docs/pitfalls.md)."""

WIDE = 0.10
"""Half of the interval of tau from which more story-prompts are wanted."""

_BOUNDS = ((0.9, "excellent"), (0.75, "good"), (0.5, "moderate"))


def of_agreement(best: Margin) -> Verdict:
    """Verdict of a summary on a judge's agreement with people: whether the correlation of their ratings is above 0, and
    how it compares with that of the control (a surface-feature baseline) and that of one more human rater.
    """
    shown = leaves_zero_out(best.value)
    value = best.value.value
    rule = "by the 95 % interval of the correlation"
    if value is None:
        return Verdict("undefined", rule)
    if shown is False or value <= 0:
        return Verdict("near none", f"{rule}, which holds 0" if shown is False else "the correlation is not above 0")
    parts = [part for part in (_beside(best, CONTROL), _beside(best, CEILING)) if part]
    if not parts:
        return Verdict("some agreement", f"{rule}, which lies above 0" if shown else "no interval")
    return Verdict(", ".join(parts), "by the 95 % intervals of the paired differences")


def _beside(best: Margin, bar: Bar) -> str | None:
    over = best.over.get(bar)
    if over is None or over.value is None or (bar == CONTROL and best.control):
        return None
    shown = leaves_zero_out(over)
    if bar == CONTROL:
        if not shown:
            return "not told apart from the control"
        return "above the control" if over.value > 0 else "below the control"
    if shown is None:
        # Without an interval a distance from people, however large, would pass for none.
        return None
    return "below people" if shown and over.value < 0 else "within people's range"


def of_labels(best: ConfusionRow) -> Verdict:
    """Verdict of a summary on a judge's labels: their balanced accuracy against people's labels, compared with that of
    uninformed judges (which do not use the story) and of one human rater.
    """
    value = best.statistics["balanced_accuracy"]
    if value.value is None:
        return Verdict("undefined", "by balanced accuracy")
    beside = best.beside.get("balanced_accuracy")
    if value.low is None or value.high is None:
        words = ["above chance" if value.value > best.chance else "not above chance"]
    elif value.low <= best.chance <= value.high:
        words = ["not told apart from chance"]
    else:
        words = ["above chance" if value.low > best.chance else "below chance"]
    if beside is not None and beside.over.value is not None:
        apart = leaves_zero_out(beside.over)
        if apart is not None:
            words.append("below people" if apart and beside.over.value < 0 else "within people's range")
    rule = "by the 95 % intervals of balanced accuracy and of its distance from one person's"
    return Verdict(", ".join(words), rule if value.low is not None else "by balanced accuracy; no interval")


def of_loss(rated: int, asked: int) -> Verdict:
    """Verdict of a summary on missing ratings of judges: the share of the requested repeats that have no rating.
    `asked` repeats were requested, and `rated` have a rating.
    """
    if rated == asked:
        return Verdict("nothing", "of the repeats requested")
    share = 100 * (asked - rated) / asked
    return Verdict(f"{share:.1f} %" if share >= 0.05 else "less than 0.1 %", "of the repeats requested")


def of_consistency(median: float) -> Verdict:
    """Verdict of a summary on a judge's self-consistency (excellent, good, moderate or poor), from the median ICC(1,1)
    over repeats.
    """
    word = next((word for bound, word in _BOUNDS if median > bound), "poor")
    return Verdict(word, "median ICC(1,1); bounds .5, .75 and .9 (Koo & Li 2016)")


def of_replacement(tests: Sequence[AltTestRow], nulls: Sequence[str], below_people: bool) -> Verdict:
    """Verdict of a summary on whether the judge may replace an annotator, from its alternative annotator tests (one for
    each criterion). A criterion on which an uninformed judge (one that does not use the story) passes too is not
    counted as evidence.

    `nulls` are the human criteria on which the uninformed judge passes. `below_people` says that the judge's tau is
    significantly below that of one more human rater.
    """
    rule = "by the alternative annotator test, standard errors over story-prompts"
    tested = [row for row in tests if row.winning_rate.defined]
    if not tested:
        return Verdict("cannot be tested", "people are known one by one, 30 stories each")
    passed = [row for row in tested if passes(row)]
    proven = [row for row in passed if row.subject.against not in nulls]
    if len(proven) == len(tested):
        return Verdict("yes", rule)
    if proven:
        return Verdict(f"on {len(proven)} of {len(tested)} criteria", rule)
    if passed:
        return Verdict("shows nothing", "an uninformed judge passes the test too")
    if below_people:
        return Verdict("no", f"{rule}; tau lies below one more person's")
    return Verdict("not shown", rule)


def passes(row: AltTestRow) -> bool:
    """Whether a judge passes the alternative annotator test on a criterion. It must pass the published test and, where
    that is defined, the test with standard errors clustered by story-prompt.
    """
    return bool(row.passed if row.clustered_passed is None else row.clustered_passed and row.passed)


def of_variants(differences: Sequence[Estimate]) -> Verdict:
    """Verdict of a summary on whether the best of several Eval-Prompts or judges is clearly better than the others;
    `differences` holds, for each of the others, its Kendall's tau with people minus that of the best.
    """
    rule = "by the 95 % intervals of the paired differences of tau"
    defined = [difference for difference in differences if difference.value is not None]
    if not defined:
        return Verdict("cannot be said", rule)
    shown = [leaves_zero_out(difference) for difference in defined]
    if None in shown:
        return Verdict("cannot be said", rule)
    level = [difference for difference, apart in zip(defined, shown, strict=True) if not apart]
    if not level:
        return Verdict("leads", rule)
    others = len(differences)
    return Verdict("tied with the other" if others == 1 else f"tied with {len(level)} of {others} others", rule)


def of_systems(value: Estimate, systems: int) -> Verdict:
    """Verdict of a summary on whether a judge and people agree about systems: whether Kendall's tau between their
    system means differs from 0. `value` is this tau; with too few `systems` the verdict says so.
    """
    if value.value is None:
        return Verdict("undefined", "tau over system means")
    if systems < FEW_SYSTEMS:
        return Verdict("too few systems", f"fewer than {FEW_SYSTEMS}")
    rule = "by the 95 % interval of tau over system means"
    shown = leaves_zero_out(value)
    if shown is None:
        return Verdict("no interval", rule)
    if shown:
        return Verdict("better than chance" if value.value > 0 else "against people", rule)
    return Verdict("not shown", rule)


def of_faults(findings: int, tested: int) -> Verdict:
    """Verdict of a summary on faults of a judge, such as a bias for long stories: the number of tests that are
    significant after Holm's adjustment, and the number of all tests, for one pair of judge and Eval-Prompt.
    """
    rule = "tests against people's ratings, Holm at .05"
    if not tested:
        return Verdict("not tested", "people's ratings are needed")
    return Verdict(f"faults in {findings} of {tested} tests" if findings else "nothing found", rule)


def of_contamination(*, measured: bool, recital: bool = False, recited: int = 0, blunt: bool = False) -> Verdict:
    """Verdict of a summary on whether the judge's model has seen the stories. `measured`: there are contamination
    scores. `recital`: it was tested whether the model recites the stories, and `recited` counts the stories recited.
    `blunt`: the model recites no well-known passages either, so that the test is uninformative.
    """
    rule = "50 tokens in a row with a probability of 1 in 1,000 or more (judge contamination check)"
    if recital:
        return Verdict("recites stories" if recited else "cannot be told" if blunt else "recites none", rule)
    return Verdict("measured" if measured else "not measured", "a scores file of judge contamination score is given")


def of_stories(half: float, wide: float) -> Verdict:
    """Verdict of a summary on whether there are enough stories, i.e. whether the half-width `half` of the interval of
    Kendall's tau is at most `wide`.
    """
    purpose = f"for tau to ±{100 * wide:.0f}"
    words = "enough" if half <= wide else "more are needed"
    return Verdict(f"{words} {purpose}", f"95 % interval of tau within ±{100 * wide:.0f}")


def of_order(agreed: int, pairs: int, systems: int) -> Verdict:
    """Verdict of a summary on the order of systems: `agreed` of all `pairs` of systems are ordered by the judge as by
    people.
    """
    rule = "pairs of systems, by mean ratings over criteria; a pair with equal means counts as not alike"
    order = "order turned round" if 2 * agreed < pairs else f"{agreed} of {pairs} pairs"
    # Few systems prove little, but an order that is turned round must not be hidden by that.
    if systems < FEW_SYSTEMS:
        return Verdict(f"too few systems, {order}", f"fewer than {FEW_SYSTEMS} systems; {rule}")
    return Verdict(order, rule)


def of_missing(number: int) -> Verdict:
    """Verdict of a summary on missing evidence: the number of gaps in the evidence."""
    words = "nothing on the list" if not number else f"{number} thing{'s' if number > 1 else ''}"
    return Verdict(words, "the list of docs/summary.md")


@dataclass(frozen=True, slots=True)
class Rule:
    """A possible verdict of a summary: the short name of its answer, its text with `K` and `N` in place of numbers, and
    the condition for it.
    """

    answer: str
    verdict: str
    when: str


RULES = (
    Rule("replace", "yes", "on every criterion that can be tested the judge passes, and an uninformed judge does not"),
    Rule("replace", "on K of N criteria", "the same holds on K of the N criteria that can be tested"),
    Rule("replace", "shows nothing", "the judge passes, but only where an uninformed judge (one rating for all, "
         "or people's ratings randomly permuted) passes too"),
    Rule("replace", "no", "it passes on none, and its tau lies below that of one more person by the 95 % interval of "
         "the paired difference"),
    Rule("replace", "not shown", "it passes on none, and nothing shows that it lies below one more person"),
    Rule("replace", "cannot be tested", "no criterion has two people known one by one with 30 stories each"),
    Rule("people", "near none", "the 95 % interval of tau holds 0, or tau is not above 0"),
    Rule("people", "some agreement", "the interval lies above 0 (or there is none), and there is neither control nor "
         "one more person to set it beside"),
    Rule("people", "above the control", "the 95 % interval of the paired difference from the control lies above 0"),
    Rule("people", "below the control", "that interval lies below 0"),
    Rule("people", "not told apart from the control", "that interval holds 0, or there is none"),
    Rule("people", "below people", "the 95 % interval of the paired difference from one more person, against the means "
         "of the others and for other raters like these, lies below 0"),
    Rule("people", "within people's range", "that interval holds 0, or lies above it"),
    Rule("people", "undefined", "tau does not exist, for the reason that is printed"),
    Rule("labels", "above chance", "the 95 % interval of balanced accuracy lies above one over the number of labels "
         "(without an interval: the value does)"),
    Rule("labels", "below chance", "the interval lies below it"),
    Rule("labels", "not told apart from chance", "the interval holds it"),
    Rule("labels", "not above chance", "without an interval: the value is not above it"),
    Rule("labels", "below people", "the 95 % interval of the difference from one person, both against the majority of "
         "the others, lies below 0"),
    Rule("labels", "within people's range", "that interval holds 0, or lies above it"),
    Rule("labels", "undefined", "balanced accuracy does not exist, for the reason that is printed"),
    Rule("prompts", "leads", "the 95 % interval of the paired difference of tau (mean over criteria) from the best row "
         "leaves 0 out for each of the others, each for itself"),
    Rule("prompts", "tied with K of N others", "for K of the N others the interval holds 0"),
    Rule("prompts", "tied with the other", "of two, the interval holds 0"),
    Rule("prompts", "cannot be said", "no difference is defined, or one has no interval"),
    Rule("prompts", "only one", "one Eval-Prompt (or judge) was tried"),
    Rule("systems", "better than chance", "the 95 % interval of tau over system means lies above 0: the order is "
         "not chance, and not more than that"),
    Rule("systems", "against people", "that interval lies below 0"),
    Rule("systems", "not shown", "that interval holds 0"),
    Rule("systems", "no interval", "there is no interval"),
    Rule("systems", "too few systems", f"there are fewer than {FEW_SYSTEMS} systems"),
    Rule("systems", "undefined", "tau over system means does not exist, for the reason that is printed"),
    Rule("better", "N of N pairs", "so many pairs of systems have the same order by the judge's mean ratings over "
         "criteria and by people's"),
    Rule("better", "order turned round", "fewer than half have"),
    Rule("better", "too few systems", f"there are fewer than {FEW_SYSTEMS} systems; the order is said besides"),
    Rule("stories", f"enough for tau to ±{100 * WIDE:.0f}", "the 95 % interval of tau reaches "
         f"{100 * WIDE:.0f} points (x100) or less to a side"),
    Rule("stories", f"more are needed for tau to ±{100 * WIDE:.0f}", "it reaches further"),
    Rule("itself", "excellent", "the median of ICC(1,1) over the row's criteria is above .9 (Koo & Li 2016)"),
    Rule("itself", "good", "it is above .75"),
    Rule("itself", "moderate", "it is above .5"),
    Rule("itself", "poor", "it is .5 or less"),
    Rule("itself", "not known", "ICC does not exist: one repeat, or means of repeats"),
    Rule("lost", "nothing", "every repeat requested has a rating"),
    Rule("lost", "N %", "the share of requested repeats without a rating"),
    Rule("lost", "less than 0.1 %", "that share is below .05 %"),
    Rule("wrong", "nothing found", "no test of judge diagnose on the row finds anything after Holm's adjustment over "
         "all of the row's tests, at .05"),
    Rule("wrong", "faults in K of N tests", "so many do"),
    Rule("wrong", "not tested", "nobody's ratings are known"),
    Rule("seen", "recites stories", "judge contamination check has left a scores file with the run (or one was given), "
         "and by it some story is recited: 50 tokens in a row with a probability of 1 in 1,000 or more"),
    Rule("seen", "recites none", "by that file none is, which is no proof that none was seen"),
    Rule("seen", "cannot be told", "by that file none is, and the model recites none of the passages that everybody "
         "knows, nor expects half of them more than any story"),
    Rule("seen", "measured", "a scores file of judge contamination score was given that holds no recitals"),
    Rule("seen", "not measured", "none was"),
    Rule("missing", "K things", "so many conditions of the list below hold"),
    Rule("missing", "1 thing", "one condition of the list below holds"),
    Rule("missing", "nothing on the list", "none does"),
    Rule("prefers", "not told apart from guessing", "the 95 % interval of accuracy holds one half"),
    Rule("prefers", "less often than by guessing", "the interval lies below one half"),
    Rule("prefers", "more often than by guessing", "it lies above one half, and there is no control to set it beside"),
    Rule("prefers", "above the control", "it does, and the interval of the paired difference from the control lies "
         "above 0"),
    Rule("prefers", "below the control", "that interval lies below 0"),
    Rule("prefers", "not told apart from the control", "that interval holds 0"),
    Rule("prefers", "no interval", "accuracy has no interval"),
    Rule("prefers", "undefined", "accuracy does not exist, for the reason that is printed"),
    Rule("place", "the first place is an advantage", "in some row the 95 % interval of the position's log odds lies "
         "above 0"),
    Rule("place", "the second place is an advantage", "in some row it lies below 0, and there further from 0"),
    Rule("place", "not shown", "in every row it holds 0"),
    Rule("place", "undefined", "no row has log odds, for the reason that is printed"),
    Rule("wins", "NAME", "the one system at the top that Holm's method at 5 % tells from every other"),
    Rule("wins", "N not told apart at the top", "so many systems are not told apart from the highest"),
    Rule("wins", "undefined", "strengths do not exist, for the reason that is printed"),
)  # fmt: skip
"""Every verdict that a summary gives, by the short name of its answer; docs/summary.md holds the same."""
