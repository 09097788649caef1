"""The packaged demo set: that it is what its script makes, and that its labels follow the written rule."""

from __future__ import annotations

import json
import random
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from judge.base.errors import DataError
from judge.base.files import package_file
from judge.inputs.datasets.studies import LABELS_NOTE
from tests.packaged_data import demo_stories

SHIPPED = package_file("inputs", "datasets", "demo_stories.jsonl")


@pytest.fixture(scope="module")
def stories() -> list[dict[str, Any]]:
    return [json.loads(line) for line in SHIPPED.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def by_id(stories: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {story["id"]: story for story in stories}


@pytest.fixture(scope="module")
def names() -> list[str]:
    return [original.id for original in demo_stories.read_originals()]


def _texts(text: str) -> list[str]:
    return [sentence.text for sentence in demo_stories.sentences_of(text)]


# The shipped file


def test_the_shipped_file_is_what_the_script_makes() -> None:
    built = demo_stories.as_jsonl(demo_stories.build(demo_stories.read_originals()))
    assert SHIPPED.read_bytes() == built.encode("utf-8")


def test_main_rewrites_the_file_and_says_what_the_labels_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo_stories, "package_file", lambda *parts: tmp_path / parts[-1])
    demo_stories.main()
    assert (tmp_path / "demo_stories.jsonl").read_bytes() == SHIPPED.read_bytes()
    assert LABELS_NOTE in capsys.readouterr().out


def test_twelve_story_prompts_by_four_systems(stories: list[dict[str, Any]]) -> None:
    assert len(stories) == 48
    assert Counter(story["system"] for story in stories) == dict.fromkeys(demo_stories.SYSTEMS, 12)
    by_prompt = Counter(story["story_prompt"] for story in stories)
    assert len(by_prompt) == 12
    assert set(by_prompt.values()) == {4}


def test_every_line_is_native_form(stories: list[dict[str, Any]]) -> None:
    for story in stories:
        assert list(story) == ["id", "story_prompt", "system", "text", "reference", "ratings"]
        assert story["id"].endswith(f"-{story['system']}")
        assert [rating["criterion"] for rating in story["ratings"]] == list(demo_stories.CRITERIA)
        assert {rating["rater"] for rating in story["ratings"]} == {"construction"}


def test_ids_and_texts_occur_once(stories: list[dict[str, Any]]) -> None:
    assert len({story["id"] for story in stories}) == 48
    assert len({story["text"] for story in stories}) == 48


def test_lengths(stories: list[dict[str, Any]]) -> None:
    for story in stories:
        low, high = (120, 250) if story["system"] == "original" else (80, 260)
        assert low <= demo_stories.count_words(story["text"]) <= high, story["id"]


def test_the_reference_is_the_original_in_all_four_systems(by_id: dict[str, dict[str, Any]], names: list[str]) -> None:
    for name in names:
        original = by_id[f"{name}-original"]["text"]
        assert {by_id[f"{name}-{system}"]["reference"] for system in demo_stories.SYSTEMS} == {original}


def test_the_originals_differ_in_genre_and_grades() -> None:
    originals = demo_stories.read_originals()
    assert len({original.genre for original in originals}) == 12
    for criterion in demo_stories.CRITERIA:
        grades = {original.grades[criterion] for original in originals}
        assert len(grades) >= 3, criterion
    means = [sum(original.grades.values()) / 6 for original in originals]
    assert min(means) < 2.5
    assert max(means) > 4.5


# The damages


def test_looped_keeps_the_opening_and_repeats_its_end(by_id: dict[str, dict[str, Any]], names: list[str]) -> None:
    for name in names:
        original = by_id[f"{name}-original"]["text"]
        looped = by_id[f"{name}-looped"]["text"]
        whole, loop = _texts(original), _texts(looped)
        opening = len(whole) // 3
        assert loop[:opening] == whole[:opening]
        assert set(loop) == set(whole[:opening])
        assert min(Counter(loop[opening:]).values()) >= 2, "what repeats stands there three times or more"
        assert demo_stories.count_words(looped) == pytest.approx(demo_stories.count_words(original), rel=0.1)


def test_shuffled_has_the_same_sentences_and_no_passage(by_id: dict[str, dict[str, Any]], names: list[str]) -> None:
    for name in names:
        whole, mixed = _texts(by_id[f"{name}-original"]["text"]), _texts(by_id[f"{name}-shuffled"]["text"])
        assert Counter(mixed) == Counter(whole)
        assert not set(pairwise(mixed)) & set(pairwise(whole))


def test_spliced_is_half_of_each_of_two_stories(by_id: dict[str, dict[str, Any]], names: list[str]) -> None:
    partners = demo_stories.splice_partners(names)
    assert sorted(partners) == sorted(partners.values()) == sorted(names)
    for name in names:
        assert partners[name] != name
        own, other = (_texts(by_id[f"{who}-original"]["text"]) for who in (name, partners[name]))
        spliced = _texts(by_id[f"{name}-spliced"]["text"])
        cut = next(place for place, pair in enumerate(zip(spliced, own, strict=False)) if pair[0] != pair[1])
        assert spliced[cut:] == other[-len(spliced[cut:]) :]
        share = len(" ".join(spliced[:cut]).split()) / len(" ".join(own).split())
        assert 0.35 < share < 0.65


def test_no_sentence_is_cut_inside_a_speech(stories: list[dict[str, Any]]) -> None:
    for story in stories:
        assert all(sentence.count('"') % 2 == 0 for sentence in _texts(story["text"])), story["id"]


def test_another_seed_gives_other_damages_and_the_same_originals(stories: list[dict[str, Any]]) -> None:
    other = demo_stories.build(demo_stories.read_originals(), seed=demo_stories.SEED + 1)
    same = Counter(
        ours["system"] for ours, theirs in zip(stories, other, strict=True) if ours["text"] == theirs["text"]
    )
    assert same["original"] == same["looped"] == 12
    assert same["shuffled"] == 0
    assert same["spliced"] < 6, "two drawn rings share few neighbours"


def test_shuffling_does_not_depend_on_the_global_generator() -> None:
    text = demo_stories.read_originals()[0].text
    first = demo_stories.shuffled(text, random.Random("a"))
    random.seed(5)
    assert demo_stories.shuffled(text, random.Random("a")) == first


# The labels


def test_labels_are_the_authors_grade_minus_the_damage(by_id: dict[str, dict[str, Any]]) -> None:
    for original in demo_stories.read_originals():
        for system in demo_stories.SYSTEMS:
            for rating in by_id[f"{original.id}-{system}"]["ratings"]:
                criterion = rating["criterion"]
                expected = max(1, original.grades[criterion] - demo_stories.DEDUCTIONS[system][criterion])
                assert rating["value"] == expected


def test_a_label_by_hand(by_id: dict[str, dict[str, Any]]) -> None:
    # quiet-levy: Relevance 5, Coherence 5, Empathy 1, Surprise 4, Engagement 4, Complexity 4
    # spliced:             -2,           -2,         -1,          -0,            -1,           -1; Empathy stops at 1
    values = {rating["criterion"]: rating["value"] for rating in by_id["quiet-levy-spliced"]["ratings"]}
    assert values == {
        "Relevance": 3,
        "Coherence": 3,
        "Empathy": 1,
        "Surprise": 4,
        "Engagement": 3,
        "Complexity": 3,
    }


def test_deductions_name_every_system_and_criterion_and_never_add() -> None:
    assert tuple(demo_stories.DEDUCTIONS) == demo_stories.SYSTEMS
    for deductions in demo_stories.DEDUCTIONS.values():
        assert tuple(deductions) == demo_stories.CRITERIA
        assert all(0 <= points <= 3 for points in deductions.values())
    assert set(demo_stories.DEDUCTIONS["original"].values()) == {0}


def test_every_label_is_a_point_of_the_scale(stories: list[dict[str, Any]]) -> None:
    values = {rating["value"] for story in stories for rating in story["ratings"]}
    assert values == {1, 2, 3, 4, 5}


def test_the_note_says_whose_labels_they_are() -> None:
    assert "labels set by rule" in LABELS_NOTE
    assert "not by readers" in LABELS_NOTE


# Sentences


@pytest.mark.parametrize(
    ("paragraph", "sentences"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ('"Who is it?" she asked. Nobody.', ['"Who is it?" she asked.', "Nobody."]),
        ('"Stop!" Mary cried. He stopped.', ['"Stop!" Mary cried.', "He stopped."]),
        ('"Stop!" He stopped.', ['"Stop!"', "He stopped."]),
        ('"I know. I was there." He sat.', ['"I know. I was there."', "He sat."]),
        ("“I know. I was there.” He sat.", ["“I know. I was there.”", "He sat."]),
        ('He said, "Go." "No," I said.', ['He said, "Go."', '"No," I said.']),
        ("Mr. Okafor plays. Mrs. Okafor sings.", ["Mr. Okafor plays.", "Mrs. Okafor sings."]),
        ("Dr. J. Bloom came. It was I. We sat.", ["Dr. J. Bloom came.", "It was I.", "We sat."]),
        ("It was 3.5 miles... or so. Yes.", ["It was 3.5 miles... or so.", "Yes."]),
        ("Dear next tenant,", ["Dear next tenant,"]),
        ("", []),
    ],
)
def test_sentences_of_a_paragraph(paragraph: str, sentences: list[str]) -> None:
    assert demo_stories.split_sentences(paragraph) == sentences


@given(st.text(alphabet="Aab.!?\"“” '\n", max_size=60))
def test_sentences_joined_give_the_paragraph_back(paragraph: str) -> None:
    assert " ".join(demo_stories.split_sentences(paragraph)) == " ".join(paragraph.split())


def test_paragraphs_survive_the_way_there_and_back() -> None:
    text = 'One. Two.\n\n"Three?" he said.\n\nFour.'
    assert demo_stories.text_of(demo_stories.sentences_of(text)) == text


# Mistakes in the originals' file


def _entry(**changes: Any) -> dict[str, Any]:
    entry = {
        "id": "x",
        "genre": "g",
        "execution": "e",
        "story_prompt": "p",
        "grades": dict.fromkeys(demo_stories.CRITERIA, 3),
        "text": "One. Two.",
    }
    return {**entry, **changes}


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ([_entry(), _entry()], "row 2, column 'id': the id occurred before; found 'x'"),
        ([_entry(title="t")], "row 1: a story has other keys"),
        (["x"], "row 1: a story has other keys"),
        ([_entry(text=" ")], "row 1, column 'text': not a text"),
        ([_entry(grades={"Relevance": 3})], "row 1, column 'grades': other criteria"),
        ([_entry(grades={**_entry()["grades"], "Empathy": 6})], "row 1, column 'Empathy': not a grade; found 6"),
        ([_entry(grades={**_entry()["grades"], "Empathy": 2.5})], "row 1, column 'Empathy': not a grade; found 2.5"),
        ([_entry(grades={**_entry()["grades"], "Empathy": True})], "row 1, column 'Empathy': not a grade; found True"),
        ({"x": 1}, "the file is not a list of stories"),
    ],
)
def test_a_mistake_names_file_row_and_column(tmp_path: Path, entries: object, message: str) -> None:
    file = tmp_path / "originals.yaml"
    file.write_text(yaml.safe_dump(entries, sort_keys=False), encoding="utf-8")
    with pytest.raises(DataError) as caught:
        demo_stories.read_originals(file)
    assert str(file) in str(caught.value)
    assert message in str(caught.value)
