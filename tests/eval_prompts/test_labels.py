"""Eval-Prompts ask for labels where a criterion has them, and for numbers as they always did where it has none."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from judge.answers.parsing.asked_form import pattern_problems
from judge.base.errors import SpecError
from judge.base.records import Criterion, Scale, Story
from judge.inputs.criteria import load_criteria
from judge.inputs.eval_prompts import load_eval_prompt, shipped_eval_prompts
from judge.inputs.eval_prompts.check import problems
from judge.inputs.eval_prompts.template import prefix_order

PROMPTS = [load_eval_prompt(name) for name in shipped_eval_prompts()]
RATING = [prompt.name for prompt in PROMPTS if not prompt.compares and prompt.criteria is None]
STORY = Story("s", "A storm comes.", "model", "It rained.", reference="The roof went.")
LABELLED = Criterion("Ending", "EN", "is it earned?", Scale.of_labels(["No", "Yes"]), ("It stops.", "It ends."))


@pytest.mark.parametrize("name", RATING)
def test_a_labelled_criterion_is_asked_for_one_of_its_labels(name: str) -> None:
    prompt = load_eval_prompt(name, labels=True)
    (message,) = prompt.render(STORY, LABELLED)
    assert "one of these labels: No, Yes." in message.content
    assert "number" not in message.content
    assert message.content.endswith("Reasoning:" if name == "ep5" else "Answer:")
    assert problems(prompt.file) == []
    assert ("No: It stops.\nYes: It ends.\n" in message.content) == (name == "ep3")
    assert "criterion" in prefix_order(prompt, LABELLED)


@pytest.mark.parametrize("name", RATING)
def test_a_numeric_criterion_reads_the_same_beside_labelled_ones(name: str) -> None:
    before, twin = load_eval_prompt(name), load_eval_prompt(name, labels=True)
    criteria = [*load_criteria("hanna").criteria, *load_criteria("overall").criteria]
    criteria.append(replace(criteria[0], scale=Scale(0, 1, 0.5), guidelines=("a", "b", "c")))
    for criterion in criteria:
        for story in (STORY, replace(STORY, story_prompt="")):
            assert twin.render(story, criterion) == before.render(story, criterion)
    fronts = [(p.needs_guidelines, p.needs_reference, p.asks_explanation, p.published, p.name) for p in (before, twin)]
    assert fronts[0] == fronts[1]


def test_an_example_answer_may_hold_a_label(tmp_path: Path) -> None:
    own = tmp_path / "own.jinja"
    ask = "{% if criterion.scale.labels %}{{ points | join('/') }}{% endif %} {{ criterion.name }} {{ story }}"
    front = "---\nrating_pattern: 'Verdict = (\\w+)'\nexample_answer: '{}'\n---\n"
    for example, sound in (("Verdict = Yes", True), ("Verdict: Yes", False)):
        own.write_text(front.format(example) + ask, encoding="utf-8")
        assert (pattern_problems(own) == []) is sound


def test_one_that_asks_for_numbers_alone_is_refused_for_labels(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="Eval-Prompt 'ep1' asks for a number, but criterion 'Ending' has labels"):
        load_eval_prompt("ep1").check_criterion(LABELLED)
    own = tmp_path / "own.jinja"
    own.write_text("{{ story }} Is its {{ criterion.name }} good, {{ points | join(' or ') }}?", encoding="utf-8")
    (message,) = load_eval_prompt(own, labels=True).render(STORY, LABELLED)
    assert message.content == "It rained. Is its Ending good, No or Yes?"
