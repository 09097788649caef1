"""Answer of a summary on whether the judge rates as people do: its agreement beside 0, the control and one more person.

The words are of a non-inferiority test: *not below* stands only where the judge's difference from the average person is
above minus a stated margin, and the judge's agreement above 0. A wide interval gives *cannot tell*, never *not below*,
and the numbers of story-prompts and people that would decide.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from judge.analysis.comparison.sentence import leaves_zero_out
from judge.analysis.correlation.margins import CEILING, CONTROL, Margin
from judge.base.estimate import Estimate
from judge.questions.charts.shared import height, worded, worded_difference
from judge.questions.summary.result import Answer, Verdict
from judge.ratings.rating_matrix import Raters, RatingMatrix
from judge.stats import near_ties
from judge.stats.estimation import other_raters

if TYPE_CHECKING:
    from judge.questions.summary.evidence import Evidence

# By how much a judge's tau may lie below the average person's and still count as not below.
MARGIN = 0.10

# The correlation of a summary.
TAU = "Kendall's tau-b"

# Share of the margin that half of an interval may be, so that a judge as good as the average person is told not to be
# below in about four studies of five: 1.96 / (1.96 + 0.84), for the deviates of 97.5 and 80 %.
_OFTEN = 0.7

BesidePeople = Literal["above", "not below", "below", "cannot tell"]


def beside_people(one_more: Estimate, average: Estimate, margin: float) -> BesidePeople | None:
    """How a judge's agreement compares with people's; None where the difference or its interval is undefined.
    `one_more` has the interval of one more person, which says what is above or below people's range; `average` is the
    same difference from the average person.
    """
    if one_more.value is None or one_more.low is None or one_more.high is None:
        return None
    if one_more.low > 0:
        return "above"
    if one_more.high < 0:
        return "below"
    return "not below" if average.low is not None and average.low > -margin else "cannot tell"


def of_agreement(best: Margin, margin: float = MARGIN) -> Verdict:
    """Whether the correlation with people is above 0, and how it compares with the control's and one more person's."""
    shown = leaves_zero_out(best.value)
    value = best.value.value
    rule = "by the 95 % interval of the correlation"
    word = beside_people(best.over[CEILING], best.average, margin) if CEILING in best.over else None
    if value is None:
        return Verdict("undefined", rule)
    if shown is False or value <= 0:
        none = f"{rule}, which holds 0" if shown is False else "the correlation is not above 0"
        return Verdict("none shown, below people" if word == "below" else "none shown", none)
    parts = [part for part in (_beside_control(best), people_words(word)) if part]
    if not parts:
        return Verdict("some agreement", f"{rule}, which lies above 0" if shown else "no interval")
    return Verdict(", ".join(parts), f"by the 95 % intervals of the paired differences; margin {100 * margin:g}")


def people_words(word: BesidePeople | None) -> str | None:
    """The comparison as the part of a verdict; None without one."""
    return None if word is None else "people: cannot tell" if word == "cannot tell" else f"{word} people"


def _beside_control(best: Margin) -> str | None:
    over = best.over.get(CONTROL)
    if over is None or over.value is None or best.control:
        return None
    if not leaves_zero_out(over):
        return "not told apart from the control"
    return "above the control" if over.value > 0 else "below the control"


def people(evidence: Evidence, best: Margin) -> Answer:
    """Tau of the best judge x Eval-Prompt over all stories, beside the control and one more person."""
    raters = evidence.raters_of(best.dataset)
    question = f"Does it rate stories as {raters.noun if raters.labels_note else 'people do'}?"
    margin = evidence.options.margin
    verdict = of_agreement(best, margin)
    if best.value.value is None:
        why = f"{best.value.reason}".removeprefix("undefined ")
        return Answer(question, (f"Tau is undefined {why}.",), verdict, "people")
    sentences = beside(best)
    ceiling = best.bars[CEILING]
    if ceiling.value is not None:
        if beside_people(best.over[CEILING], best.average, margin) == "cannot tell":
            matrix = next(matrix for matrix in evidence.matrices if matrix.dataset == best.dataset)
            sentences.append(decides(best, matrix, margin))
    elif not raters.labels_note:
        sentences.append(_no_ceiling(evidence, best))
    return Answer(question, (" ".join(sentences),), verdict, "people")


def beside(best: Margin) -> list[str]:
    """Sentences on the agreement of a judge, of the control and of one more person."""
    sentences = [f"{height(TAU, best.value, best.stories, best.criteria)}."]
    control, ceiling = best.bars[CONTROL], best.bars[CEILING]
    if control.value is not None and not best.control:
        sentences.append(_beside(best, CONTROL, "the control", f"{worded(control)}{best.counted_as_0}"))
    if ceiling.value is not None:
        sentences.append(_beside(best, CEILING, "one more person", worded(ceiling)))
    return sentences


def _beside(best: Margin, kind: Literal["control", "ceiling"], who: str, value: str) -> str:
    own, over = best.same.get(kind), best.over[kind]
    name = f"{who[:1].upper()}{who[1:]}"
    if over.value is None:
        return f"{name}: {value}, no difference defined."
    first = best.value if own is None or own.value is None else own
    higher, of = best.above[kind]
    where = f", above on {higher} of {of} criteria" if 0 < higher < of else ""
    difference = f"difference {worded_difference(over, first, best.bars[kind])}{where}"
    if own is None or own.value is None or abs(own.value - (best.value.value or 0.0)) < near_ties.SAME:
        return f"{name}: {value}, {difference}."
    against = "Against the means of the others it" if kind == CEILING else "On the stories of both it"
    return f"{against} reaches {100 * own.value:.1f}, {who} {value}, {difference}.".replace(" -", " −")


def decides(best: Margin, matrix: RatingMatrix, margin: float) -> str:
    """What would decide: story-prompts or people that show a judge as good as the average person not to be below."""
    wide = f"by more than {100 * margin:g} or not"
    if best.spread is None:
        return f"Whether it lies below people {wide} cannot be told: there is no interval."
    stories, raters = other_raters.needed(best.spread, _OFTEN * margin)
    now = np.unique(matrix.story_prompt).size
    ways = []
    if stories is not None and stories > 1:
        ways.append(f"about {int(np.ceil(stories * now)):,} story-prompts in place of {now:,}")
    if raters is not None and raters > best.spread.raters:
        ways.append(f"about {raters:,} people in place of {best.spread.raters}")
    if stories is not None and stories <= 1:
        return f"Whether it lies below people {wide} cannot be told: its value lies near that border."
    if not ways:
        return f"Whether it lies below people {wide} takes more people and more story-prompts."
    return f"Whether it lies below people {wide} takes {' or '.join(ways)}."


def _unknown(matrix: RatingMatrix) -> list[Raters]:
    every = [matrix.by_rater(j) for j in range(len(matrix.criteria))]
    return [raters for raters in every if not raters.known]


def _no_ceiling(evidence: Evidence, best: Margin) -> str:
    matrix = next(matrix for matrix in evidence.matrices if matrix.dataset == best.dataset)
    if _unknown(matrix):
        among = evidence.among_people(best.dataset)
        ends = dict.fromkeys(f"{end:.2f}" for end in (min(among), max(among))) if among else {}
        known = f" People agree with each other at ICC(1,1) {' to '.join(ends)}." if ends else ""
        return f"One more person cannot be set beside it: {_unknown(matrix)[0].reason}.{known}".replace(" -", " −")
    return f"One more person: {best.bars[CEILING].reason}."
