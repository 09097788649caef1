"""The parser `ours` against answers with expected outcomes, kept in tests/responses/."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from judge.answers.parsing import parser
from judge.base.records import Criterion, Response, Scale

RESPONSES = Path(__file__).parents[2] / "responses"
HANNA = ["Relevance", "Coherence", "Empathy", "Surprise", "Engagement", "Complexity"]
GUIDELINES = (
    "Nothing in the story follows.",
    "Most of what happens does not add up.",
    "The story mostly adds up but has several gaps.",
    "The story adds up but for a gap or two.",
    "Everything adds up from start to end.",
)
ENDINGS: list[dict[str, Any]] = yaml.safe_load((RESPONSES / "endings.yaml").read_text(encoding="utf-8"))
EXPLANATIONS = [json.loads(line) for line in (RESPONSES / "explanations_hanna.jsonl").read_text().splitlines()]


def judged(ending: dict[str, Any]) -> Any:
    name = ending.get("criterion", "Coherence")
    criterion = Criterion(name, name[:2].upper(), "", Scale(*ending.get("scale", [1, 5])), GUIDELINES)
    response = Response(ending["text"], ending.get("finish_reason", "stop"), ending.get("reasoning"))
    others = ending.get("others", [n for n in HANNA if n != name])
    return parser("ours").parse(response, criterion, structured=ending.get("structured", "none"), other_criteria=others)


@pytest.mark.parametrize("ending", ENDINGS, ids=[e["name"] for e in ENDINGS])
def test_ending_is_read_as_written_beside_it(ending: dict[str, Any]) -> None:
    judgment = judged(ending)
    expected = (ending.get("status", "ok"), ending.get("rating"), sorted(ending.get("flags", [])))
    assert (judgment.status, judgment.rating, sorted(judgment.flags)) == expected
    if "explanation" in ending:
        if ending["explanation"] is None:
            assert judgment.explanation is None
        else:
            assert ending["explanation"] in (judgment.explanation or "")


def test_endings_are_many_and_cover_every_status_of_a_parser() -> None:
    assert len(ENDINGS) >= 150
    statuses = {e.get("status", "ok") for e in ENDINGS}
    assert statuses == {
        "ok", "no_rating", "ambiguous", "out_of_scale", "refused", "empty", "truncated", "filtered"
    }  # fmt: skip
    flags = {flag for e in ENDINGS for flag in e.get("flags", [])}
    assert flags == {"off_step", "cut", "run_on", "others_rated", "revised", "guideline_only"}


@pytest.fixture(scope="session")
def study(studies: Path) -> tuple[list[str], dict[str, tuple[str, ...]]]:
    """The 300 explanations of the user study by row, and the guidelines by criterion."""
    with (studies / "hanna" / "user_study.csv").open(newline="", encoding="utf-8") as file:
        texts = [row["Input.explanation"] for row in csv.DictReader(file)]
    prompts = json.loads((studies / "hanna" / "eval_prompts.json").read_text(encoding="utf-8"))
    return texts, {name: tuple(points) for name, points in prompts["guidelines"].items()}


def test_expectations_cover_every_distinct_explanation_of_the_user_study(study: Any) -> None:
    texts, _ = study
    assert len({texts[e["row"]] for e in EXPLANATIONS}) == len(EXPLANATIONS) == len(set(texts)) == 92


@pytest.mark.parametrize("expected", EXPLANATIONS, ids=[f"row{e['row']}" for e in EXPLANATIONS])
def test_real_explanation_is_read_as_a_person_reads_it(expected: dict[str, Any], study: Any) -> None:
    texts, guidelines = study
    name = expected["criterion"]
    criterion = Criterion(name, name[:2].upper(), "", Scale(), guidelines[name])
    judgment = parser("ours").parse(
        Response(texts[expected["row"]]), criterion, other_criteria=[n for n in HANNA if n != name]
    )
    assert (judgment.status, judgment.rating, list(judgment.flags)) == (
        expected["status"], expected["rating"], expected["flags"]
    )  # fmt: skip
    assert judgment.span is not None
    assert float(texts[expected["row"]][slice(*judgment.span)]) == expected["rating"]
    assert judgment.explanation
