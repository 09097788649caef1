"""Result type of the diagnostics: all tests of a ratings table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from judge.analysis.diagnose.kinds import DIAGNOSTICS, Finding
from judge.analysis.options.signature import joined
from judge.analysis.options.signed import Signed
from judge.analysis.options.table_options import DiagnoseOptions


@dataclass(frozen=True, slots=True, eq=False)
class Diagnosis(Signed):
    """Diagnostic tests for biases of judges in comparison with people, significant or not.

    Attributes
    ----------
    findings : tuple of Finding
        Findings by judge, Eval-Prompt and criterion, then the halo of each judge and Eval-Prompt; p is adjusted by
        Holm's method over all defined tests.
    datasets : tuple of str
        Names of the datasets.
    few : mapping
        Dataset with too few story-prompts for a jackknife over them -> their number; its tests leave out single stories
        instead.
    counts_signature_parts : tuple of str
        Signature parts of the counts of significant tests, which have no interval.
    """

    findings: tuple[Finding, ...]
    datasets: tuple[str, ...]
    few: Mapping[str, int]
    options: DiagnoseOptions
    counts_signature_parts: tuple[str, ...]

    @property
    def tested(self) -> tuple[Finding, ...]:
        """The findings of diagnostic tests that could be computed."""
        return tuple(finding for finding in self.findings if finding.test.p is not None)

    @property
    def found(self) -> tuple[Finding, ...]:
        """Findings of diagnostic tests that are significant without adjustment."""
        return tuple(finding for finding in self.tested if finding.finds(self.options.alpha))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the kinds of diagnostic tests; for criteria with labels, some kinds differ from those for
        numbers.
        """
        if all(finding.label_kind is None for finding in self.findings):
            return tuple(DIAGNOSTICS)
        return tuple(dict.fromkeys(finding.diagnostic for finding in self.findings))

    @property
    def counts_signature(self) -> str:
        """Signature line of a table that counts significant diagnostic tests: each choice that can change its
        numbers.
        """
        return joined(self.counts_signature_parts)

    @property
    def frame(self) -> pd.DataFrame:
        """A frame with one row per diagnostic test for a bias of a judge, and with `signature` and `notes` in its
        `attrs`.

        Columns: `dataset, run, judge, eval_prompt, criterion, diagnostic, value, low, high, unit, se, p, tail,
        p_adjusted, detectable, point, n, story_prompts, verdict, reason`. `p_adjusted` is by Holm's method over all
        defined tests. Undefined values are null with a reason.
        """
        return self.signed([_flat(finding, self.options.alpha) for finding in self.findings])


def _flat(finding: Finding, alpha: float) -> dict[str, object]:
    test = finding.test
    estimate = test.estimate
    return {
        "dataset": finding.dataset,
        **finding.cell._asdict(),
        "criterion": finding.criterion,
        "diagnostic": finding.diagnostic,
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "unit": finding.kind.unit,
        "se": test.se,
        "p": test.p,
        "tail": test.tail,
        "p_adjusted": finding.adjusted,
        "detectable": finding.detectable(alpha),
        "point": finding.point,
        "n": estimate.n,
        "story_prompts": test.clusters,
        "verdict": finding.verdict(alpha),
        "reason": estimate.reason,
    }
