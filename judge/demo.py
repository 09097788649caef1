"""The packaged demo: a whole run by the control judge on packaged stories. Never presents its labels as people's."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from judge.execution.session import Result, Sitting, sit
from judge.run_folder import folder_for
from judge.run_spec import load_run_spec
from judge.shipped import shipped

if TYPE_CHECKING:
    from judge.tables import Table


RESAMPLES = 500
"""Of the printed tables and of the page, so that equal numbers have equal intervals."""


def run_demo(folder: Path, *, quiet: bool = False) -> tuple[Path, Result]:
    """Copy the demo's run.yaml into `folder` (unless one is there) and run it: (result folder, how it ended)."""
    definition = folder / "run.yaml"
    if not definition.exists():
        folder.mkdir(parents=True, exist_ok=True)
        definition.write_bytes((shipped("runs") / "demo" / "run.yaml").read_bytes())
    spec = load_run_spec(definition)
    result = folder_for(definition, spec.name, spec.judge, spec.revision)
    return result.path, sit(Sitting(spec, folder, result, quiet=quiet))


def demo_report(folder: Path, result: Path) -> Path:
    """The page of the demo's results, with the resamples of its tables: `report.html` in its folder."""
    from judge.report import Material, ReportOptions
    from judge.report.page import quoted
    from judge.report.write import write_page

    output = folder / "report.html"
    full = quoted(["report", str(folder), "-o", str(output)])
    few = f"--resamples {RESAMPLES} --permutations {RESAMPLES}"
    options = ReportOptions(resamples=RESAMPLES, permutations=RESAMPLES, command=f"{full} {few}", full=full)
    write_page(Material.read([result], options), output, quiet=True)
    return output


def demo_tables(result: Path) -> list[Table]:
    """Coverage, consistency and correlations of the demo's results."""
    from judge.analysis import consistency, correlation, coverage
    from judge.analysis.control import Control
    from judge.analysis.options import CorrelationOptions
    from judge.ratings_table import read

    table = read([result])
    options = CorrelationOptions(resamples=RESAMPLES)
    return [
        coverage.summary(table),
        *consistency.tables(table),
        *correlation.tables(table, options, predict=Control()),
    ]
