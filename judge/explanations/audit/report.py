"""The report of an audit as one object: error rates in all ways of counting, agreement, annotators, strata."""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from judge.base.errors import SpecError
from judge.base.estimate import Estimate
from judge.base.printing.tables import printable
from judge.explanations.audit.answer_matrix import Answered, Disagreement, answered, disagreements
from judge.explanations.audit.answers_file import practice_score
from judge.explanations.audit.items import Category
from judge.explanations.audit.options import ReportOptions
from judge.explanations.audit.store import AuditSnapshot
from judge.stats.agreement import chance_agreement, krippendorff
from judge.stats.agreement.chance_agreement import ChanceAgreement
from judge.stats.estimation.assisted import AssistedShare, assisted_share
from judge.stats.estimation.proportions import weighted_share
from judge.version import __version__

if TYPE_CHECKING:
    import pandas as pd


# Computes the rate of each kind of error in several ways of counting, and the agreement between annotators.

Floats = NDArray[np.float64]
NO_ROUND = "undefined: no disagreement of annotators has been adjudicated"


@dataclass(frozen=True, slots=True)
class Rates:
    """Rates of one kind of error: `mean` is the share of an item's annotators who see it, averaged over items.

    `majority` and `any` are shares of items where more than half, or one, see it; `final` is after disagreements are
    settled; `weighted` weights items by the explanations that they represent, and `assisted` uses what the program
    knows of all explanations beside, None where the sample was not drawn with it; `ties` counts items where exactly
    half see it.
    """

    mean: Estimate
    majority: Estimate
    any: Estimate
    final: Estimate
    weighted: Estimate
    ties: int
    assisted: AssistedShare | None = None


@dataclass(frozen=True, slots=True)
class Agreement:
    """Coefficients of agreement on one category; each also holds the raw agreement."""

    ac1: ChanceAgreement
    fleiss: ChanceAgreement
    alpha: ChanceAgreement


def rates(matrix: Answered, key: str, where: NDArray[np.bool_] | None = None) -> Rates:
    """Rates of the error of category `key`, over all items or those where `where` is True."""
    some = np.ones(len(matrix.items), dtype=np.bool_) if where is None else where
    values = matrix.given[key][some]
    share, story, raters = matrix.share(key)[some], matrix.story[some], matrix.raters[some]
    rated = raters > 0
    flat = np.ones(share.size)
    trials = int(raters.sum())

    def of(hits: Floats) -> Estimate:
        return weighted_share(np.where(rated, hits, np.nan), flat, story)

    final = Estimate.undefined(NO_ROUND)
    if matrix.settled:
        final = weighted_share(matrix.final[key][some], flat, story)
    weight = matrix.weight[some]
    weighted = Estimate.undefined("undefined: it is not known how the items were sampled")
    if not np.isnan(weight).any():
        weighted = weighted_share(share, weight, story, trials=trials)
    return Rates(
        mean=weighted_share(share, flat, story, trials=trials),
        majority=of((share > 0.5).astype(np.float64)),
        any=of((values == 1).any(axis=1).astype(np.float64)),
        final=final,
        weighted=weighted,
        ties=int((share == 0.5).sum()),
    )


def agreement(answered: Answered, key: str, *, resamples: int, seed: int, as_published: bool = False) -> Agreement:
    """AC1, Fleiss' kappa and Krippendorff's alpha of a category, over items that at least two annotators finished. AC1
    is computed for two possible answers even if only one occurs: it is then 1, without an interval. Intervals treat
    stories as the independent units; with `as_published` explanations, as in the HANNA study."""
    values, story = answered.given[key], None if as_published else answered.story
    rng = np.random.default_rng(seed)
    return Agreement(
        chance_agreement.gwet(values, categories=np.array([0.0, 1.0]), story=story),
        chance_agreement.fleiss(values, story=story),
        krippendorff.alpha(values, "nominal", rng, resamples=resamples, story=story),
    )


def agreement_with_others(answered: Answered, annotator: str) -> Estimate:
    """Share of pairs of an annotator's and another's answers on an item and category that are equal; items weigh the
    same."""
    j = answered.annotators.index(annotator)
    equal = np.zeros(len(answered.items))
    pairs = np.zeros(len(answered.items))
    for values in answered.given.values():
        mine = values[:, [j]]
        others = np.delete(values, j, axis=1)
        both = ~np.isnan(others) & ~np.isnan(mine)
        equal += ((others == mine) & both).sum(axis=1)
        pairs += both.sum(axis=1)
    if not pairs.any():
        return Estimate.undefined("undefined: no other annotator has finished the same items")
    share = np.where(pairs > 0, equal / np.maximum(pairs, 1), np.nan)
    return weighted_share(share, np.ones(share.size), answered.story, trials=int(pairs.sum()))


def rate_of_annotator(answered: Answered, annotator: str, key: str) -> Estimate:
    """Share of the items finished by one annotator in which this annotator sees the error."""
    hits = answered.given[key][:, answered.annotators.index(annotator)]
    return weighted_share(hits, np.ones(hits.size), answered.story)


_OF_RATES = "ci:wilson-stories"


@dataclass(frozen=True, slots=True)
class ErrorFound:
    """Results on one category: how often annotators saw the error, and how well they agree on it."""

    category: Category
    rates: Rates
    agreement: Agreement


@dataclass(frozen=True, slots=True)
class AnnotatorFound:
    """Results on one annotator: items `done`, median `seconds` per item (None = not measured), rates by category.
    `practice` is (answers as expected, answers given); `agreement` the share of answers equal to another annotator's.
    """

    name: str
    done: int
    seconds: float | None
    practice: tuple[int, int]
    agreement: Estimate
    rates: dict[str, Estimate]


@dataclass(frozen=True, slots=True)
class Stratum:
    """Results on one value (`level`) of a variable: the number of finished items, and mean rates by category."""

    level: str
    items: int
    rates: dict[str, Estimate]


@dataclass(frozen=True, slots=True)
class Strata:
    """Results for each value of a variable, sorted; `unknown` counts items whose value is not known."""

    variable: str
    levels: tuple[Stratum, ...]
    unknown: int


@dataclass(frozen=True, slots=True, eq=False)
class AuditReport:
    """Results of an audit; `answered` holds the answers on finished items, from which they are computed. `strata` has
    the variables with two levels or more; `disagreements` all, most answers against the majority first."""

    audit: AuditSnapshot
    answered: Answered
    options: ReportOptions
    errors: tuple[ErrorFound, ...]
    annotators: tuple[AnnotatorFound, ...]
    strata: tuple[Strata, ...]
    disagreements: tuple[Disagreement, ...]

    @property
    def clustered(self) -> bool:
        """Whether several items are about one story; stories are then the units of agreement's intervals."""
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
        """One row for each category: `category, label, items, stories, ties`, then each way of counting (`mean,
        majority, any, final, weighted`) and each coefficient (`ac1, raw, fleiss, alpha`) with `..._low, ..._high,
        ..._reason`."""
        from judge.analysis.frames import flat_frame

        signature = self._signed(f"{_OF_RATES}|{self._of_agreement}")
        return flat_frame((_cells(error) for error in self.errors), signature)


def _assisted(audit: AuditSnapshot, matrix: Answered, key: str) -> AssistedShare | None:
    """Rate in all explanations that could be sampled, by the helper that the sample was drawn with."""
    helper = audit.sampling.get("helper")
    if not helper or len(helper["of"]) != len(matrix.items) or np.isnan(matrix.weight).any():
        return None
    values = np.array(helper["of"], dtype=np.float64)
    return assisted_share(matrix.share(key), matrix.weight, matrix.story, values, float(helper["mean"]))


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
        errors=tuple(
            ErrorFound(
                c,
                replace(rates(matrix, c.key), assisted=_assisted(audit, matrix, c.key)),
                agreement(matrix, c.key, resamples=options.resamples, seed=options.seed),
            )
            for c in matrix.categories
        ),
        annotators=tuple(_annotator(audit, matrix, name) for name in matrix.annotators),
        strata=tuple(strata for strata in by if len(strata.levels) > 1),
        disagreements=disagreements(audit, matrix),
    )


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
