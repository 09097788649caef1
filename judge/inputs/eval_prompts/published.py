"""Renders a study's Eval-Prompts exactly as they were sent (wording mode), without any words of this program."""

from __future__ import annotations

from judge.base.errors import SpecError, unknown
from judge.base.records import Criterion, Story
from judge.inputs.criteria import Published


def check_published(published: Published, eval_prompt: str, criterion: Criterion) -> None:
    """Raise SpecError if the file of published strings lacks this Eval-Prompt (such as "EP1") or its request for the
    criterion.
    """
    if eval_prompt not in published.outer:
        raise SpecError(f"{published.file}: {unknown('published Eval-Prompt', eval_prompt, published.outer)}")
    if (criterion.name, eval_prompt) not in published.tasks:
        raise SpecError(f"{published.file}: there is no {eval_prompt} for the criterion {criterion.name!r}")


def published_text(
    published: Published, eval_prompt: str, criterion: Criterion, story: Story, reference: str | None
) -> str:
    """A study's published prompt about one story and criterion, exactly as it was sent. `eval_prompt` is the published
    Eval-Prompt, such as "EP1". `reference` may be None only if it shows no reference story.
    """
    task = published.tasks[criterion.name, eval_prompt]
    return published.outer[eval_prompt].format(prompt=story.story_prompt, story=story.text, human=reference, task=task)


def shows_reference(published: Published, eval_prompt: str) -> bool:
    """Whether the published Eval-Prompt `eval_prompt`, such as "EP1", shows the reference story."""
    return "{human}" in published.outer.get(eval_prompt, "")
