"""Runs from Python: real signatures, results with frames and tables, a definition run inside an event loop."""

from __future__ import annotations

import asyncio
import inspect
from pathlib import Path
from typing import Any

import pytest

import judge
from judge.base.errors import SpecError
from judge.base.files import shipped
from judge.questions import registry


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> judge.OpenedRun:
    """The demo's definition, run from Python on its first stories."""
    folder = tmp_path_factory.mktemp("api")
    definition = folder / "run.yaml"
    definition.write_text((shipped("runs") / "demo" / "run.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    return judge.run(definition, overrides={"repeats": 2, "criteria": {"set": "hanna", "only": ["Coherence"]}})


@pytest.mark.parametrize("name", registry.names())
def test_arguments_are_the_options_of_the_question(name: str, run: judge.OpenedRun) -> None:
    asked = registry.question(name)
    parameters = inspect.signature(getattr(run, name)).parameters
    assert list(parameters) == list(asked.options)
    assert name in dir(run)
    for way in asked.ways.values():
        for key, field in way.own.items():
            assert key in parameters
            if len(asked.ways) == 1:
                assert parameters[key].default == field.default


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
    figure = run.correlate(resamples=50).figure()
    figure.savefig(tmp_path / "heatmap.png")
    assert (tmp_path / "heatmap.png").stat().st_size > 10_000
    with pytest.raises(SpecError, match="no picture"):
        run.diagnose().figure()


QUICK: dict[str, Any] = {"resamples": 20, "permutations": 20, "flips": 20, "foldings": 1, "folds": 3, "top": 3}
NEEDS = {
    "correlate separation": {"labels": "Coherence > 3"},
    "jury panel": {"combiner": "mean"},
    "summary screen": {"resamples": 50},
    "certify certificate": {"floor": "tau=0.1"},
}
ELSEWHERE = {
    "correlate panels": "people of several panels",
    "correlate confusion": "labels",
    "correlate aspects": "a study's ratings of aspects",
    "correlate sliding-sets": "more stories than the demo has",
    "stress report": "perturbed stories",
    "improve race": "stories of twenty story-prompts",
    "rank comparisons": "comparisons",
    "rank wins": "comparisons",
    "contamination seen": "scores of contamination",
    "contamination validity": "scores of contamination",
}
"""Ways that the demo's run cannot be asked in, and what they need."""


@pytest.mark.parametrize(
    ("name", "layout"), [(name, layout) for name in registry.names() for layout in registry.question(name).ways]
)
def test_every_way_gives_an_answer(run: judge.OpenedRun, name: str, layout: str) -> None:
    asked = registry.question(name)
    way = asked.ways[layout]
    words = {key: value for key, value in QUICK.items() if key in way.own} | NEEDS.get(f"{name} {layout}", {})
    words |= {"layout": layout} if len(asked.ways) > 1 else {}
    if f"{name} {layout}" in ELSEWHERE:
        pytest.skip(f"needs {ELSEWHERE[f'{name} {layout}']}")
    found = run.ask(name, **words)
    assert isinstance(found, judge.Answer)
    assert len(found.tables) > 0
    assert found.frame.attrs["signature"] == found.signature
    assert "demo:48" in found.signature


def test_options_that_exclude_each_other_are_refused(run: judge.OpenedRun) -> None:
    with pytest.raises(SpecError, match="fisher-z"):
        run.correlate(ci="fisher-z")
