"""judge compare and judge figure on runs with journals: prompts, parsers, structured modes, runs; table and picture."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.report.runs import command as run

QUICK = ("--resamples", "50", "--set", "permutations=50")
DEFINITION = """
name: {name}
dataset: demo
judge: {judge}
criteria: {{set: hanna, only: [Relevance, Coherence]}}
eval_prompts: [ep1, ep2]
repeats: 2
structured: {structured}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of recited answers, plain and as JSON, and one of the control judge."""
    base = tmp_path_factory.mktemp("runs")
    for name, who, structured in (
        ("plain", "scripted/endings", "none"),
        ("json", "scripted/endings", "json"),
        ("control", "surface", "none"),
    ):
        (base / name).mkdir()
        (base / name / "run.yaml").write_text(DEFINITION.format(name=name, judge=who, structured=structured))
        assert run("run", base / name, "--quiet") == 0
    return base


def test_prompts_are_compared_with_coverage_before(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("compare", folder / "control", *QUICK, "--full") == 0
    text = capsys.readouterr().out
    assert text.index("coverage: ") < text.index("Eval-Prompts compared on the same stories")
    assert "With ep2, as with ep1, every answer holds a rating. ep2" in " ".join(text.split())
    assert "m = 2 permutation tests" in text
    # ep2 asks for an explanation and ep1 does not.
    assert "explained % first" in text


def test_parsers_are_compared_on_the_same_answers(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("compare", folder / "plain", "--by", "parser", *QUICK, "--format", "json") == 0
    tables = json.loads(capsys.readouterr().out)
    answers = next(table for table in tables if table["title"] == "Answers parsed and explained")
    assert answers["rows"]
    for row in answers["rows"]:
        assert row["contrast"] == "as-published − ours"
        # The published procedure imputes: everything that was answered has a rating.
        assert row["parsed_second"] == 1
        assert row["parsed_first"] < 1
        assert row["parsed_only_first"] == 0
    assert "|parser:ours/4,as-published/1|" in answers["signature"]
    assert run("compare", folder / "plain", "--by", "parser", "--set", "parser=as-published") == 1
    assert "--by parser compares ours with as-published" in capsys.readouterr().err


def test_structured_modes_and_runs_are_compared(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    both = (folder / "plain", folder / "json")
    assert run("compare", *both, "--by", "structured", *QUICK) == 0
    text = capsys.readouterr().out
    assert "json − none" in text
    assert run("compare", *both, "--by", "run", *QUICK) == 0
    assert "json − plain" in capsys.readouterr().out
    assert run("compare", *both, folder / "control", "--by", "judge", *QUICK) == 0
    text = capsys.readouterr().out
    assert "surface − scripted/endings" in text


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--by", "judge"], "--by judge needs two judges of demo; these results have only surface"),
        (["--baseline", "ep3"], "--baseline 'ep3' is not known"),
        (["--eval-prompt", "ep2"], "--by eval_prompt needs two Eval-Prompts of demo; these results have only ep2"),
        (["--drop-system", "human"], "system 'human' is not known"),
    ],
)
def test_mistakes_get_a_sentence(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str
) -> None:
    assert run("compare", folder / "control", *arguments, *QUICK) == 1
    assert sentence in capsys.readouterr().err
