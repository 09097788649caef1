"""Criteria sets: those that ship, users' own, and every sentence for what is wrong with one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from judge.base.errors import SpecError
from judge.base.records import Scale
from judge.inputs.criteria import load_criteria, shipped_criteria


def own(folder: Path, text: str) -> Path:
    file = folder / "mine.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def one(more: str, name: str = "Pace") -> str:
    return f"name: mine\ncriteria:\n  - name: {name}\n    abbreviation: PA\n    definition: how fast it is\n{more}"


def test_hanna_has_the_six_criteria_with_the_definitions_the_study_quotes() -> None:
    criteria = load_criteria("hanna").criteria
    assert [c.abbreviation for c in criteria] == ["RE", "CH", "EM", "SU", "EG", "CX"]
    assert [c.definition for c in criteria] == [
        "how well the story matches its prompt",
        "how much the story makes sense",
        "how well you understood the characters’ emotions",
        "how surprising the end of the story was",
        "how much you engaged with the story",
        "how elaborate the story is",
    ]
    assert {len(c.guidelines) for c in criteria} == {5}
    assert {c.scale for c in criteria} == {Scale(1, 5, 1)}


def test_our_guidelines_are_not_the_published_wording(studies: Path) -> None:
    published = json.loads((studies / "hanna" / "eval_prompts.json").read_text(encoding="utf-8"))["guidelines"]
    for criterion in load_criteria("hanna").criteria:
        for ours, theirs in zip(criterion.guidelines, published[criterion.name], strict=True):
            words, source = ours.lower().split(), theirs.lower().split()
            runs = {tuple(source[i : i + 6]) for i in range(len(source) - 5)}
            assert not runs & {tuple(words[i : i + 6]) for i in range(len(words) - 5)}, ours


def test_every_shipped_set_loads_and_is_named_like_its_file() -> None:
    assert shipped_criteria() == ("hanna", "overall", "storyer", "storyer_salience", "ttcw")
    assert all(load_criteria(name).name == name and load_criteria(name).description for name in shipped_criteria())


def test_storyer_has_ten_aspects_and_overall_has_one() -> None:
    assert len(load_criteria("storyer").criteria) == 10
    (overall,) = load_criteria("overall").criteria
    assert (overall.name, overall.abbreviation, len(overall.guidelines)) == ("Overall", "OV", 5)


def test_pick_takes_names_and_abbreviations_in_the_order_asked() -> None:
    hanna = load_criteria("hanna")
    assert [c.name for c in hanna.pick("su, coherence")] == ["Surprise", "Coherence"]
    assert [c.name for c in hanna.pick(["Empathy", "RE"])] == ["Empathy", "Relevance"]
    assert hanna.pick() == hanna.criteria


def test_pick_refuses_an_unknown_name_and_names_the_nearest() -> None:
    with pytest.raises(SpecError, match=r"criterion 'Coherance' is not known; did you mean 'Coherence'\?"):
        load_criteria("hanna").pick("Coherance")


def test_pick_refuses_the_same_criterion_twice() -> None:
    with pytest.raises(SpecError, match="criterion 'Coherence' is listed twice"):
        load_criteria("hanna").pick(["CH", "Coherence"])


def test_own_set_has_own_scales_and_keeps_its_text_for_hashing(tmp_path: Path) -> None:
    file = own(tmp_path, one("    scale: {min: 0, max: 1, step: 0.5}\n    guidelines: [slow, even, fast]\n"))
    found = load_criteria(file)
    (pace,) = found.criteria
    assert pace.scale.points() == [0, 0.5, 1]
    assert pace.guidelines == ("slow", "even", "fast")
    assert found.source == file.read_text(encoding="utf-8")
    assert load_criteria("mine", folder=tmp_path) == found == load_criteria("mine.yaml", folder=tmp_path)


def test_whole_numbers_of_a_scale_stay_whole(tmp_path: Path) -> None:
    (pace,) = load_criteria(own(tmp_path, one("    scale: {min: 1.0, max: 3}\n"))).criteria
    assert [str(p) for p in pace.scale.points()] == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (one("    guidlines: [x]\n"), r"mine\.yaml, line 6: criteria\[1\]: key 'guidlines' is not known; did you"),
        ("nam: mine\n", r"line 1: key 'nam' is not known; did you mean 'name'\?"),
        ("name: mine\n", r"criteria is missing"),
        ("name: mine\ncriteria: []\n", r"line 2: criteria list should have at least 1 item"),
        ("name: mine\ncriteria:\n  - name: A\n    definition: d\n", r"line 3: criteria\[1\]\.abbreviation is missing"),
        (one("    guidelines: [a, b]\n"), r"line 3: criterion 'Pace' has 2 guidelines for a scale of 5 points"),
        (one("    guidelines: [a, b, '', d, e]\n"), "criterion 'Pace' has an empty guideline"),
        (one("    guidelines: [a, b, 3, d, e]\n"), r"line 6: criteria\[1\]\.guidelines\[3\] should be a valid str"),
        (one("    scale: {min: 5, max: 1}\n"), "must go up from min to max by a positive step"),
        (one("    scale: {min: 1, max: .inf}\n"), r"scale\.max should be a finite number; found inf"),
        (one("    scale: {min: 1, max: 5, step: 3}\n"), "must reach max from min by whole steps"),
        (one("    scale: {min: '1', max: 5}\n"), r"scale\.min should be a valid number; found '1'"),
        (one("", name="NO"), r"criteria\[1\]\.name should be a valid string; found False"),
        (one("    definition: again\n"), r"line 6: key 'definition' is there twice"),
        (one("  - {name: PA, abbreviation: X, definition: d}\n"), "'Pace' and 'PA' share the name or abbrev"),
        (one("    wording: [\n"), "line 7: not YAML"),
        ("name: !!python/object:os.system x\n", "line 1: not YAML: could not determine a constructor"),
        ("name: 2024-13-45\n", "not YAML: month must be in 1..12"),
        ("- a\n", "the file should be a valid dictionary"),
        ("&a [*a]\n", "an alias without an anchor before it"),
        ("", "name is missing"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_set_is_said_with_file_and_line(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(SpecError, match=sentence):
        load_criteria(own(tmp_path, text))


def test_several_mistakes_are_counted(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"\(and 2 more mistakes\)"):
        load_criteria(own(tmp_path, "name: mine\ncriteria: [{name: A}, {name: B, abbreviation: B}]\n"))


def test_text_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_bytes(b"name: caf\xe9\n")
    with pytest.raises(SpecError, match="byte 9 is not UTF-8"):
        load_criteria(file)


def test_unknown_set_names_the_nearest_and_a_missing_file_is_said() -> None:
    with pytest.raises(SpecError, match=r"criteria set 'hana' is not known; did you mean 'hanna'\?"):
        load_criteria("hana")
    with pytest.raises(SpecError, match=r"criteria set nowhere/x\.yaml: there is no such file"):
        load_criteria("nowhere/x.yaml")


def test_a_name_that_could_mean_two_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "hanna.yaml").write_text(one(""), encoding="utf-8")
    with pytest.raises(SpecError, match=r"is both .* and one that ships"):
        load_criteria("hanna", folder=tmp_path)
