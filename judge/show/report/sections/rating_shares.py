"""Section on the distribution of human and judge ratings, as small histograms."""

from __future__ import annotations

from markupsafe import Markup

from judge.analysis.distributions import distributions
from judge.analysis.distributions import table as shares_table
from judge.analysis.options.table_options import DistributionOptions
from judge.questions.charts import distributions as distribution_chart
from judge.show.pages import charts
from judge.show.report.blocks import figure, shown
from judge.show.report.inputs import ReportInputs


def rating_blocks(inputs: ReportInputs) -> list[Markup]:
    """A chart and a table of human and judge ratings for each dataset."""
    options = DistributionOptions(drop_systems=inputs.options.drop_systems)
    counted, parts = distributions(inputs.table, options), []
    for number, counts in enumerate(counted):
        picture = distribution_chart.distributions(counts, inputs.raters_of(counts.dataset))
        parts.append(figure(charts.distributions(picture, f"shares-{number}"), picture.caption))
    return [*parts, *(shown(shares_table(counts), inputs, folded=True) for counts in counted)]
