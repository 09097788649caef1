"""Answers of a summary on a judge's quality: consistency, missing ratings, biases, and contamination."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from judge.analysis.correlation.margins import Margin
from judge.analysis.coverage import counts
from judge.analysis.diagnose import Diagnosis
from judge.analysis.diagnose.kinds import COPY, LOSS, MIDDLING, REVERSED, REVERSED_RATER, Finding
from judge.base.estimate import Estimate
from judge.base.wording import written
from judge.contamination.check import Dated, Recital, passages_of, tells
from judge.contamination.report import ContaminationReport
from judge.contamination.scores_file import ScoresFile
from judge.questions.charts.shared import worded
from judge.questions.summary import rules
from judge.questions.summary.evidence import Evidence
from judge.questions.summary.result import Answer, Verdict
from judge.ratings.rating_matrix import RatingMatrix

# Faults of a judge, as the tests of `judge diagnose` show them, and their words. Every place that names a judge's
# faults (summary, report, certificate) takes them from here, so that none says more than another.

# Faults that make all other figures worthless; they are named before the others.
_FIRST = (COPY, REVERSED, REVERSED_RATER)


@dataclass(frozen=True, slots=True, eq=False)
class Faults:
    """The tests of one judge x Eval-Prompt for faults that it, or the people beside it, can have here, and those
    significant after Holm's adjustment.
    """

    tests: tuple[Finding, ...]
    found: tuple[Finding, ...]

    @classmethod
    def of(cls, diagnosis: Diagnosis, dataset: str, run: str | None, criteria: Sequence[str] | None = None) -> Faults:
        """The tests of one dataset and run (None = any), and of people's ratings there. `criteria` keeps the tests of
        these, and those over all criteria.
        """
        tests = tuple(
            finding
            for finding in diagnosis.findings
            if finding.applies
            and finding.dataset == dataset
            and (finding.of_people or run is None or finding.cell.run == run)
            and (criteria is None or finding.of_all or finding.criterion in criteria)
        )
        return cls(tests, tuple(finding for finding in tests if holds(finding, diagnosis.options.alpha)))

    @property
    def of_loss(self) -> Faults:
        """Those of whether what is lost depends on people's ratings."""
        kept = (tuple(one for one in each if one.diagnostic in (LOSS, MIDDLING)) for each in (self.tests, self.found))
        return Faults(*kept)

    @property
    def made(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.tests if finding.test.p is not None)

    @property
    def verdict(self) -> Verdict:
        """In how many tests something was found, and how many could be made."""
        return rules.of_faults(len(self.found), len(self.made), len(self.tests))

    def words(self, most: int | None = None, who: str = "It") -> str:
        """The faults found, those that spoil everything and the most frequent first, at most `most` kinds, with the
        number of criteria on which each was found and tested. `who` is the subject of the sentence.
        """
        kinds = list(self._kinds())
        told = kinds if most is None else kinds[:most]
        more = f"; {len(kinds) - len(told)} more kinds" if len(kinds) > len(told) else ""
        own = [f"{words} {where}" for of_people, words, where in told if not of_people]
        people = [f"{words} {where}" for of_people, words, where in told if of_people]
        first = (f"{who} {'; '.join(own)}{more}.",) if own else ()
        return " ".join((*first, *(f"Of the people, {words}." for words in people)))

    def not_made(self, *, reasons: bool) -> str:
        """The tests that could not be made, with their `reasons` or without; empty where all could be."""
        left: dict[str, str] = {}
        for finding in self.tests:
            if finding.test.p is None:
                left.setdefault(finding.diagnostic, written(finding.test.estimate.reason or "", None))
        made = {finding.diagnostic for finding in self.made}
        parts = [
            f"{name}{' of some criteria' if name in made else ''}{f' ({reason})' if reasons and reason else ''}"
            for name, reason in left.items()
        ]
        return f"Could not be tested: {'; '.join(parts)}." if parts else ""

    def _kinds(self) -> Iterator[tuple[bool, str, str]]:
        """By kind: whether it is people's, its words, and where it was found (in brackets)."""
        counts: dict[tuple[str, bool, str], list[str]] = {}
        for finding in self.found:
            key = (finding.diagnostic, finding.of_people, _words(finding))
            counts.setdefault(key, []).append(finding.criterion)
        for (name, of_people, words), names in sorted(
            counts.items(), key=lambda item: (item[0][0] not in _FIRST, -len(item[1]))
        ):
            of = sum(finding.diagnostic == name for finding in self.made)
            where = names[0] if len(names) == 1 and of > 1 else f"{len(names)} of {of}"
            yield of_people, words, f"({where})"


def holds(finding: Finding, alpha: float) -> bool:
    """Whether a test is significant at level `alpha` after Holm's adjustment."""
    return finding.finds(alpha) and finding.adjusted is not None and finding.adjusted <= alpha


def _words(finding: Finding) -> str:
    kind = finding.kind
    words = (kind.above if (finding.test.estimate.value or 0.0) > 0 else kind.below).partition(":")[0]
    if finding.of_people:
        return f"{finding.label} {words}"
    return f"{words}, {finding.label}" if finding.diagnostic == COPY else words


# Kinds of findings on a screen.
_FINDINGS = 4

# The one way to a share that is named everywhere; thresholds by hand remain, for who has a scores file.
_SHARE_BY = "judge contamination check computes it with a labelled set, texts that this model has and has not seen"


@dataclass(frozen=True, slots=True)
class Seen:
    """Evidence from contamination scores. `recital`: it was tested whether a model recites the stories; `recited`
    counts these. `blunt`: it recites no well-known passages either, so that the test is uninformative.
    """

    sentences: tuple[str, ...]
    recital: bool = False
    recited: int = 0
    blunt: bool = False

    @classmethod
    def of(cls, report: ContaminationReport, files: Sequence[ScoresFile] = ()) -> Seen:
        """The evidence in a report on these files, with a sentence for each model."""
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
    """Median ICC(1,1) over the criteria of the best judge x Eval-Prompt, or (None) over all pairs and criteria."""
    question, label = "Does it agree with itself?", "itself"
    cells = [
        cell
        for cell in evidence.consistent_judges
        if cell.dataset == matrix.dataset
        and (best is None or (cell.run, cell.judge, cell.eval_prompt) == (best.run, best.judge, best.eval_prompt))
    ]
    estimates = [estimate for cell in cells if (estimate := cell.estimate("ICC(1,1)")) is not None]
    text, verdict = with_itself(estimates, "criteria")
    yield Answer(question, (text,), verdict, label)


def with_itself(estimates: Sequence[Estimate], over: str) -> tuple[str, Verdict]:
    """Sentence on several cells' ICC(1,1), with the verdict; `over` names the cells, such as criteria."""
    defined = [estimate for estimate in estimates if estimate.value is not None]
    values = [estimate.value for estimate in defined if estimate.value is not None]
    if not values:
        reasons = dict.fromkeys(str(estimate.reason) for estimate in estimates if estimate.reason)
        words = "; ".join(reasons) or "no repeat was asked"
        return f"ICC is {words}.", Verdict("not known", "ICC(1,1) over repeats")
    median = float(np.median(values))
    first, *others = defined
    own = "" if first.low is None or first.high is None else f" [{first.low:.2f}, {first.high:.2f}]"
    spread = f", {min(values):.2f} to {max(values):.2f} over {len(values)} {over}" if others else own
    text = f"One repeat agrees with another at ICC(1,1) {median:.2f}{spread}."
    return text.replace(" -", " −"), rules.of_consistency(defined)


def lost(evidence: Evidence, matrix: RatingMatrix, best: Margin | None) -> Answer:
    """Share of repeats without a rating, and stories that lost more than others; for `best` None, of all judges."""
    question, label = "What share of the ratings is missing?", "lost"
    cells = [
        i
        for i, cell in enumerate(matrix.cells)
        if best is None or (cell.run, cell.judge, cell.eval_prompt) == (best.run, best.judge, best.eval_prompt)
    ]
    asked, rated = (sum(int(each[i].sum()) for i in cells) for each in (matrix.asked, matrix.valid))
    causes: dict[str, int] = {}
    for i in cells:
        for name, number in matrix.missing[i].items():
            causes[name] = causes.get(name, 0) + number
    if not asked:
        return Answer(question, ("No judge was asked.",), None, label)
    came = counts.origin([matrix.imported[i] for i in cells])
    first = counts.said(rated, asked, causes, came)
    first += _of_one_system(matrix, cells, asked - rated)
    if any(matrix.means[i] for i in cells):
        first += " What was lost within a mean cannot be seen."
    # As "wrong" finds it, of the row that the box is about.
    faults = None if best is None else Faults.of(evidence.diagnosis(best), best.dataset, best.run).of_loss
    words = () if faults is None or not faults.found else (evidence.raters_of(matrix.dataset).worded(faults.words()),)
    return Answer(question, (first, *words), rules.of_loss(rated, asked, came), label)


def _of_one_system(matrix: RatingMatrix, cells: Sequence[int], lost: int) -> str:
    """The system whose stories are most of what was lost, where there is one; a count, and no test."""
    by_system = np.zeros(len(matrix.systems), dtype=np.int64)
    for i in cells:
        np.add.at(by_system, matrix.system, np.asarray(matrix.asked[i] - matrix.valid[i], dtype=np.int64))
    most = int(by_system.argmax())
    if len(matrix.systems) <= _FEW or 2 * int(by_system[most]) <= lost:
        return ""
    return f" {int(by_system[most]):,} of the {lost:,} lost are of {matrix.systems[most]}."


# With fewer systems one of them may hold most of the loss without being lost more.
_FEW = 3


def wrong(evidence: Evidence, best: Margin) -> Answer:
    """Faults that the tests of `judge diagnose` find, such as a bias for long stories, and what could not be tested."""
    raters = evidence.raters_of(best.dataset)
    faults = Faults.of(evidence.diagnosis(best), best.dataset, best.run)
    whole, some = ((faults.words(most), faults.not_made(reasons=most is None)) for most in (None, _FINDINGS))
    sentences, brief = (tuple(raters.worded(text) for text in texts if text) for texts in (whole, some))
    return Answer("What goes wrong?", sentences, faults.verdict, "wrong", brief)


def seen(evidence: Seen | None, dates: Dated | None, *, control: bool) -> Answer:
    """Whether the judge's model has seen the stories, from contamination scores and dates (months); None = none. The
    `control` is no model."""
    question = "Has it seen the stories?"
    by_dates = () if dates is None else (dates.brief,)
    if evidence is None:
        return Answer(
            question,
            ("A control has seen nothing.",) if control else ("No scores of the stories are there.", *by_dates),
            rules.of_contamination(measured=False),
            "seen",
        )
    verdict = rules.of_contamination(
        measured=True, recital=evidence.recital, recited=evidence.recited, blunt=evidence.blunt
    )
    return Answer(question, (*evidence.sentences, *by_dates), verdict, "seen")
