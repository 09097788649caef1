"""Command `judge stress report`: how judges rated perturbed stories. The computation is in `judge.analysis.stress`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judge.analysis.options.table_options import StressOptions
from judge.cli.table_command import table_command
from judge.cli.table_options import Long

if TYPE_CHECKING:
    from judge.printing.tables import Table
    from judge.ratings_table import RatingsTable

HELP = {
    "margin": "largest change in points that counts as none, for perturbations that should not change ratings",
    "adjust": "correction of p values over all tests of the report",
    "alpha": "significance level of tests, after the correction",
    "as_published": "additional correlations of unpaired ratings, as OpenMEVA printed them",
}


@table_command(StressOptions, HELP, first_only=True, perturbed=True)
def report(table: RatingsTable, options: StressOptions, long: Long = False) -> list[Table]:
    """Report on perturbed stories: what judges miss and wrongly react to, with tests paired by story.

    RUN is an ordinary run on a dataset from judge stress make.

    Example: judge stress report runs/stress --criterion Coherence --margin 0.5
    """
    from judge.analysis import stress

    return stress.tables(stress.stress(table, options), long=long)
