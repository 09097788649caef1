"""Report on a table of ratings from outside; it is analysed like a run in a temporary folder."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from judge.base.printing.tables import Table
from judge.exchange.check.table import Checked
from judge.exchange.imports.imported_folder import write_folder
from judge.show.report.inputs import ReportInputs, ReportOptions
from judge.show.report.sections import checked_table, headline


@contextmanager
def inputs_of(checked: Checked, options: ReportOptions, keep: Path | None = None) -> Iterator[ReportInputs]:
    """Context with a report's inputs for the checked table, as a result folder: `keep`, or a temporary one."""
    with tempfile.TemporaryDirectory(prefix="judge-check-") as temporary:
        folder = write_folder(keep or Path(temporary) / checked.path.stem, checked.ratings)
        inputs = ReportInputs.read([folder.path], options)
        yield replace(inputs, runs=(str(keep or Path("runs") / checked.path.stem),), checked=checked)


def checked_tables(inputs: ReportInputs, checked: Checked) -> list[Table]:
    """Answers to the main questions, agreement (where the data allow), what cannot be computed, and columns' roles."""
    tables = [checked_table.answers_table(headline.answers(inputs), checked)]
    if inputs.has_people:
        tables.append(checked_table.agreement_table(inputs.correlations))
        if any(len(matrix.systems) > 1 for matrix in inputs.matrices):
            tables.append(checked_table.systems_table(inputs.correlations_over_systems, inputs.classes))
    return [*tables, checked_table.untold_table(checked), checked_table.columns_table(checked)]
