"""A plan that was written down before a run: what summary, certificate and Python say of what was changed since."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

import judge
from judge.asking.execution.registration import FILE, register
from judge.base.errors import RunFolderError, SpecError
from judge.questions.summary.kept import summaries_of

BEFORE = datetime(2001, 5, 4, 3, 2, 1, tzinfo=UTC)


@pytest.fixture
def run(demo_run: Path, tmp_path: Path) -> Path:
    """A copy of the demo's run, which another test's plan does not reach."""
    return Path(shutil.copytree(demo_run, tmp_path / "demo"))


def plan_line(run: Path, **words: object) -> tuple[str, str] | None:
    """Verdict and sentence of the summary's answer on the plan; None without such an answer."""
    (summary,) = summaries_of([run], resamples=20, **words)
    (dataset,) = summary.datasets
    found = [answer for answer in dataset.answers if answer.label == "plan"]
    if not found:
        return None
    assert found[0].verdict is not None
    return found[0].verdict.text, found[0].sentences[0]


def written(run: Path, **changed: object) -> Path:
    row = {"judge": None, "eval_prompt": None, "margin": 0.1, "epsilon": 0.1, "drop_systems": ()}
    return register(run, **{**row, **changed}, now=BEFORE)  # type: ignore[arg-type]


def test_without_a_plan_the_summary_says_nothing_of_one(run: Path) -> None:
    assert plan_line(run) is None


def test_a_plan_that_was_kept_and_the_answers_that_were_there_before(run: Path) -> None:
    written(run)
    held, words = plan_line(run) or ("", "")
    assert held == "kept"
    assert "registered on 2001-05-04, when 1,728 answers were there" in words


@pytest.mark.parametrize(
    ("planned", "analysed", "named"),
    [
        ({"margin": 0.05}, {}, "margin 0.05 became 0.1"),
        ({}, {"margin": 0.2}, "margin 0.1 became 0.2"),
        ({}, {"epsilon": 0.3}, "epsilon 0.1 became 0.3"),
        ({}, {"drop_systems": ("spliced",)}, "systems left out: none became spliced"),
        ({"eval_prompt": "ep1"}, {}, "this row is surface ep2, the plan's is ep1"),
    ],
)
def test_what_an_analysis_changed_is_named(
    run: Path, planned: dict[str, object], analysed: dict[str, object], named: str
) -> None:
    written(run, **planned)
    held, words = plan_line(run, **analysed) or ("", "")
    assert held == "1 change"
    assert named in words


def test_what_the_run_asked_otherwise_is_named(run: Path) -> None:
    file = written(run)
    plan = json.loads(file.read_text())
    plan["repeats"]["surface"] = 9
    of_run = plan["definitions"]["surface"]
    of_run["eval_prompts"] = {"ep1": of_run["eval_prompts"]["ep1"]}
    of_run["dataset_hash"] = "another"
    file.write_text(json.dumps(plan))
    held, words = plan_line(run) or ("", "")
    assert held == "3 changes"
    assert "the dataset's content" in words
    assert "Eval-Prompts added: ep2" in words
    assert "9 repeats became 3" in words


def test_an_answer_older_than_a_plan_that_says_there_was_none_is_told(run: Path) -> None:
    file = written(run)
    plan = json.loads(file.read_text()) | {"answers_before": 0, "registered": "2099-01-01T00:00:00+00:00"}
    file.write_text(json.dumps(plan))
    held, words = plan_line(run) or ("", "")
    assert held == "1 change"
    assert "its first answer is older than the plan" in words


def test_a_kept_summary_is_computed_anew_when_a_plan_is_written(run: Path) -> None:
    assert plan_line(run) is None
    written(run)
    assert plan_line(run) is not None


def test_a_plan_is_never_replaced_and_names_only_what_is_asked(run: Path) -> None:
    with pytest.raises(SpecError, match="Eval-Prompt 'ep9' is not known"):
        written(run, eval_prompt="ep9")
    with pytest.raises(SpecError, match="judge 'openai/x' is not known"):
        written(run, judge="openai/x")
    assert not (run / FILE).exists()
    written(run)
    with pytest.raises(RunFolderError, match="never replaced"):
        judge.register_plan(run)


def test_a_file_that_is_no_plan_is_told(run: Path) -> None:
    (run / FILE).write_text("{}")
    with pytest.raises(RunFolderError, match="no registered plan"):
        plan_line(run)


def test_a_certificate_holds_the_plan_and_its_changes(run: Path) -> None:
    written(run, eval_prompt="ep1")
    answer = judge.open_run(run).certify(floor="tau=0.1")
    record = answer.value.record["plan"]
    assert record["registered"] == "2001-05-04T03:02:01+00:00"
    assert record["changes"] == ["this row is surface ep2, the plan's is ep1"]
