"""The report of an audit as one object: error rates in all ways of counting, agreement, annotators, strata,
disagreements.

`report` computes it once from the content of the audit at one moment. Tables, frames, figures and sentences are made
from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from judge.base.errors import SpecError
from judge.base.estimate import Estimate
from judge.base.printing.tables import printable
from judge.explanations.audit.file.categories import Category
from judge.explanations.audit.file.snapshot import AuditSnapshot
from judge.explanations.audit.results.answer_matrix import Answered, answered
from judge.explanations.audit.results.disagreements import Disagreement, disagreements
from judge.explanations.audit.results.options import ReportOptions
from judge.explanations.audit.results.rates import (
    Agreement,
    Rates,
    agreement,
    agreement_with_others,
    rate_of_annotator,
    rates,
)
from judge.explanations.audit.sample.practice import practice_score
from judge.version import __version__

if TYPE_CHECKING:
    import pandas as pd

_OF_RATES = "ci:wilson-stories"


@dataclass(frozen=True, slots=True)
class ErrorFound:
    """Results on one category: how often annotators saw the error, and how well they agree on it."""

    category: Category
    rates: Rates
    agreement: Agreement


@dataclass(frozen=True, slots=True)
class AnnotatorFound:
    """Results on one annotator.

    `done` is the number of items finished, and `seconds` the median time per item (None = not measured). `practice` is
    (answers as expected, answers given) in the practice round. `agreement` is the share of answers that equal another
    annotator's. `rates` maps each category to the share of items in which the annotator saw the error.
    """

    name: str
    done: int
    seconds: float | None
    practice: tuple[int, int]
    agreement: Estimate
    rates: dict[str, Estimate]


@dataclass(frozen=True, slots=True)
class Stratum:
    """Results on the items with one value (`level`) of a variable, e.g. of one judge: the number of these items that
    somebody finished, and the mean rate of each error by category.
    """

    level: str
    items: int
    rates: dict[str, Estimate]


@dataclass(frozen=True, slots=True)
class Strata:
    """Results for each value (level) of a variable, e.g. for each judge, sorted. `unknown` is the number of items whose
    value is not known.
    """

    variable: str
    levels: tuple[Stratum, ...]
    unknown: int


@dataclass(frozen=True, slots=True, eq=False)
class AuditReport:
    """Results of an audit.

    Attributes
    ----------
    audit : AuditSnapshot
        Content of the audit file from which all results are computed.
    answered : Answered
        The answers that are counted: those on finished items.
    options : ReportOptions
        Options with which the results were computed.
    errors : tuple of ErrorFound
        Results on each category, in the order of the categories.
    annotators : tuple of AnnotatorFound
        Results on each annotator.
    strata : tuple of Strata
        For each variable of the options, results by its levels (values), if there are at least two.
    disagreements : tuple of Disagreement
        All items on which annotators differ, sorted by the number of answers against the majority, largest first.
    """

    audit: AuditSnapshot
    answered: Answered
    options: ReportOptions
    errors: tuple[ErrorFound, ...]
    annotators: tuple[AnnotatorFound, ...]
    strata: tuple[Strata, ...]
    disagreements: tuple[Disagreement, ...]

    @property
    def clustered(self) -> bool:
        """Whether several items of the audit are about the same story. The intervals of agreement then treat stories as
        the independent units.
        """
        return any(error.agreement.ac1.stories < error.agreement.ac1.raw.n for error in self.errors)

    @property
    def signature(self) -> str:
        """Line with all options on which the counts depend, followed by the signature of the sample."""
        return self._signed("")

    @property
    def rates_signature(self) -> str:
        """Line with all options on which the error rates and their intervals depend."""
        return self._signed(_OF_RATES)

    @property
    def agreement_signature(self) -> str:
        """Line with all options on which the agreement coefficients and their intervals depend."""
        return self._signed(self._of_agreement)

    @property
    def _of_agreement(self) -> str:
        drawn = f"ci:t-items|alpha:boot-items/{self.options.resamples}/seed{self.options.seed}"
        return "ci:jackknife-stories" if self.clustered else drawn

    def _signed(self, intervals: str) -> str:
        matrix = self.answered
        drawn = str(self.audit.sampling.get("signature", "not drawn here")).removesuffix(f"|v{__version__}")
        parts = [
            f"audit:{self.audit.audit_id}",
            f"items:{int((matrix.raters > 0).sum())}/{len(matrix.items)}",
            f"annotators:{','.join(matrix.annotators)}",
            f"categories:{','.join(c.key for c in matrix.categories)}",
            f"settled:{matrix.settled}/{matrix.settled + matrix.open}" if matrix.settled else "",
            intervals,
            f"of:{drawn}",
            f"v{__version__}",
        ]
        return printable("|".join(part for part in parts if part))

    @property
    def frame(self) -> pd.DataFrame:
        """One row for each category of error: `category, label, items, stories, ties`, then each way of counting
        (`mean, majority, any, final, weighted`) and each coefficient (`ac1, raw, fleiss, alpha`) with `..._low,
        ..._high, ..._reason`.
        """
        from judge.stats.flat_frame import flat_frame

        signature = self._signed(f"{_OF_RATES}|{self._of_agreement}")
        return flat_frame((_cells(error) for error in self.errors), signature)


def report(audit: AuditSnapshot, options: ReportOptions | None = None) -> AuditReport:
    """The report of an audit, computed from its content at one moment. Raises SpecError if no item is finished."""
    options = options or ReportOptions()
    matrix = answered(audit, options.annotators)
    if not matrix.raters.any():
        hint = f"judge audit serve {audit.path}"
        raise SpecError(f"{audit.path}: no annotator has finished an item yet", hint=hint)
    by = [_strata(matrix, name) for name in options.by]
    return AuditReport(
        audit=audit,
        answered=matrix,
        options=options,
        errors=tuple(_error(matrix, category, options) for category in matrix.categories),
        annotators=tuple(_annotator(audit, matrix, name) for name in matrix.annotators),
        strata=tuple(strata for strata in by if len(strata.levels) > 1),
        disagreements=disagreements(audit, matrix),
    )


def _error(matrix: Answered, category: Category, options: ReportOptions) -> ErrorFound:
    agreed = agreement(matrix, category.key, resamples=options.resamples, seed=options.seed)
    return ErrorFound(category, rates(matrix, category.key), agreed)


def _annotator(audit: AuditSnapshot, matrix: Answered, name: str) -> AnnotatorFound:
    mine = matrix.given[matrix.categories[0].key][:, matrix.annotators.index(name)]
    done = [item.id for item, value in zip(matrix.items, mine, strict=True) if not np.isnan(value)]
    seconds = [s for i in done if (s := audit.annotation.seconds(name, i)) is not None]
    return AnnotatorFound(
        name=name,
        done=len(done),
        seconds=median(seconds) if seconds else None,
        practice=practice_score(audit, name),
        agreement=agreement_with_others(matrix, name),
        rates={c.key: rate_of_annotator(matrix, name, c.key) for c in matrix.categories},
    )


def _strata(matrix: Answered, variable: str) -> Strata:
    levels = matrix.levels(variable)
    strata = []
    for level in sorted({level for level in levels if level is not None}):
        where = np.array([value == level for value in levels])
        shares = {c.key: rates(matrix, c.key, where).mean for c in matrix.categories}
        strata.append(Stratum(level, int((matrix.raters[where] > 0).sum()), shares))
    return Strata(variable, tuple(strata), sum(level is None for level in levels))


def _cells(error: ErrorFound) -> dict[str, object]:
    shares, agreed = error.rates, error.agreement
    counts = {"items": shares.mean.n, "stories": agreed.ac1.stories, "ties": shares.ties}
    counted = {name: getattr(shares, name) for name in ("mean", "majority", "any", "final", "weighted")}
    coefficients = {"ac1": agreed.ac1.estimate, "raw": agreed.ac1.raw}
    coefficients |= {"fleiss": agreed.fleiss.estimate, "alpha": agreed.alpha.estimate}
    return {"category": error.category.key, "label": error.category.label, **counts, **counted, **coefficients}
