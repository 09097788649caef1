"""May the judge replace an annotator? In words, from the alternative annotator test of the row that is told of."""

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


def answer(evidence: Evidence, best: Margin) -> Answer:
    """The verdict by the test, its criteria, and what a judge that knows nothing gets."""
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
    sentences = tuple(_said(mine, nulls))
    if evidence.options.positions:
        sentences = ("Columns pass for persons here.", *sentences)
    return Answer(question, sentences, rules.of_replacement(mine, nulls, below), label)


def tests_of(evidence: Evidence, best: Margin) -> tuple[list[AltTestRow], list[str]]:
    """The row's tests, and people's criteria on which a judge that knows nothing passes."""
    rows = [one for one in evidence.replacement(best).tests if one.subject.dataset == best.dataset]
    mine = [one for one in rows if one.kind == JUDGE and one.subject.run == best.run]
    nulls = dict.fromkeys(str(one.subject.against) for one in rows if one.kind == NULL and rules.passes(one))
    return mine, list(nulls)


def _said(mine: Sequence[AltTestRow], nulls: Sequence[str]) -> list[str]:
    tested = [one for one in mine if one.winning_rate.defined]
    if not tested:
        reasons = dict.fromkeys(written(one.winning_rate.reason, None) for one in mine if one.winning_rate.reason)
        why = "; ".join(filter(None, reasons)) or "who gave which rating is not known"
        said = why.removeprefix("refused: ")
        return [f"{said[:1].upper()}{said[1:]}."]
    passed = [one for one in tested if rules.passes(one)]
    rates = sorted(100 * (one.clustered_rate.value if one.clustered_rate.defined else one.winning_rate.value or 0.0)  # type: ignore[operator]
                   for one in tested)  # fmt: skip
    ends = f"{rates[0]:.0f}" if rates[0] == rates[-1] else f"{rates[0]:.0f} to {rates[-1]:.0f}"
    first = (
        f"It passes the alternative annotator test on {len(passed)} of {len(tested)} criteria{_names(passed, tested)}: "
        f"it beats {ends} % of the people left out, and half is needed (granted: {tested[0].epsilon:g})."
    )
    known = [one.people_icc.value for one in tested if one.people_icc.value is not None]
    icc = f" People agree with each other at ICC(1,1) {min(known):.2f} to {max(known):.2f}." if known else ""
    own = [name for name in nulls if name in {one.subject.against for one in tested}]
    empty = f" A judge that knows nothing passes on {_list(own)}: passing there says nothing." if own else ""
    left = f" Not testable: {len(mine) - len(tested)} criteria." if len(mine) > len(tested) else ""
    return [first + icc + empty + left]


def _names(passed: Sequence[AltTestRow], tested: Sequence[AltTestRow]) -> str:
    return "" if not passed or len(passed) == len(tested) else f" ({_list([one.subject.criterion for one in passed])})"


def _list(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
