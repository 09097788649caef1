"""How often each rating was given, by people and by judges: a grid of small histograms. Never counts anything."""

from __future__ import annotations

from markupsafe import Markup

from judge.analysis import distributions
from judge.analysis.distributions import Distribution as Counted
from judge.analysis.distributions import Distributions as Found
from judge.analysis.options.table_options import DistributionOptions
from judge.pages.charts import Distribution, Distributions
from judge.report.blocks import figure, shown, spread
from judge.report.inputs import ReportInputs
from judge.report.raters import Raters


def blocks(inputs: ReportInputs) -> list[Markup]:
    """A picture and a table for each dataset."""
    options = DistributionOptions(drop_systems=inputs.options.drop_systems)
    made = []
    found = distributions.distributions(inputs.table, options)
    for number, one in enumerate(found):
        made.append(figure(_picture(one, f"shares-{number}", inputs), _caption(one)))
    made += [shown(table, inputs, folded=True) for table in distributions.tables(inputs.table, options)]
    return made


def _name(one: Counted, raters: Raters) -> str:
    if one.run is None:
        return raters.name
    name = ", ".join(part for part in (one.judge, one.eval_prompt) if part)
    return f"{name} (control)" if one.control else name


def _picture(found: Found, identity: str, inputs: ReportInputs) -> Markup:
    raters = inputs.raters_of(found.dataset)
    judges = list(dict.fromkeys(row[0].judge for row in found.rows if row[0].run is not None))
    points: dict[str, list[str]] = {}
    for row in found.rows:
        for one in row:
            points.setdefault(one.criterion.casefold(), [f"{point:g}" for point in one.points])
    cells = []
    for row in found.rows:
        own = {one.criterion.casefold(): one for one in row}
        cells.append([_cell(own.get(name.casefold())) for name in found.criteria])
    return Distributions(
        identity=identity,
        title=f"How often each rating was given, {found.dataset}",
        description=f"{len(found.rows)} rows by {len(found.criteria)} criteria. The table after it has every share.",
        points=[points.get(name.casefold(), []) for name in found.criteria],
        columns=list(found.criteria),
        rows=[_name(row[0], raters) for row in found.rows],
        cells=cells,
        kinds=[8 if row[0].run is None else judges.index(row[0].judge) % 7 + 1 for row in found.rows],
    ).svg()


def _cell(one: Counted | None) -> Distribution:
    if one is None:
        return Distribution(None, 0, "not rated")
    return Distribution(one.counts, one.n, None if one.n else f"{one.asked} asked, none has a rating")


def _caption(found: Found) -> str:
    counts = [one.n for row in found.rows for one in row if one.n]
    counted = f"{spread('', counts)} ratings a histogram" if counts else "no ratings"
    return f"Shares of ratings by point of the scale, {found.dataset}, {found.stories:,} stories; {counted}."
