"""Checks an Eval-Prompt on invented stories, with and without optional values, and compares its front matter with what
the template uses. (Loading detects wrong syntax and unknown names.)"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from judge.base.errors import JudgeError
from judge.base.records import Asked, Comparison, Criterion, Message, Scale, Story, Subject
from judge.inputs.eval_prompts.template import LABELS, EvalPrompt, load_eval_prompt
from judge.inputs.prompt_file import split

_STORY = Story("check", "A prompt.", "system", "A story.", reference="A reference.")
_CRITERION = Criterion(
    "Clarity", "CL", "how clear the story is", Scale(), tuple(f"Guideline {i}." for i in range(1, 6))
)
_LABELLED = replace(_CRITERION, scale=Scale.of_labels(["No", "Yes"]), guidelines=("Guideline 1.", "Guideline 2."))


def problems(file: Path) -> list[str]:
    """Problems of an Eval-Prompt, as sentences that name the file."""
    try:
        eval_prompt = load_eval_prompt(file)
    except JudgeError as error:
        return [str(error)]
    return problems_of(eval_prompt)


def problems_of(eval_prompt: EvalPrompt) -> list[str]:
    """Problems of a loaded Eval-Prompt, as sentences that name its file."""
    return _promises(eval_prompt) + _trials(eval_prompt)


def _promises(eval_prompt: EvalPrompt) -> list[str]:
    # A template that uses guidelines (or a reference) contradicts a front matter without the key, not one that says
    # false.
    uses = eval_prompt.body.uses | (eval_prompt.system.uses if eval_prompt.system else frozenset())
    declared = split(eval_prompt.source, eval_prompt.file).front.model_fields_set
    problems = []
    for key, needed, value in (
        ("needs_guidelines", eval_prompt.needs_guidelines, "criterion.guidelines"),
        ("needs_reference", eval_prompt.needs_reference, "reference"),
    ):
        if needed and value not in uses:
            problems.append(f"{eval_prompt.file}: says {key}, and never uses {value}")
        if value in uses and key not in declared:
            problems.append(
                f"{eval_prompt.file}: uses {value}, and the front matter does not say {key} (true or false)"
            )
    for shown in ("first", "second") if eval_prompt.compares else ("story",):
        if shown not in uses:
            problems.append(f"{eval_prompt.file}: never shows the {shown}{' story' if eval_prompt.compares else ''}")
    if not any(name.startswith(("criterion", "criteria")) for name in uses):
        several = "the criterion" if eval_prompt.criteria is None else "criteria"
        problems.append(f"{eval_prompt.file}: never names {several}")
    return problems


def _trials(eval_prompt: EvalPrompt) -> list[str]:
    stories = [_STORY, replace(_STORY, story_prompt="")]
    if not eval_prompt.needs_reference:
        stories.append(replace(_STORY, reference=None))
    criteria = [_CRITERION]
    if LABELS in eval_prompt.body.uses:
        criteria.append(_LABELLED)
    if not eval_prompt.needs_guidelines:
        criteria.append(replace(_CRITERION, guidelines=()))
    problems: dict[str, None] = {}
    for subject, ties in _subjects(eval_prompt, stories):
        for asked in _asked(eval_prompt, criteria):
            try:
                messages = eval_prompt.render(subject, asked, ties=ties)
            except JudgeError as error:
                problems[str(error)] = None
                continue
            for sentence in _blanks(eval_prompt, messages):
                problems[sentence] = None
    return list(problems)


def _asked(eval_prompt: EvalPrompt, criteria: list[Criterion]) -> list[Asked]:
    # Two criteria if the Eval-Prompt rates several in one answer.
    if eval_prompt.criteria is None:
        return [*criteria]
    return [(criterion, replace(criterion, name="Surprise", abbreviation="SU")) for criterion in criteria]


def _subjects(eval_prompt: EvalPrompt, stories: list[Story]) -> Iterator[tuple[Subject, bool]]:
    # Pairs come in both orders, with a tie and without.
    for story in stories:
        if not eval_prompt.compares:
            yield story, True
            continue
        other = replace(story, id="other", text="Another story.")
        for first, second in ((story, other), (other, story)):
            for ties in (True, False):
                yield Comparison(first, second, "check"), ties


def _blanks(eval_prompt: EvalPrompt, messages: tuple[Message, ...]) -> Iterator[str]:
    for message in messages:
        if message.content != message.content.strip():
            # A blank after "Rating:" changes how the answer is cut into tokens.
            yield f"{eval_prompt.file}: the {message.role} message begins or ends with blank space"
