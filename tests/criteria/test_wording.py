"""A study's published strings: taken as they are, and refused where they are not what they should be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from judge.base.errors import JudgeError
from judge.inputs.criteria import load_criteria

FIVE = ["one", "two", "three", "four", "five"]


def strings(**changes: Any) -> dict[str, Any]:
    value: dict[str, Any] = {
        "definitions": {"Overall": "as a whole"},
        "guidelines": {"Overall": FIVE},
        "tasks_EP1_to_EP4": {"Overall": ["first", "second"]},
        "template_EP1_EP2": "{prompt} {story} {task}",
    }
    return {k: v for k, v in {**value, **changes}.items() if v is not None}


def write(folder: Path, value: Any) -> Path:
    file = folder / "strings.json"
    file.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return file


def test_wording_replaces_definitions_and_guidelines_and_counts_in_the_hash(tmp_path: Path) -> None:
    plain = load_criteria("overall")
    worded = load_criteria("overall", wording=write(tmp_path, strings()))
    (overall,) = worded.criteria
    assert (overall.definition, list(overall.guidelines)) == ("as a whole", FIVE)
    assert worded.published is not None
    assert worded.published.tasks["Overall", "EP2"] == "second"
    assert set(worded.published.outer) == {"EP1", "EP2"}
    assert worded.source.startswith(plain.source)
    assert "as a whole" in worded.source
    assert (plain.wording, plain.published) == (None, None)


def test_wording_named_in_the_set_is_relative_to_it(tmp_path: Path) -> None:
    write(tmp_path, strings())
    own = tmp_path / "mine.yaml"
    own.write_text(
        "name: mine\nwording: strings.json\ncriteria: [{name: Overall, abbreviation: OV, definition: d}]\n",
        encoding="utf-8",
    )
    assert load_criteria(own).criteria[0].definition == "as a whole"


def test_the_studys_own_definitions_and_points_are_taken(studies: Path) -> None:
    file = studies / "hanna" / "eval_prompts.json"
    raw = json.loads(file.read_text(encoding="utf-8"))
    for criterion in load_criteria("hanna", wording=file).criteria:
        assert criterion.definition == raw["definitions"][criterion.name]
        assert list(criterion.guidelines) == raw["guidelines"][criterion.name]


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("{", r"strings\.json, row 1: is not JSON"),
        (strings(definitions=None), "definitions is missing"),
        (strings(definitions={"Overal": "x"}), r"criterion 'Overall' is not known; did you mean 'Overal'\?"),
        (strings(guidelines={"Overall": ["one"]}), "has 1 guidelines for a scale of 5 points"),
        (strings(tasks_EP1_to_EP4=None), "there are no published Eval-Prompts in it"),
        (strings(tasks_EP1_to_EP4={"Overall": [1]}), r"tasks_EP1_to_EP4\.Overall\[1\] should be a valid"),
        (strings(template_EP1_EP2=7), "template_EP1_EP2 must be a text"),
        (strings(template_EP1_EP2="{story} {task} {prompt.__class__}"), "besides them only {prompt} and {human}"),
        (strings(template_EP1_EP2="{story!r} {task}"), "besides them only {prompt} and {human}"),
        (strings(template_EP1_EP2="{task}"), "must hold {story} and {task}"),
        (strings(template_EP1_EP2="{story} {task"), "template_EP1_EP2: "),
        ([], "the file should be a valid dictionary"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_the_strings_is_said(tmp_path: Path, value: Any, sentence: str) -> None:
    with pytest.raises(JudgeError, match=sentence):
        load_criteria("overall", wording=write(tmp_path, value))
