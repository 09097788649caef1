"""Art or Artifice: the released counts, one story checked by hand, and what is refused."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from judge.base.errors import DataError
from judge.inputs.datasets import open_dataset
from judge.inputs.datasets.studies.ttcw import read_answers, read_stories, read_verdicts


def test_the_models_stories_have_texts(with_studies: Path) -> None:
    stories = list(open_dataset("ttcw").stories())
    assert Counter(story.system for story in stories) == {"Claude": 12, "GPT3.5": 12, "GPT4": 12}
    assert all(len(story.text.split()) > 500 for story in stories)
    assert {len(story.ratings) for story in stories} == {42}
    assert len({story.story_prompt for story in stories}) == 12


def test_the_magazines_stories_come_without(with_studies: Path) -> None:
    stories = list(open_dataset("ttcw+newyorker").stories())
    assert [story.id for story in stories[:3]] == ["0_NewYorker", "0_Claude", "0_GPT3.5"]
    assert {story.text for story in stories if story.system == "NewYorker"} == {""}
    assert sum(len(story.ratings) for story in stories) == 2016
    # Counted in the released file: 762 of the 2,016 verdicts are Yes.
    assert sum(rating.value for story in stories for rating in story.ratings) == 762
    experts = {rating.rater for story in stories for rating in story.ratings}
    assert experts == {f"expert {number}" for number in range(11)}


def test_verdicts_keep_their_explanations(studies: Path) -> None:
    first = read_verdicts(studies / "ttcw" / "ttcw_annotations.json")[0]
    assert (first.story, first.test, first.expert, first.value) == ("0_Claude", "Narrative Ending", "expert 9", 0.0)
    assert first.explanation.startswith("The ending seemed arbitrary.")


@pytest.mark.parametrize("judge", ["cgpt", "gpt4", "claudev13", "claudev2", "claudev21"])
def test_every_model_answered_every_test(studies: Path, judge: str) -> None:
    answers = list(read_answers(studies / "ttcw" / "llm_answers" / f"annotations_{judge}.jsonl"))
    assert len({(answer.story, answer.test) for answer in answers}) == 672
    assert {answer.test for answer in answers} == set(range(1, 15))


def test_wrong_files_are_named_with_row_and_column(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.json"
    row = {"story_id": "0_X", "category": "A", "expert_idx": 1, "binary_verdict": "Maybe", "explanation": "because"}
    path.write_text(json.dumps([row]), encoding="utf-8")
    with pytest.raises(DataError, match=r"verdicts\.json, row 1, column 'binary_verdict': no verdict.*'Maybe'"):
        read_verdicts(path)
    path.write_text(json.dumps([{**row, "binary_verdict": "Yes"}] * 2), encoding="utf-8")
    with pytest.raises(DataError, match="row 2: the same verdict occurs twice"):
        read_verdicts(path)
    path.write_text(json.dumps({"a": 1}), encoding="utf-8")
    with pytest.raises(DataError, match="not a list of objects"):
        list(read_stories(path, path, whole=True))
    answers = tmp_path / "answers.jsonl"
    answers.write_text(
        '{"id": "story_0_X_test1", "response": null}\n{"id": "0", "response": "Yes"}\n', encoding="utf-8"
    )
    with pytest.raises(DataError, match="row 2, column 'id': no id"):
        list(read_answers(answers))
