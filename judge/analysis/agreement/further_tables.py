"""Further tables that set judges beside people, by the names that `judge correlate --also` knows. Computes nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from judge.errors import SpecError, unknown
from judge.printing.tables import Table

if TYPE_CHECKING:
    from judge.analysis.correlation import Correlations, Predict
    from judge.ratings_table import RatingsTable

Maker = Callable[["RatingsTable", "Correlations", "Predict | None"], list[Table]]
"""From a ratings table, its correlations (whose choices the further tables share) and the control to tables."""


def _accuracy(table: RatingsTable, result: Correlations, predict: Predict | None) -> list[Table]:
    from judge.analysis.agreement import accuracy
    from judge.analysis.options.agreement_options import AccuracyOptions

    options = result.options
    chosen = AccuracyOptions(
        level="by-item" if options.level == "by-item" else "overall",
        drop_systems=options.drop_systems,
        against=options.against,
        ci="none" if options.ci == "none" else "boot-inputs",
        resamples=options.resamples,
        seed=options.seed,
        control=options.control,
    )
    return accuracy.tables(table, chosen, predict=predict)


def _drift(table: RatingsTable, result: Correlations, predict: Predict | None) -> list[Table]:
    from judge.analysis.agreement import drift
    from judge.analysis.options.agreement_options import DriftOptions

    options = result.options
    chosen = DriftOptions(drop_systems=options.drop_systems, against=options.against, control=options.control)
    return drift.tables(table, chosen, predict=predict)


def _sliding_sets(table: RatingsTable, result: Correlations, predict: Predict | None) -> list[Table]:
    from judge.analysis.agreement import sliding_sets
    from judge.analysis.options.agreement_options import DriftOptions

    options = result.options
    chosen = DriftOptions(
        drop_systems=options.drop_systems,
        against=options.against,
        ci="none" if options.ci == "none" else "boot-inputs",
        resamples=options.resamples,
        seed=options.seed,
        control=options.control,
    )
    return sliding_sets.tables(table, chosen, predict=predict)


def _leads(table: RatingsTable, result: Correlations, predict: Predict | None) -> list[Table]:  # noqa: ARG001
    from judge.analysis.correlation.margins import margins
    from judge.analysis.correlation.margins_table import table_of

    return [table_of(result, margins(result))]


def _replacement(table: RatingsTable, result: Correlations, predict: Predict | None) -> list[Table]:  # noqa: ARG001
    from judge.analysis.agreement import replacement
    from judge.analysis.options.agreement_options import ReplacementOptions

    options = result.options
    chosen = ReplacementOptions(drop_systems=options.drop_systems, against=options.against, seed=options.seed)
    return replacement.tables(table, chosen)


TABLES: dict[str, Maker] = {
    "leads": _leads,
    "accuracy": _accuracy,
    "drift": _drift,
    "sliding-sets": _sliding_sets,
    "replacement": _replacement,
}
"""Name -> what makes the tables."""


def further_tables(
    names: Sequence[str],
    table: RatingsTable,
    result: Correlations,
    predict: Predict | None,
    *,
    labels: str | None = None,
    errors: Sequence[str] = (),
) -> list[Table]:
    """The named tables with the choices of these correlations; with `labels`, those of binary labels last.

    For `leads` the correlations are ones that were computed paired.

    Raises SpecError for a name that is not known, and for error types without labels to set them against.
    """
    found: list[Table] = []
    for name in names:
        if name not in TABLES:
            raise SpecError(unknown("--also", name, TABLES))
        found += TABLES[name](table, result, predict)
    if errors and labels is None:
        raise SpecError("--errors needs --labels: the stories without errors", hint="e.g. --labels 'Overall > 4'")
    if labels is not None:
        from judge.analysis.agreement.binary_labels import tables
        from judge.analysis.options.agreement_options import LabelOptions

        options = result.options
        chosen = LabelOptions(
            labels=labels,
            errors=tuple(errors),
            drop_systems=options.drop_systems,
            ci="none" if options.ci == "none" else "boot-inputs",
            resamples=options.resamples,
            seed=options.seed,
            control=options.control,
        )
        found += tables(table, chosen, predict=predict)
    return found
