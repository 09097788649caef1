"""3,360 answers of five models to Yes/No tests with an explanation (TTCW): read as a person reads them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from judge.answers.parsing import parser
from judge.base.records import Criterion, Response, Scale

READ = Path(__file__).resolve().parent / "ttcw_read.json"
SCALE = Scale.of_labels(["No", "Yes"])
OPENS = re.compile(r"\s*(yes|no)\b(?=[\s.,:;!-]|$)", re.IGNORECASE)


def answers(studies: Path) -> Iterator[tuple[str, str, str]]:
    """Model, id and text of each answer."""
    for file in sorted((studies / "ttcw" / "llm_answers").glob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            yield file.stem.removeprefix("annotations_"), row["id"], row["response"]


def label(text: str) -> tuple[str | None, str]:
    judgment = parser("ours").parse(Response(text, "stop"), Criterion("Narrative Ending", "NE", "", SCALE))
    return SCALE.label_of(judgment.rating), judgment.status


def test_two_hundred_that_were_read_by_eye(studies: Path) -> None:
    read = json.loads(READ.read_text(encoding="utf-8"))
    wanted = {(model, one): said for model, both in read.items() for said, ids in both.items() for one in ids}
    found = {(model, one): label(text)[0] for model, one, text in answers(studies) if (model, one) in wanted}
    assert len(found) == 200
    assert found == wanted


def test_all_that_begin_with_the_label_and_the_one_that_declines(studies: Path) -> None:
    differing = []
    for model, one, text in answers(studies):
        opens = OPENS.match(text)
        found, status = label(text)
        if found != (opens.group(1).capitalize() if opens else None):
            differing.append((model, one))
        if opens is None:
            assert (model, status) == ("claudev2", "refused")
    assert differing == []


def test_what_experts_say_of_their_own_verdicts(studies: Path) -> None:
    """Explanations by people, most of which state no verdict: those that are read state the one that was given."""
    rows = json.loads((studies / "ttcw" / "ttcw_annotations.json").read_text(encoding="utf-8"))
    read = 0
    for row in rows:
        found, _ = label(row["explanation"])
        assert found in (None, row["binary_verdict"]), row["explanation"]
        read += found is not None
    assert (len(rows), read) == (2016, 396)


def test_without_their_first_word_nothing_is_made_up(studies: Path) -> None:
    """What is read then is a verdict further down ("So in summary, yes"), and never the other label."""
    read = 0
    for _, _, text in answers(studies):
        opens = re.match(r"\s*(yes|no)\b[\s.,:;!-]*", text, re.IGNORECASE)
        if opens is not None and len(text) > opens.end():
            found, _ = label(text[opens.end() :])
            assert found in (None, opens.group(1).capitalize()), text
            read += found is not None
    assert read < 100
