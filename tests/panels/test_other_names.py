"""Criteria that people rated by another name: declared once in run.yaml, said everywhere, warned of before paying."""

from __future__ import annotations

import json
import sqlite3
from html import unescape
from pathlib import Path

import pytest

from judge.analysis import correlation, diagnose
from judge.analysis.agreement import correlation_grid
from judge.analysis.disagreements import disagreements
from judge.analysis.inputs.candidates import match
from judge.analysis.inputs.selection import narrowed
from judge.analysis.options.selection import Selection
from judge.analysis.options.table_options import CorrelationOptions
from judge.asking.execution.session import Sitting, sit
from judge.asking.run_definition.spec import parse_run_spec
from judge.asking.run_folder import ResultFolder
from judge.base.errors import SpecError
from judge.base.records import Rating, Story
from judge.cli.main import main
from judge.explanations.audit.population import read_runs
from judge.inputs.criteria import other_names, set_against
from judge.inputs.datasets.files.native import write_stories
from judge.ratings.rating_matrix import build
from judge.ratings.ratings_table import read
from judge.show.report import methods
from judge.show.report.inputs import ReportInputs, ReportOptions
from judge.show.report.sections import headline
from judge.show.web.view.index import update
from judge.show.web.view.judgments import judgments, stored
from judge.show.web.view.pages import overview

OPTIONS = CorrelationOptions(ci="none", control=False)
RUN = """
name: t
dataset: tales.jsonl
judge: surface
criteria: {set: hanna, only: [Coherence, Empathy]}
eval_prompts: [ep1]
"""


def _stories(folder: Path) -> Path:
    words = [f"word{i}" for i in range(16)]
    given = ("Overall", "Liking")
    stories = [
        Story(
            f"s{i}",
            f"P{i // 2}",
            f"m{i % 2}",
            ". ".join(" ".join(words[: 4 + i % 11]) for _ in range(1 + 3 * (i % 7))) + ".",
            None,
            tuple(Rating(name, 1 + (i * (k + 2)) % 5, "ann") for k, name in enumerate(given)),
        )
        for i in range(30)
    ]
    write_stories(folder / "tales.jsonl", stories)
    return folder / "tales.jsonl"


def _ask(folder: Path, **more: object) -> Path:
    if not (folder / "tales.jsonl").exists():
        _stories(folder)
    data = {"name": "t", "dataset": str(folder / "tales.jsonl"), "judge": "surface", "eval_prompts": ["ep1"]}
    data |= {"criteria": {"set": "hanna", "only": ["Coherence", "Empathy"]}, **more}
    result = ResultFolder(folder / "run")
    sit(Sitting(parse_run_spec(data, "test"), folder, result, quiet=True))
    return result.path


def test_what_is_declared_is_compared_in_every_table_and_said(tmp_path: Path) -> None:
    run = _ask(tmp_path, people={"coherence": "Overall"})
    table = read([run])
    (matrix,) = build(table)
    found = match(matrix)
    assert found.other == (("Coherence", "Overall"),)
    assert found.sentence == "Other names are set side by side: Coherence against people's Overall."
    rows = {row.subject.criterion: row for row in correlation.correlations(table, OPTIONS).rows if row.kind == "judge"}
    against = correlation.correlations(table, CorrelationOptions(ci="none", control=False, against="Overall"))
    same = next(row for row in against.rows if row.kind == "judge" and row.subject.criterion == "Coherence")
    assert rows["Coherence"].estimate.value == same.estimate.value
    assert "did not rate this criterion" in str(rows["Empathy"].estimate.reason)
    said = "Coherence is set against people's Overall, as the run says"
    assert any(said in note for note in correlation.correlations(table, OPTIONS).notes)
    assert any(said in note for note in diagnose.diagnose(table).notes)
    assert disagreements(table).rows[0].criterion == "Coherence"
    (grid,) = correlation_grid.layouts(correlation.correlations(table, OPTIONS))
    assert grid.other_names == found.sentence
    alone = narrowed(table, Selection(criteria=("Coherence",)))
    assert match(build(alone)[0]).other == found.other


def test_the_report_says_it_in_its_first_box_and_in_its_methods(tmp_path: Path) -> None:
    inputs = ReportInputs.read([_ask(tmp_path, people={"Coherence": "Overall"})], ReportOptions(resamples=50))
    said = "Coherence against people's Overall"
    assert any(said in sentence for sentence in headline.sentences(inputs))
    assert said in unescape("".join(map(str, methods.methods_blocks(inputs))))


def test_the_one_rule() -> None:
    rated = ("Overall", "plot")
    assert set_against([("Plot", None), ("Style", None)], rated) == ((1, None), False)
    assert set_against([("Plot", "overall"), ("Style", "Beauty")], rated) == ((0, None), False)
    assert set_against([("Plot", None), ("Style", None)], ("Overall",)) == ((0, 0), True)
    assert set_against([("Plot", "Beauty"), ("Style", None)], ("Overall",)) == ((None, None), False)
    assert set_against([("Overall", None), ("Style", None)], ("Overall",)) == ((0, None), False)
    assert other_names([("a", "Overall"), ("b", "Overall")]) == (
        "Other names are set side by side: a, b against people's Overall."
    )


def _explained(folder: Path, **more: object) -> Path:
    script = [{"text": f"Rating: {1 + i % 5}\n\nExplanation: it holds together."} for i in range(7)]
    (folder / "script.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in script))
    return _ask(folder, judge=f"scripted/{folder}/script.jsonl", eval_prompts=["ep2"], **more)


def test_an_audit_shows_the_declared_ratings_of_people(tmp_path: Path) -> None:
    found = read_runs([_explained(tmp_path, people={"Coherence": "Overall"})])
    table = read([tmp_path / "run"]).frame
    overall = table[(table["source"] == "rater") & (table["criterion"] == "Overall")].set_index("story")["rating"]
    coherence = found.frame[found.frame["criterion"] == "Coherence"]
    assert len(coherence) == 30
    assert (coherence["people"].to_numpy() == overall.loc[coherence["story"]].to_numpy()).all()
    assert (coherence["gap"] == coherence["rating"] - coherence["people"]).all()
    assert found.frame.loc[found.frame["criterion"] == "Empathy", "people"].isna().all()
    assert any("Coherence is set against people's Overall" in note for note in found.notes)


def test_the_overview_of_a_run_shows_the_declared_ratings_of_people(tmp_path: Path) -> None:
    run = ResultFolder(_ask(tmp_path, people={"Coherence": "Overall"}))
    file = tmp_path / "index.sqlite"
    update(run, file)
    with stored(run) as opened, judgments(file) as index:
        assert index is not None
        beside = overview.set_beside(index, opened.asked)
        found = overview.chart(index, opened.asked, beside)
    assert beside == {"Coherence": "Overall"}
    assert found is not None
    people = found.rows[0]
    assert people.kind == "people"
    assert sum(people.cells[0].counts) == 30
    assert not people.cells[1].counts


def test_it_may_be_said_later_and_asks_nothing_again(tmp_path: Path) -> None:
    run = _ask(tmp_path)
    db = sqlite3.connect(run / "journal.sqlite")
    before = db.execute("SELECT key FROM queries ORDER BY key").fetchall(), db.execute("SELECT count(*) FROM attempts")
    count = before[1].fetchone()
    assert "people" not in json.loads((run / "manifest.json").read_text())["in_force"]
    assert not read([run]).facts[0].people
    _ask(tmp_path, people={"Coherence": "Overall"})
    assert db.execute("SELECT key FROM queries ORDER BY key").fetchall() == before[0]
    assert db.execute("SELECT count(*) FROM attempts").fetchone() == count
    assert read([run]).facts[0].people == {"Coherence": "Overall"}
    db.close()
    _ask(tmp_path)
    assert not read([run]).facts[0].people


def test_a_criterion_that_is_not_asked_cannot_be_declared(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="criterion 'Plot' is not known"):
        _ask(tmp_path, people={"Plot": "Overall"})


def test_a_declared_criterion_that_nobody_rated_is_no_comparison(tmp_path: Path) -> None:
    table = read([_ask(tmp_path, people={"Coherence": "Beauty"})])
    found = match(build(table)[0])
    assert found.partner == (None, None)
    assert "people did not rate Beauty; they rated Overall, Liking" in str(found.reason)


@pytest.mark.parametrize(
    ("people", "sentence"),
    [
        ("", "people rated none of these criteria, and nothing can be said about agreement with them"),
        ("people: {Coherence: Overall}", "Coherence is set against people's Overall"),
        ("people: {Coherence: Beauty}", "people's Beauty, which nobody rated: they rated Overall, Liking"),
    ],
)
def test_a_dry_run_warns_before_paying(
    people: str, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _stories(tmp_path)
    (tmp_path / "run.yaml").write_text(RUN + people + "\n")
    monkeypatch.setenv("COLUMNS", "1000")
    with pytest.raises(SystemExit):
        main(["run", str(tmp_path), "--dry-run", "--format", "json"])
    notes = " ".join(json.loads(capsys.readouterr().out)["notes"])
    assert sentence in notes
