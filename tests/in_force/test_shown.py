"""Where settings and a model's end are shown: dry run, doctor, status, Methods, report, checklist, bundle."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from judge.asking.run_definition.spec import parse_run_spec
from judge.doctor import examine
from judge.show.report import ReportInputs, ReportOptions, checklist, html, methods, page_sections
from tests.report.runs import command
from tests.server.loopback import LoopbackServer

Start = Callable[..., LoopbackServer]


@pytest.fixture
def definition(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run of 24 stories with two raters, in the folder runs/thinks; its server is not started."""
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "runs" / "thinks"
    folder.mkdir(parents=True)
    lines = [
        {
            "id": f"s{i}",
            "story_prompt": f"p{i // 3}",
            "system": f"m{i % 3}",
            "text": f"Story {i}: the lamp went out.",
            "ratings": [{"rater": f"r{k}", "criterion": "Overall", "value": 1 + (i * k) % 5} for k in (1, 3)],
        }
        for i in range(24)
    ]
    (folder / "stories.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
    (folder / "run.yaml").write_text(
        "name: thinks\ndataset: stories.jsonl\njudge: openai/deepseek-reasoner\ncriteria: overall\neval_prompts: ep1\n"
        "generation: {temperature: 0, max_tokens: 200}\nbase_url: https://api.deepseek.com\n",
        encoding="utf-8",
    )
    return folder


def test_a_dry_run_warns_and_asks_nothing(definition: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command("run", "runs/thinks", "--dry-run", "--format", "json") == 0
    notes = json.loads(capsys.readouterr().out)["notes"]
    assert any("temperature 0 was requested and has no effect: the catalogue modelparams" in note for note in notes)
    assert any("with its shutdown on 2026-07-24" in note for note in notes)
    other = ["--judge", "openai/gpt-4.1", "--set", "base_url=https://api.openai.com/v1"]
    assert command("run", "runs/thinks", "--dry-run", *other) == 0
    assert "catalogue" not in capsys.readouterr().out


def test_doctor_names_runs_whose_judge_ends(definition: Path) -> None:
    found = {finding.item: finding for finding in examine()}
    assert found["catalogue of models"].state == "ok"
    ending = found["judge openai/deepseek-reasoner"]
    assert ending.state == "note"
    assert ending.detail.startswith("runs/thinks: the catalogue modelparams")
    assert "with its shutdown on 2026-07-24" in ending.detail
    (definition / "run.yaml").write_text("judge: [broken", encoding="utf-8")
    assert not [finding for finding in examine() if finding.item.startswith("judge ")]


def test_a_finished_run_shows_them_everywhere(
    loopback: Start, definition: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = loopback(models=["deepseek-reasoner"])
    assert command("run", "runs/thinks", "--quiet", "--set", f"base_url={server.url}") == 0
    capsys.readouterr()
    assert command("status", "runs/thinks", "--format", "json") == 0
    assert json.loads(capsys.readouterr().out)["rows"][0]["settings"] == "temp:ignored|max_tokens:unknown"

    inputs = ReportInputs.read([definition], ReportOptions(resamples=60, permutations=60))
    text = methods.paragraph(inputs)
    assert "generation as asked: temperature 0, max tokens 200" in text
    assert (
        "For openai/deepseek-reasoner, temperature 0 was requested and has no effect: the catalogue modelparams" in text
    )
    assert "whether the server keeps to max tokens 200 is not known." in text
    assert "with its shutdown on 2026-07-24" in text

    items = {item.question: item for item in checklist.checklist(inputs)}
    assert items["requested settings are in force"].state == "gap"
    assert "has no effect" in items["requested settings are in force"].finding
    assert items["the model can be requested again"].state == "gap"
    assert "2026-07-24" in items["the model can be requested again"].finding

    page = html(inputs, list(page_sections(inputs)))
    assert "ignored: the catalogue modelparams" in page
    assert "unknown: the server does not say whether it keeps to it" in page
    assert server.url not in page


def test_a_judge_that_stays_and_keeps_to_everything_has_no_gap(loopback: Start, definition: Path) -> None:
    server = loopback(style="truncated")
    asked = ["--set", f"base_url={server.url}", "--set", "generation={max_tokens: 40}", "--judge", "openai/mock"]
    assert command("run", "runs/thinks", "--quiet", *asked) == 0
    inputs = ReportInputs.read([definition / "openai-mock"], ReportOptions(resamples=60, permutations=60))
    items = {item.question: item for item in checklist.checklist(inputs)}
    assert items["requested settings are in force"].state == "met"
    assert "the model can be requested again" not in items
    assert "generation: max tokens 40" in methods.paragraph(inputs)


def test_a_bundles_definition_is_still_one_that_can_be_run(loopback: Start, definition: Path, tmp_path: Path) -> None:
    server = loopback(models=["deepseek-reasoner"])
    assert command("run", "runs/thinks", "--quiet", "--set", f"base_url={server.url}") == 0
    from judge.exchange.bundle.content import define

    manifest = json.loads((definition / "openai-deepseek-reasoner" / "manifest.json").read_text())
    made = dict(define({}, manifest))
    assert parse_run_spec(yaml.safe_load(made["run.completed.yaml"]), "bundle").judge == "openai/deepseek-reasoner"
