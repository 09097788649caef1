"""Eval-Prompts that compare: what they show, in both orders, and what is wrong with one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from judge.base.errors import SpecError, TemplateError
from judge.base.records import Comparison, Criterion, Scale, Story
from judge.inputs.criteria import load_criteria
from judge.inputs.eval_prompts import load_eval_prompt, prefix_order, shipped_eval_prompts
from judge.inputs.eval_prompts.check import problems

FIRST = Story("a", "A storm comes.", "m", "It rained.", reference="The roof went.")
SECOND = replace(FIRST, id="b", text="It snowed.")
CRITERION = Criterion("Ending", "EN", "whether it is earned", Scale(), tuple(f"Point {i}." for i in range(1, 6)))
PAIRS = [name for name in shipped_eval_prompts() if load_eval_prompt(name).compares]


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("labels", [False, True])
def test_shipped_ones_show_both_stories_and_their_words(name: str, labels: bool) -> None:
    prompt = load_eval_prompt(name, labels=labels)
    assert problems(prompt.file) == []
    (shown,) = prompt.render(Comparison(FIRST, SECOND, "x"), CRITERION)
    (turned,) = prompt.render(Comparison(SECOND, FIRST, "x"), CRITERION)
    swapped = shown.content.replace("It rained.", "\0").replace("It snowed.", "It rained.").replace("\0", "It snowed.")
    assert turned.content == swapped != shown.content
    assert shown.content.index("Story A: It rained.") < shown.content.index("Story B: It snowed.")
    assert "Tie" in shown.content
    (untied,) = prompt.render(Comparison(FIRST, SECOND, "x"), CRITERION, ties=False)
    assert "Tie" not in untied.content
    assert shown.content.endswith("Reasoning:" if name == "pair5" else "Verdict:")
    assert ("Point 1." in shown.content) == (name == "pair3")
    assert ("The roof went." in shown.content) == (name == "pair4")
    (bare,) = prompt.render(
        Comparison(replace(FIRST, story_prompt=""), replace(SECOND, story_prompt=""), "x"), CRITERION
    )
    assert "Story prompt" not in bare.content


def test_stories_for_different_story_prompts_are_shown_without_one() -> None:
    shown = Comparison(FIRST, replace(SECOND, story_prompt="A door."), "x")
    assert shown.story_prompt == ""
    (message,) = load_eval_prompt("pair1").render(shown, CRITERION)
    assert "storm" not in message.content
    assert "door" not in message.content


def test_what_they_show_first_is_found_by_rendering() -> None:
    assert prefix_order(load_eval_prompt("pair1"), CRITERION) == ("story_prompt", "first", "second", "criterion")
    assert prefix_order(load_eval_prompt("pair4"), CRITERION)[:2] == ("story_prompt", "reference")


def test_one_kind_is_not_taken_for_the_other() -> None:
    with pytest.raises(SpecError, match="'ep1' rates one story"):
        load_eval_prompt("ep1").render(Comparison(FIRST, SECOND, "x"), CRITERION)
    with pytest.raises(SpecError, match="'pair1' compares two stories"):
        load_eval_prompt("pair1").render(FIRST, CRITERION)


def test_labels_without_an_order_cannot_be_compared_by() -> None:
    scale = Scale.of_labels(["red", "green", "blue"], ordered=False)
    with pytest.raises(SpecError, match="have no order"):
        load_eval_prompt("pair1").check_criterion(replace(CRITERION, scale=scale))
    for criterion in load_criteria("ttcw").criteria:
        load_eval_prompt("pair1", labels=True).check_criterion(criterion)


@pytest.mark.parametrize(
    ("head", "body", "words"),
    [
        ("compares: true", "{{ story }}", "variable 'story' is not offered"),
        ("compares: false", "{{ first }}", "variable 'first' is not offered"),
        ("compares: true", "{{ first }} {{ labels.thrid }}", "'labels.thrid' is not offered; did you mean"),
        ("compares: true\nrating_pattern: x", "{{ first }}", "compares goes with none of"),
    ],
)
def test_what_is_not_offered_is_named(tmp_path: Path, head: str, body: str, words: str) -> None:
    file = tmp_path / "own.jinja"
    file.write_text(f"---\n{head}\n---\n{body}\n", encoding="utf-8")
    with pytest.raises(TemplateError) as error:
        load_eval_prompt(file)
    assert words in str(error.value)


def test_one_that_hides_a_story_is_found(tmp_path: Path) -> None:
    file = tmp_path / "own.jinja"
    file.write_text("---\ncompares: true\n---\n{{ criterion.name }} {{ first }}\n", encoding="utf-8")
    assert problems(file) == [f"{file}: never shows the second story"]
    file.write_text(
        "---\ncompares: true\n---\n{{ criterion.name }} {{ first }} {{ second }} {% if ties %} {% endif %}\n"
    )
    assert problems(file) == [f"{file}: the user message begins or ends with blank space"]


def test_a_story_that_is_the_reference_is_flagged() -> None:
    human = replace(SECOND, system="Human", text="The roof went.")
    prompt = load_eval_prompt("pair4")
    assert prompt.flags(Comparison(FIRST, human, "x")) == ("reference_is_target",)
    assert prompt.flags(Comparison(FIRST, SECOND, "x")) == ()
    assert load_eval_prompt("pair1").flags(Comparison(FIRST, human, "x")) == ()
