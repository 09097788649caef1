"""Rendering: what is sent, character by character, and every sentence for what cannot be."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from judge.base.errors import SpecError
from judge.base.records import Criterion, Message, Scale, Story
from judge.inputs.criteria import load_criteria
from judge.inputs.eval_prompts import EvalPrompt, load_eval_prompt, shipped_eval_prompts

STORY = Story("s1", "A door.", "GPT-2", "It opened.", reference="It stayed shut.")
CRITERION = Criterion("Pace", "PA", "how fast it is", Scale(0, 1, 0.5), ("slow", "even", "fast"))


def own(folder: Path, text: str, **options: Any) -> EvalPrompt:
    file = folder / "mine.jinja"
    file.write_text(text, encoding="utf-8")
    return load_eval_prompt(file, **options)


def rendered(folder: Path, text: str, story: Story = STORY) -> str:
    (message,) = own(folder, text).render(story, CRITERION)
    return message.content


def test_ep1_is_sent_like_this() -> None:
    coherence = load_criteria("hanna").pick("CH")[0]
    assert load_eval_prompt("ep1").render(STORY, coherence) == (
        Message(
            "user",
            "Story prompt: A door.\n\nStory: It opened.\n\n"
            "Judge this story's Coherence (how much the story makes sense) by a number from 1 to 5.\n\nRating:",
        ),
    )


def test_ep3_shows_the_guidelines_after_the_story_numbered_by_the_points_of_the_scale() -> None:
    (message,) = load_eval_prompt("ep3").render(STORY, CRITERION)
    assert "Story: It opened.\n\nWhat each number means:\n0: slow\n0.5: even\n1: fast\n\nJudge" in message.content
    assert "by a number from 0 to 1 in steps of 0.5," in message.content


def test_ep4_shows_the_reference_story_before_the_story_to_judge() -> None:
    (message,) = load_eval_prompt("ep4").render(STORY, CRITERION)
    assert "for comparison: It stayed shut.\n\nStory to judge: It opened.\n\n" in message.content


@pytest.mark.parametrize("name", ["ep1", "ep2", "ep3", "ep4"])
def test_the_rating_is_asked_for_last_with_nothing_after_the_colon(name: str) -> None:
    (message,) = load_eval_prompt(name).render(STORY, CRITERION)
    assert message.content.endswith("\n\nRating:")


def test_ep5_asks_for_reasons_first() -> None:
    ep5 = load_eval_prompt("ep5")
    assert ep5.render(STORY, CRITERION)[0].content.endswith(
        'write "Rating:" and a number from 0 to 1 in steps of 0.5.\n\nReasoning:'
    )
    assert ep5.asks_explanation


def test_what_the_shipped_ones_need_and_ask_for() -> None:
    loaded = {name: load_eval_prompt(name) for name in shipped_eval_prompts()}
    pairs = ["pair1", "pair2", "pair3", "pair4", "pair5"]
    joint = ["joint1", "joint2", "joint3", "joint4"]
    assert list(loaded) == ["ep1", "ep2", "ep3", "ep4", "ep5", *pairs, *joint]
    assert [n for n, p in loaded.items() if p.criteria == "all"] == joint
    assert [n for n, p in loaded.items() if p.compares] == pairs
    assert [n for n, p in loaded.items() if p.needs_guidelines] == ["ep3", "pair3", "joint3"]
    assert [n for n, p in loaded.items() if p.needs_reference] == ["ep4", "pair4", "joint4"]
    assert [n for n, p in loaded.items() if not p.asks_explanation] == ["ep1", "pair1", "joint1"]
    assert [p.published for p in loaded.values()] == ["EP1", "EP2", "EP3", "EP4", *[None] * 10]
    assert all(p.source == p.file.read_text(encoding="utf-8") for p in loaded.values())


@pytest.mark.parametrize("name", ["ep1", "ep2", "ep3", "ep4", "ep5"])
def test_a_story_without_a_story_prompt_is_sent_without_an_empty_heading(name: str) -> None:
    (message,) = load_eval_prompt(name).render(replace(STORY, story_prompt=""), CRITERION)
    assert message.content.startswith("Stor")
    assert "Story prompt:" not in message.content


def test_values_are_data_and_never_templates() -> None:
    text = "{{ 7*7 }} {% raw %} {# no #} <b>&amp;</b> {0} %s \\n"
    story = replace(STORY, story_prompt="{{ criterion }}", text=text, reference="{% include 'x' %}")
    (message,) = load_eval_prompt("ep4").render(story, CRITERION)
    assert f"Story to judge: {text}\n" in message.content
    assert "{{ criterion }}" in message.content
    assert "{% include 'x' %}" in message.content


def test_one_newline_at_the_end_of_the_file_is_not_sent_and_everything_else_is(tmp_path: Path) -> None:
    assert rendered(tmp_path, "{{ story }}\n") == "It opened."
    assert rendered(tmp_path, "\n {{ story }} \n\n") == "\n It opened. \n"
    assert rendered(tmp_path, "---\nexplains: true\n---\n\n{{ story }}") == "\nIt opened."


def test_a_story_keeps_its_own_blanks_and_newlines(tmp_path: Path) -> None:
    text = "\n  It opened.\r\n\n"
    assert rendered(tmp_path, "{{ story }}\n", replace(STORY, text=text)) == text


def test_all_values_that_are_offered(tmp_path: Path) -> None:
    template = (
        "{{ story_prompt }}|{{ story }}|{{ reference }}|{{ criterion.name }}|{{ criterion.abbreviation }}|"
        "{{ criterion.definition }}|{{ criterion.guidelines | join('/') }}|{{ criterion.scale.min }}|"
        "{{ criterion.scale.max }}|{{ criterion.scale.step }}|{{ points | join(' ') }}"
    )
    expected = "A door.|It opened.|It stayed shut.|Pace|PA|how fast it is|slow/even/fast|0|1|0.5|0 0.5 1"
    assert rendered(tmp_path, template) == expected


def test_points_read_as_people_write_them(tmp_path: Path) -> None:
    tenths = replace(CRITERION, scale=Scale(0.0, 0.3, 0.1), guidelines=())
    (message,) = own(tmp_path, "{{ points | join(' ') }} {{ criterion.scale.min }}").render(STORY, tenths)
    assert message.content == "0 0.1 0.2 0.3 0"


def test_the_same_eval_prompt_renders_each_criterion_in_its_own_words(tmp_path: Path) -> None:
    prompt = own(tmp_path, "{{ criterion.name }} {{ criterion.definition }}")
    other = replace(CRITERION, definition="how quick it is")
    texts = [prompt.render(STORY, c)[0].content for c in (CRITERION, other, CRITERION)]
    assert texts == ["Pace how fast it is", "Pace how quick it is", "Pace how fast it is"]


def test_a_system_message_comes_first_and_may_be_a_template(tmp_path: Path) -> None:
    prompt = own(tmp_path, "---\nsystem: You judge {{ criterion.name }}.\n---\n{{ story }}\n")
    expected = (Message("system", "You judge Pace."), Message("user", "It opened."))
    assert prompt.render(STORY, CRITERION) == expected


def test_a_given_system_message_takes_the_templates_place_and_an_empty_one_sends_none(tmp_path: Path) -> None:
    text = "---\nsystem: theirs\n---\n{{ story }}\n"
    assert own(tmp_path, text, system="mine {{ points[0] }}").render(STORY, CRITERION)[0] == Message("system", "mine 0")
    assert [m.role for m in own(tmp_path, text, system="").render(STORY, CRITERION)] == ["user"]


def test_templates_of_a_folder_are_found_by_name_and_by_path(tmp_path: Path) -> None:
    own(tmp_path, "{{ story }}")
    assert load_eval_prompt("mine", folder=tmp_path).name == "mine"
    assert load_eval_prompt("mine.jinja", folder=tmp_path) == load_eval_prompt(tmp_path / "mine.jinja")
    assert load_eval_prompt("ep1", folder=tmp_path) == load_eval_prompt("ep1")


def test_a_name_that_is_both_ones_own_and_shipped_is_refused(tmp_path: Path) -> None:
    (tmp_path / "ep1.jinja").write_text("{{ story }}", encoding="utf-8")
    with pytest.raises(SpecError, match=r"Eval-Prompt 'ep1' is both .*ep1\.jinja and one that ships") as caught:
        load_eval_prompt("ep1", folder=tmp_path)
    assert caught.value.hint == "write ./ep1.jinja"
    assert load_eval_prompt("./ep1.jinja", folder=tmp_path).body.uses == {"story"}


def test_an_unknown_eval_prompt_names_the_nearest() -> None:
    with pytest.raises(SpecError, match=r"Eval-Prompt 'ep33' is not known; did you mean 'ep3'\?"):
        load_eval_prompt("ep33")


def test_a_missing_file_and_a_file_that_is_not_text_are_said(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"Eval-Prompt x\.jinja: there is no such file"):
        load_eval_prompt("x.jinja")
    (tmp_path / "x.jinja").write_bytes(b"\xff")
    with pytest.raises(SpecError, match=r"x\.jinja: byte 0 is not UTF-8"):
        load_eval_prompt(tmp_path / "x.jinja")


def test_guidelines_that_are_needed_and_missing_are_said_before_anything_is_sent() -> None:
    bare = replace(CRITERION, guidelines=())
    sentence = "Eval-Prompt 'ep3' needs guidelines, but criterion 'Pace' has none"
    with pytest.raises(SpecError, match=sentence):
        load_eval_prompt("ep3").check_criterion(bare)
    with pytest.raises(SpecError, match=sentence):
        load_eval_prompt("ep3").render(STORY, bare)


def test_a_missing_reference_story_names_the_story() -> None:
    ep4, story = load_eval_prompt("ep4"), replace(STORY, reference=None)
    assert ep4.lacks_reference(story)
    assert not load_eval_prompt("ep1").lacks_reference(story)
    with pytest.raises(SpecError, match="story 's1' has no reference story, but Eval-Prompt 'ep4' needs one"):
        ep4.render(story, CRITERION)


@pytest.mark.parametrize(
    ("story", "flags"),
    [
        (STORY, ()),
        (replace(STORY, reference=" It opened.\n"), ("reference_is_target",)),
        (replace(STORY, system="Human"), ("reference_is_target",)),
        (replace(STORY, system="Human", reference=None), ("reference_is_target",)),
    ],
)
def test_a_story_that_is_its_own_reference_is_asked_and_flagged(story: Story, flags: tuple[str, ...]) -> None:
    ep4 = load_eval_prompt("ep4")
    assert ep4.flags(story) == flags
    assert "Story to judge: It opened." in ep4.render(story, CRITERION)[0].content
    assert load_eval_prompt("ep1").flags(story) == ()


def test_a_template_may_ask_whether_there_is_a_reference_story(tmp_path: Path) -> None:
    text = "{% if reference is defined %}{{ reference }}{% else %}none{% endif %}"
    assert rendered(tmp_path, text) == "It stayed shut."
    assert rendered(tmp_path, text, replace(STORY, reference=None)) == "none"
