"""Wording mode, golden: the 24 queries of one story are the strings that the authors sent.

Expected texts are put together here from the released strings alone: the outer templates are spelled out below, and
only the requests in the middle come from the file.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from judge.base.errors import SpecError
from judge.base.records import Message, Story
from judge.inputs.criteria import CriteriaSet, load_criteria
from judge.inputs.eval_prompts import load_eval_prompt

OUTER: dict[str, Callable[[Story, str], str]] = {
    "ep1": lambda s, task: f"Prompt: {s.story_prompt}\n\nStory: {s.text}\n\n{task}\n\nRating:",
    "ep2": lambda s, task: f"Prompt: {s.story_prompt}\n\nStory: {s.text}\n\n{task}\n\nRating:",
    "ep3": lambda s, task: f"Prompt: {s.story_prompt}\n\nStory: {s.text}\n\n{task}\n\nRating:",
    "ep4": lambda s, task: (
        f"Prompt: {s.story_prompt}\n\nHuman story: {s.reference}\n\nTarget story: {s.text}\n\n{task}\n\nRating:"
    ),
}
CRITERIA = ["Relevance", "Coherence", "Empathy", "Surprise", "Engagement", "Complexity"]


@pytest.fixture(scope="module")
def story(studies: Path) -> Story:
    """A real story of the study by a language model, with the human story for the same story-prompt."""
    with (studies / "hanna" / "hanna_llm_stories.csv").open(encoding="utf-8", newline="") as stream:
        row = next(csv.DictReader(stream))
    assert row["Model"] != "Human"
    return Story("0", row["Prompt"], row["Model"], row["Story"], reference=row["Human"])


@pytest.fixture(scope="module")
def hanna(studies: Path) -> CriteriaSet:
    return load_criteria("hanna", wording=studies / "hanna" / "eval_prompts.json")


@pytest.mark.parametrize("name", list(OUTER))
@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_query_is_what_the_authors_sent(
    studies: Path, story: Story, hanna: CriteriaSet, criterion: str, name: str
) -> None:
    strings = json.loads((studies / "hanna" / "eval_prompts.json").read_text(encoding="utf-8"))
    task = strings["tasks_EP1_to_EP4"][criterion][list(OUTER).index(name)]
    (asked,) = hanna.pick(criterion)
    messages = load_eval_prompt(name).render(story, asked, published=hanna.published)
    assert messages == (Message("user", OUTER[name](story, task)),)


def test_the_authors_irregularities_are_kept(story: Story, hanna: CriteriaSet) -> None:
    def text(name: str, criterion: str) -> str:
        return load_eval_prompt(name).render(story, hanna.pick(criterion)[0], published=hanna.published)[0].content

    assert "\n\nRate this story on a scale from 1 to 5 on Relevance (" in text("ep3", "RE")
    assert " on its Relevance (" in text("ep4", "RE")
    assert " from 1 to 5 Coherence (how much" in text("ep3", "CH")
    assert "\n1 — The story does not make sense at all." in text("ep3", "CH")


def test_ones_own_eval_prompt_takes_the_published_definition(story: Story, hanna: CriteriaSet) -> None:
    (empathy,) = hanna.pick("EM")
    (message,) = load_eval_prompt("ep5").render(story, empathy, published=hanna.published)
    assert "Empathy (how well you understood the characters’ emotions)" in message.content


def test_a_story_with_braces_is_sent_as_it_is(hanna: CriteriaSet) -> None:
    story = Story("b", "{story}", "GPT", "{task} {human} {0} {{", reference="{prompt}")
    text = load_eval_prompt("ep4").render(story, hanna.pick("CH")[0], published=hanna.published)[0].content
    assert text.startswith("Prompt: {story}\n\nHuman story: {prompt}\n\nTarget story: {task} {human} {0} {{\n\nRate")


def test_a_human_story_is_compared_with_itself_as_published_and_flagged(story: Story, hanna: CriteriaSet) -> None:
    ep4, human = load_eval_prompt("ep4"), Story("h", "A door.", "Human", "It opened.")
    assert ep4.flags(human, published=hanna.published) == ("reference_is_target",)
    text = ep4.render(human, hanna.pick("CH")[0], published=hanna.published)[0].content
    assert "Human story: It opened.\n\nTarget story: It opened.\n\n" in text
    assert ep4.flags(story, published=hanna.published) == ()


def test_an_eval_prompt_or_request_that_was_not_published_is_said(tmp_path: Path, hanna: CriteriaSet) -> None:
    file = tmp_path / "mine.jinja"
    file.write_text("---\npublished: EP9\n---\n{{ story }}", encoding="utf-8")
    (coherence,) = hanna.pick("CH")
    with pytest.raises(SpecError, match="published Eval-Prompt 'EP9' is not known"):
        load_eval_prompt(file).check_criterion(coherence, published=hanna.published)
    (overall,) = load_criteria("overall").criteria
    with pytest.raises(SpecError, match="there is no EP1 for the criterion 'Overall'"):
        load_eval_prompt("ep1").render(Story("s", "", "GPT", "x"), overall, published=hanna.published)


def test_a_missing_reference_story_is_said_here_too(hanna: CriteriaSet) -> None:
    with pytest.raises(SpecError, match="story 's' has no reference story"):
        load_eval_prompt("ep4").render(Story("s", "", "GPT", "x"), hanna.pick("CH")[0], published=hanna.published)
