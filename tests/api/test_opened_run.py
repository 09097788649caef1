"""Runs from Python: real signatures, results with frames and tables, a definition run inside an event loop."""

from __future__ import annotations

import asyncio
import inspect
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import judge
from judge.analysis.options import agreement_options, table_options
from judge.errors import SpecError
from judge.folders.shipped import shipped

METHODS = {
    "consistency": table_options.ConsistencyOptions,
    "components": table_options.ComponentsOptions,
    "d_study": table_options.ComponentsOptions,
    "correlate": table_options.CorrelationOptions,
    "accuracy": agreement_options.AccuracyOptions,
    "replace": agreement_options.ReplacementOptions,
    "diagnose": table_options.DiagnoseOptions,
    "stress": table_options.StressOptions,
    "systems": table_options.SystemsOptions,
    "system_differences": table_options.SystemsOptions,
    "criteria": table_options.CriteriaOptions,
    "aspects": table_options.AspectsOptions,
    "disagreements": table_options.DisagreementsOptions,
    "jury": table_options.JuryOptions,
    "compare": table_options.CompareOptions,
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> judge.OpenedRun:
    """The demo's definition, run from Python on its first stories."""
    folder = tmp_path_factory.mktemp("api")
    definition = folder / "run.yaml"
    definition.write_text((shipped("runs") / "demo" / "run.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    return judge.run(definition, overrides={"repeats": 2, "criteria": {"set": "hanna", "only": ["Coherence"]}})


@pytest.mark.parametrize(("name", "kind"), METHODS.items())
def test_arguments_are_the_fields_of_the_options(name: str, kind: type) -> None:
    parameters = inspect.signature(getattr(judge.OpenedRun, name)).parameters
    declared = {one.name: one.default for one in fields(kind)}
    given = {key: one.default for key, one in parameters.items() if key not in ("self", "view")}
    assert given == declared


def test_a_definition_is_run_and_opened(run: judge.OpenedRun) -> None:
    (row,) = run.status().to_dict("records")
    assert (row["answered"], row["planned"], row["judge"]) == (192, 192, "surface")
    assert set(run.ratings().query("source == 'judge'")["repeat"]) == {0, 1}


def test_a_definition_can_be_run_where_an_event_loop_runs(tmp_path: Path) -> None:
    text = (shipped("runs") / "demo" / "run.yaml").read_text(encoding="utf-8")
    (tmp_path / "run.yaml").write_text(text, encoding="utf-8")

    async def notebook() -> judge.OpenedRun:
        return judge.run(tmp_path, limit=2)

    assert asyncio.run(notebook()).status()["answered"].tolist() == [2 * 6 * 2 * 3]
    with pytest.raises(SpecError, match="repeets"):
        judge.run(tmp_path, overrides={"repeets": 2})


def test_a_result_has_frame_tables_signature_and_notes(run: judge.OpenedRun) -> None:
    found = run.correlate(resamples=50)
    assert set(found.frame["kind"]) == {"ceiling", "judge", "control"}
    assert found.signature.startswith("demo:48|crit:CH|")
    assert "ci:boot-inputs/50/seed1" in found.signature
    assert found.frame.attrs == {"signature": found.signature, "notes": list(found.notes)}
    assert any("set by rule" in note for note in found.notes)
    assert found.text("latex").startswith(r"\begin{table}")
    assert found.text() == repr(found)
    html = found._repr_html_()
    assert "<table" in html
    assert found.signature in html


def test_without_the_control_there_is_no_row_of_it(run: judge.OpenedRun) -> None:
    assert set(run.correlate(resamples=50, control=False).frame["kind"]) == {"ceiling", "judge"}


def test_correlations_are_drawn(run: judge.OpenedRun, tmp_path: Path) -> None:
    figure = run.correlate(resamples=50).plot()
    figure.savefig(tmp_path / "heatmap.png")
    assert (tmp_path / "heatmap.png").stat().st_size > 10_000
    with pytest.raises(SpecError, match="no picture"):
        run.diagnose().plot()


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("coverage", {}),
        ("consistency", {}),
        ("components", {}),
        ("repeats", {"ci": "none"}),
        ("within", {"resamples": 20}),
        ("plan", {}),
        ("d_study", {"target": 0.7}),
        ("accuracy", {"ci": "none", "flips": 20}),
        ("replace", {}),
        ("diagnose", {}),
        ("systems", {"resamples": 20}),
        ("system_differences", {"resamples": 20}),
        ("criteria", {"ci": "none"}),
        ("disagreements", {"top": 3}),
        ("jury", {"foldings": 1, "ci": "none", "combiner": "mean"}),
        ("compare", {"resamples": 20, "permutations": 20}),
    ],
)
def test_every_analysis_gives_a_result(run: judge.OpenedRun, name: str, arguments: dict[str, Any]) -> None:
    found = getattr(run, name)(**arguments)
    assert isinstance(found, judge.Result)
    assert len(found.tables) > 0
    assert found.frame.attrs["signature"] == found.signature
    assert "demo:48" in found.signature


def test_options_that_exclude_each_other_are_refused(run: judge.OpenedRun) -> None:
    with pytest.raises(SpecError, match="fisher-z"):
        run.correlate(ci="fisher-z")
