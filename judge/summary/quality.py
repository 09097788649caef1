"""The judge with itself, what was lost, what goes wrong, and whether it has seen the stories, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from judge.analysis.correlation.margins import Margin
from judge.analysis.diagnose.kinds import Finding
from judge.charts.words import worded
from judge.contamination.check.result import Recital, passages_of, tells
from judge.contamination.report import ContaminationReport
from judge.contamination.scores_file import ScoresFile
from judge.rating_matrix import RatingMatrix
from judge.summary import rules
from judge.summary.answers import Answer, Verdict
from judge.summary.evidence import Evidence
from judge.wording import written

_FINDINGS = 4


@dataclass(frozen=True, slots=True)
class Seen:
    """What scores files say of whether models have seen the stories."""

    sentences: tuple[str, ...]
    recital: bool = False
    recited: int = 0
    blunt: bool = False

    @classmethod
    def of(cls, report: ContaminationReport, files: Sequence[ScoresFile] = ()) -> Seen:
        """A sentence for each model that was scored; `files` are the scores behind the report."""
        found = [(one, Recital.of_file(one)) for one in files]
        known = [(one, recital) for one, recital in found if recital is not None]
        said = tuple(
            f"{one.judge} recites {recital.recited or 'none'} of {recital.of:,} stories"
            f"; {(passages := passages_of(one)).above(recital)} of {passages.of} passages that everybody knows it "
            "expects more than any story."
            for one, recital in known
        )
        blunt = not all(tells(recital, passages_of(one)) for one, recital in known)
        return cls(said + cls._shares(report), bool(known), sum(recital.recited for _, recital in known), blunt)

    @staticmethod
    def _shares(report: ContaminationReport) -> tuple[str, ...]:
        return tuple(
            f"{row.model} seems to have seen {worded(row.corrected, factor=100)} % of {row.stories:,} stories."
            if row.corrected.value is not None
            else f"{row.model}: what share it has seen is {written(str(row.corrected.reason), None)}."
            for row in report.rows
        )


def itself(evidence: Evidence, matrix: RatingMatrix, best: Margin | None) -> Iterator[Answer]:
    """ICC(1,1) of one repeat with another: the median over the row's criteria, or over all cells without a row."""
    question, label = "Does it agree with itself?", "itself"
    cells = [
        cell
        for cell in evidence.consistency.judged
        if cell.dataset == matrix.dataset
        and (best is None or (cell.run, cell.judge, cell.eval_prompt) == (best.run, best.judge, best.eval_prompt))
    ]
    found = [one for cell in cells if (one := cell.estimate("ICC(1,1)")) is not None]
    values = [one.value for one in found if one.value is not None]
    if not values:
        reasons = dict.fromkeys(str(one.reason) for one in found if one.reason) or {"no repeat was asked": None}
        said = f"ICC is {'; '.join(reasons)}."
        yield Answer(question, (said,), Verdict("not known", "ICC(1,1) over repeats"), label)
        return
    median = float(np.median(values))
    spread = f", {min(values):.2f} to {max(values):.2f} over {len(values)} criteria" if len(values) > 1 else ""
    text = f"One repeat agrees with another at ICC(1,1) {median:.2f}{spread}."
    yield Answer(question, (text.replace(" -", " −"),), rules.of_consistency(median), label)


def lost(evidence: Evidence, matrix: RatingMatrix, best: Margin | None) -> Answer:
    """How many of the row's repeats have no rating, and what loss goes with."""
    question, label = "Was anything lost?", "lost"
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
    findings = evidence.coverage.findings
    more = f" Loss goes with people's ratings ({len(findings)} finding{'s' if len(findings) > 1 else ''})." if (
        findings
    ) else ""  # fmt: skip
    return Answer(question, (first + more,), rules.of_loss(rated, asked), label)


def wrong(evidence: Evidence, best: Margin) -> Answer:
    """What the tests of `judge diagnose` find on the row, the commonest first."""
    raters = evidence.raters_of(best.dataset)
    diagnosis = evidence.diagnosis(best)
    mine = [one for one in diagnosis.tested if (one.dataset, one.cell.run) == (best.dataset, best.run)]
    found = [one for one in mine if holds(one, diagnosis.options.alpha)]
    verdict = rules.of_faults(len(found), len(mine))
    said = (raters.said(_counted(found, mine)),) if found else ()
    if not mine:
        reasons = dict.fromkeys(str(one.test.estimate.reason) for one in diagnosis.findings if one.test.estimate.reason)
        said = (f"{'; '.join(list(reasons)[:2])}.",) if reasons else ()
    return Answer("What goes wrong?", said, verdict, "wrong")


def holds(one: Finding, alpha: float) -> bool:
    """Whether a test finds something after Holm's adjustment."""
    return one.finds(alpha) and one.adjusted is not None and one.adjusted <= alpha


def _counted(found: Sequence[Finding], tested: Sequence[Finding]) -> str:
    """Findings in words with on how many criteria of those tested, the commonest first."""
    counts: dict[tuple[str, str], list[str]] = {}
    for one in found:
        above = (one.test.estimate.value or 0.0) > 0
        counts.setdefault((one.diagnostic, _words(one, above=above)), []).append(one.criterion)
    of = {name: sum(one.diagnostic == name for one in tested) for name in {one.diagnostic for one in tested}}
    order = sorted(counts.items(), key=lambda item: -len(item[1]))
    parts = [
        f"{words} ({names[0] if len(names) == 1 and of[name] > 1 else f'{len(names)} of {of[name]}'})"
        for (name, words), names in order[:_FINDINGS]
    ]
    more = f"; {len(order) - _FINDINGS} more kinds" if len(order) > _FINDINGS else ""
    text = "; ".join(parts) + more
    return f"It {text}."


def _words(one: Finding, *, above: bool) -> str:
    """The finding without the shares of one criterion."""
    words = one.kind.above if above else one.kind.below
    return words.partition(":")[0]


def seen(found: Seen | None) -> Answer:
    """Whether models have seen the stories."""
    question = "Has it seen the stories?"
    if found is None:
        return Answer(
            question,
            ("Neither a check nor a scores file is there.",),
            rules.of_contamination(measured=False),
            "seen",
        )
    verdict = rules.of_contamination(measured=True, recital=found.recital, recited=found.recited, blunt=found.blunt)
    return Answer(question, found.sentences, verdict, "seen")
