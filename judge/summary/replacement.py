"""Answer of a summary on whether the judge may replace a human annotator, from the alternative annotator test."""

from __future__ import annotations

from collections.abc import Sequence

from judge.analysis.agreement.alternative_annotator import NULL, AltTestRow
from judge.analysis.comparison.sentence import leaves_zero_out
from judge.analysis.correlation.margins import CEILING, Margin
from judge.analysis.inputs.bars import JUDGE
from judge.summary import rules
from judge.summary.answers import Answer, Verdict
from judge.summary.evidence import Evidence
from judge.wording import written

_NAMED = 3
"""Criteria that a list names on a screen."""


def answer(evidence: Evidence, best: Margin) -> Answer:
    """A summary's answer on whether the judge may replace a human annotator: the verdict of the alternative annotator
    test, the criteria passed, and the criteria on which an uninformed judge (one that does not use the story) passes
    too.
    """
    question, label = "May it replace an annotator?", "replace"
    if evidence.raters_of(best.dataset).labels_note:
        nobody = "No person rated these stories: there is no annotator to replace."
        return Answer(question, (nobody,), Verdict("cannot be tested", "no person rated the stories"), label)
    if best.control:
        control = "The control is no language model: nobody would ask it to."
        return Answer(question, (control,), Verdict("cannot be tested", "no language model was asked"), label)
    mine, nulls = tests_of(evidence, best)
    over = best.over[CEILING]
    below = bool(leaves_zero_out(over)) and (over.value or 0.0) < 0
    first = ("Each column of ratings is taken for one person here.",) if evidence.options.positions else ()
    whole, some = ((*first, _tested(mine, nulls, most)) for most in (len(mine), _NAMED))
    return Answer(question, whole, rules.of_replacement(mine, nulls, below), label, some)


def tests_of(evidence: Evidence, best: Margin) -> tuple[list[AltTestRow], list[str]]:
    """The judge's alternative annotator tests, one for each criterion, and the names of the human criteria on which an
    uninformed judge (one that does not use the story) passes too.
    """
    rows = [test for test in evidence.replacement(best).tests if test.subject.dataset == best.dataset]
    mine = [test for test in rows if test.kind == JUDGE and test.subject.run == best.run]
    nulls = dict.fromkeys(str(test.subject.against) for test in rows if test.kind == NULL and rules.passes(test))
    return mine, list(nulls)


def _tested(mine: Sequence[AltTestRow], nulls: Sequence[str], most: int) -> str:
    """Result of the alternative annotator test (whether the judge may replace a human annotator) as text. `mine` are
    the judge's tests by criterion, and `nulls` the human criteria on which an uninformed judge passes too. Each list in
    the text names at most `most` criteria.
    """
    tested = [test for test in mine if test.winning_rate.defined]
    if not tested:
        reasons = dict.fromkeys(written(test.winning_rate.reason, None) for test in mine if test.winning_rate.reason)
        why = "; ".join(filter(None, reasons)) or "who gave which rating is not known"
        reason = why.removeprefix("refused: ")
        return f"{reason[:1].upper()}{reason[1:]}."
    passed = [test for test in tested if rules.passes(test)]
    rates = sorted(100 * (test.clustered_rate.value if test.clustered_rate.defined else test.winning_rate.value or 0.0)  # type: ignore[operator]
                   for test in tested)  # fmt: skip
    ends = f"{rates[0]:.0f}" if rates[0] == rates[-1] else f"{rates[0]:.0f} to {rates[-1]:.0f}"
    first = (
        f"It passes the alternative annotator test on {len(passed)} of {len(tested)} criteria"
        f"{_names(passed, tested, most)}: it beats {ends} % of the people left out, and half is needed (granted: "
        f"{tested[0].epsilon:g})."
    )
    iccs = [test.people_icc.value for test in tested if test.people_icc.value is not None]
    icc = f" People agree with each other at ICC(1,1) {min(iccs):.2f} to {max(iccs):.2f}." if iccs else ""
    own = [name for name in nulls if name in {test.subject.against for test in tested}]
    empty = f" An uninformed judge passes on {_list(own, most)}: passing there says nothing." if own else ""
    left = f" Not testable: {len(mine) - len(tested)} criteria." if len(mine) > len(tested) else ""
    return first + icc + empty + left


def _names(passed: Sequence[AltTestRow], tested: Sequence[AltTestRow], most: int) -> str:
    return (
        ""
        if not passed or len(passed) == len(tested)
        else f" ({_list([test.subject.criterion for test in passed], most)})"
    )


def _list(names: Sequence[str], most: int) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
