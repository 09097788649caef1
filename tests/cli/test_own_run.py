"""A lab's own run, from another folder: its file beside run.yaml, two judges, one criterion without guidelines."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from judge.answers.parsing import parser
from judge.asking.execution.progress import Progress
from judge.asking.run_definition.spec import load_run_specs
from judge.asking.run_folder.steering import steer
from judge.base.records import Query, Response, Story
from judge.inputs.criteria import load_criteria
from judge.lab.people.store import StudyStore
from tests.report import runs


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """The folder of a run that was never asked."""
    folder = tmp_path / "runs" / "lab"
    folder.mkdir(parents=True)
    with (folder / "stories.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "story_prompt", "system", "text"])
        for i in range(24):
            words = [f"The {noun} number {i} went out in town {i}." for noun in ("lamp", "boat", "clock", "door")]
            writer.writerow([f"s{i}", f"Prompt {i // 2}", f"m{i % 2}", " ".join(words * 2)])
    scale = {"min": 1, "max": 5}
    quality = {"name": "quality", "abbreviation": "QU", "definition": "how good the story is"}
    (folder / "quality.yaml").write_text(json.dumps({"name": "lab", "scale": scale, "criteria": [quality]}))
    asked = {"dataset": "stories.csv", "criteria": "quality.yaml", "eval_prompts": ["ep1"], "repeats": 1}
    judges = [{"judge": f"openai/{name}", "base_url": "http://127.0.0.1:9/v1"} for name in ("north", "south")]
    (folder / "run.yaml").write_text(json.dumps({**asked, "judges": judges}))
    return folder


def test_people_rate_the_stories_of_a_run_on_its_own_criterion(
    own: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert runs.command("people", "sample", "runs/lab", "--raters", "3", "--quiet", "-o", "people.sqlite") == 0
    with StudyStore.open(tmp_path / "people.sqlite") as study:
        assert [criterion.name for criterion in study.criteria] == ["quality"]


def test_a_query_of_a_run_is_shown_as_it_would_be_sent(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["prompts", "render", "--dataset", str(own), "--story", "s7", "--eval-prompt", "ep1"]
    assert runs.command(*words, "--criterion", "quality") == 0
    sent = capsys.readouterr().out
    assert "The boat number 7" in sent
    assert "how good the story is" in sent


def test_a_trial_takes_the_only_criterion_and_no_prompt_that_needs_guidelines(
    own: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (own / "story.txt").write_text("The lamp went out. Nobody lit it again.")
    assert runs.command("try", str(own / "story.txt"), "--criteria", str(own / "quality.yaml"), "--format", "json") == 0
    assert [row["eval_prompt"] for row in json.loads(capsys.readouterr().out)] == ["ep1", "ep2"]


def test_status_says_how_a_run_is_steered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = runs.unrated(tmp_path / "unrated")
    result = next(run.glob("*/journal.sqlite")).parent
    assert runs.command("status", run) == 0
    assert "steered" not in capsys.readouterr().out
    steer(result, send="pause", connections=2)
    assert runs.command("status", run) == 0
    assert "paused, at most 2 requests in flight" in capsys.readouterr().out
    assert runs.command("status", run, "--set", "send=go") == 0
    assert "at most 2 requests in flight" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words", [("view",), ("try", "--serve"), ("people", "serve", "people.sqlite"), ("audit", "serve", "audit.sqlite")]
)
def test_pages_without_their_packages_say_what_to_install(words: tuple[str, ...], tmp_path: Path) -> None:
    hidden = "import sys; sys.modules['uvicorn'] = None; from judge.cli.main import main; sys.argv[0] = 'judge'; main()"
    done = subprocess.run(
        [sys.executable, "-c", hidden, *words], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert re.search(r"pip install .*\[web\]'", done.stderr)


def test_the_progress_line_says_that_asked_for_explanations_are_missing() -> None:
    (coherence,) = load_criteria("hanna").pick("CH")
    asked = [
        Query(f"q{i}", Story(f"s{i}", "", "", "A story."), coherence, "ep2", (), {}, asks_explanation=True)
        for i in range(12)
    ]
    answers = ["Rating: 3\nExplanation: The story holds together well."] * 3 + ["3"] * 9
    line = Progress(12, parser=parser("ours"), quiet=True)
    for query, text in zip(asked, answers, strict=True):
        line.watch(query, Response(text))
    assert "100 % parsed" in line.line()
    assert "only 25 % explained" in line.line()
    # Who does not ask for an explanation misses none.
    line = Progress(12, parser=parser("ours"), quiet=True)
    for i in range(12):
        line.watch(Query(f"q{i}", asked[i].story, coherence, "ep1", (), {}), Response("3"))
    assert "explained" not in line.line()


def test_all_judges_of_a_definition_read_the_same_stories(own: Path) -> None:
    assert {spec.dataset for spec in load_run_specs(own / "run.yaml").asked} == {"stories.csv"}
