"""An audit's figure on the HANNA user study: the report's numbers as marks, its published AC1 among them."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge.explanations.audit.label_studio import import_file
from judge.explanations.audit.options import ReportOptions
from judge.explanations.audit.report import AuditReport
from judge.explanations.audit.report import report as report_of
from judge.explanations.audit.store import read_audit
from judge.questions.charts import estimates
from judge.questions.figures import forest
from judge.questions.figures import panels as page
from tests.figures import looks
from tests.figures.test_figure_commands import run
from tests.figures.test_forest import marks, whiskers


@pytest.fixture(scope="module")
def study(studies: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("study") / "audit.sqlite"
    import_file(path, studies / "hanna" / "user_study.csv")
    return path


@pytest.fixture(scope="module")
def report(study: Path) -> AuditReport:
    return report_of(read_audit(study), ReportOptions(by=(), resamples=20))


def test_marks_are_the_report_s_numbers(report: AuditReport) -> None:
    figure = forest.draw(estimates.audited_errors(report), 6.3)
    columns = [[one.rates.mean, one.rates.majority, one.rates.any, one.agreement.ac1.estimate] for one in report.errors]
    for axes, column in zip(figure.axes, zip(*columns, strict=True), strict=True):
        known = [one for one in column if one.defined]
        assert marks(axes) == pytest.approx([100 * one.value for one in known])
        ends = [end for one in known if one.low is not None for end in (100 * one.low, 100 * one.high)]
        assert whiskers(axes) == pytest.approx(ends)
    # Printed in the HANNA judge study: AC1 of its five questions. In its sixth, not printed, everybody said no.
    assert [round(value) for value in sorted(marks(figure.axes[3]), reverse=True)] == [100, 97, 90, 81, 66, 60]


@pytest.mark.parametrize("width", list(page.WIDTHS))
def test_nothing_is_covered_and_the_caption_counts(report: AuditReport, width: str) -> None:
    made = estimates.audited_errors(report)
    figure = forest.draw(made, page.WIDTHS[width])
    assert looks.faults(figure) == []
    assert looks.signature(figure) == made.signature == report.rates_signature
    caption = looks.caption(figure)
    assert "as 3 annotators saw them (n = 100 explanations), in %" in caption
    assert "majority: more than half of them" in caption
    titles = [text.get_text() for text in figure.texts if text.get_text() in ("% of explanations", "AC1 ×100")]
    assert set(titles) == {"% of explanations", "AC1 ×100"}


def test_the_command_takes_a_file_or_its_folder(study: Path, tmp_path: Path) -> None:
    for name, where in (("a.png", study), ("b.png", study.parent)):
        assert run("audit", "report", where, "-o", tmp_path / name) == 0
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
