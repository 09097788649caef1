"""The packaged demo set: that it is what its script makes, and that its labels follow the written rule."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

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


def test_the_reference_is_the_original_in_all_four_systems(by_id: dict[str, dict[str, Any]], names: list[str]) -> None:
    for name in names:
        original = by_id[f"{name}-original"]["text"]
        assert {by_id[f"{name}-{system}"]["reference"] for system in demo_stories.SYSTEMS} == {original}


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
    assert values == {"Relevance": 3, "Coherence": 3, "Empathy": 1, "Surprise": 4, "Engagement": 3, "Complexity": 3}


def test_the_note_says_whose_labels_they_are() -> None:
    assert "labels set by rule" in LABELS_NOTE
    assert "not by readers" in LABELS_NOTE
