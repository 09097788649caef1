"""Further tables that set judges beside people, by the names that its option `also` knows. Computes nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from judge.analysis.options.table_options import CorrelationOptions
from judge.errors import SpecError, unknown_value
from judge.printing.tables import Table
from judge.wording import Advice

if TYPE_CHECKING:
    from judge.analysis.correlation import Predict
    from judge.ratings_table import RatingsTable

Maker = Callable[["RatingsTable", CorrelationOptions, "Predict | None"], list[Table]]


def _accuracy(table: RatingsTable, options: CorrelationOptions, predict: Predict | None) -> list[Table]:
    from judge.analysis.agreement import accuracy
    from judge.analysis.options.agreement_options import AccuracyOptions

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


def _drift(table: RatingsTable, options: CorrelationOptions, predict: Predict | None) -> list[Table]:
    from judge.analysis.agreement import drift
    from judge.analysis.options.agreement_options import DriftOptions

    chosen = DriftOptions(drop_systems=options.drop_systems, against=options.against, control=options.control)
    return drift.tables(table, chosen, predict=predict)


def _sliding_sets(table: RatingsTable, options: CorrelationOptions, predict: Predict | None) -> list[Table]:
    from judge.analysis.agreement import sliding_sets
    from judge.analysis.options.agreement_options import DriftOptions

    chosen = DriftOptions(
        drop_systems=options.drop_systems,
        against=options.against,
        ci="none" if options.ci == "none" else "boot-inputs",
        resamples=options.resamples,
        seed=options.seed,
        control=options.control,
    )
    return sliding_sets.tables(table, chosen, predict=predict)


def _leads(table: RatingsTable, options: CorrelationOptions, predict: Predict | None) -> list[Table]:
    from judge.analysis.correlation import margins

    return [margins.table_of(table, options, predict=predict)]


def _replacement(table: RatingsTable, options: CorrelationOptions, predict: Predict | None) -> list[Table]:  # noqa: ARG001
    from judge.analysis.agreement import replacement
    from judge.analysis.options.agreement_options import ReplacementOptions

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
    options: CorrelationOptions,
    predict: Predict | None,
    *,
    labels: str | None = None,
    errors: Sequence[str] = (),
) -> list[Table]:
    """The named tables with the choices of the correlation table; with `labels`, those of binary labels last.

    Raises SpecError for a name that is not known, and for error types without labels to set them against.
    """
    found: list[Table] = []
    for name in names:
        if name not in TABLES:
            raise unknown_value("also", name, TABLES)
        found += TABLES[name](table, options, predict)
    if errors and labels is None:
        raise SpecError(
            Advice("{errors} needs {labels}: the stories without errors"),
            hint=Advice("e.g. {labels}", labels="Overall > 4"),
        )
    if labels is not None:
        from judge.analysis.agreement.binary_labels import tables
        from judge.analysis.options.agreement_options import LabelOptions

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
