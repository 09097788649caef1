"""Answer of a summary on whether the judge may replace a human annotator."""

from __future__ import annotations

from collections.abc import Sequence

from judge.analysis.agreement import replacement_verdict
from judge.analysis.agreement.alternative_annotator import AltTestRow
from judge.analysis.agreement.replacement_verdict import ReplacementVerdict
from judge.analysis.correlation.margins import CEILING, Margin
from judge.analysis.inputs.bars import JUDGE
from judge.questions.summary.answers import Answer, Verdict
from judge.questions.summary.evidence import Evidence

_NAMED = 3
"""Criteria that a list names on a screen."""

_RULE = "the alternative annotator test, and agreement above every uninformed judge, over story-prompts"


def answer(evidence: Evidence, best: Margin, faults: str = "", rows: int = 1) -> Answer:
    """A summary's answer on whether the judge may replace a human annotator: the verdict and what it rests on.

    `faults` says in a few words which faults of the judge were found; it stands in the line of the verdict. The tests
    are for this number of rows at once.
    """
    question, label = "May it replace an annotator?", "replace"
    if evidence.raters_of(best.dataset).labels_note:
        nobody = "No person rated these stories: there is no annotator to replace."
        return Answer(question, (nobody,), Verdict("cannot be tested", "no person rated the stories"), label)
    if best.control:
        control = "The control is no language model: nobody would ask it to."
        return Answer(question, (control,), Verdict("cannot be tested", "no language model was asked"), label)
    verdict, tests = verdict_of(evidence, best, rows)
    first = ("Each column of ratings is taken for one person here.",) if evidence.options.positions else ()
    whole, some = ((*first, verdict.sentence(most) + _of_people(tests)) for most in (None, _NAMED))
    joint = ", but " if verdict.word in ("yes", "on some criteria") else ", and "
    text = f"{verdict.text}{joint}{faults}" if faults and verdict.word != "cannot be tested" else verdict.text
    rule = "people are known one by one, 30 stories each" if verdict.word == "cannot be tested" else _RULE
    return Answer(question, whole, Verdict(text, rule), label, some)


def verdict_of(evidence: Evidence, best: Margin, rows: int = 1) -> tuple[ReplacementVerdict, list[AltTestRow]]:
    """The verdict on whether a judge may replace an annotator, by tests for this number of rows at once, and its
    alternative annotator tests by criterion.
    """
    tests = [
        test
        for test in evidence.alternative_annotator(best)
        if test.kind == JUDGE and (test.subject.dataset, test.subject.run) == (best.dataset, best.run)
    ]
    return replacement_verdict.verdict_of(tests, best.over.get(CEILING), rows), tests


def _of_people(tests: Sequence[AltTestRow]) -> str:
    """Sentences on how far people agree with each other, and on criteria that could not be tested."""
    tested = [test for test in tests if test.winning_rate.defined]
    if not tested:
        return ""
    iccs = [test.people_icc.value for test in tested if test.people_icc.value is not None]
    ends = dict.fromkeys(f"{end:.2f}" for end in (min(iccs), max(iccs))) if iccs else {}
    icc = f" People agree with each other at ICC(1,1) {' to '.join(ends)}." if ends else ""
    left = f" Not testable: {len(tests) - len(tested)} criteria." if len(tests) > len(tested) else ""
    return icc + left
