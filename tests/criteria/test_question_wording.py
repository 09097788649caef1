"""The published tests of Art or Artifice: taken as they are, in the template beside them, or refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from judge.base.errors import SpecError
from judge.base.records import Scale, Story
from judge.inputs.criteria import load_criteria
from judge.inputs.eval_prompts import load_eval_prompt

ASK = "Given the story above, answer 'Yes' or 'No'.\nQ) Does it drag?"
TEMPLATE = "Read {it}.\n\n[STORY]\n\n[BACKGROUND]\n\nQuestion: [QUESTION]\n\nYes or No?"
TEST = {"category": "Overall", "question": "Does it drag?", "full_prompt": f"What {{dragging}} is.\n\nMore.\n\n{ASK}"}


def write(folder: Path, template: str | None = TEMPLATE, **changes: Any) -> Path:
    file = folder / "tests.json"
    file.write_text(json.dumps([{**TEST, **changes}]), encoding="utf-8")
    if template is not None:
        (folder / "with_background.txt").write_text(template, encoding="utf-8")
    return file


def test_story_background_and_question_stand_in_the_template(tmp_path: Path) -> None:
    worded = load_criteria("overall", wording=write(tmp_path))
    (overall,) = worded.criteria
    assert (overall.definition, overall.guidelines) == ("Does it drag?", ())
    (message,) = load_eval_prompt("ep2").render(
        Story("s", "Plot.", "x", "A {tale} [QUESTION]."), overall, published=worded.published
    )
    said = "Read {it}.\n\nA {tale} [QUESTION].\n\nWhat {dragging} is.\n\nMore.\n\nQuestion: Does it drag?\n\nYes or No?"
    assert message.content == said
    assert TEMPLATE in worded.source
    assert "What {dragging} is." in worded.source


def test_only_the_eval_prompt_that_the_template_is_can_be_asked(tmp_path: Path) -> None:
    worded = load_criteria("overall", wording=write(tmp_path))
    with pytest.raises(SpecError, match=r"tests\.json: .*'EP1'.*EP2"):
        load_eval_prompt("ep1").check_criterion(worded.criteria[0], published=worded.published)


@pytest.mark.parametrize(
    ("template", "changes", "said"),
    [
        (None, {}, r"with_background\.txt cannot be read"),
        ("[STORY] [QUESTION]", {}, r"with_background\.txt must hold \[BACKGROUND\] once; found 0 times"),
        ("[BACKGROUND] [STORY] [QUESTION]", {}, r"must hold \[STORY\] before \[BACKGROUND\] and \[QUESTION\]"),
        (TEMPLATE, {"question": 3}, r"tests\.json: \[1\]\.question"),
        (TEMPLATE, {"full_prompt": "What it is."}, "full_prompt of 'Overall' does not end with an instruction and its"),
        (TEMPLATE, {"category": "Pace"}, "criterion 'Overall' is not known"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, template: str | None, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(SpecError, match=said):
        load_criteria("overall", wording=write(tmp_path, template, **changes))


def test_the_shipped_set_holds_the_tests_in_their_order_and_none_of_their_words(studies: Path) -> None:
    released = json.loads((studies / "ttcw" / "ttcw_all_tests.json").read_text(encoding="utf-8"))
    assert [test["ttcw_idx"] for test in released] == list(range(1, 15))
    ours = load_criteria("ttcw").criteria
    assert [criterion.name for criterion in ours] == [test["category"] for test in released]
    assert {criterion.scale for criterion in ours} == {Scale.of_labels(["No", "Yes"], positive="Yes")}
    for criterion, test in zip(ours, released, strict=True):
        sent = _runs(f"{test['question']} {test['full_prompt']}")
        for text in (criterion.definition, *criterion.guidelines):
            assert not _runs(text) & sent, text


def test_the_released_template_is_filled_for_every_test(studies: Path) -> None:
    folder = studies / "ttcw"
    worded = load_criteria("ttcw", wording=folder / "ttcw_all_tests.json")
    asked = load_eval_prompt("ep2", labels=True)
    story = Story("0_X", "A plot.", "X", "Once [BACKGROUND] {upon} a time.")
    before, after = (folder / "with_background.txt").read_text(encoding="utf-8").split("[STORY]")
    tests = json.loads((folder / "ttcw_all_tests.json").read_text(encoding="utf-8"))
    for criterion, test in zip(worded.criteria, tests, strict=True):
        (message,) = asked.render(story, criterion, published=worded.published)
        assert message.content.startswith(f"{before}{story.text}")
        assert message.content.endswith(after.split("[QUESTION]")[1])
        background = message.content.split("Background:\n\n\n")[1].split("\n\n\n==========\nQuestion: ")[0]
        assert test["full_prompt"].startswith(background)
        assert "Given the story" not in background
        assert f"Question: {test['question'].strip()}\n" in message.content


def _runs(text: str, words: int = 6) -> set[tuple[str, ...]]:
    """Runs of words: six in a row are a copy."""
    spelled = ["".join(c for c in word.lower() if c.isalnum()) for word in text.split()]
    return {tuple(spelled[i : i + words]) for i in range(len(spelled) - words + 1)}
