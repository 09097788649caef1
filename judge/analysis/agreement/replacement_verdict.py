"""The verdict on whether a judge may replace an annotator: one rule and one sentence, for every place that says it.

On each criterion a *yes* needs all of these:
1. The alternative annotator test is passed, as published and with standard errors over story-prompts (`passes`).
2. The judge agrees with people more than every uninformed judge, over all stories and within systems (`uninformed`).
3. The judge's tau is not shown to lie below that of one more person.

A judge that gives all stories one rating, on every criterion that can be tested, is itself an uninformed judge: *no*. A
judge that passes the test alone has shown little: where people hardly agree, a constant passes it. The first two are
tests of the same 5 % (an intersection-union test). For *yes* all criteria that can be tested must hold, each at 5 %;
for a number of criteria their p values are adjusted by Holm's method (1979, Scandinavian Journal of Statistics 6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from judge.analysis.agreement.alternative_annotator import CHANCE, THE_CONTROL, WORDS, AltTestRow, Lead
from judge.base.estimate import Estimate
from judge.base.wording import written
from judge.stats.agreement.alt_test import LEVEL
from judge.stats.estimation.paired_differences import holm

Word = Literal["yes", "on some criteria", "no", "cannot tell", "cannot be tested"]

_RIVALS = {CHANCE: "chance", THE_CONTROL: "the control", WORDS: "the number of words"}


@dataclass(frozen=True, slots=True)
class ReplacementVerdict:
    """The verdict on one judge and Eval-Prompt, and the criteria on which it rests. Of the `tested` criteria, `passed`
    are those whose test is passed, `informed` those where the judge is above every uninformed judge, `below` those
    where it is shown to be below one more person, and `proven` those on which all that a *yes* needs holds, after
    Holm's adjustment unless it holds on all. `least` is the criterion with the least evidence against an uninformed
    judge, and the comparison; `why_not` says why none can be tested."""

    word: Word
    tested: tuple[str, ...]
    passed: tuple[str, ...]
    informed: tuple[str, ...]
    below: tuple[str, ...]
    proven: tuple[str, ...]
    least: tuple[str, Lead] | None
    why_not: str = ""
    # Criteria on which every story got one rating.
    constant: tuple[str, ...] = ()
    # Shown to be below one more person, as a mean over criteria.
    below_on_average: bool = False

    @property
    def text(self) -> str:
        """The verdict in a few words, with the numbers of criteria where it is about some of them."""
        if self.word == "on some criteria":
            return f"on {len(self.proven)} of {len(self.tested)} criteria"
        return self.word

    def sentence(self, most: int | None = None) -> str:
        """What the verdict rests on, as a sentence or two; each list names at most `most` criteria."""
        if self.why_not:
            return f"{self.why_not[:1].upper()}{self.why_not[1:]}."
        if len(self.tested) == 1:
            text = (
                f"It {'passes' if self.passed else 'does not pass'} the alternative annotator test, and "
                f"{'is' if self.informed else 'is not shown to be'} above every uninformed judge."
            )
        else:
            passed, above = (self._on(criteria, most) for criteria in (self.passed, self.informed))
            text = (
                f"It passes the alternative annotator test on {passed}; it is above every uninformed judge on {above}."
            )
        if self.constant:
            on = f" on {self._on(self.constant, most)}" if len(self.tested) > 1 else ""
            text += f" It gives every story the same rating{on}, so it tells no story from another there."
        if self.below:
            on = f" on {self._on(self.below, most)}" if len(self.tested) > 1 else ""
            text += f" Its tau lies below that of one more person{on}."
        elif self.below_on_average:
            text += f" Its tau{', as a mean over criteria,' if len(self.tested) > 1 else ''} lies below that of one "
            text += "more person."
        if self.word == "on some criteria":
            text += f" Both are shown on {_list(self.proven, most)} (Holm over {len(self.tested)} criteria)."
        return text + self._lacking()

    def _on(self, criteria: Sequence[str], most: int | None) -> str:
        return f"{len(criteria)} of {len(self.tested)} criteria{_names(criteria, self.tested, most)}"

    def _lacking(self) -> str:
        if self.word in ("yes", "no") or self.least is None:
            return ""
        if len(self.informed) == len(self.tested):
            return " How many story-prompts the test takes, judge plan says."
        criterion, lead = self.least
        if lead.over.value is None:
            return f" It cannot be set beside {_RIVALS[lead.against]}: {written(lead.over.reason or '', None)}."
        return (
            f" The least evidence is against {_RIVALS[lead.against]} on {criterion}: difference {_points(lead.over)}."
        )


def passes(row: AltTestRow) -> bool:
    """Whether a judge passes the published test and, where that is defined, the test clustered by story-prompt."""
    return bool(row.passed if row.clustered_passed is None else row.clustered_passed and row.passed)


def informed(row: AltTestRow) -> bool:
    """Whether the judge agrees with people more than every uninformed judge, over all stories and within systems."""
    return row.lead is not None and row.within is not None and row.lead.shown and row.within.shown


def is_below(row: AltTestRow) -> bool:
    """Whether the judge's tau is shown to lie below that of one more person."""
    return row.beside is not None and row.beside.high is not None and row.beside.high < 0


def verdict_of(
    rows: Sequence[AltTestRow], beside_people: Estimate | None = None, contenders: int = 1
) -> ReplacementVerdict:
    """The verdict from a judge's alternative annotator tests, one row for each criterion. `beside_people` is the
    judge's tau minus that of one more person, mean over criteria; None = not known. A judge that is the best of several
    is one of so many `contenders`, and every test must hold at 5 % divided by their number (Bonferroni)."""
    tested = [row for row in rows if row.winning_rate.defined]
    if not tested:
        reasons = dict.fromkeys(written(row.winning_rate.reason, None) for row in rows if row.winning_rate.reason)
        why = "; ".join(filter(None, reasons)) or "who gave which rating is not known"
        return ReplacementVerdict("cannot be tested", (), (), (), (), (), None, why.removeprefix("refused: "))
    level = LEVEL / contenders
    holds = [row for row in tested if passes(row) and informed(row) and not is_below(row)]
    holds = [row for row in holds if contenders == 1 or _p(row) <= level]
    proven = holds if len(holds) == len(tested) else _adjusted(holds, tested, level)
    below = beside_people is not None and beside_people.high is not None and beside_people.high < 0
    constant = [row for row in tested if row.constant is not None]
    leads = [(row.subject.criterion, lead) for row in tested for lead in (row.lead, row.within) if lead is not None]
    return ReplacementVerdict(
        _word(len(proven), len(tested), refuted=below or len(constant) == len(tested)),
        _criteria(tested),
        _criteria([row for row in tested if passes(row)]),
        _criteria([row for row in tested if informed(row)]),
        _criteria([row for row in tested if is_below(row)]),
        _criteria(proven),
        min(leads, key=lambda named: _evidence(named[1])) if leads else None,
        constant=_criteria(constant),
        below_on_average=below,
    )


def _word(proven: int, tested: int, *, refuted: bool) -> Word:
    if refuted:
        return "no"
    if proven == tested:
        return "yes"
    return "on some criteria" if proven else "cannot tell"


def _adjusted(holds: Sequence[AltTestRow], tested: Sequence[AltTestRow], level: float) -> list[AltTestRow]:
    """Those of `holds` that hold after Holm's adjustment over all tested criteria."""
    if not holds:
        return []
    adjusted = holm(np.array([_p(row) for row in tested], dtype=np.float64))
    return [row for row, p in zip(tested, adjusted, strict=True) if p <= level and row in holds]


def _p(row: AltTestRow) -> float:
    """The largest of the p values of all that a yes needs on a criterion; 1 where one is undefined."""
    leads = [lead.p if lead is not None else None for lead in (row.lead, row.within)]
    values = [row.p, *leads, *([] if row.clustered_passed is None else [row.clustered_p])]
    return max(1.0 if p is None else p for p in values)


def _evidence(lead: Lead) -> tuple[bool, float]:
    return lead.over.value is not None, 0.0 if lead.p is None else -lead.p


def _criteria(rows: Sequence[AltTestRow]) -> tuple[str, ...]:
    return tuple(row.subject.criterion for row in rows)


def _points(estimate: Estimate) -> str:
    if estimate.value is None:
        return estimate.reason or "undefined"
    ends = "" if estimate.low is None else f" [{100 * estimate.low:.1f}, {100 * (estimate.high or 0.0):.1f}]"
    return f"{100 * estimate.value:+.1f}{ends} (tau x100)".replace("-", "−")


def _names(chosen: Sequence[str], of: Sequence[str], most: int | None) -> str:
    return "" if not chosen or len(chosen) == len(of) else f" ({_list(chosen, most)})"


def _list(names: Sequence[str], most: int | None) -> str:
    shown = names if most is None else names[:most]
    more = f" and {len(names) - len(shown)} more" if len(names) > len(shown) else ""
    return ", ".join(shown) + more
