"""Answers of a summary on a judge's quality: consistency over repeats, missing ratings, biases, and whether the model
has seen the stories.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from judge.analysis.correlation.margins import Margin
from judge.analysis.coverage.loss import selective
from judge.analysis.diagnose.kinds import Finding
from judge.charts.words import worded
from judge.contamination.check.dates import Dated
from judge.contamination.check.result import Recital, passages_of, tells
from judge.contamination.report import ContaminationReport
from judge.contamination.scores_file import ScoresFile
from judge.rating_matrix import RatingMatrix
from judge.summary import rules
from judge.summary.answers import Answer, Verdict
from judge.summary.evidence import Evidence
from judge.wording import written

_FINDINGS = 4
"""Kinds of findings on a screen."""

_SHARE_BY = "judge contamination check computes it with a labelled set, texts that this model has and has not seen"
"""The one way to a share that is named everywhere; thresholds by hand remain, for who has a scores file."""


@dataclass(frozen=True, slots=True)
class Seen:
    """Evidence from files of contamination scores on whether models have seen the stories.

    `sentences` state the results. `recital` says that it was tested whether a model recites the stories, and `recited`
    counts the stories recited. `blunt` says that a model recites no well-known passages either, so that its test is
    uninformative.
    """

    sentences: tuple[str, ...]
    recital: bool = False
    recited: int = 0
    blunt: bool = False

    @classmethod
    def of(cls, report: ContaminationReport, files: Sequence[ScoresFile] = ()) -> Seen:
        """The evidence in a contamination report, with a sentence for each model. `files` are the score files on which
        the report is based.
        """
        recitals = [(file, Recital.of_file(file)) for file in files]
        scored = [(file, recital) for file, recital in recitals if recital is not None]
        sentences = tuple(
            f"{file.judge} recites {recital.recited or 'none'} of {recital.of:,} stories"
            f"; {(passages := passages_of(file)).above(recital)} of {passages.of} passages that everybody knows it "
            "expects more than any story."
            for file, recital in scored
        )
        blunt = not all(tells(recital, passages_of(file)) for file, recital in scored)
        return cls(sentences + cls._shares(report), bool(scored), sum(recital.recited for _, recital in scored), blunt)

    @staticmethod
    def _shares(report: ContaminationReport) -> tuple[str, ...]:
        return tuple(
            f"{row.model} seems to have seen {worded(row.corrected, factor=100)} % of {row.stories:,} stories."
            if row.corrected.value is not None
            else f"What share {row.model} has seen is not known: {_SHARE_BY}."
            if row.threshold is None
            else f"What share {row.model} has seen is {written(row.corrected.reason or '', None)}."
            for row in report.rows
        )


def itself(evidence: Evidence, matrix: RatingMatrix, best: Margin | None) -> Iterator[Answer]:
    """A summary's answer on a judge's self-consistency, yielded as the only item: ICC(1,1) over repeats, as the median
    over the criteria of the best pair of judge and Eval-Prompt. Where `best` is None, it is the median over all pairs
    and criteria.
    """
    question, label = "Does it agree with itself?", "itself"
    cells = [
        cell
        for cell in evidence.consistency.judged
        if cell.dataset == matrix.dataset
        and (best is None or (cell.run, cell.judge, cell.eval_prompt) == (best.run, best.judge, best.eval_prompt))
    ]
    estimates = [estimate for cell in cells if (estimate := cell.estimate("ICC(1,1)")) is not None]
    values = [estimate.value for estimate in estimates if estimate.value is not None]
    if not values:
        reasons = dict.fromkeys(str(estimate.reason) for estimate in estimates if estimate.reason) or {
            "no repeat was asked": None
        }
        sentence = f"ICC is {'; '.join(reasons)}."
        yield Answer(question, (sentence,), Verdict("not known", "ICC(1,1) over repeats"), label)
        return
    median = float(np.median(values))
    spread = f", {min(values):.2f} to {max(values):.2f} over {len(values)} criteria" if len(values) > 1 else ""
    text = f"One repeat agrees with another at ICC(1,1) {median:.2f}{spread}."
    yield Answer(question, (text.replace(" -", " −"),), rules.of_consistency(median), label)


def lost(evidence: Evidence, matrix: RatingMatrix, best: Margin | None) -> Answer:
    """A summary's answer on the share of repeats without a rating, and on kinds of stories that lost more ratings than
    others. Where `best` is None, all judges and Eval-Prompts are counted.
    """
    question, label = "What share of the ratings is missing?", "lost"
    asked = rated = 0
    causes: dict[str, int] = {}
    for i, cell in enumerate(matrix.cells):
        if best is None or (cell.run, cell.judge, cell.eval_prompt) == (best.run, best.judge, best.eval_prompt):
            asked, rated = asked + int(matrix.asked[i].sum()), rated + int(matrix.valid[i].sum())
            for name, number in matrix.missing[i].items():
                causes[name] = causes.get(name, 0) + number
    if not asked:
        return Answer(question, ("No judge was asked.",), None, label)
    named = ", ".join(f"{name.replace('_', ' ')} {number:,}" for name, number in causes.items() if number)
    first = f"{rated:,} of {asked:,} repeats have a rating{f' (lost: {named})' if named else ''}."
    groups = selective(evidence.coverage.tests)
    raters = evidence.raters_of(matrix.dataset)
    whole = tuple(raters.worded(_lost_more(which, cells)) for which, cells in groups.items())
    some = tuple(raters.worded(f"Stories {which} were lost more ({_rows(cells)}).") for which, cells in groups.items())
    return Answer(question, (first, *whole), rules.of_loss(rated, asked), label, (first, *some))


def _lost_more(which: str, cells: Mapping[str, Sequence[str]]) -> str:
    """Sentence that names a kind of stories (`which`) that lost more ratings than others. `cells` gives the criteria
    concerned for each judge and Eval-Prompt.
    """
    named = "; ".join(f"{name} ({', '.join(criteria)})" for name, criteria in cells.items())
    return f"Stories {which} were lost more often by {named}."


def _rows(cells: Mapping[str, Sequence[str]]) -> str:
    return "1 row" if len(cells) == 1 else f"{len(cells)} rows"


def wrong(evidence: Evidence, best: Margin) -> Answer:
    """A summary's answer on the faults of the judge that the tests of `judge diagnose` find, such as a bias for long
    stories; the most frequent fault first.
    """
    raters = evidence.raters_of(best.dataset)
    diagnosis = evidence.diagnosis(best)
    mine = [finding for finding in diagnosis.tested if (finding.dataset, finding.cell.run) == (best.dataset, best.run)]
    findings = [finding for finding in mine if holds(finding, diagnosis.options.alpha)]
    verdict = rules.of_faults(len(findings), len(mine))
    whole, some = (raters.worded(_counted(findings, mine, most)) for most in (len(findings), _FINDINGS))
    sentences, brief = ((whole,), (some,)) if findings else ((), ())
    if not mine:
        reasons = dict.fromkeys(
            str(finding.test.estimate.reason) for finding in diagnosis.findings if finding.test.estimate.reason
        )
        sentences = (f"{'; '.join(reasons)}.",) if reasons else ()
    return Answer("What goes wrong?", sentences, verdict, "wrong", brief)


def holds(finding: Finding, alpha: float) -> bool:
    """Whether a test for a fault of a judge is significant at level `alpha` after Holm's adjustment."""
    return finding.finds(alpha) and finding.adjusted is not None and finding.adjusted <= alpha


def _counted(findings: Sequence[Finding], tested: Sequence[Finding], most: int) -> str:
    """Sentence that lists faults of a judge, the most frequent first, at most `most` kinds. Each has the number of
    criteria on which it was found and the number on which it was tested.
    """
    counts: dict[tuple[str, str], list[str]] = {}
    for finding in findings:
        above = (finding.test.estimate.value or 0.0) > 0
        counts.setdefault((finding.diagnostic, _words(finding, above=above)), []).append(finding.criterion)
    tests_of = {
        name: sum(finding.diagnostic == name for finding in tested)
        for name in {finding.diagnostic for finding in tested}
    }
    order = sorted(counts.items(), key=lambda item: -len(item[1]))
    parts = [
        f"{words} ({names[0] if len(names) == 1 and tests_of[name] > 1 else f'{len(names)} of {tests_of[name]}'})"
        for (name, words), names in order[:most]
    ]
    more = f"; {len(order) - most} more kinds" if len(order) > most else ""
    text = "; ".join(parts) + more
    return f"It {text}."


def _words(finding: Finding, *, above: bool) -> str:
    """Short description of a fault of a judge, without numbers. If `above`, it is the description for a positive value
    of the test statistic, otherwise for a negative one.
    """
    words = finding.kind.above if above else finding.kind.below
    return words.partition(":")[0]


def seen(evidence: Seen | None, dates: Dated | None) -> Answer:
    """A summary's answer on whether the judge's model has seen the stories: from contamination scores, and from the
    dates (months) of the model and the stories. `evidence` is None without scores, and `dates` is None without known
    dates.
    """
    question = "Has it seen the stories?"
    by_dates = () if dates is None else (dates.brief,)
    if evidence is None:
        return Answer(
            question,
            ("No scores of the stories are there.", *by_dates),
            rules.of_contamination(measured=False),
            "seen",
        )
    verdict = rules.of_contamination(
        measured=True, recital=evidence.recital, recited=evidence.recited, blunt=evidence.blunt
    )
    return Answer(question, (*evidence.sentences, *by_dates), verdict, "seen")
