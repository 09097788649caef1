"""Which stories write, choose and test, and how often a test part was used."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge.base.errors import DataError, SpecError
from judge.base.records import Story
from judge.inputs import story_prompts
from judge.lab.improve import uses
from judge.lab.improve.split import Split, split

WORDS = ("sea", "lamp", "stair", "wind", "crow", "field", "moon", "king", "door", "river", "snow", "bell")


def told(number: int) -> str:
    return (
        f"A {WORDS[number % 12]} and a {WORDS[number // 12 % 12]} meet in town {number}, {number * 7} miles from home"
    )


def stories(prompts: int, systems: int = 3) -> list[Story]:
    return [Story(f"{p}-{s}", told(p), f"m{s}", "text") for p in range(prompts) for s in range(systems)]


def test_parts_are_a_fifth_three_tenths_and_half() -> None:
    made = split(stories(100))
    assert (len(made.train), len(made.chooses[0]), len(made.tests[0])) == (20, 30, 50)
    assert made.design == "split"
    swapped = split(stories(40))
    assert (len(swapped.train), len(swapped.chooses[0]), len(swapped.chooses[1])) == (8, 16, 16)
    assert swapped.tests == swapped.chooses[::-1]
    assert swapped.story_prompts == 32
    assert Split.of(made.record()) == made


def test_the_split_depends_on_texts_and_seed_alone() -> None:
    made = stories(40)
    assert split(made) == split(made[::-1])
    assert split(made) != split(made, seed=2)


def test_near_duplicates_lie_in_one_part() -> None:
    made = stories(30)
    again = [Story(f"again-{s.id}", f"[WP] {s.story_prompt.upper()}!", s.system, s.text) for s in made[:30]]
    near = [Story(f"near-{s.id}", s.story_prompt.replace("miles", "miles,  very"), s.system, s.text) for s in made[:30]]
    found = split([*made, *again, *near])
    groups = [group for part in (found.train, *found.chooses) for group in part]
    assert len(groups) == 30
    place = {story: group for group in groups for story in group}
    assert all(place[s.id] == place[f"again-{s.id}"] == place[f"near-{s.id}"] for s in made[:30])


def test_different_story_prompts_stay_apart() -> None:
    texts = ["The king is dead.", "The queen is dead.", "A lamp goes out at sea.", "", "..."]
    assert len(set(story_prompts.groups_of(texts).values())) == 5
    assert story_prompts.key_of("[WP] The King, is dead") == story_prompts.key_of("the king is dead.")
    assert story_prompts.key_of("...") == ""


def test_under_twenty_is_refused_with_the_number_needed() -> None:
    with pytest.raises(SpecError, match="19 story-prompts show no gain; 20 is the fewest") as refused:
        split(stories(19))
    assert "1 more story-prompts" in str(refused.value.hint)


def test_uses_are_counted_by_story_prompts_over_runs_and_copies(tmp_path: Path) -> None:
    files = (tmp_path / "run" / uses.FILE, tmp_path / "home" / uses.FILE)
    keys = split(stories(40)).test_keys
    assert uses.number_of_use("a", keys, files) == 1
    uses.note("a", keys, files)
    uses.note("a", keys, files)
    assert len(uses.uses(files)) == 1
    assert uses.number_of_use("a", keys, files) == 1  # the same improvement, looked at again
    assert uses.number_of_use("b", keys[:1], files) == 2  # another seed shares some
    assert uses.number_of_use("b", ["other"], files) == 1
    (tmp_path / "run" / uses.FILE).unlink()  # another run on the same stories
    assert uses.number_of_use("b", keys, files) == 2
    (tmp_path / "home" / uses.FILE).write_text("{}\n")
    with pytest.raises(DataError, match="no use of a test part"):
        uses.uses(files)
