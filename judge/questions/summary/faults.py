"""Faults of a judge, as the tests of `judge diagnose` show them, and their words. Every place that names a judge's
faults (summary, report, certificate) takes them from here, so that none says more than another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from judge.analysis.diagnose import Diagnosis
from judge.analysis.diagnose.kinds import COPY, REVERSED, REVERSED_RATER, Finding
from judge.base.wording import written
from judge.questions.summary import rules
from judge.questions.summary.answers import Verdict

_FIRST = (COPY, REVERSED, REVERSED_RATER)
"""Faults that make all other figures worthless; they are named before the others."""


@dataclass(frozen=True, slots=True, eq=False)
class Faults:
    """The tests of one judge and Eval-Prompt for faults.

    `tests` are all tests of faults that the judge, or the people beside it, can have here. `found` are those that are
    significant after Holm's adjustment.
    """

    tests: tuple[Finding, ...]
    found: tuple[Finding, ...]

    @classmethod
    def of(cls, diagnosis: Diagnosis, dataset: str, run: str | None, criteria: Sequence[str] | None = None) -> Faults:
        """The tests in a diagnosis that are of one dataset and run (None = of any run), and of people's ratings there.

        `criteria` keeps the tests of these criteria; tests over all criteria then stay.
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
    def made(self) -> tuple[Finding, ...]:
        """The tests that could be made."""
        return tuple(finding for finding in self.tests if finding.test.p is not None)

    @property
    def verdict(self) -> Verdict:
        """The verdict of a summary: in how many tests something was found, and how many could be made."""
        return rules.of_faults(len(self.found), len(self.made), len(self.tests))

    def words(self, most: int | None = None, who: str = "It") -> str:
        """Sentences that name the faults found, those that spoil everything and the most frequent ones first, at most
        `most` kinds; empty without any. Each has the number of criteria on which it was found and on which it was
        tested. `who` is the subject of the sentence.
        """
        kinds = list(self._kinds())
        told = kinds if most is None else kinds[:most]
        more = f"; {len(kinds) - len(told)} more kinds" if len(kinds) > len(told) else ""
        own = [f"{words} {where}" for of_people, words, where in told if not of_people]
        people = [f"{words} {where}" for of_people, words, where in told if of_people]
        first = (f"{who} {'; '.join(own)}{more}.",) if own else ()
        return " ".join((*first, *(f"Of the people, {words}." for words in people)))

    def not_made(self, *, reasons: bool) -> str:
        """Sentence that names the tests that could not be made, with their `reasons` or without; empty where all could
        be.
        """
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
        """For each kind of fault found: whether it is people's, its words, and where it was found (in brackets)."""
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
    """Whether a test for a fault of a judge is significant at level `alpha` after Holm's adjustment."""
    return finding.finds(alpha) and finding.adjusted is not None and finding.adjusted <= alpha


def _words(finding: Finding) -> str:
    """Short description of a fault, with the rater whom it names, and without numbers."""
    kind = finding.kind
    words = (kind.above if (finding.test.estimate.value or 0.0) > 0 else kind.below).partition(":")[0]
    if finding.of_people:
        return f"{finding.label} {words}"
    return f"{words}, {finding.label}" if finding.diagnostic == COPY else words
