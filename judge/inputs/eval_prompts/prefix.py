"""Determines the order in which values appear in a rendered Eval-Prompt, so that consecutive queries can share a
prefix.

The order is determined by rendering: one value is changed at a time, and the position of the first difference is
recorded. Filters, conditions and system messages are thus taken into account.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from judge.base.records import Asked, Comparison, Criterion, Scale, Story, Subject
from judge.inputs.criteria import Published
from judge.inputs.eval_prompts.template import EvalPrompt

Kind = Literal["story_prompt", "reference", "story", "first", "second", "criterion"]

_BEFORE = Story("before", "Quite a prompt.", "system", "Quite a story.", reference="Quite a reference.")
_CHANGED: dict[Kind, Story] = {
    "story_prompt": replace(_BEFORE, story_prompt="Another prompt."),
    "reference": replace(_BEFORE, reference="Another reference."),
    "story": replace(_BEFORE, text="Another story."),
}
_OTHER = replace(_BEFORE, id="other", text="Some story.")
_PAIRS: dict[Kind, Comparison] = {
    "story_prompt": Comparison(_CHANGED["story_prompt"], replace(_OTHER, story_prompt="Another prompt."), "pair"),
    "reference": Comparison(_CHANGED["reference"], replace(_OTHER, reference="Another reference."), "pair"),
    "first": Comparison(_CHANGED["story"], _OTHER, "pair"),
    "second": Comparison(_BEFORE, replace(_OTHER, text="Another story."), "pair"),
}


def prefix_order(eval_prompt: EvalPrompt, asked: Asked, *, published: Published | None = None) -> tuple[Kind, ...]:
    """Kinds of values on which an Eval-Prompt's messages depend, in the order in which they first appear in the
    messages.

    "criterion" means any text that depends on the criterion, or on the criteria of one answer. With `published`, a
    study's strings, the whole request as the study sent it is such a text. Kinds that do not change the messages are
    left out. Raises the same errors as `EvalPrompt.render`.
    """
    before: Subject = Comparison(_BEFORE, _OTHER, "pair") if eval_prompt.compares else _BEFORE
    base = _text(eval_prompt, before, asked, published)
    other: Asked = _other(asked) if isinstance(asked, Criterion) else tuple(map(_other, asked))
    reworded = published
    if published is not None and eval_prompt.published is not None and isinstance(asked, Criterion):
        task = _unlike(published.tasks[asked.name, eval_prompt.published])
        reworded = replace(published, tasks={(_unlike(asked.name), eval_prompt.published): task})
    subjects: Mapping[Kind, Subject] = _PAIRS if eval_prompt.compares else _CHANGED
    changed: dict[Kind, str] = {
        kind: _text(eval_prompt, subject, asked, published) for kind, subject in subjects.items()
    }
    changed["criterion"] = _text(eval_prompt, before, other, reworded)
    places = {kind: _first_difference(base, text) for kind, text in changed.items() if text != base}
    return tuple(sorted(places, key=lambda kind: places[kind]))


def _other(criterion: Criterion) -> Criterion:
    return replace(
        criterion,
        name=_unlike(criterion.name),
        abbreviation=_unlike(criterion.abbreviation),
        definition=_unlike(criterion.definition),
        guidelines=tuple(_unlike(sentence) for sentence in criterion.guidelines),
        scale=_other_scale(criterion.scale),
    )


def _other_scale(scale: Scale) -> Scale:
    moved = replace(scale, min=scale.min + 7, max=scale.max + 7)
    return replace(moved, labels=tuple(_unlike(label) for label in scale.labels))


def _first_difference(first: str, other: str) -> int:
    """Index of the first character in which two texts differ. If one text begins with the other, the length of the
    shorter text.
    """
    pairs = enumerate(zip(first, other, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(first), len(other)))


def _unlike(text: str) -> str:
    """A changed text that differs from `text` in its first character."""
    return ("Y" if text[:1] == "Z" else "Z") + text


def _text(eval_prompt: EvalPrompt, subject: Subject, asked: Asked, published: Published | None) -> str:
    return "\x00".join(message.content for message in eval_prompt.render(subject, asked, published=published))
