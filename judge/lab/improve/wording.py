"""Texts of candidates as Jinja: strangers' words escaped, and a writer's answers read by a strict grammar.

What a writer answers is data. It is taken only where it has the asked form, no Jinja, the same scale and places, and a
bounded length; anything else is a typed loss, and is never asked with.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import yaml

from judge.base.errors import JudgeError
from judge.base.records import Criterion, Story
from judge.inputs.eval_prompts import check
from judge.inputs.eval_prompts.template import EvalPrompt, parse_eval_prompt
from judge.inputs.prompt_file import FENCE, split

Loss = Literal[
    "no answer", "empty", "refused", "jinja", "scale", "places", "form", "too long", "broken", "same", "no material"
]
# Characters that a candidate may add to a prompt, and that a writer's answer may have.
MOST_ADDED, MOST_WRITTEN = 24_000, 8_000
_JINJA = re.compile(r"\{\{|\{%|\{#|\}\}|%\}|#\}")
_TAG = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", re.S)
_PLACE = re.compile(r"<<\d+>>")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
# Variables that a candidate may use, whatever the original does.
_OURS = {"criterion", "criterion.name", "criterion.scale", "criterion.scale.min", "criterion.scale.max"}
# What could pass for the fence of an example.
_FENCES = re.compile(r"<\s*/?\s*(?:example|story)\b[^>\n]*>", re.I)


class LostError(Exception):
    """A candidate that cannot be asked with: `kind` is its type, and the message says what was found."""

    def __init__(self, kind: Loss, why: str) -> None:
        super().__init__(why)
        self.kind, self.why = kind, why


def escaped(text: str) -> str:
    """Text that Jinja shows as it is: each brace is the value of an expression."""
    return text.replace("{", '{{ "{" }}')


def unmarked(text: str) -> str:
    """A stranger's text without what could pass for the mark that ends it."""
    return _FENCES.sub(" ", text).strip()


def fenced(story: Story, number: int) -> str:
    """A stranger's story as an example: between marks of its own, which cannot be part of it, and escaped."""
    plain, prompt = unmarked(story.text), unmarked(story.story_prompt)
    above = f"Story prompt: {prompt}\n\n" if prompt else ""
    return f"<example {number}>\n{escaped(f'{above}Story: {plain}')}\n"


def plain_text(text: str, most: int = MOST_WRITTEN) -> str:
    """A writer's answer as plain text. Raises LostError where it is empty, has Jinja of its own, or is too long."""
    text = text.strip()
    if not text:
        raise LostError("empty", "an answer without a word")
    if found := _JINJA.search(text):
        raise LostError("jinja", f"the answer holds {found[0]!r}, which is Jinja")
    if len(text) > most:
        raise LostError("too long", f"{len(text):,} characters; at most {most:,}")
    return text


def points_in(text: str, criterion: Criterion) -> list[str]:
    """The sentences of lines "POINT: sentence", one for each point of the scale, lowest first.

    Raises LostError where a point is missing, twice, or of another scale, and as `plain_text`.
    """
    lines = [line.strip(" *-\t") for line in plain_text(text).splitlines() if line.strip()]
    wanted = [f"{point:g}" for point in criterion.scale.points()]
    found: dict[str, str] = {}
    for line in lines:
        match = re.match(r"(-?\d+(?:\.\d+)?)\s*(?:points?)?\s*[:.)\-–]\s*(\S.*)$", line)
        if match is None:
            continue
        if match[1] not in wanted:
            raise LostError("scale", f"a line for {match[1]}, and the scale of {criterion.name} is {', '.join(wanted)}")
        if match[1] in found:
            raise LostError("form", f"two lines for {match[1]}")
        found[match[1]] = " ".join(match[2].split())
    if not found:
        raise LostError("form", 'no line of the form "POINT: sentence"')
    if len(found) < len(wanted):
        lacking = ", ".join(point for point in wanted if point not in found)
        raise LostError("scale", f"no line for {lacking} of {criterion.name}")
    return [found[point] for point in wanted]


def questions_in(text: str, fewest: int, most: int) -> list[str]:
    """The questions of a numbered list, between `fewest` and `most`. Raises LostError as `plain_text`, and for
    others."""
    asked = re.findall(r"(?m)^\s*\d+[.)]\s*(\S.*\?)\s*$", plain_text(text))
    if not fewest <= len(asked) <= most:
        raise LostError("form", f"{len(asked)} numbered questions, and {fewest} to {most} were asked for")
    return [" ".join(question.split()) for question in asked]


# A template's text for a writer: each tag is a numbered place.


def with_places(body: str) -> tuple[str, list[str]]:
    """The body with each Jinja tag as a place <<1>>, <<2>>, and the tags."""
    tags = _TAG.findall(body)
    numbers = iter(range(1, len(tags) + 1))
    return _TAG.sub(lambda _: f"<<{next(numbers)}>>", body), tags


def from_places(text: str, original: str, tags: Sequence[str]) -> str:
    """A reworded body with its tags again. Raises LostError where places are lost, doubled or reordered, and where the
    text names numbers that the original does not."""
    text = plain_text(text, most=len(original) * 3 + 500)
    if _PLACE.findall(text) != _PLACE.findall(original):
        raise LostError("places", "the places <<1>>, <<2>> ... are not those of the original, in their order")
    new = Counter(_NUMBER.findall(_PLACE.sub(" ", text))) - Counter(_NUMBER.findall(_PLACE.sub(" ", original)))
    if new:
        raise LostError("scale", f"it names {next(iter(new))}, which the original does not")
    if " ".join(text.split()) == " ".join(original.split()):
        raise LostError("same", "the original again")
    return _PLACE.sub(lambda place: tags[int(place[0][2:-2]) - 1], text)


# Files of candidates.


def body_of(base: EvalPrompt) -> str:
    """The template's text without its front matter."""
    return split(base.source, base.file).body.strip("\n")


def front_of(base: EvalPrompt) -> dict[str, Any]:
    """The front matter's keys as they were said, without those that name the original's wording or examples."""
    front = split(base.source, base.file).front
    said = front.model_dump(mode="json", include=front.model_fields_set)
    return {key: value for key, value in said.items() if key not in ("description", "published", "examples", "origin")}


def file_text(front: dict[str, Any], body: str) -> str:
    """An Eval-Prompt's file."""
    head = yaml.safe_dump(front, sort_keys=False, allow_unicode=True, width=10_000)
    return f"{FENCE}\n{head}{FENCE}\n{body.strip()}\n"


def checked(source: str, name: str, base: EvalPrompt, criteria: Sequence[Criterion], longest: Story) -> EvalPrompt:
    """The Eval-Prompt of a candidate's text. Raises LostError for one that cannot be asked with.

    It may use no variable that the original does not, but for the criterion's name and scale; it has to show the story
    and ask for the criteria's scale, and may add at most 24,000 characters to the request about the `longest` story.
    """
    try:
        made = parse_eval_prompt(source, Path(f"{name}.jinja"))
    except JudgeError as error:
        raise LostError("broken", str(error)) from error
    other = made.body.uses - base.body.uses - _OURS
    if other:
        raise LostError("jinja", f"it uses {', '.join(sorted(other))}, which the original does not")
    if not made.body.plain:
        raise LostError("jinja", "its Jinja is more than values and conditions")
    before = {problem.partition(": ")[2] for problem in check.problems_of(base)}
    wrong = [problem for problem in check.problems_of(made) if problem.partition(": ")[2] not in before]
    if wrong:
        raise LostError("broken", wrong[0])
    for criterion in criteria:
        _compare(made, base, criterion, longest)
    return made


def _compare(made: EvalPrompt, base: EvalPrompt, criterion: Criterion, longest: Story) -> None:
    try:
        new, old = (
            "\n".join(message.content for message in prompt.render(longest, criterion)) for prompt in (made, base)
        )
    except JudgeError as error:
        raise LostError("broken", str(error)) from error
    if longest.text.strip() not in new:
        raise LostError("places", "it does not show the story whole")
    for end in (criterion.scale.min, criterion.scale.max):
        if not re.search(rf"(?<!\d){end:g}(?!\d)", new.replace(longest.text.strip(), "")):
            raise LostError("scale", f"it does not name {end:g}, an end of the scale of {criterion.name}")
    if len(new) - len(old) > MOST_ADDED:
        raise LostError("too long", f"it adds {len(new) - len(old):,} characters to a request; at most {MOST_ADDED:,}")
