"""What a study asks: repeats and checks where they belong, practice, the same for the same seed."""

from __future__ import annotations

import pytest

from judge.base.errors import SpecError
from judge.lab.people.options import DesignOptions
from judge.lab.people.study import APART, draw, minutes
from tests.people.conftest import drawn, stories


def test_repeats_and_checks_stand_apart_from_first_readings_and_never_first_or_last() -> None:
    made = drawn(20, raters=6, per_story=3)
    for entries in made.lists:
        rated = [entry for entry in entries if entry.use == "rating"]
        assert [entry.use for entry in entries].index("rating") == 2
        assert entries[-1].use == "rating"
        for kind in ("repeat", "check"):
            own = [(place, entry) for place, entry in enumerate(entries) if entry.use == kind]
            assert len(own) == max(2, round(len(rated) / 6))
            for place, entry in own:
                assert entry.of is not None
                first = entries[entry.of]
                assert first.use == "rating"
                assert abs(place - entry.of) > APART if kind == "repeat" else abs(place - entry.of) >= APART
                text, whole = made.texts[entry.text - 1], made.texts[first.text - 1]
                assert text.story == whole.story
                assert (text.text == whole.text) == (kind == "repeat")
                assert kind == "check" or place > entry.of
        checked = [made.texts[entry.text - 1] for entry in entries if entry.use == "check"]
        assert {text.system for text in checked} == {"Human"}
        assert {text.damage for text in checked} == {"sentence-shuffle.4"}


def test_practice_is_a_story_and_its_damaged_version_outside_the_study() -> None:
    made = drawn(20, n=30)
    practice = [entry for entry in made.lists[0] if entry.use == "practice"]
    whole, damaged = (made.texts[entry.text - 1] for entry in practice)
    assert (whole.damage, whole.story) == (None, damaged.story)
    assert practice[1].of == 0
    assert whole.story not in {story.id for story in made.stories}
    assert damaged.text != whole.text


def test_the_same_seed_makes_the_same_study_and_another_seed_another() -> None:
    assert drawn(8).lists == drawn(8).lists
    assert drawn(8).lists != drawn(8, seed=2).lists


def test_whole_prompts_are_drawn_and_what_cannot_be_drawn_is_said() -> None:
    made = drawn(20, n=31)
    assert len(made.stories) == 30
    with pytest.raises(SpecError, match="hold no story-prompt"):
        drawn(20, n=2)
    with pytest.raises(SpecError, match="needs a criterion"):
        draw(stories(4), "made", [], DesignOptions())
    assert "have no repeats" in " ".join(drawn(4, raters=6, per_story=2).notes)


def test_time_is_foretold_from_words_and_criteria() -> None:
    made = drawn(4, checks=0, practice=0)
    words = sum(len(story.text.split()) for story in made.stories)
    assert minutes(made)[0] == pytest.approx(words / 230 + 12 * (3 * 10 + 15) / 60)
