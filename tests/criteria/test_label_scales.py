"""Scales of labels: what a criteria set may write, every sentence for what is wrong, and records that come back."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge.base.errors import SpecError
from judge.base.records import Criterion, Scale
from judge.inputs.criteria import load_criteria


def one(folder: Path, scale: str, more: str = "") -> Criterion:
    file = folder / "mine.yaml"
    head = "name: mine\ncriteria:\n  - name: Pace\n    abbreviation: PA\n    definition: how fast it is\n"
    file.write_text(f"{head}    scale: {scale}\n{more}", encoding="utf-8")
    (criterion,) = load_criteria(file).criteria
    return criterion


@pytest.mark.parametrize(
    ("scale", "labels", "ordered", "positive"),
    [
        ("{labels: [No, Yes]}", ("No", "Yes"), True, "Yes"),
        ("{labels: [yes, no], positive: YES}", ("yes", "no"), True, "yes"),
        ("{labels: [off, on], ordered: false}", ("off", "on"), False, "on"),
        ("{labels: ['Poor', Fair, Very  good]}", ("Poor", "Fair", "Very good"), True, None),
        ("{labels: [A, B, tie], ordered: false}", ("A", "B", "tie"), False, None),
        ("{labels: [null, true, ~x]}", ("null", "true", "~x"), True, None),
    ],
)
def test_labels_are_texts_as_they_are_written(
    tmp_path: Path, scale: str, labels: tuple[str, ...], ordered: bool, positive: str | None
) -> None:
    found = one(tmp_path, scale).scale
    assert (found.labels, found.ordered, found.positive) == (labels, ordered, positive)
    assert found.points() == list(range(len(labels)))
    assert [found.label_of(code) for code in found.points()] == list(labels)


@pytest.mark.parametrize(
    ("scale", "said"),
    [
        ("{labels: [No, no ]}", "scale.labels must differ in more than case and blanks; found 'no' twice"),
        ("{labels: [Yes]}", "scale.labels must be 2 to 26 different texts; found Yes"),
        ("{labels: []}", "scale.labels must be 2 to 26 different texts; found none"),
        (
            "{labels: [No, Yes], positive: Maybe}",
            "scale.positive must be one of the labels; found 'Maybe' (allowed: No, Yes)",
        ),
        ("{labels: [a, b, c], positive: a}", "scale.positive is for two labels; found 3 labels"),
        ("{labels: [No, Yes], min: 0}", "scale.labels stands beside scale.min: write labels, or min, max and step"),
        ("{labels: [No, Yes], max: 1, step: 1}", "scale.labels stands beside scale.max, scale.step"),
        ("{labels: [1, 2]}", "scale.labels must hold a letter each; found '1' (for numbers write min, max and step)"),
        ("{ordered: true}", "scale.ordered is for labels, and there are none"),
        ("{min: 0, positive: Yes}", "scale.positive is for labels, and there are none"),
    ],
)
def test_what_is_wrong_names_file_criterion_and_key(tmp_path: Path, scale: str, said: str) -> None:
    with pytest.raises(SpecError) as error:
        one(tmp_path, scale)
    assert f"{tmp_path / 'mine.yaml'}, line 3: criterion 'Pace': {said}" in str(error.value)


def test_guidelines_of_labels_are_one_sentence_a_label(tmp_path: Path) -> None:
    assert one(tmp_path, "{labels: [No, Yes]}", "    guidelines: [It drags., It runs.]\n").guidelines[1] == "It runs."
    with pytest.raises(SpecError, match="has 1 guidelines for a scale of 2 labels"):
        one(tmp_path, "{labels: [No, Yes]}", "    guidelines: [It drags.]\n")


def test_a_record_holds_labels_only_where_there_are_some_and_comes_back() -> None:
    labelled = Criterion("Pace", "PA", "x", Scale.of_labels(["No", "Partly", "Yes"], ordered=False))
    assert labelled.record()["labels"] == ["No", "Partly", "Yes"]
    assert set(Criterion("Pace", "PA", "x").record()) == {"name", "abbreviation", "definition", "scale", "guidelines"}
    for criterion in (labelled, Criterion("Pace", "PA", "x", Scale.of_labels(["No", "Yes"], positive="No"))):
        assert Criterion.of(criterion.record()) == criterion


def test_a_code_is_found_whatever_case_and_blanks() -> None:
    scale = Scale.of_labels(["Agree", "Strongly agree"])
    assert (scale.code_of("  STRONGLY  agree "), scale.code_of("agree"), scale.code_of("agreed")) == (1, 0, None)
    assert (scale.label_of(0.5), scale.label_of(2), scale.label_of(None), Scale().label_of(1)) == (None,) * 4
