"""The answer to a question in a few words, by a rule that is printed beside it; the sentences say the rest.

Agreement is set beside nothing (does its interval hold 0?), the control and one more person, by the intervals of the
paired differences. Consistency goes by the bounds of Koo & Li (2016, A guideline of selecting and reporting intraclass
correlation coefficients for reliability research, J. Chiropractic Medicine 15(2), p. 161): .5, .75, .9.
"""

from __future__ import annotations

from judge.analysis.comparison.sentence import leaves_zero_out
from judge.analysis.correlation.margins import CEILING, CONTROL, Bar, Margin
from judge.analysis.labels import ConfusionRow
from judge.report.answers import Verdict

_BOUNDS = ((0.9, "excellent"), (0.75, "good"), (0.5, "moderate"))


def of_agreement(best: Margin) -> Verdict:
    """How far the best row agrees with people: near none, beside the control, beside one more person."""
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
    """Balanced accuracy beside judges that know nothing, and beside one person."""
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
    """How much of what was requested has a rating."""
    if rated == asked:
        return Verdict("nothing", "of the repeats requested")
    share = 100 * (asked - rated) / asked
    return Verdict(f"{share:.1f} %" if share >= 0.05 else "less than 0.1 %", "of the repeats requested")


def of_consistency(median: float) -> Verdict:
    """How far one repeat agrees with another."""
    word = next((word for bound, word in _BOUNDS if median > bound), "poor")
    return Verdict(word, "median ICC(1,1); bounds .5, .75 and .9 (Koo & Li 2016)")
