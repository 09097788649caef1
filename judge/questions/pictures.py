"""Pictures of answers: what each question draws, from the result that its tables print."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from judge.analysis.labels.result import Confusions
    from judge.analysis.options.table_options import ConsistencyOptions, SystemsOptions
    from judge.analysis.preference.ranked import Ranked
    from judge.analysis.preference.standings import Systems, SystemStandings
    from judge.ratings.ratings_table import RatingsTable

_One = TypeVar("_One")

# Inches of the text's width in ACL's and TACL's format.
PAGE = 6.30


def heatmap(table: RatingsTable, found: Any, _options: Any, inches: float | None) -> Any:
    """Correlations with people as a heat map: judges, one more person and control as rows, by criterion."""
    from judge.analysis.agreement.correlation_grid import layouts
    from judge.analysis.raters import Raters
    from judge.questions.charts.heatmap import heat_map
    from judge.questions.figures import heatmap as figure

    grid = only(layouts(found), "a heat map")
    return figure.draw(heat_map(grid, Raters.of(table, grid.dataset)), inches)


def correlations(table: RatingsTable, found: Any, _options: Any, inches: float | None) -> Any:
    """Correlations with people as dots with intervals; one more person and control behind them."""
    from judge.analysis.agreement.correlation_grid import layouts
    from judge.analysis.raters import Raters
    from judge.questions.charts import estimates
    from judge.questions.figures import forest

    grid = only(layouts(found), "a picture of correlations")
    return forest.draw(estimates.correlations(grid, Raters.of(table, grid.dataset)), inches or PAGE)


def confusion(table: RatingsTable, found: Confusions, _options: Any, inches: float | None) -> Any:
    """Confusion matrices of labels as a heat map: one criterion's, or all binary criteria together."""
    from judge.analysis.inputs.bars import CONTROL
    from judge.analysis.raters import Raters
    from judge.base.errors import SpecError
    from judge.questions.charts.confusion import confusion_map
    from judge.questions.figures import heatmap as figure

    dataset = only(list(dict.fromkeys(row.subject.dataset for row in found.rows)), "a picture of confusion")
    rows = [row for row in found.main(dataset) if row.kind != CONTROL and row.counts]
    if not rows:
        raise SpecError("people labelled none of these criteria")
    return figure.draw(confusion_map(found, rows, dataset, Raters.of(table, dataset)), inches)


def consistency(table: RatingsTable, found: Any, options: ConsistencyOptions, inches: float | None) -> Any:
    """Agreement of judges with themselves over repeats, ICC(1,1), as dots with intervals, people's behind them."""
    from judge.analysis.inputs.label_criteria import numbers
    from judge.analysis.options.signature import abbreviations, signature
    from judge.analysis.raters import Raters
    from judge.questions.charts import estimates
    from judge.questions.figures import forest
    from judge.ratings.rating_matrix import build

    form = "ICC(1,1)"
    rated = numbers(table)
    matrix = only(build(rated, drop_systems=options.drop_systems), "a picture of consistency")
    drawing = estimates.repeats(
        found,
        form,
        dataset=matrix.dataset,
        short=abbreviations(rated),
        controls={fact.judge for fact in rated.facts if fact.control},
        signature=signature(rated, [matrix], options, extra=(f"icc:{form}",), intervals="f"),
        raters=Raters.of(rated, matrix.dataset),
    )
    return forest.draw(drawing, inches or PAGE)


def distributions(table: RatingsTable, found: Any, _options: Any, inches: float | None) -> Any:
    """Distribution of ratings in per cent, for people and every judge x Eval-Prompt by criterion."""
    from judge.analysis.raters import Raters
    from judge.questions.charts import distributions as chart
    from judge.questions.figures import distributions as figure

    values = only(found, "a picture of distributions")
    return figure.draw(chart.distributions(values, Raters.of(table, values.dataset)), inches or PAGE)


def calibration(table: RatingsTable, found: Any, _options: Any, inches: float | None) -> Any:
    """Calibration curves: people's mean rating against a judge's, before and after out-of-fold calibration."""
    from judge.analysis.raters import Raters
    from judge.questions.figures import calibration as figure

    curves = only(found, "a picture of calibration")
    figure.check(len(curves.curves))
    return figure.draw(curves, inches or PAGE, Raters.of(table, curves.dataset).sentence)


def stress(_table: RatingsTable, found: Any, _options: Any, inches: float | None) -> Any:
    """Detection of perturbations by judges as dots with intervals, repeats of unchanged stories behind."""
    from judge.questions.charts import estimates
    from judge.questions.figures import forest

    dataset = only(list(dict.fromkeys(row.subject.dataset for row in found.rows)), "a picture of stress")
    return forest.draw(estimates.detections(found, dataset, signature=found.signature), inches or PAGE)


def systems(table: RatingsTable, found: Any, options: SystemsOptions, inches: float | None) -> Any:
    """Systems' mean ratings by people and judges as dots with intervals."""
    from judge.analysis.options.signature import abbreviations
    from judge.analysis.raters import Raters
    from judge.questions.charts import estimates
    from judge.questions.figures import forest

    matrix = only(found.matrices, "a picture of systems")
    drawing = estimates.system_means(
        found.standings,
        dataset=matrix.dataset,
        short=abbreviations(table),
        controls={fact.judge for fact in table.facts if fact.control},
        interval=options.mean_interval,
        signature=found.signature,
        raters=Raters.of(table, matrix.dataset),
    )
    return forest.draw(drawing, inches or PAGE)


def strengths(_table: Any, found: Ranked, _options: Any, inches: float | None) -> Any:
    """Strengths of systems by each judge and by people, as dots with intervals."""
    from judge.questions.charts import preferences
    from judge.questions.figures import forest

    return forest.draw(preferences.strengths(_comparable(found.systems), found.systems.signature), inches or PAGE)


def wins(_table: Any, found: Systems, _options: Any, _inches: float | None) -> Any:
    """Who won against whom, as a heat map."""
    from judge.questions.charts.preferences import win_matrix
    from judge.questions.figures import heatmap as figure

    return figure.draw(win_matrix(_comparable(found), found.signature), None)


def _comparable(found: Systems) -> Sequence[SystemStandings]:
    from judge.base.errors import SpecError
    from judge.base.wording import Advice

    places = {(standing.dataset, standing.criterion.casefold()) for standing in found.standings}
    if not places:
        raise SpecError("nobody compared stories of two systems here", hint="judge rank prints what there is")
    if len(places) > 1:
        raise SpecError(
            f"{len(places)} criteria or datasets are too many for one figure",
            hint=Advice("choose one with {criterion}, or name runs of one dataset"),
        )
    return found.standings


def only(results: Sequence[_One], subject: str) -> _One:
    """The only one of several results. Raises SpecError otherwise; `subject` is what shows one dataset."""
    from judge.base.errors import SpecError

    if len(results) != 1:
        names = ", ".join(str(getattr(result, "dataset", result)) for result in results) or "none"
        raise SpecError(f"{subject} shows one dataset; these runs have {names}", hint="draw each by itself")
    return results[0]
